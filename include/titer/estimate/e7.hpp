#pragma once
// The seeds' own closed form, equations E7 to E9 (HKUST iSING Lab, APNet slides), line by line:
//   T_iter = T_comp + T_TP + T_PP + T_DP + T_bubble                                        (E7)
//   T_comp = m FLOP_mb / (u F),           FLOP_mb = 8 N/(p t) b s                          (E7a)
//   T_TP   = m (l/p) 4 (2 b s h) 2 (t-1)/t * 3/2 / C_TP                       (trap T1: see below)
//   T_PP   = m (2 * 2 b s h) / C_PP                                                        (E7b)
//   T_DP   = 2 N/(p t) * 2 (d-1)/d / C_DP                                                  (E6)
//   T_bubble = (p-1) (T_comp + T_TP + T_PP of one micro-batch)                             (E8)
//   T_comm = T_TP + T_PP + T_DP,          R_comm = T_comm / T_iter                         (E9)
// N: parameters; 2 bytes each, and per activation element. 8 N counts full recomputation. The
// slides leave T_TP out; it is Megatron's: 4 all-reduces per layer and micro-batch, 6 with full
// recomputation. u, F: utilization and peak; C: effective bandwidths.

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// Every term by itself.
struct E7Terms {
  double micro_batches = 0;           // m
  double parameters = 0;              // N
  Flops micro_batch_flops;            // FLOP_mb
  double utilization = 0;             // u
  FlopsPerSecond peak;                // F
  BytesPerSecond tensor_bandwidth;    // C_TP
  BytesPerSecond pipeline_bandwidth;  // C_PP
  BytesPerSecond data_bandwidth;      // C_DP
  Seconds compute;                    // T_comp
  Seconds tensor;                     // T_TP
  Seconds pipeline;                   // T_PP
  Seconds data;                       // T_DP
  Seconds bubble;                     // T_bubble

  [[nodiscard]] Seconds iteration() const { return compute + tensor + pipeline + data + bubble; }
  [[nodiscard]] Seconds communication() const { return tensor + pipeline + data; }
  [[nodiscard]] double bubble_ratio() const { return bubble / iteration(); }
  [[nodiscard]] double communication_ratio() const { return communication() / iteration(); }
};

/// REQUIRES a valid scenario with e7.utilization.
[[nodiscard]] E7Terms e7_terms(const Scenario& scenario);

/// The same as a step's result; of 8 N, 2 N count as forward, 4 N backward, 2 N recomputation.
void e7_estimate(const Scenario& scenario, StepResult& result);

}  // namespace titer
