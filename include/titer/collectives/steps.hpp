#pragma once
// An executed collective: messages that wait for one another. The buffer is cut into pieces; a
// message carries some of them.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "titer/collectives/group.hpp"

namespace titer {

/// What the receiver does with a message: adds it to its own copy, or takes it in place of it.
enum class Arrival : std::uint8_t { add, replace };

/// A run of neighbouring pieces.
struct Run {
  std::int32_t first = 0;
  std::int32_t count = 1;
  friend constexpr bool operator==(const Run&, const Run&) = default;
};

/// One message. It starts when those it waits for have arrived, and carries what its sender holds
/// by then of its pieces. A message of a rank to itself is a join: it carries nothing, takes no
/// time, and stands for all that it waits for.
struct Message {
  std::int32_t from = 0;
  std::int32_t to = 0;
  Tier tier = Tier::node;
  std::uint16_t lane = 0;  // which of several wires between the same two ranks (Tier::wire)
  Arrival arrival = Arrival::replace;
  std::uint16_t hops = 1;  // neighbours that hand it on, each with the latency of its tier
  Bytes size{};

  [[nodiscard]] bool is_join() const { return from == to; }
};

/// The messages, each after those it waits for. Besides the ranks 0 .. ranks-1 there may be
/// helpers, numbered from `ranks` on: parameter servers, or switches that add.
class Steps {
 public:
  Steps(int ranks, std::vector<Bytes> piece_sizes, int helpers = 0);
  /// `pieces` equal pieces of a buffer of `size`.
  Steps(int ranks, Bytes size, int pieces, int helpers = 0);

  std::uint32_t add(Message message,
                    std::span<const Run> runs,
                    std::span<const std::uint32_t> after);  // fills in the message's size

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int helpers() const { return helpers_; }
  [[nodiscard]] int pieces() const { return static_cast<int>(piece_sizes_.size()); }
  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  [[nodiscard]] bool empty() const { return messages_.empty(); }
  [[nodiscard]] const Message& message(std::size_t i) const { return messages_[i]; }
  [[nodiscard]] std::span<const std::uint32_t> after(std::size_t i) const {
    return {after_.data() + after_begin_[i], after_.data() + after_begin_[i + 1]};
  }
  [[nodiscard]] std::span<const Run> runs(std::size_t i) const {
    return std::span(runs_).subspan(run_lists_[i].first, run_lists_[i].count);
  }

 private:
  int ranks_;
  int helpers_;
  std::vector<Bytes> piece_sizes_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> after_begin_ = {0};
  std::vector<std::uint32_t> after_;

  /// Where a message's runs are. Messages with the same long list share one: a block that goes
  /// round a ring of a torus is many runs, and is sent again and again.
  struct RunList {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  RunList keep(std::span<const Run> runs);
  std::vector<RunList> run_lists_;
  std::vector<Run> runs_;
  std::unordered_map<std::uint64_t, RunList> long_lists_;  // by a hash of the runs
};

/// Writes steps round by round. A rank's messages of a round start together, once all that it sent
/// and received in the rounds before has arrived. Threads are sequences of rounds that do not wait
/// for one another (the parts of a buffer that take different ways at the same time).
class Script {
 public:
  explicit Script(Steps steps, int threads = 1);

  void thread(int number) { thread_ = number; }
  void send(Message message, std::span<const Run> runs);
  void send(const Message& message, Run run) { send(message, std::span(&run, 1)); }
  /// Ends the round of this thread.
  void next_round();
  [[nodiscard]] Steps take() { return std::move(steps_); }

 private:
  struct Thread {
    std::vector<std::vector<std::uint32_t>> awaited;  // per rank, by its messages of this round
    std::vector<std::uint32_t> round;                 // the messages of this round
    std::vector<std::int32_t> sent_in;                // per rank: last round in which it sent
    std::int32_t rounds = 0;
  };
  void join_if_many(std::vector<std::uint32_t>& awaited, std::int32_t rank);

  Steps steps_;
  std::vector<Thread> threads_;
  int thread_ = 0;
};

/// The piece that a rank contributes to an all-gather, and is left with by a reduce-scatter, where
/// there are as many pieces as ranks. Ranks with the same number on different nodes own
/// neighbouring pieces, so that each phase of a hierarchical algorithm moves one run of them.
[[nodiscard]] constexpr int home_piece(int rank, const Group& group) {
  return rank % group.per_node * group.nodes + rank / group.per_node;
}

}  // namespace titer
