#pragma once
// Flows that share links now, and when they will have finished if nothing changes. Usable beside
// other events: whoever drives it asks for the next finish, and tells what starts before.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "titer/engine/calendar.hpp"
#include "titer/engine/fair_shares.hpp"
#include "titer/engine/flow_network.hpp"
#include "titer/engine/task_graph.hpp"

namespace titer {

using FlowId = std::uint32_t;

/// Flows in transit. Time never goes back: each `now` is at least the one before, and at most
/// next_finish(). Flows of the same route and weight form a group: one share, one rate, one alarm.
class SharedLinks {
 public:
  /// Forgets all flows and goes back to time zero. The network must outlive its use here and must
  /// not grow.
  void reset(const FlowNetwork& network);

  /// A flow that starts now. Ids of flows that were taken are used again.
  FlowId start(RouteId route, Bytes size, double weight, Ticks now);

  /// When the next flow finishes, the nearest picosecond; nothing if none is in transit.
  [[nodiscard]] std::optional<Ticks> next_finish();

  /// Puts the flows that finish now into `out`, in ascending order; none if none does.
  void take_finished(Ticks now, std::vector<FlowId>& out);

  /// What a flow in transit gets from now on. It must have bytes, and its route links.
  [[nodiscard]] BytesPerSecond rate(FlowId flow);

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  struct Flow {
    double finish;  // what its group has to carry per flow until it is through
    ShareId group;
    FlowId child;  // in the group's pairing heap, the earliest finish on top
    FlowId sibling;
  };
  struct Group {
    double weight;    // of each flow
    double carried;   // bytes per flow until `since`
    double per_tick;  // bytes per flow and tick from then on
    Ticks since;
    RouteId route;
    std::uint32_t count;
    FlowId first;  // the top of its heap
    ShareId next;  // group of the same route
  };

  void advance(Ticks now);
  void settle();
  void carry(Group& group);
  void set_alarm(ShareId share);
  [[nodiscard]] Ticks ticks_left(const Group& group) const;
  ShareId group_of(RouteId route, double weight);
  FlowId new_flow(double finish, ShareId group);
  [[nodiscard]] FlowId meld(FlowId a, FlowId b);
  void pop(Group& group);
  void finish_due(ShareId share, std::vector<FlowId>& out);
  void drop_group(ShareId share);

  FairShares shares_;
  const FlowNetwork* network_ = nullptr;
  Calendar calendar_;
  std::size_t slots_ = 0;  // of the calendar
  Ticks now_ = 0;
  bool settled_ = true;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::vector<FlowId> instant_;       // nothing to carry, or nowhere
  std::vector<Group> groups_;         // by share
  std::vector<ShareId> first_group_;  // of each route
  std::vector<std::uint32_t> due_;
};

}  // namespace titer
