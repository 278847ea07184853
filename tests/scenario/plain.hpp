#pragma once
// A machine of round figures: no floors, no saturation, no tiles, every efficiency one.

#include "scenario/scenarios.hpp"

namespace titer::plain {

inline constexpr FlopsPerSecond kPeak = 100_TFLOPps;
inline constexpr BytesPerSecond kMemory = 1_TBps;
inline constexpr Link kInside{.latency = 2_us, .bandwidth = 100_GBps};
inline constexpr Link kBetween{.latency = 10_us, .bandwidth = 10_GBps};  // a device's share

/// Eight devices on a switch, a NIC for each.
inline Cluster cluster() {
  Cluster cluster = shipped::cluster("dgx-a100-80gb");
  Chip& chip = cluster.chip;
  for (auto& rate : chip.matrix) {
    rate = MatrixRate{.peak = kPeak, .plateau = 1.0, .saturation = {}, .grade = Grade::fitted};
  }
  chip.attention_plateau = 1.0;
  chip.tiling.reset();
  chip.attention_tiling.reset();
  chip.sustained = {};
  chip.memory = {.capacity = 80_GiB, .bandwidth = kMemory, .efficiency = 1.0, .grade = {}};
  chip.launch_floor = {};
  for (auto* protocols : {&cluster.node_protocols, &cluster.network_protocols}) {
    const Link link = protocols == &cluster.node_protocols ? kInside : kBetween;
    protocols->resize(1);
    protocols->front().latency = link.latency;
    protocols->front().startup = {};
    protocols->front().efficiency = 1.0;
    protocols->front().own_share = 0.0;
  }
  cluster.peer_protocols.clear();  // to peers as in rings
  cluster.nic_bandwidth = kBetween.bandwidth;
  for (auto* table : {&cluster.ring_bandwidths, &cluster.pair_bandwidths}) {
    for (auto& bandwidth : *table) {
      bandwidth = bandwidth ? std::optional(kInside.bandwidth) : std::nullopt;
    }
  }
  return cluster;
}

/// A model on that machine; the host launches kernels in no time, as fast as the chip can.
inline Scenario scenario(const Plan& plan, std::string_view model = "megatron-1.7b") {
  Scenario scenario;
  scenario.model = shipped::model(model);
  scenario.cluster = cluster();
  scenario.stack = shipped::stack();
  scenario.stack.dispatch = {};
  scenario.stack.kernels = {};
  scenario.stack.pipeline_scatter_gather = false;
  scenario.stack.tensor_overlap = TensorOverlap::none;
  scenario.plan = plan;
  scenario.training = {.global_batch = 8 * plan.data * plan.micro_batch,
                       .sequence = 1024,
                       .precision = DataType::fp16,
                       .optimizer = kAdam,
                       .gradient_precision = std::nullopt};
  return scenario;
}

}  // namespace titer::plain
