// A guided tour.
//
// Repair. Progressive filling fixes shares in the order of their levels, so a change can only reach
// upwards: a share that comes or goes was not fixed below its own level, and all that was fixed
// below stays. settle() therefore replays the filling as events in ascending level, but only on the
// links that a change reaches; all other shares keep their levels. A link is reached
// - if a share on it was added, changed or removed;
// - if a link that was full at some level is not full there any more: the shares that it held
//   become loose, and all their links are reached;
// - if it was full, and another link now holds one of its shares at a lower level.
// A reached link looks at its shares alone: those that keep a level below t are fixed there, the
// others get t, and the t at which their sum is the capacity is its next event, or the level at
// which it was full before if that comes first. Of 10,000 random flows on a fat tree, a finish
// changes the levels of 150 on average, while their connected component is nearly everything.
//
// Refill. Where everything depends on everything (all-to-all traffic through one switch) the repair
// looks at the same shares again and again. Once it has looked at more than a filling from nothing
// would, it gives up, and the connected components of the reached links are filled anew
// (fair_shares_refill.cpp).
#include "titer/engine/fair_shares.hpp"

#include <algorithm>
#include <functional>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

// Levels that differ by less are the same level: they may come from different orders of additions.
constexpr double kSame = 1e-13;

[[nodiscard]] bool is_below(double level, double other) { return level < other * (1.0 - kSame); }

}  // namespace

void FairShares::reset(const FlowNetwork& network) {
  network_ = &network;
  shares_.clear();
  free_.clear();
  loose_.clear();
  relieved_.clear();
  changed_.clear();
  hops_ = 0;
  round_ = 0;
  links_.resize(network.links());
  for (FlowLink link = 0; link < network.links(); ++link) {
    links_[link] = {.capacity = network.capacity(link).si()};
  }
  for (std::vector<ShareId>& shares : on_link_) {
    shares.clear();
  }
  on_link_.resize(std::max(on_link_.size(), network.links()));
}

ShareId FairShares::add(RouteId route, double weight) {
  ensure(!network_->route(route).empty(), "a share needs a link");
  ShareId share = 0;
  if (free_.empty()) {
    share = static_cast<ShareId>(shares_.size());
    shares_.emplace_back();
  } else {
    share = free_.back();
    free_.pop_back();
  }
  shares_[share] = {weight, never, route, 0, 0};
  for (const FlowLink link : network_->route(route)) {
    on_link_[link].push_back(share);
  }
  hops_ += network_->route(route).size();
  loose_.push_back(share);
  return share;
}

void FairShares::change(ShareId share, double weight) {
  shares_[share].weight = weight;
  shares_[share].level = never;
  loose_.push_back(share);
}

void FairShares::remove(ShareId share) {
  for (const FlowLink link : network_->route(shares_[share].route)) {
    std::vector<ShareId>& on_link = on_link_[link];
    on_link.erase(std::ranges::find(on_link, share));
    if (on_link.empty()) {
      links_[link].full = never;
    } else if (links_[link].full < never) {
      relieved_.push_back(link);
    }
  }
  hops_ -= network_->route(shares_[share].route).size();
  shares_[share].weight = 0.0;
  free_.push_back(share);
}

const std::vector<ShareId>& FairShares::settle() {
  changed_.clear();
  ++round_;
  begin_repair();
  if (!repair()) {
    refill();
  }
  loose_.clear();
  relieved_.clear();
  return changed_;
}

void FairShares::note_change(ShareId share) {
  if (shares_[share].seen != round_) {
    shares_[share].seen = round_;
    changed_.push_back(share);
  }
}

/// A share that has all its links for itself concerns nobody else.
bool FairShares::settle_alone(ShareId id) {
  Share& share = shares_[id];
  double least = never;
  for (const FlowLink link : network_->route(share.route)) {
    if (on_link_[link].size() > 1) {
      return false;
    }
    if (links_[link].capacity < least) {
      least = links_[link].capacity;
      share.full_at = link;
    }
    links_[link].full = never;
  }
  share.level = least / share.weight;
  links_[share.full_at].full = share.level;
  return true;
}

