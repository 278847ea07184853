#include "titer/engine/flow_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "append.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// The largest id is kept for "none".
constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() - 1;

}  // namespace

FlowLink FlowNetwork::add_link(BytesPerSecond capacity) {
  ensure(std::isfinite(capacity.si()) && capacity.si() > 0.0,
         "the capacity of a link must be positive and finite");
  ensure(links() < kMost, "too many links");
  capacities_.push_back(capacity);
  return static_cast<FlowLink>(links() - 1);
}

RouteId FlowNetwork::add_route(std::span<const FlowLink> links) {
  ensure(routes() < kMost, "too many routes");
  ensure(links.size() <= kMost - hops_.size(), "too many hops");
  for (auto hop = links.begin(); hop != links.end(); ++hop) {
    ensure(*hop < capacities_.size(), "a route needs links that were added before");
    ensure(std::find(links.begin(), hop, *hop) == hop, "a route crosses a link at most once");
  }
  append(hops_, links);
  route_begin_.push_back(static_cast<std::uint32_t>(hops_.size()));
  return static_cast<RouteId>(routes() - 1);
}

}  // namespace titer
