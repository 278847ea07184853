#pragma once
// What a checkpoint holds: the whole model's weights and optimizer states, once.

#include "titer/estimate/result.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

struct ModelState {
  Bytes weights;
  Bytes optimizer;  // of what is trained: states, and the master copy where weights are narrower

  [[nodiscard]] Bytes total() const { return weights + optimizer; }
};
/// W = N x bytes of a weight, O = N' x bytes of its states; N' of N parameters are trained. N has
/// the rows that pad a table of tokens. Copies of weights in the type of the products are made
/// anew, not kept.
[[nodiscard]] ModelState model_state(const Scenario& scenario);

/// Of this, what a node of the plan must have before training goes on: what its k devices hold, of
/// which nothing is needed twice, min(k w, W) + min(k o, O) for w and o on the device that holds
/// most; at least an even share (states may lie in the host's memory).
[[nodiscard]] Bytes node_state(const Scenario& scenario, const StepResult& result);

/// Nodes that the plan's devices fill.
[[nodiscard]] std::int64_t plan_nodes(const Scenario& scenario);

/// Devices of a host, which fail together, and the hosts that the plan's devices fill.
[[nodiscard]] std::int64_t devices_per_host(const Cluster& cluster);
[[nodiscard]] std::int64_t plan_hosts(const Scenario& scenario);
/// What a batch takes to be read and prepared by these hosts; nothing where that is not told.
[[nodiscard]] Seconds input_time(const Scenario& scenario);
/// How much longer than a step that would end then by itself.
[[nodiscard]] Ticks input_wait(const Scenario& scenario, Ticks end);

}  // namespace titer
