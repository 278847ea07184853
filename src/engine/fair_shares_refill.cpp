// The other way to settle: progressive filling of whole connected components, from nothing.
#include <algorithm>
#include <functional>

#include "titer/engine/fair_shares.hpp"

namespace titer {

/// Fills the connected components of all reached links anew.
void FairShares::refill() {
  checks_.clear();
  ++round_;
  changed_.clear();
  reached_.clear();
  filling_.resize(links_.size());
  for (const FlowLink link : relieved_) {
    reach(link);
  }
  for (const ShareId share : loose_) {
    if (shares_[share].weight > 0.0) {
      for (const FlowLink link : network_->route(shares_[share].route)) {
        reach(link);
      }
    }
  }
  reach_all();
  fill();
}

void FairShares::reach(FlowLink id) {
  Link& link = links_[id];
  if (link.dirty == round_ || on_link_[id].empty()) {
    return;
  }
  link.dirty = round_;
  link.full = never;
  filling_[id] = {link.capacity, 0.0, static_cast<std::uint32_t>(on_link_[id].size())};
  for (const ShareId share : on_link_[id]) {
    filling_[id].weight += shares_[share].weight;
  }
  reached_.push_back(id);
}

void FairShares::reach_all() {
  for (std::size_t next = 0; next < reached_.size(); ++next) {
    for (const ShareId share : on_link_[reached_[next]]) {
      if (shares_[share].seen != round_) {
        note_change(share);
        shares_[share].level = never;
        for (const FlowLink link : network_->route(shares_[share].route)) {
          reach(link);
        }
      }
    }
  }
}

// While shares are fixed, the level at which a link will be full can only rise: an event that comes
// too early is put back.
void FairShares::fill() {
  events_.clear();
  for (const FlowLink link : reached_) {
    events_.push_back({filling_[link].left / filling_[link].weight, link});
  }
  std::make_heap(events_.begin(), events_.end(), std::greater<>());
  open_ = changed_.size();
  level_ = 0.0;
  while (open_ > 0) {
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    const Event event = events_.back();
    const Filling& link = filling_[event.link];
    if (link.open == 0) {
      events_.pop_back();
      continue;
    }
    level_ = std::max(level_, event.level);
    const double level = std::max(level_, link.left / link.weight);
    if (level > event.level) {
      events_.back().level = level;
      std::push_heap(events_.begin(), events_.end(), std::greater<>());
    } else {
      events_.pop_back();
      fix_open(event.link, level);
    }
  }
}

void FairShares::fix_open(FlowLink full, double level) {
  links_[full].full = level;
  for (const ShareId id : on_link_[full]) {
    Share& share = shares_[id];
    if (share.level < never) {
      continue;
    }
    share.level = level;
    share.full_at = full;
    --open_;
    for (const FlowLink link : network_->route(share.route)) {
      filling_[link].left -= share.weight * level;
      filling_[link].weight -= share.weight;
      --filling_[link].open;
    }
  }
}

}  // namespace titer
