#pragma once
// Schedules that split the backward pass, so that gradients of the weights fill the waiting.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "titer/plan/actions.hpp"

namespace titer {

/// 1F1B in whose end the gradients of the weights, put off by a rank's distance from the first,
/// fill the waiting. The formula counts on a gradient of the weights that is no longer than what
/// it stands beside, a forward or an input gradient.  [Qi 2024, arXiv 2401.10241]
struct ZeroBubbleH1 {
  static constexpr std::string_view name = "zb-h1";
  static constexpr std::string_view formula = "(p - 1) (F + B - W), where W <= F, B and m >= p";
  static constexpr std::string_view source = "Qi et al. 2024, arXiv 2401.10241";
  static constexpr Placement placement = Placement::loop;
  static constexpr bool interleaves = false;
  static constexpr int chunks = 1;
  static constexpr bool bubble_of_span = false;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& shape) {
    return std::min(shape.micro_batches, shape.stages);
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

/// Twice as many forwards first, and gradients of the weights put off twice as far. No rank waits
/// between its first and last pass if F = B = W, but the last rank begins (p - 1) F after the
/// first: the next step must begin without a barrier to gain by it.  [Qi 2024]
struct ZeroBubbleH2 {
  static constexpr std::string_view name = "zb-h2";
  static constexpr std::string_view formula =
      "(p - 1) (F + B - 2 W) of a rank's own span, where W <= F, B and m >= 2 p - 1";
  static constexpr std::string_view source = "Qi et al. 2024, arXiv 2401.10241";
  static constexpr Placement placement = Placement::loop;
  static constexpr bool interleaves = false;
  static constexpr int chunks = 1;
  static constexpr bool bubble_of_span = true;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& shape) {
    return std::min(shape.micro_batches, 2 * shape.stages - 1);
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

/// Two chunks per rank in a wave: the last stage is on the first rank, where the backward pass can
/// begin at once. Zero of each rank's span with the memory of 1F1B.  [Qi 2024]
struct ZeroBubbleV {
  static constexpr std::string_view name = "zb-v";
  static constexpr std::string_view formula =
      "0 of a rank's own span, where F = B = W and m >= 2 p";
  static constexpr std::string_view source = "Qi et al. 2024, arXiv 2401.10241";
  static constexpr Placement placement = Placement::wave;
  static constexpr bool interleaves = false;
  static constexpr int chunks = 2;
  static constexpr bool bubble_of_span = true;

  [[nodiscard]] static std::optional<std::string> refusal(const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
  [[nodiscard]] static ActionList actions(int rank, const PipelineShape& shape);
  [[nodiscard]] static std::optional<Seconds> bubble(const PipelineShape& shape,
                                                     const PassTimes& times);
  [[nodiscard]] static std::optional<int> in_flight(int /*rank*/, const PipelineShape& shape) {
    return shape.micro_batches < 2 * shape.stages ? std::nullopt : std::optional(2 * shape.stages);
  }
  [[nodiscard]] static std::optional<SteadyPhase> steady_phase(int /*rank*/,
                                                               const PipelineShape& /*shape*/) {
    return std::nullopt;
  }
};

}  // namespace titer
