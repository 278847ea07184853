#include "titer/export/rank_graph.hpp"

#include <fmt/format.h>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

std::string_view verb(NodeKind kind) {
  switch (kind) {
    case NodeKind::compute:
      return "";
    case NodeKind::collective:
      return ", transfer";
    case NodeKind::send:
      return ", send";
    case NodeKind::receive:
      return ", receive";
    case NodeKind::copy:
      return ", copy";
    case NodeKind::input:
      return ", by the host";
  }
  return "";
}

}  // namespace

std::string GraphNode::name() const {
  std::string text = fmt::format("{}: {}", titer::name(part), what);
  if (layer) {
    text += fmt::format(", layer {}", *layer);
  }
  if (stage) {
    text += fmt::format(", stage {}", *stage);
  }
  if (micro_batch) {
    text += fmt::format(", micro-batch {}", *micro_batch);
  }
  return text + std::string(verb(kind));
}

RankGraph::Id RankGraph::add(const GraphNode& node, std::span<const Id> after) {
  const auto id = static_cast<Id>(nodes_.size());
  for (const Id before : after) {
    ensure(before < id, "a node waits for earlier ones");
  }
  nodes_.push_back(node);
  after_.insert(after_.end(), after.begin(), after.end());
  after_begin_.push_back(after_.size());
  return id;
}

}  // namespace titer
