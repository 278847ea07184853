#pragma once
// Schedules of whole backward passes over stages in a loop: one micro-batch after the other, GPipe,
// 1F1B and its interleaving, breadth-first.

#include <optional>
#include <string>
#include <string_view>

#include "titer/plan/actions.hpp"

namespace titer {

/// One micro-batch through all stages and back before the next: only one rank works at a time.
/// [seeds E16]
struct Sequential {
  static constexpr std::string_view name = "sequential";
  static constexpr std::string_view formula = "m (p - 1) (F + B + W)";
  static constexpr std::string_view source = "vanilla model parallelism, E16";
  static constexpr Placement placement = Placement::loop;
  static constexpr bool interleaves = false;
  static constexpr bool splits = false;
  static constexpr int chunks = 1;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times) {
    return shape.micro_batches * ((shape.stages - 1) * (times.forward + times.backward()));
  }
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& /*shape*/) {
    return 1;
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

/// All forwards, then all backwards. [Huang 2019]
struct GPipe {
  static constexpr std::string_view name = "gpipe";
  static constexpr std::string_view formula = "(p - 1) (F + B + W)";
  static constexpr std::string_view source = "Huang et al. 2019";
  static constexpr Placement placement = Placement::loop;
  static constexpr bool interleaves = false;
  static constexpr bool splits = false;
  static constexpr int chunks = 1;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times) {
    return (shape.stages - 1) * (times.forward + times.backward());
  }
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& shape) {
    return shape.micro_batches;
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

/// One forward, one backward; with v > 1 interleaved over v chunks per rank, micro-batches in
/// groups through each chunk.  [Narayanan et al. 2021, arXiv 2104.04473]
struct OneForwardOneBackward {
  static constexpr std::string_view name = "1f1b";
  static constexpr std::string_view formula = "(p - 1) (F + B + W) / v";
  static constexpr std::string_view source = "Narayanan et al. 2021, section 2.2";
  static constexpr Placement placement = Placement::loop;
  static constexpr bool interleaves = true;
  static constexpr bool splits = false;
  static constexpr int chunks = 1;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& shape);
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times) {
    return (shape.stages - 1) * (times.forward + times.backward()) / shape.virtual_stages;
  }
  [[nodiscard]] static std::optional<int> in_flight(int rank, const PipelineShape& shape) {
    return std::min(shape.micro_batches * shape.virtual_stages, warm_up(rank, shape) + 1);
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int rank,
                                                               const PipelineShape& shape);
  /// Forwards before a rank's first backward, less the one of its first forward-backward pair.
  [[nodiscard]] static constexpr int warm_up(int rank, const PipelineShape& shape) {
    const int behind = shape.stages - 1 - rank;
    const int chunks_ahead = shape.virtual_stages == 1
                                 ? behind
                                 : 2 * behind + (shape.virtual_stages - 1) * shape.group_size();
    return std::min(shape.micro_batches * shape.virtual_stages, chunks_ahead);
  }
};

/// All micro-batches through a chunk before the next chunk, so that each chunk's parameters are
/// gathered once per direction.  [Lamy-Poirier 2023, arXiv 2211.05953]
struct BreadthFirst {
  static constexpr std::string_view name = "breadth-first";
  static constexpr std::string_view formula = "(p - 1) (F + B + W) / v, where v = 1 or m >= p";
  static constexpr std::string_view source = "Lamy-Poirier 2023";
  static constexpr Placement placement = Placement::loop;
  static constexpr bool interleaves = true;
  static constexpr bool splits = false;
  static constexpr int chunks = 1;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times) {
    if (shape.virtual_stages > 1 && shape.micro_batches < shape.stages) {
      return std::nullopt;
    }
    return (shape.stages - 1) * (times.forward + times.backward()) / shape.virtual_stages;
  }
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& shape) {
    return shape.micro_batches * shape.virtual_stages;
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

}  // namespace titer
