#pragma once
// Schedules over waves of chunks whose order is found by playing the passes cell by cell.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/plan/actions.hpp"

namespace titer {

/// Two chunks per rank in a wave. Each micro-batch repeats the passes of the one before six cells
/// later; a stage follows the one before after one cell or two, so that a micro-batch is gone after
/// half the time that 1F1B keeps it. Gradients of the weights fill the gaps, and go first when the
/// rank holds as much as it may.  [Qi 2024, arXiv 2405.15362]
struct VHalf {
  static constexpr std::string_view name = "v-half";
  static constexpr std::string_view formula =
      "(p - 1) (F + B + W) / 2, less F / 2 for odd p, where F = B = W and m >= p";
  static constexpr std::string_view source = "Qi et al. 2024, arXiv 2405.15362";
  static constexpr Placement placement = Placement::wave;
  static constexpr bool interleaves = false;
  static constexpr int chunks = 2;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  /// Of all ranks, found together.
  [[nodiscard]] static std::vector<ActionList> lists(const PipelineShape& shape);
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  [[nodiscard]] static std::optional<int> in_flight(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  /// Chunks that no rank holds more of: 2 ceil((p - 1) / 2) + 2, each half a rank's layers.
  [[nodiscard]] static constexpr int most_chunks(int stages) { return 2 * (stages / 2) + 2; }
};

/// The same with a stage right after the one before: a third of the memory of 1F1B.
struct VMin {
  static constexpr std::string_view name = "v-min";
  static constexpr std::string_view formula =
      "(2 p - 3/2) F, less F unless 3 divides p, where F = B = W and m >= p";
  static constexpr std::string_view source = "Qi et al. 2024, arXiv 2405.15362";
  static constexpr Placement placement = Placement::wave;
  static constexpr bool interleaves = false;
  static constexpr int chunks = 2;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  /// Of all ranks, found together.
  [[nodiscard]] static std::vector<ActionList> lists(const PipelineShape& shape);
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  [[nodiscard]] static std::optional<int> in_flight(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  /// 2 ceil((p - 1) / 3) + 2.
  [[nodiscard]] static constexpr int most_chunks(int stages) { return 2 * ((stages + 1) / 3) + 2; }
};

/// v / 2 waves down and up the ranks. As many micro-batches as there are stages, each rank doing
/// the backward pass of the earliest micro-batch that it can, or else the forward of the latest
/// stage; more micro-batches in units of p, one unit after the other.  [Liu 2023, arXiv 2308.15762]
struct Hanayo {
  static constexpr std::string_view name = "hanayo";
  static constexpr std::string_view formula = "executed";
  static constexpr std::string_view source = "Liu et al. 2023, arXiv 2308.15762";
  static constexpr Placement placement = Placement::wave;
  static constexpr bool interleaves = true;
  static constexpr bool splits = false;
  static constexpr int chunks = 2;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& shape);
  /// Of all ranks, found together.
  [[nodiscard]] static std::vector<ActionList> lists(const PipelineShape& shape);
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& /*shape*/,
                                                     const PassTimes& /*times*/) {
    return std::nullopt;
  }
  [[nodiscard]] static std::optional<int> in_flight(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

}  // namespace titer
