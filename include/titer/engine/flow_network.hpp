#pragma once
// What messages flow over: links with a capacity, and routes, the sets of links that a message
// occupies all at once. Both are numbered from 0 in the order in which they are added.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "titer/units/quantity.hpp"

namespace titer {

using FlowLink = std::uint32_t;
using RouteId = std::uint32_t;

/// Links and routes. A link is one direction: what flows the other way is another link.
class FlowNetwork {
 public:
  /// A new link; its capacity must be positive and finite.
  FlowLink add_link(BytesPerSecond capacity);
  /// A new route over links added before, each at most once. It may be empty: then the bytes of a
  /// message take no time.
  RouteId add_route(std::span<const FlowLink> links);

  [[nodiscard]] std::size_t links() const { return capacities_.size(); }
  [[nodiscard]] std::size_t routes() const { return route_begin_.size() - 1; }
  [[nodiscard]] BytesPerSecond capacity(FlowLink link) const { return capacities_[link]; }
  [[nodiscard]] std::span<const FlowLink> route(RouteId route) const {
    return {hops_.data() + route_begin_[route], hops_.data() + route_begin_[route + 1]};
  }

 private:
  std::vector<BytesPerSecond> capacities_;
  std::vector<std::uint32_t> route_begin_ = {0};  // CSR: the links of route i are
  std::vector<FlowLink> hops_;                    // hops_[route_begin_[i] .. route_begin_[i+1])
};

}  // namespace titer
