#include "titer/collectives/algorithm/torus.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "titer/collectives/algorithm/torus_links.hpp"

namespace titer {

std::vector<int> ring_order(const TorusShape& torus, std::size_t axis) {
  const int length = torus.length[axis];
  std::vector<int> order;
  if (is_two_way(torus, axis)) {
    for (int i = 0; i < length; ++i) {
      order.push_back(i);
    }
    return order;
  }
  for (int i = 0; i < length; i += 2) {
    order.push_back(i);
  }
  for (int i = length - 1 - length % 2; i > 0; i -= 2) {
    order.push_back(i);
  }
  return order;
}

namespace {

/// Each rank's share of the buffer in `parts` parts, part j starting with axis j; each part in two
/// halves, one each way round. Piece: (part * 2 + half) * ranks + home.
class TorusScript {
 public:
  TorusScript(Bytes size, const Group& group, std::size_t parts)
      : group_(group),
        torus_(group.torus),
        order_(axis_order(group.torus)),
        parts_(static_cast<int>(parts)),
        script_(Steps(group.ranks(), size, group.ranks() * parts_ * 2), parts_) {}

  TorusScript& reduce_scatter() {
    for (int part = 0; part < parts_; ++part) {
      script_.thread(part);
      for (std::size_t phase = 0; phase < torus_.axes; ++phase) {
        play(part, phase, Arrival::add);
      }
    }
    return *this;
  }
  TorusScript& all_gather() {
    for (int part = 0; part < parts_; ++part) {
      script_.thread(part);
      for (std::size_t phase = torus_.axes; phase-- > 0;) {
        play(part, phase, Arrival::replace);
      }
    }
    return *this;
  }
  Steps take() { return script_.take(); }

 private:
  struct Member {
    int rank = 0;
    std::array<std::vector<Run>, 2> half;
    std::vector<Run> both;
  };
  using AxisRing = std::vector<Member>;

  [[nodiscard]] std::size_t axis_of(int part, std::size_t phase) const {
    return order_[(static_cast<std::size_t>(part) + phase) % torus_.axes];
  }

  /// The ranks that are where `rank` is on the axes of a part's phases 0 .. phase: whose shares it
  /// holds the sum of once these have been reduced.
  [[nodiscard]] bool shares_block(int rank, int other, int part, std::size_t phase) const {
    for (std::size_t i = 0; i <= phase; ++i) {
      const std::size_t axis = axis_of(part, i);
      if (coordinate(torus_, rank, axis) != coordinate(torus_, other, axis)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] Member member(int rank, int part, std::size_t phase) const {
    Member member{.rank = rank, .half = {}, .both = {}};
    for (int other = 0; other < group_.ranks(); ++other) {
      if (shares_block(rank, other, part, phase)) {
        const int piece = part * 2 * group_.ranks() + home_piece(other, group_);
        member.half[0].push_back({piece, 1});
        member.half[1].push_back({piece + group_.ranks(), 1});
      }
    }
    member.both = member.half[0];
    member.both.insert(member.both.end(), member.half[1].begin(), member.half[1].end());
    return member;
  }

  void play(int part, std::size_t phase, Arrival arrival) {
    const std::size_t axis = axis_of(part, phase);
    const std::vector<int> order = ring_order(torus_, axis);
    for (int base = 0; base < group_.ranks(); ++base) {
      if (coordinate(torus_, base, axis) == 0) {
        AxisRing ring;
        for (const int along : order) {
          ring.push_back(member(base + along * stride(torus_, axis), part, phase));
        }
        rotate(ring, axis, arrival);
      }
    }
  }

  // In step k, member i sends block i-k-lead to the next, and, two ways, half of it so and the
  // other half of block i+k+lead to the one before. The rings of a phase share no rank.
  void rotate(const AxisRing& ring, std::size_t axis, Arrival arrival) {
    const bool two_way = is_two_way(torus_, axis);
    const std::size_t n = ring.size();
    const std::size_t lead = arrival == Arrival::add ? 1 : 0;
    for (std::size_t step = 0; step + 1 < n; ++step) {
      for (std::size_t i = 0; i < n; ++i) {
        const Member& behind = ring[(i + 2 * n - step - lead) % n];
        const Member& next = ring[(i + 1) % n];
        Message message{.from = ring[i].rank, .to = next.rank, .tier = Tier::wire};
        message.arrival = arrival;
        message.hops = static_cast<std::uint16_t>(torus_.hops[axis]);
        script_.send(message, two_way ? behind.half[0] : behind.both);
        if (two_way) {
          message.to = ring[(i + n - 1) % n].rank;
          script_.send(message, ring[(i + step + lead) % n].half[1]);
        }
      }
      script_.next_round();
    }
  }

  const Group& group_;
  const TorusShape& torus_;
  std::array<std::size_t, TorusShape::most_axes> order_;
  int parts_;
  Script script_;
};

}  // namespace

Steps TorusAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return TorusScript(size, group, 1).all_gather().take();
}

Steps TorusReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return TorusScript(size, group, 1).reduce_scatter().take();
}

Steps TorusAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return TorusScript(size, group, 1).reduce_scatter().all_gather().take();
}

Steps TorusAllLinksAllGather::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return TorusScript(size, group, std::max<std::size_t>(group.torus.axes, 1)).all_gather().take();
}

Steps TorusAllLinksReduceScatter::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return TorusScript(size, group, std::max<std::size_t>(group.torus.axes, 1))
      .reduce_scatter()
      .take();
}

Steps TorusAllLinksAllReduce::steps(Bytes size, const Group& group, const Fabric& /*fabric*/) {
  return TorusScript(size, group, std::max<std::size_t>(group.torus.axes, 1))
      .reduce_scatter()
      .all_gather()
      .take();
}

}  // namespace titer
