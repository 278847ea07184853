#pragma once
// What a step sends of parameters, their gradients and states beside what its layers exchange. A
// sharding scheme lists its moves once; times, bytes, exports, loads of links and explanations are
// folds of that list.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "titer/collectives/collective.hpp"
#include "titer/engine/stream_task.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// When of a step something is moved.
enum class MoveTime : std::uint8_t {
  forward,         // with every forward pass of a block, which waits for it
  there_and_back,  // after a forward pass, and back before the backward pass
  backward,        // with every backward pass of a block, which waits for it
  gradients,       // with every backward pass, which makes them
  complete,        // once, when the last micro-batch has made all gradients
  update,          // once, while parameters are updated
  updated,         // once, after that
  met,             // once in many steps, when islands meet
};

enum class MoveAmong : std::uint8_t {
  shard,   // ranks that split among them what is sharded: all that have the same, or groups of them
  copies,  // ranks that have the same shard
  islands,     // the same of islands of ranks, over links of their own
  servers,     // each rank and the servers
  root,        // the first rank and each other one
  host,        // a device and the memory of its host
  processors,  // the host's own, which read and write that memory
};

/// How an answer tells of a move.
struct MoveText {
  std::string_view what;
  std::string_view of_experts{};  // what experts send among their own ranks
  std::string_view back{};        // what comes back
  std::string_view formula{};     // of what it takes, where no collective's algorithm has one
  std::string_view source{};      // of that
};

/// Something that is sent of a number of parameters.
struct Move {
  const MoveText* text = nullptr;
  MoveTime when = MoveTime::complete;
  MoveAmong among = MoveAmong::shard;
  Collective collective = Collective::all_reduce;  // some go in turn, see goes_in_turn()
  Bytes each{};                                    // of a parameter
  bool own = false;                                // a rank has no more than its shard of it
  double ways = 1;                                 // one after the other
  double every = 1;                                // steps, of which it counts as so much of each
  std::optional<HostPlace> place{};                // of the host

  [[nodiscard]] bool is_of_pass() const { return when < MoveTime::complete; }
  [[nodiscard]] bool is_of_host() const {
    return among == MoveAmong::host || among == MoveAmong::processors;
  }
};
/// Of a scheme; a plan adds matrices and norms of its optimizer, and copies from and to the host.
inline constexpr std::size_t kMostSchemeMoves = 4;
inline constexpr std::size_t kMostHostMoves = 6;
inline constexpr std::size_t kMostMeetingMoves = 2;
using Moves = FewOf<Move, kMostSchemeMoves + 2 + kMostHostMoves + kMostMeetingMoves>;

/// What the moves of a scheme are made of.
struct MoveTerms {
  Collective exchange = Collective::all_reduce;  // that adds up gradients
  Bytes gradient{};                              // message for each of them
  Collective returns = Collective::all_gather;   // that hands on what is updated
  Bytes weight{};                                // message for each parameter
  bool every_pass = false;                       // gradients are handed on by every backward pass
  bool again = false;                            // parameters are gathered again for it
  bool copied = false;                           // shards have copies
};

/// A way of sharing out parameters, gradients and states among ranks that have the same.
struct ShardingScheme {
  Sharding sharding = Sharding::none;
  void (*list)(const MoveTerms& of, Moves& moves) = nullptr;
  bool updates = true;     // devices update their parameters by themselves
  bool in_buckets = true;  // gradients may be added up in parts, beside backward passes
};
[[nodiscard]] const ShardingScheme& scheme_of(Sharding sharding);

/// All that a plan moves so: of its sharding, then of what it offloads.
[[nodiscard]] Moves list_moves(const Scenario& scenario);

}  // namespace titer
