#pragma once
// The alpha-beta cost of moving bytes, and the protocols that a communication library chooses from.

#include <array>
#include <cstddef>
#include <span>

#include "titer/units/ensure.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// t = alpha + S / B. alpha: start-up latency of one message; B: bandwidth, one direction.
/// A collective costs `startup` once besides: launching the library's kernel, filling its pipeline.
struct Link {
  Seconds latency;
  BytesPerSecond bandwidth;
  Seconds startup{};

  [[nodiscard]] constexpr Seconds time(Bytes size) const { return latency + size / bandwidth; }
};

/// The ways a library can drive one wire (NCCL's LL, LL128, Simple: low latency at part of the
/// bandwidth, or full bandwidth at a higher latency). The fastest for the message is taken.
class Channel {
 public:
  static constexpr int capacity = 4;

  constexpr Channel() = default;
  constexpr explicit Channel(Link link) { add(link); }
  constexpr void add(Link link) {
    ensure(count_ < capacity, "a channel has room for four protocols");
    links_[static_cast<std::size_t>(count_++)] = link;
  }
  [[nodiscard]] constexpr std::span<const Link> links() const {
    return {links_.data(), static_cast<std::size_t>(count_)};
  }

  /// `messages` one after the other, each of `size`: min over protocols of
  /// startup + n (alpha + S / B).
  /// No message takes no time, even where there is no protocol to send it with.
  [[nodiscard]] constexpr Seconds time(int messages, Bytes size) const {
    if (messages == 0) {
      return Seconds{};
    }
    ensure(count_ > 0, "a channel needs a protocol");
    const auto by = [&](const Link& link) { return link.startup + messages * link.time(size); };
    Seconds best = by(links_[0]);
    for (int i = 1; i < count_; ++i) {
      const Seconds other = by(links_[static_cast<std::size_t>(i)]);
      best = other < best ? other : best;
    }
    return best;
  }

 private:
  std::array<Link, capacity> links_{};
  int count_ = 0;
};

enum class Tier { node, network };

/// The two tiers a rank can send through: its node's fabric, and its share of the node's NICs.
struct Fabric {
  Channel node;
  Channel network;

  [[nodiscard]] constexpr const Channel& at(Tier tier) const {
    return tier == Tier::node ? node : network;
  }
};

/// How the ranks of a group lie on nodes: `per_node` on each of `nodes` nodes. Rank r is number
/// r % per_node on node r / per_node.
struct Group {
  int per_node = 1;
  int nodes = 1;

  [[nodiscard]] constexpr int ranks() const { return per_node * nodes; }
  /// The tier that a message between any two ranks may need.
  [[nodiscard]] constexpr Tier widest_tier() const {
    return nodes > 1 ? Tier::network : Tier::node;
  }
  friend constexpr bool operator==(const Group&, const Group&) = default;
};

}  // namespace titer
