#pragma once
// The bytes that data parallelism moves.

#include <string>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/cost/cost.hpp"

namespace titer {

/// Messages of one kind of a device and its data-parallel ranks, those of a whole iteration
/// together.
struct DataMove {
  std::string what;  // "gradients", "parameters", ...
  Collective collective = Collective::all_reduce;
  std::string formula;  // of `moved`
  double ranks = 1;     // n
  Bytes size{};         // S
  // Sent by the device. [E11: 4P (1 - 1/n) for the all-reduce of P gradients of 2 bytes, half of it
  // for an all-gather, a reduce-scatter or reduces] Of data-parallel-root: through the root's port,
  // one way.
  Bytes moved{};
};
/// Of a rank of the pipeline. No entry where a device has no other to exchange with.
[[nodiscard]] std::vector<DataMove> data_moves(const Scenario& scenario,
                                               const StepCosts& costs,
                                               int rank);

}  // namespace titer
