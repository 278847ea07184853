#include "titer/collectives/algorithm/torus_all_to_all.hpp"

#include <algorithm>
#include <cstddef>

namespace titer {

namespace {

/// Every pair's bytes in `parts` parts, part j starting with axis j; each part in two halves, which
/// part where both ways round are as long. Piece: (part * 2 + half) n^2 + from n + to.
class AllToAllScript {
 public:
  AllToAllScript(Bytes size, const Group& group, std::size_t parts)
      : torus_(group.torus),
        ranks_(group.ranks()),
        parts_(static_cast<int>(parts)),
        script_(Steps(ranks_, ranks_ * size, ranks_ * ranks_ * parts_ * 2), parts_) {}

  Steps take() {
    for (int part = 0; part < parts_; ++part) {
      script_.thread(part);
      for (std::size_t phase = 0; phase < torus_.axes; ++phase) {
        play(part, phase);
      }
    }
    return script_.take();
  }

 private:
  /// An axis as a ring: its coordinates in order, and the place of each.
  struct Axis {
    std::size_t number = 0;
    std::vector<int> order;
    std::vector<std::size_t> place;
    bool two_way = false;
    [[nodiscard]] std::size_t length() const { return order.size(); }
  };
  /// What a rank sends in a step, by step and rank.
  using Loads = std::vector<std::vector<std::vector<Run>>>;
  struct Hop {
    std::size_t distance = 0;
    bool backwards = false;
  };

  [[nodiscard]] std::size_t axis_of(int part, std::size_t phase) const {
    return (static_cast<std::size_t>(part) + phase) % torus_.axes;
  }

  [[nodiscard]] Axis make_axis(std::size_t number) const {
    Axis axis{.number = number,
              .order = ring_order(torus_, number),
              .place = {},
              .two_way = is_two_way(torus_, number)};
    axis.place.resize(axis.length());
    for (std::size_t i = 0; i < axis.length(); ++i) {
      axis.place[static_cast<std::size_t>(axis.order[i])] = i;
    }
    return axis;
  }

  [[nodiscard]] std::size_t place(const Axis& axis, int rank) const {
    return axis.place[static_cast<std::size_t>(coordinate(torus_, rank, axis.number))];
  }

  /// The rank `steps` places on along the axis.
  [[nodiscard]] int moved(const Axis& axis, int rank, std::size_t steps) const {
    const int now = coordinate(torus_, rank, axis.number);
    const int then = axis.order[(place(axis, rank) + steps) % axis.length()];
    return rank + (then - now) * stride(torus_, axis.number);
  }

  /// Where a piece lies before a phase: at its destination along the axes it has been through.
  [[nodiscard]] int holder(int from, int to, int part, std::size_t phase) const {
    int rank = from;
    for (std::size_t i = 0; i < phase; ++i) {
      const std::size_t axis = axis_of(part, i);
      rank +=
          (coordinate(torus_, to, axis) - coordinate(torus_, from, axis)) * stride(torus_, axis);
    }
    return rank;
  }

  [[nodiscard]] Hop shorter_way(const Axis& axis, int from, int to, int half) const {
    const std::size_t length = axis.length();
    const std::size_t ahead = (place(axis, to) + length - place(axis, from)) % length;
    const bool tie = 2 * ahead == length && length > 2;
    if (2 * ahead > length || (tie && half == 1)) {
      return {.distance = length - ahead, .backwards = true};
    }
    return {.distance = ahead, .backwards = false};
  }

  void play(int part, std::size_t phase) {
    const Axis axis = make_axis(axis_of(part, phase));
    const std::size_t hops = axis.length() / 2;
    Loads ahead(hops, std::vector<std::vector<Run>>(static_cast<std::size_t>(ranks_)));
    Loads back = ahead;
    for (int pair = 0; pair < ranks_ * ranks_; ++pair) {
      const int from = pair / ranks_;
      const int to = pair % ranks_;
      const int start = holder(from, to, part, phase);
      for (const int half : {0, 1}) {
        const Hop way = shorter_way(axis, from, to, half);
        const Run piece{(part * 2 + half) * ranks_ * ranks_ + pair, 1};
        load(way.backwards ? back : ahead, axis, start, way, piece);
      }
    }
    for (std::size_t hop = 0; hop < hops; ++hop) {
      send(axis, ahead[hop], 1);
      if (!axis.two_way) {
        script_.next_round();  // the two ways round take turns
      }
      send(axis, back[hop], axis.length() - 1);
      script_.next_round();
    }
  }

  /// Has a piece handed on by all the ranks on its way.
  void load(Loads& loads, const Axis& axis, int start, Hop way, Run piece) const {
    for (std::size_t hop = 0; hop < way.distance; ++hop) {
      const std::size_t on = way.backwards ? axis.length() - hop : hop;
      loads[hop][static_cast<std::size_t>(moved(axis, start, on))].push_back(piece);
    }
  }

  void send(const Axis& axis, const std::vector<std::vector<Run>>& loads, std::size_t steps) {
    for (int rank = 0; rank < ranks_; ++rank) {
      const std::vector<Run>& load = loads[static_cast<std::size_t>(rank)];
      if (!load.empty()) {
        Message message{.from = rank, .to = moved(axis, rank, steps), .tier = Tier::wire};
        message.hops = static_cast<std::uint16_t>(torus_.hops[axis.number]);
        script_.send(message, load);
      }
    }
  }

  const TorusShape& torus_;
  int ranks_;
  int parts_;
  Script script_;
};

}  // namespace

Steps TorusAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return AllToAllScript(size, group, 1).take();
}

Steps TorusAllLinksAllToAll::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return AllToAllScript(size, group, std::max<std::size_t>(group.torus.axes, 1)).take();
}

}  // namespace titer
