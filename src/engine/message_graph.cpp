#include "titer/engine/message_graph.hpp"

#include <cmath>
#include <limits>

#include "append.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// The engine's links between messages keep the two largest ids for "none" and "finished".
constexpr std::size_t kMaxMessages = std::numeric_limits<MessageId>::max() - 2;
constexpr std::size_t kMostMessageDependencies = std::numeric_limits<std::uint32_t>::max();

}  // namespace

MessageId MessageGraph::add(RouteId route,
                            Bytes size,
                            Seconds latency,
                            std::span<const MessageId> after,
                            const MessageOptions& options) {
  const auto id = static_cast<MessageId>(this->size());
  const Ticks latency_ticks = to_ticks(latency);
  const Ticks release = to_ticks(options.release);
  ensure(std::isfinite(size.si()) && size.si() >= 0.0,
         "the size of a message must be finite and not negative");
  ensure(std::isfinite(options.weight) && options.weight > 0.0,
         "the weight of a message must be positive and finite");
  ensure(this->size() < kMaxMessages, "too many messages");
  ensure(after.size() <= kMostMessageDependencies - after_.size(), "too many dependencies");
  for (const MessageId earlier : after) {
    ensure(earlier < id, "a message can only wait for messages added before");
  }
  if (options_.empty() && (release != 0 || options.weight != 1.0)) {
    options_.resize(id);
  }
  if (release != 0 || options.weight != 1.0 || !options_.empty()) {
    options_.push_back({release, options.weight});
  }
  append(after_, after);
  after_begin_.push_back(static_cast<std::uint32_t>(after_.size()));
  routes_.push_back(route);
  latencies_.push_back(latency_ticks);
  sizes_.push_back(size);
  return id;
}

}  // namespace titer
