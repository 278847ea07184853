#pragma once
// How efficient computing is whose data comes from a slow memory.  [seed equation E2; Rajbhandari
// et al. 2021, section 4]

#include "titer/units/quantity.hpp"

namespace titer {

/// FLOPs per byte that is moved: ait = total_computation / total_data_movement.
struct ArithmeticIntensity {
  double flops_per_byte = 0;
};
[[nodiscard]] constexpr ArithmeticIntensity intensity(Flops computation, Bytes movement) {
  return {computation.si() / movement.si()};
}
/// Of a transformer in mixed precision, per device: parameters and gradients, s b; states of the
/// optimizer, s b / 4; activations kept every `interval` layers, 24 h interval.
[[nodiscard]] constexpr ArithmeticIntensity intensity_of_parameters(double tokens) {
  return {tokens};
}
[[nodiscard]] constexpr ArithmeticIntensity intensity_of_states(double tokens) {
  return {tokens / 4};
}
[[nodiscard]] constexpr ArithmeticIntensity intensity_of_checkpoints(double hidden,
                                                                     double interval) {
  return {24 * hidden * interval};
}

/// compute / (compute + communication) = ait bw / (ait bw + peak). Nothing overlaps: a lower bound
/// for what overlaps (trap T32).
[[nodiscard]] constexpr double slow_memory_efficiency(ArithmeticIntensity ait,
                                                      BytesPerSecond bandwidth,
                                                      FlopsPerSecond peak) {
  const double fed = ait.flops_per_byte * bandwidth.si();
  return fed / (fed + peak.si());
}
}  // namespace titer
