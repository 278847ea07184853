#pragma once
// Pipeline schedules. Each is a small type with the order of its actions per rank, its closed-form
// bubble and the activations it keeps alive. A shared typed test executes the orders on the event
// engine and demands the formulas. Shape: p stages (ranks), m micro-batches, v chunks per rank.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "titer/units/quantity.hpp"

namespace titer {

struct PipelineShape {
  int stages = 1;          // p
  int micro_batches = 1;   // m
  int virtual_stages = 1;  // v

  [[nodiscard]] int actions_per_rank() const { return 2 * micro_batches * virtual_stages; }
  friend bool operator==(const PipelineShape&, const PipelineShape&) = default;
};

/// One forward or backward pass of one chunk of a rank's layers.
struct Action {
  bool backward = false;
  int chunk = 0;
  int micro_batch = 0;
};

/// Where a rank's actions repeat: from action `begin` as far as its last forward, `period` actions
/// do for `micro_batches` more what those before did. `reach`: the input of an action of one rank
/// comes from an action of another that is at most this much further from its own rank's `begin`
/// or nearer to it.
struct SteadyPhase {
  int begin = 0;
  int period = 0;
  int micro_batches = 0;
  int reach = 0;
};

/// All forwards, then all backwards. [Huang 2019]
struct GPipe {
  static constexpr std::string_view name = "gpipe";
  static constexpr std::string_view formula = "(p - 1) (F + B)";
  static constexpr std::string_view source = "Huang et al. 2019";
  static constexpr bool interleaves = false;

  [[nodiscard]] static Action action(int rank, int index, PipelineShape shape);
  /// Idle time of a rank when all stages take F + B per micro-batch and sending is free.
  [[nodiscard]] static constexpr Seconds bubble(PipelineShape shape, Seconds forward_and_backward) {
    return (shape.stages - 1) * forward_and_backward;
  }
  /// Chunks whose activations rank `rank` holds at its peak.
  [[nodiscard]] static constexpr int in_flight(int /*rank*/, PipelineShape shape) {
    return shape.micro_batches;
  }
  [[nodiscard]] static constexpr std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                                         PipelineShape /*shape*/) {
    return std::nullopt;
  }
};

/// One forward, one backward; with v > 1 interleaved over v chunks per rank, micro-batches in
/// groups of p.  [Narayanan et al. 2021, arXiv 2104.04473]
struct OneForwardOneBackward {
  static constexpr std::string_view name = "1f1b";
  static constexpr std::string_view formula = "(p - 1) (F + B) / v";
  static constexpr std::string_view source = "Narayanan et al. 2021, section 2.2";
  static constexpr bool interleaves = true;

  [[nodiscard]] static Action action(int rank, int index, PipelineShape shape);
  [[nodiscard]] static constexpr Seconds bubble(PipelineShape shape, Seconds forward_and_backward) {
    return (shape.stages - 1) * forward_and_backward / shape.virtual_stages;
  }
  [[nodiscard]] static constexpr int in_flight(int rank, PipelineShape shape) {
    return std::min(shape.micro_batches * shape.virtual_stages, warm_up(rank, shape) + 1);
  }
  [[nodiscard]] static constexpr std::optional<SteadyPhase> steady_phase(int rank,
                                                                         PipelineShape shape) {
    const int p = shape.stages;
    const int v = shape.virtual_stages;
    if (v == 1) {
      return SteadyPhase{
          .begin = warm_up(rank, shape), .period = 2, .micro_batches = 1, .reach = 2};
    }
    return SteadyPhase{
        .begin = warm_up(rank, shape), .period = 2 * p * v, .micro_batches = p, .reach = 2 * p};
  }
  /// Forwards before a rank's first backward, less the one of its first forward-backward pair.
  [[nodiscard]] static constexpr int warm_up(int rank, PipelineShape shape) {
    const int behind = shape.stages - 1 - rank;
    const int chunks =
        shape.virtual_stages == 1 ? behind : 2 * behind + (shape.virtual_stages - 1) * shape.stages;
    return std::min(shape.micro_batches * shape.virtual_stages, chunks);
  }
};

template <class... Schedules>
using ScheduleOf = std::variant<Schedules...>;
using Schedule = ScheduleOf<GPipe, OneForwardOneBackward>;

[[nodiscard]] std::string_view name(const Schedule& schedule);
[[nodiscard]] std::string_view bubble_formula(const Schedule& schedule);
[[nodiscard]] std::string_view source(const Schedule& schedule);
[[nodiscard]] bool interleaves(const Schedule& schedule);
[[nodiscard]] Action action(const Schedule& schedule, int rank, int index, PipelineShape shape);
[[nodiscard]] int in_flight(const Schedule& schedule, int rank, PipelineShape shape);
[[nodiscard]] Seconds bubble(const Schedule& schedule, PipelineShape shape, Seconds both);
[[nodiscard]] std::optional<SteadyPhase> steady_phase(const Schedule& schedule,
                                                      int rank,
                                                      PipelineShape shape);

/// bubble_ratio = idle / total = (p-1)/(v m + p - 1).  [E8; seeds trap T15]
[[nodiscard]] constexpr double bubble_ratio(PipelineShape shape) {
  return (shape.stages - 1.0) / (shape.virtual_stages * shape.micro_batches + shape.stages - 1.0);
}
/// bubble_overhead = idle / ideal = (p-1)/(v m).  [Narayanan et al. 2021]
[[nodiscard]] constexpr double bubble_overhead(PipelineShape shape) {
  return (shape.stages - 1.0) / (shape.virtual_stages * shape.micro_batches);
}

}  // namespace titer
