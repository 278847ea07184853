#pragma once
// The engine's calendar: one possible alarm per slot, and the question which slots come next.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "titer/engine/task_graph.hpp"

namespace titer {

/// At most one alarm per slot. A tree of minima; a node is one cache line and holds the earliest
/// tick below each of its eight children: two levels for 64 slots, four for 4096.
class Calendar {
 public:
  static constexpr Ticks never = std::numeric_limits<Ticks>::max();

  /// Empties the calendar and gives it slots 0 .. slots-1.
  void reset(std::size_t slots);

  /// Sets the alarm of a slot that has none, not before the tick that was taken last.
  void set(std::uint32_t slot, Ticks tick) {
    std::size_t child = slot;
    for (std::size_t level = 0; level < height_; ++level) {
      Ticks& earliest = node(level, child / fan_out)[child % fan_out];
      if (earliest <= tick) {
        return;
      }
      earliest = tick;
      child /= fan_out;
    }
  }

  /// Sets, moves or (to `never`) removes the alarm of a slot.
  void move(std::uint32_t slot, Ticks tick);

  /// The tick that take_earliest() would return.
  [[nodiscard]] Ticks earliest() const;

  /// Removes all alarms at the earliest tick, puts their slots in ascending order into `due`, and
  /// returns that tick: `never`, and no slots, if there is no alarm.
  Ticks take_earliest(std::vector<std::uint32_t>& due);

 private:
  static constexpr std::uint32_t fan_out = 8;
  static constexpr std::size_t max_height = 11;  // 8^11 slots: more than a 32-bit id can name
  struct alignas(64) Node : std::array<Ticks, fan_out> {};

  [[nodiscard]] bool take_only(Ticks tick, std::vector<std::uint32_t>& due);
  void find(Ticks tick);  // fills found_
  void settle();          // recomputes the minima of the found nodes
  [[nodiscard]] Node& node(std::size_t level, std::size_t index) {
    return nodes_[level_begin_[level] + index];
  }

  std::size_t height_ = 0;
  std::array<std::size_t, max_height> level_begin_{};  // in nodes_; level 0 holds the slots
  std::vector<Node> nodes_;
  // The nodes above the alarms being taken, as indices in their level, the root first: those of
  // level l lie between found_begin_[l] and found_end_[l].
  std::vector<std::uint32_t> found_;
  std::array<std::size_t, max_height> found_begin_{};
  std::array<std::size_t, max_height> found_end_{};
};

}  // namespace titer
