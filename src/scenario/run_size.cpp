#include "titer/scenario/run_size.hpp"

#include <fmt/format.h>

#include "titer/plan/place/cluster.hpp"
#include "titer/plan/plan.hpp"

namespace titer {
namespace {

/// Empty where it cannot be read: whoever reads the scenario says why.
std::optional<Cluster> readable_cluster(const Document& document) {
  try {
    Problems problems;
    Reader root(document, problems);
    Reader in = root.object("cluster");
    Cluster cluster = read_cluster(in);
    problems.raise();
    return cluster;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool leaves_replicas_open(const Document& document) {
  const Value* data = document.at("plan.data");
  return data == nullptr || data->kind == Value::Kind::null;
}

}  // namespace

void RunSize::before(const Document& document, std::string_view path) {
  if (own_ || (path != "cluster" && path != "cluster.nodes")) {
    return;
  }
  own_ = Own{};
  if (const auto cluster = readable_cluster(document)) {
    *own_ = {.nodes = cluster->nodes, .per_node = cluster->devices_per_node};
  }
}

void RunSize::after(Document& document, std::string_view path, Origin origin) {
  if (path == "cluster") {
    keep(document, origin);
  } else if (path == "cluster.nodes") {
    const Value* nodes = document.at(path);  // nothing where null took away what a name brought
    const bool is_count = nodes != nullptr && nodes->is_integer;
    own_->nodes = is_count ? std::optional(nodes->integer) : std::nullopt;
    kept_.reset();
  } else if (kept_ && path.starts_with("cluster.")) {
    take_back(document);
    keep(document, kept_->origin);
  }
  write(document);
}

/// Nothing where the run or the new cluster leaves it to the plan, or where that one says it
/// itself: by its nodes, or as a torus or a single node that is all there is.
void RunSize::keep(const Document& document, Origin origin) {
  kept_.reset();
  if (!own_->nodes || document.at("cluster.nodes") != nullptr) {
    return;
  }
  const auto cluster = readable_cluster(document);
  if (cluster && !cluster->nodes && cluster->torus() == nullptr) {
    kept_ = {.devices = counted_product(*own_->nodes, own_->per_node),
             .per_node = cluster->devices_per_node,
             .origin = origin};
  }
}

void RunSize::write(Document& document) {
  if (!kept_) {
    return;
  }
  take_back(document);
  if (leaves_replicas_open(document) && kept_->fills()) {
    Value nodes(kept_->devices / kept_->per_node);
    nodes.origin = kept_->origin;
    Value& cluster = *document.root.find("cluster");
    cluster.add("nodes", std::move(nodes));
    cluster.key_origins.back() = kept_->origin;
    kept_->is_written = true;
  }
}

void RunSize::take_back(Document& document) {
  if (kept_->is_written) {
    document.root.find("cluster")->erase("nodes");
    kept_->is_written = false;
  }
}

void RunSize::check(const Document& document, Problems& problems) const {
  if (!kept_ || kept_->fills() || !leaves_replicas_open(document)) {
    return;
  }
  problems.add(fmt::format(
      "{}: cluster: the {} devices of the run do not fill nodes of {}: expected their number in "
      "cluster.nodes, or the plan's replicas in plan.data",
      document.where(kept_->origin),
      kept_->devices,
      kept_->per_node));
}

}  // namespace titer
