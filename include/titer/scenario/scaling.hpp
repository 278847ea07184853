#pragma once
// How data-parallel training scales when the batch of a device stays as it is, from measured
// times, and the time of ZeRO-1's collectives from a measured bandwidth.
// [seed equations E12, E12a, E12b; Cheng et al. 2024]

#include "titer/model/transformer/transformer_estimates.hpp"

namespace titer {

/// Compute and communication of an iteration on some number of devices.
struct ScalingPoint {
  Seconds compute;
  Seconds communication;

  [[nodiscard]] constexpr Seconds iteration() const { return compute + communication; }
  [[nodiscard]] constexpr double compute_ratio() const { return compute / iteration(); }
  [[nodiscard]] constexpr double communication_ratio() const { return communication / iteration(); }
};

/// eff_{g->n} = t_comm(g) / t_comm(n).
[[nodiscard]] constexpr double communication_efficiency(const ScalingPoint& few,
                                                        const ScalingPoint& many) {
  return few.communication / many.communication;
}
/// speedup_{g->n} = t_iter(g) / t_iter(n): at most 1 where each device keeps its batch (trap T29).
[[nodiscard]] constexpr double iteration_speedup(const ScalingPoint& few,
                                                 const ScalingPoint& many) {
  return few.iteration() / many.iteration();
}
/// The same from ratios, (r_compute + r_comm) / (r_compute + r_comm / eff), both of few devices:
/// assumes that compute takes as long on many.
[[nodiscard]] constexpr double iteration_speedup(const ScalingPoint& few, double efficiency) {
  const double compute = few.compute_ratio();
  const double communication = few.communication_ratio();
  return (compute + communication) / (compute + communication / efficiency);
}
/// n/g times that: how much more is trained in the same time.
[[nodiscard]] constexpr double throughput_speedup(double speedup, double few, double many) {
  return many / few * speedup;
}

/// t_compute = FLOPs / FLOP/s / (k1 k2): k1 is the share of compute time that kernels have, k2 that
/// of the transformer's among these. [E12a]
[[nodiscard]] constexpr Seconds compute_time(Flops flops,
                                             FlopsPerSecond rate,
                                             double kernel_share,
                                             double transformer_share) {
  return flops / rate / (kernel_share * transformer_share);
}

/// ZeRO-1 of P fp16 parameters: t_all-reduce = 4 P / (BW eff), in bytes; without the (1 - 1/p) of
/// E11, that is 1 / (1 - 1/p) too much (trap T10). Its all-gather takes half. [E12b]
[[nodiscard]] constexpr Seconds zero1_all_reduce(double parameters,
                                                 BytesPerSecond bandwidth,
                                                 double efficiency) {
  return Bytes::from_si(4 * parameters) / (bandwidth * efficiency);
}
[[nodiscard]] constexpr Seconds zero1_all_gather(double parameters,
                                                 BytesPerSecond bandwidth,
                                                 double efficiency) {
  return 0.5 * zero1_all_reduce(parameters, bandwidth, efficiency);
}

}  // namespace titer