void FairShares::begin_repair() {
  level_ = 0.0;
  open_ = 0;
  work_ = 0;
  failed_ = false;
  events_.clear();
  for (const ShareId share : loose_) {
    if (shares_[share].weight == 0.0 || shares_[share].seen == round_) {
      continue;
    }
    note_change(share);
    if (!settle_alone(share)) {
      ++open_;
      for (const FlowLink link : network_->route(shares_[share].route)) {
        check_again(link);
      }
    }
  }
  for (const FlowLink link : relieved_) {
    check_again(link);
  }
  schedule_checks();
}

/// False if it gave up.
bool FairShares::repair() {
  while (!events_.empty() && !failed_) {
    const Event event = events_.front();
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    events_.pop_back();
    if (links_[event.link].next == event.level) {
      level_ = std::max(level_, event.level);
      handle(event.link);
    }
    failed_ = failed_ || work_ > 64 + 2 * hops_;
  }
  return !failed_ && open_ == 0;
}

void FairShares::handle(FlowLink id) {
  Link& link = links_[id];
  const double level = saturation(id);
  const double next = std::min(level, link.full);
  if (next == never || next > level_) {
    schedule(id, next);
  } else if (level > link.full) {
    release(id);
  } else {
    fix(id, next);
  }
}

/// The level at which the link will be full as far as is known now, `never` if at none.
double FairShares::saturation(FlowLink id) {
  const Link& link = links_[id];
  double level = level_;
  while (true) {
    const Demand demand = demand_above(level, id);
    if (demand.weight == 0.0) {
      return never;
    }
    level = std::max(level, demand.left / demand.weight);
    if (!is_below(demand.nearest, level)) {
      return is_below(level, link.full) || is_below(link.full, level) ? level : link.full;
    }
  }
}

/// What the shares below a level leave of the link, and who wants it.
FairShares::Demand FairShares::demand_above(double level, FlowLink link) {
  Demand demand{links_[link].capacity, 0.0, never};
  for (const ShareId id : on_link_[link]) {
    const Share& share = shares_[id];
    if (is_below(share.level, level)) {
      demand.left -= share.weight * share.level;
    } else {
      demand.weight += share.weight;
      demand.nearest = std::min(demand.nearest, share.level);
    }
  }
  work_ += on_link_[link].size();
  return demand;
}

void FairShares::check_again(FlowLink link) {
  if (!(links_[link].dirty == round_ && links_[link].next == -1.0)) {
    links_[link].dirty = round_;
    links_[link].next = -1.0;
    checks_.push_back(link);
  }
}

void FairShares::schedule_checks() {
  for (const FlowLink link : checks_) {
    schedule(link, std::min(saturation(link), links_[link].full));
  }
  checks_.clear();
}

void FairShares::schedule(FlowLink link, double level) {
  links_[link].next = level;
  if (level < never) {
    events_.push_back({level, link});
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
  }
}

/// The link is not full any more at the level at which it was: what it held becomes loose.
void FairShares::release(FlowLink full) {
  failed_ = failed_ || links_[full].fixed == round_;  // rounding has led in a circle
  links_[full].full = never;
  check_again(full);
  for (const ShareId id : on_link_[full]) {
    Share& share = shares_[id];
    if (share.full_at == full && share.level < never) {
      share.level = never;
      ++open_;
      note_change(id);
      for (const FlowLink link : network_->route(share.route)) {
        check_again(link);
      }
    }
  }
  schedule_checks();
}

/// The link is full at this level: fixes what is not fixed below.
void FairShares::fix(FlowLink full, double level) {
  links_[full].full = level;
  links_[full].next = never;
  links_[full].fixed = round_;
  for (const ShareId id : on_link_[full]) {
    Share& share = shares_[id];
    const bool is_loose = share.level == never;
    if (!is_below(level, share.level)) {
      continue;
    }
    share.level = level;
    share.full_at = full;
    note_change(id);
    if (is_loose) {
      --open_;
      continue;
    }
    for (const FlowLink link : network_->route(share.route)) {
      disturb(link);
    }
  }
}

/// One of the link's shares is now held elsewhere, at a lower level.
void FairShares::disturb(FlowLink link) {
  if (links_[link].full < never && links_[link].dirty != round_) {
    links_[link].dirty = round_;
    schedule(link, links_[link].full);
  }
}

}  // namespace titer
