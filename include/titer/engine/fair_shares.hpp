#pragma once
// Who gets how much of each link: weighted max-min fairness, by progressive filling. Raise a level
// from zero; every share gets weight * level on all links of its route until one of them is full,
// which fixes the shares on it. The level of a share is unique [Bertsekas & Gallager 1992, 6.5.2]:
// no link is over its capacity, and every share crosses a full link on which no level is higher.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "titer/engine/flow_network.hpp"

namespace titer {

using ShareId = std::uint32_t;

/// The shares that are in use now. Adding, changing and removing is noted; settle() then brings the
/// levels up to date, and looks only at what those changes reach.
class FairShares {
 public:
  /// Forgets all shares. The network must outlive its use here and must not grow.
  void reset(const FlowNetwork& network);

  /// A new share of all links of a route that has some. Ids of removed shares are used again.
  ShareId add(RouteId route, double weight);
  void change(ShareId share, double weight);
  void remove(ShareId share);

  /// Brings all levels up to date. Returns the shares whose level or weight may have changed.
  const std::vector<ShareId>& settle();

  /// What a weight of one gets; valid after settle().
  [[nodiscard]] BytesPerSecond level(ShareId share) const {
    return BytesPerSecond::from_si(shares_[share].level);
  }
  [[nodiscard]] std::size_t slots() const { return shares_.size(); }  // every id is below this

 private:
  static constexpr double never = std::numeric_limits<double>::infinity();

  struct Share {
    double weight;  // 0: a free slot
    double level;   // `never`: to be found
    RouteId route;
    FlowLink full_at;    // the link that limits it
    std::uint32_t seen;  // the last round that listed it as changed
  };
  struct Link {
    double capacity;
    double full = never;      // the level at which it is full
    double next = never;      // in a repair: the level of its pending event
    std::uint32_t dirty = 0;  // the last round that had to look at it
    std::uint32_t fixed = 0;  // the last round that found it full
  };
  struct Event {
    double level;
    FlowLink link;
    [[nodiscard]] friend bool operator>(const Event& a, const Event& b) {
      return a.level > b.level || (a.level == b.level && a.link > b.link);
    }
  };
  struct Demand {    // for a link, at some level
    double left;     // what the shares that are fixed below leave
    double weight;   // of the others
    double nearest;  // the lowest level of the others
  };
  struct Filling {  // a link while everything is filled anew
    double left;    // what is not fixed yet
    double weight;  // the sum of the weights of its open shares
    std::uint32_t open;
  };

  [[nodiscard]] bool settle_alone(ShareId share);
  void note_change(ShareId share);
  // The two ways to bring the levels up to date, described in fair_shares.cpp.
  [[nodiscard]] bool repair();
  void begin_repair();
  void handle(FlowLink link);
  [[nodiscard]] double saturation(FlowLink link);
  [[nodiscard]] Demand demand_above(double level, FlowLink link);
  void check_again(FlowLink link);
  void schedule_checks();
  void schedule(FlowLink link, double level);
  void release(FlowLink link);
  void fix(FlowLink link, double level);
  void disturb(FlowLink link);
  void refill();
  void reach(FlowLink link);
  void reach_all();
  void fill();
  void fix_open(FlowLink link, double level);

  const FlowNetwork* network_ = nullptr;
  std::vector<Share> shares_;
  std::vector<ShareId> free_;
  std::vector<Link> links_;
  std::vector<std::vector<ShareId>> on_link_;  // the shares of each link, in the order of adding
  std::size_t hops_ = 0;                       // of all shares
  std::vector<ShareId> loose_;                 // added or changed since the last settle()
  std::vector<FlowLink> relieved_;             // full links that lost a share since then
  std::vector<ShareId> changed_;
  std::uint32_t round_ = 0;
  double level_ = 0.0;  // how far the repair or the filling has come
  std::size_t open_ = 0;
  std::size_t work_ = 0;  // of this repair, in shares looked at
  bool failed_ = false;
  std::vector<Event> events_;
  std::vector<FlowLink> checks_;
  std::vector<FlowLink> reached_;
  std::vector<Filling> filling_;
};

}  // namespace titer
