#pragma once
// Schedules whose micro-batches enter at both ends of the pipeline, or come back to where they
// entered, so that one's forward meets another's backward.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "titer/plan/actions.hpp"

namespace titer {

/// Two copies of the model in opposite ways; in the middle phase each rank does a forward of one
/// way together with a backward of the other.  [DeepSeek-V3, arXiv 2412.19437]
/// The formula counts on the middle phase being the longer: W <= F <= B and a pair that takes at
/// least a forward and an input gradient.
struct DualPipe {
  static constexpr std::string_view name = "dualpipe";
  static constexpr std::string_view formula =
      "(p/2 - 1) (F&B + B - 2 W), where W <= F <= B and F + B <= F&B <= F + B + W";
  static constexpr std::string_view source = "DeepSeek-V3 2024, arXiv 2412.19437";
  static constexpr Placement placement = Placement::two_ways;
  static constexpr bool interleaves = false;
  static constexpr int chunks = 1;
  static constexpr bool pairs = true;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& shape);
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& shape) {
    return shape.stages + 1;
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

/// DualPipe cut in half: each rank has both of its stages in a wave of one copy of the model.
/// [DualPipe repository, 2025]
struct DualPipeV {
  static constexpr std::string_view name = "dualpipev";
  static constexpr std::string_view formula =
      "(p - 1) (F&B + B - 2 W) / 2, where W <= F <= B and F + B <= F&B <= F + B + W";
  static constexpr std::string_view source = "DualPipe repository 2025";
  static constexpr Placement placement = Placement::wave;
  static constexpr bool interleaves = false;
  static constexpr int chunks = 2;
  static constexpr bool pairs = true;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& shape);
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& shape) {
    return 2 * shape.stages + 1;
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

/// Two copies of the model in opposite ways, each with half of the micro-batches in the order of
/// 1F1B; more than p micro-batches in units of p, each as soon as the one before lets it. The two
/// ways fit into one another's gaps if a forward takes as long as a backward; otherwise more gaps
/// appear.  [Li and Hoefler 2021, arXiv 2107.06925]
struct Chimera {
  static constexpr std::string_view name = "chimera";
  static constexpr std::string_view formula =
      "(p/2 - 1) (F + B + W), where F = B + W and p divides m";
  static constexpr std::string_view source = "Li and Hoefler 2021";
  static constexpr Placement placement = Placement::two_ways;
  static constexpr bool interleaves = false;
  static constexpr bool splits = false;
  static constexpr int chunks = 1;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& shape);
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  /// Between p/2 + 1 at the ends and p in the middle.
  [[nodiscard]] static std::optional<int> in_flight(int rank, const PipelineShape& shape) {
    const int p = shape.stages;
    return shape.micro_batches < p ? std::nullopt
                                   : std::optional(p / 2 + 1 + std::min(rank, p - 1 - rank));
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

}  // namespace titer
