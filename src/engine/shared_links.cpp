#include "titer/engine/shared_links.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr double kTicksPerSecond = 1e12;

}  // namespace

void SharedLinks::reset(const FlowNetwork& network) {
  network_ = &network;
  shares_.reset(network);
  calendar_.reset(slots_);
  now_ = 0;
  settled_ = true;
  flows_.clear();
  free_.clear();
  instant_.clear();
  groups_.clear();
  first_group_.assign(network.routes(), none);
}

FlowId SharedLinks::start(RouteId route, Bytes size, double weight, Ticks now) {
  ensure(route < network_->routes(), "a flow needs a route of the network");
  ensure(std::isfinite(size.si()) && size.si() >= 0.0,
         "the size of a flow must be finite and not negative");
  ensure(std::isfinite(weight) && weight > 0.0, "the weight of a flow must be positive and finite");
  advance(now);
  if (size.si() == 0.0 || network_->route(route).empty()) {
    const FlowId flow = new_flow(0.0, none);
    instant_.push_back(flow);
    return flow;
  }
  settled_ = false;
  const ShareId share = group_of(route, weight);
  Group& group = groups_[share];
  carry(group);
  const FlowId flow = new_flow(group.carried + size.si(), share);
  group.first = group.first == none ? flow : meld(group.first, flow);
  return flow;
}

/// The group that a new flow joins, which counts it.
ShareId SharedLinks::group_of(RouteId route, double weight) {
  for (ShareId share = first_group_[route]; share != none; share = groups_[share].next) {
    Group& group = groups_[share];
    if (group.weight == weight) {
      ++group.count;
      shares_.change(share, group.count * weight);
      return share;
    }
  }
  const ShareId share = shares_.add(route, weight);
  groups_.resize(std::max<std::size_t>(groups_.size(), share + std::size_t{1}));
  groups_[share] = {weight, 0.0, 0.0, now_, route, 1, none, first_group_[route]};
  first_group_[route] = share;
  return share;
}

FlowId SharedLinks::new_flow(double finish, ShareId group) {
  FlowId flow = 0;
  if (free_.empty()) {
    flow = static_cast<FlowId>(flows_.size());
    flows_.emplace_back();
  } else {
    flow = free_.back();
    free_.pop_back();
  }
  flows_[flow] = {finish, group, none, none};
  return flow;
}

FlowId SharedLinks::meld(FlowId a, FlowId b) {
  if (flows_[b].finish < flows_[a].finish) {
    std::swap(a, b);
  }
  flows_[b].sibling = flows_[a].child;
  flows_[a].child = b;
  return a;
}

/// Removes the top of the group's heap: its children are melded in pairs, and those one by one.
void SharedLinks::pop(Group& group) {
  FlowId child = flows_[group.first].child;
  FlowId pairs = none;
  while (child != none) {
    const FlowId second = flows_[child].sibling;
    const FlowId next = second == none ? none : flows_[second].sibling;
    const FlowId pair = second == none ? child : meld(child, second);
    flows_[pair].sibling = pairs;
    pairs = pair;
    child = next;
  }
  FlowId top = none;
  while (pairs != none) {
    const FlowId next = flows_[pairs].sibling;
    top = top == none ? pairs : meld(top, pairs);
    pairs = next;
  }
  group.first = top;
}

void SharedLinks::advance(Ticks now) {
  ensure(now >= now_, "time must not go back");
  if (now > now_) {
    settle();
    ensure(instant_.empty() && calendar_.earliest() >= now, "a finish must not be passed over");
    now_ = now;
  }
}

/// Accounts for what the group has carried until now.
void SharedLinks::carry(Group& group) {
  group.carried += group.per_tick * static_cast<double>(now_ - group.since);
  group.since = now_;
}

// Rates that should be equal may differ in the last bit by the order of additions. What takes half
// a picosecond more than a whole number is therefore rounded up even if it is a little less.
Ticks SharedLinks::ticks_left(const Group& group) const {
  const double ticks = (flows_[group.first].finish - group.carried) / group.per_tick;
  ensure(ticks <= static_cast<double>(kMaxTicks - now_),
         "a timeline must end before 2^62 picoseconds");
  constexpr double half = 0.5 + 1e-6;
  return std::max(Ticks{0}, static_cast<Ticks>(std::floor(ticks + half)));
}

void SharedLinks::set_alarm(ShareId share) {
  Group& group = groups_[share];
  carry(group);
  group.per_tick = group.weight * shares_.level(share).si() / kTicksPerSecond;
  calendar_.move(share, now_ + ticks_left(group));
}

void SharedLinks::settle() {
  if (settled_) {
    return;
  }
  settled_ = true;
  const std::vector<ShareId>& changed = shares_.settle();
  if (shares_.slots() > slots_) {
    slots_ = std::max<std::size_t>(shares_.slots(), 2 * slots_);
    calendar_.reset(slots_);
    for (ShareId share = 0; share < groups_.size(); ++share) {
      if (groups_[share].count > 0 && groups_[share].per_tick > 0.0) {
        set_alarm(share);
      }
    }
  }
  for (const ShareId share : changed) {
    set_alarm(share);
  }
}

std::optional<Ticks> SharedLinks::next_finish() {
  settle();
  const Ticks next = instant_.empty() ? calendar_.earliest() : now_;
  return next == Calendar::never ? std::nullopt : std::optional(next);
}

void SharedLinks::take_finished(Ticks now, std::vector<FlowId>& out) {
  out.clear();
  advance(now);
  settle();
  out.insert(out.end(), instant_.begin(), instant_.end());
  instant_.clear();
  if (calendar_.earliest() == now) {
    settled_ = false;
    calendar_.take_earliest(due_);
    for (const ShareId share : due_) {
      finish_due(share, out);
    }
  }
  std::ranges::sort(out);
  free_.insert(free_.end(), out.rbegin(), out.rend());
}

/// The alarm of the group has rung: its first flow is through, and those within the same tick.
void SharedLinks::finish_due(ShareId share, std::vector<FlowId>& out) {
  Group& group = groups_[share];
  carry(group);
  do {
    out.push_back(group.first);
    pop(group);
    --group.count;
  } while (group.count > 0 && ticks_left(group) == 0);
  if (group.count > 0) {
    shares_.change(share, group.count * group.weight);
  } else {
    drop_group(share);
  }
}

void SharedLinks::drop_group(ShareId share) {
  shares_.remove(share);
  ShareId* link = &first_group_[groups_[share].route];
  while (*link != share) {
    link = &groups_[*link].next;
  }
  *link = groups_[share].next;
}

BytesPerSecond SharedLinks::rate(FlowId flow) {
  settle();
  const ShareId share = flows_[flow].group;
  ensure(share != none, "a flow that has nothing to carry has no rate");
  return groups_[share].weight * shares_.level(share);
}

}  // namespace titer
