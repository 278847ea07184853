#pragma once
// The alpha-beta cost of moving bytes, the protocols that a communication library chooses from, and
// the ways by which the ranks of a group reach one another.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "titer/collectives/named.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// t = alpha + S / B. alpha: start-up latency of one message; B: bandwidth, one direction.
/// A collective costs `startup` once besides: launching the library's kernel, filling its pipeline.
/// Where every rank has a share of the buffer as large as its messages, that share costs
/// `own_share` of a message's bytes: a ring's first send has nothing to receive beside it, its last
/// receipt nothing to send; an all-to-all copies what a rank keeps. All-to-alls on a torus, whose
/// messages meet on its wires, get `exchange_share` of the bandwidth.
struct Link {
  Seconds latency;
  BytesPerSecond bandwidth;
  Seconds startup{};
  double own_share = 0.0;
  double exchange_share = 1.0;

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

  /// Whether anything can be sent this way.
  [[nodiscard]] constexpr bool exists() const { return count_ > 0; }

  /// The least of `cost` (Link -> Seconds) over the protocols.
  template <class Cost>
  [[nodiscard]] constexpr Seconds best(Cost cost) const {
    ensure(count_ > 0, "a channel needs a protocol");
    Seconds least = cost(links_[0]);
    for (int i = 1; i < count_; ++i) {
      const Seconds other = cost(links_[static_cast<std::size_t>(i)]);
      least = other < least ? other : least;
    }
    return least;
  }

  /// `messages` one after the other, `total` bytes together: min over protocols of
  /// startup + messages alpha + total / B.
  /// No message takes no time, even where there is no protocol to send it with.
  [[nodiscard]] constexpr Seconds stream(int messages, Bytes total) const {
    if (messages == 0) {
      return Seconds{};
    }
    return best([&](const Link& link) {
      return link.startup + messages * link.latency + total / link.bandwidth;
    });
  }

  /// The same, each of `size`.
  [[nodiscard]] constexpr Seconds time(int messages, Bytes size) const {
    return stream(messages, messages * size);
  }

  /// `messages` as one stream of `total` bytes, and what a rank's own share of `own` bytes costs
  /// beside them.
  [[nodiscard]] constexpr Seconds stream_with_own(int messages, Bytes total, Bytes own) const {
    if (messages == 0) {
      return Seconds{};
    }
    return best([&](const Link& link) {
      return link.startup + messages * link.latency +
             (total + link.own_share * own) / link.bandwidth;
    });
  }

  /// `messages` as one stream of `total` bytes, of an all-to-all over the wires of a torus.
  [[nodiscard]] constexpr Seconds exchange(int messages, Bytes total) const {
    if (messages == 0) {
      return Seconds{};
    }
    return best([&](const Link& link) {
      return link.startup + messages * link.latency +
             total / (link.exchange_share * link.bandwidth);
    });
  }

  /// The messages of a ring, each as large as a rank's own share.
  [[nodiscard]] constexpr Seconds shares(int messages, Bytes size) const {
    return stream_with_own(messages, messages * size, size);
  }

 private:
  std::array<Link, capacity> links_{};
  int count_ = 0;
};

/// The ways a message can go from one rank to another.
enum class Tier : std::uint8_t {
  node,            // to the next rank of a ring through the group's ranks of a node
  pair,            // to one other rank of the node at a time
  exchange,        // to all other ranks of the node at once
  network,         // through the rank's share of the node's NICs
  node_switch,     // to or from a switch of the node that adds and multicasts
  network_switch,  // to or from the tree of adding switches of the network
  wire,            // one wire, one direction, of a torus or of a packed ring or tree
  host,            // through the host (PCIe), beside the node's own fabric
};

/// What each of these ways offers to a rank, and which algorithms are named for it; a channel
/// without a protocol is not there.
struct Fabric {
  Channel node{};
  Channel network{};
  Channel pair{};
  Channel exchange{};
  Channel node_switch{};
  Channel network_switch{};
  Channel wire{};
  Channel host{};
  NamedAlgorithms named{};

  [[nodiscard]] constexpr const Channel& at(Tier tier) const {
    switch (tier) {
      case Tier::node:
        return node;
      case Tier::pair:
        return pair;
      case Tier::exchange:
        return exchange;
      case Tier::network:
        return network;
      case Tier::node_switch:
        return node_switch;
      case Tier::network_switch:
        return network_switch;
      case Tier::wire:
        return wire;
      case Tier::host:
        return host;
    }
    ensure(false, "a tier is one of the enumerated ones");
    return node;
  }
};

}  // namespace titer
