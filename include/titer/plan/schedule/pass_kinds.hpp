#pragma once
// Numbers of the places where the passes of a pipeline are done, and of the kinds of passes there.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "titer/plan/schedule/actions.hpp"

namespace titer {

/// Where passes are done: a stage of the model on a rank. With two copies in opposite ways, the
/// stages of the second way come after all those of the first.
[[nodiscard]] constexpr std::size_t pass_places(Placement placement, int stages) {
  const auto all = static_cast<std::size_t>(stages);
  return placement == Placement::two_ways ? 2 * all : all;
}
[[nodiscard]] constexpr std::size_t pass_place(Placement placement,
                                               int stages,
                                               int rank,
                                               int stage) {
  const bool second = placement == Placement::two_ways && stage != rank;
  return static_cast<std::size_t>(stage) + (second ? static_cast<std::size_t>(stages) : 0);
}
/// The place of its rank's other chunk whose backward is done together with a forward at `place`:
/// the stage of the model as far from the end as the one at `place` is from the beginning.
[[nodiscard]] constexpr std::size_t opposite_place(std::size_t places, std::size_t place) {
  return places - 1 - place;
}

// Each pass alone, overlapped, and a pair.
inline constexpr std::size_t kKindsOfPlace = 2 * std::size_t{kPasses} + 1;
[[nodiscard]] constexpr std::size_t pass_kind(std::size_t place,
                                              Pass pass,
                                              bool overlapped = false) {
  return kKindsOfPlace * place + static_cast<std::size_t>(pass) + (overlapped ? kPasses : 0);
}
/// A forward at `place` together with a backward of its rank's other chunk.
[[nodiscard]] constexpr std::size_t pair_kind(std::size_t place) {
  return kKindsOfPlace * place + 2 * std::size_t{kPasses};
}
[[nodiscard]] constexpr std::size_t instant_kind(std::size_t places) {
  return kKindsOfPlace * places;
}
/// What is left of a pair after its gradient is sent: its activation.
[[nodiscard]] constexpr std::size_t pair_end_kind(std::size_t places, std::size_t place) {
  return instant_kind(places) + 1 + place;
}
[[nodiscard]] constexpr std::size_t pass_kinds(std::size_t places) {
  return pair_end_kind(places, places);
}

/// What a kind stands for. REQUIRES one before instant_kind().
[[nodiscard]] constexpr std::size_t place_of_kind(std::size_t kind) { return kind / kKindsOfPlace; }
[[nodiscard]] constexpr bool is_pair(std::size_t kind) {
  return kind % kKindsOfPlace == 2 * std::size_t{kPasses};
}
[[nodiscard]] constexpr bool is_overlapped(std::size_t kind) {
  return kind % kKindsOfPlace >= kPasses && !is_pair(kind);
}
/// The same pass by itself.
[[nodiscard]] constexpr std::size_t alone_kind(std::size_t kind) {
  return is_overlapped(kind) ? kind - kPasses : kind;
}
[[nodiscard]] constexpr bool is_of(std::size_t kind, Pass pass) {
  return !is_pair(kind) && kind % kKindsOfPlace % kPasses == static_cast<std::size_t>(pass);
}

/// Which pass makes the gradients of a stage: the index of PipelineLanes::buckets.
enum class GradientPass : std::uint8_t { whole, weight, pair, overlapped };
inline constexpr std::size_t kGradientPasses = 4;
/// Whether a kind of pass makes any. `places`: of passes.
[[nodiscard]] constexpr std::optional<GradientPass> gradient_pass(std::size_t kind,
                                                                  std::size_t places) {
  if (kind >= instant_kind(places)) {
    return std::nullopt;
  }
  if (is_pair(kind)) {
    return GradientPass::pair;
  }
  if (is_of(kind, Pass::weight_gradient)) {
    return GradientPass::weight;
  }
  if (!is_of(kind, Pass::backward)) {
    return std::nullopt;
  }
  return is_overlapped(kind) ? GradientPass::overlapped : GradientPass::whole;
}

}  // namespace titer
