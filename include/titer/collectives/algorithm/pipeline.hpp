#pragma once
// Buffers that flow through ranks in blocks, and rounds in which every port serves one message.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "titer/collectives/steps.hpp"

namespace titer {

/// A buffer cut into `parts` that flow side by side, each in k blocks, in rounds of one block:
/// t = (fill + per_block k) (alpha + S / (parts k B)).
/// The best k is sqrt(fill S / (per_block parts alpha B)), here the better of the two whole numbers
/// beside it. More than `most_blocks` are not tried.
struct Pipeline {
  static constexpr int most_blocks = 4096;
  int fill = 0;
  int per_block = 1;
  int parts = 1;

  [[nodiscard]] constexpr Seconds time(Bytes size, int blocks, const Link& link) const {
    const Bytes block = size / (static_cast<double>(parts) * blocks);
    return link.startup + (fill + per_block * blocks) * link.time(block);
  }
  /// The best number of blocks on a link, and on the protocol that is the fastest with its own.
  [[nodiscard]] int blocks(Bytes size, const Link& link) const;
  [[nodiscard]] int blocks(Bytes size, const Channel& channel) const;
  /// The time with the best number of blocks.
  [[nodiscard]] Seconds time(Bytes size, const Channel& channel) const;
};

/// Writes steps round by round, like Script, but a message waits for its receiver too: both have
/// finished their earlier rounds when it starts. Where a rank sends and receives one message a
/// round at most, no two messages ever share a port.
class Rendezvous {
 public:
  explicit Rendezvous(Steps steps);

  void send(const Message& message, std::span<const Run> runs);
  void send(const Message& message, Run run) { send(message, std::span(&run, 1)); }
  void next_round();
  [[nodiscard]] Steps take() { return std::move(steps_); }

 private:
  Steps steps_;
  std::vector<std::vector<std::uint32_t>> last_;  // per rank: its messages of its last round
  std::vector<std::uint32_t> round_;              // the messages of this round
};

}  // namespace titer
