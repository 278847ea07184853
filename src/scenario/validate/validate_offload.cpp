// What is kept outside the devices, and who works on it.

#include <fmt/format.h>

#include "validate_sharding.hpp"

namespace titer {

void check_place(const Scenario& scenario,
                 std::string_view path,
                 const std::optional<HostPlace>& where,
                 Demands& demands) {
  if (!where) {
    return;
  }
  const Cluster& cluster = scenario.cluster;
  demands.demand(cluster.host_memory.has_value(), path, name(*where), [&] {
    return fmt::format(
        "expected a cluster with node.host_memory (capacity, bandwidth and "
        "device_bandwidth), which {} has not",
        cluster.name);
  });
  demands.demand(*where != HostPlace::nvme || cluster.nvme.has_value(), path, name(*where), [&] {
    return fmt::format(
        "expected a cluster with node.nvme (capacity, bandwidth and "
        "device_bandwidth), which {} has not",
        cluster.name);
  });
}

namespace {

/// What ranks still have to add up cannot be elsewhere.
void check_offloaded_gradients(const Scenario& scenario, Demands& demands) {
  const Plan& plan = scenario.plan;
  if (!plan.offload.gradients) {
    return;
  }
  const bool alone = plan.replicas() == 1 && !scenario.cuts_images();
  demands.demand(
      alone || (plan.reduces_every_pass() && !plan.shard),
      "plan.offload.gradients",
      name(*plan.offload.gradients),
      "expected the sharding zero2 or zero3 with reduce_every_pass and without shard, by "
      "which every pass adds up what leaves the device");
}

/// What processors do one parameter after the other.
void check_host_update(const Scenario& scenario, Demands& demands) {
  const Offload& offload = scenario.plan.offload;
  if (!offload.updates_on_host()) {
    return;
  }
  const auto check = [&](bool condition, const auto& expected) {
    demands.demand(condition, "plan.offload.update", "host", expected);
  };
  check(offload.optimizer == HostPlace::host,
        "expected plan.offload.optimizer host, where processors reach it");
  const OptimizerRule& rule = scenario.training.optimizer;
  check(!rule.factored && !rule.quantised && !rule.whole_tensors && !rule.by_matrix(), [&] {
    return fmt::format("expected adam, sgd, sgd-plain or lion, got {}, which processors do not",
                       rule.name);
  });
  const Cluster& cluster = scenario.cluster;
  check(!cluster.host_memory || cluster.host_memory->processors, [&] {
    return fmt::format(
        "expected a cluster with node.host_memory.processor_bandwidth, which {} has not",
        cluster.name);
  });
}

}  // namespace

void check_offload(const Scenario& scenario, Demands& demands) {
  const Offload& offload = scenario.plan.offload;
  check_place(scenario, "plan.offload.weights", offload.weights, demands);
  check_place(scenario, "plan.offload.optimizer", offload.optimizer, demands);
  check_place(scenario, "plan.offload.gradients", offload.gradients, demands);
  check_place(scenario, "plan.offload.activations", offload.activations, demands);
  check_offloaded_gradients(scenario, demands);
  check_host_update(scenario, demands);
  demands.demand(
      !offload.layers || offload.activations.has_value(),
      "plan.offload.layers",
      offload.layers.value_or(0),
      "expected plan.offload.activations too: they are what goes to the host of a layer");
  demands.demand(!offload.optimizer || scenario.plan.sharding != Sharding::parameter_server,
                 "plan.offload.optimizer",
                 offload.optimizer ? name(*offload.optimizer) : "",
                 "expected another sharding: parameter servers have the optimizer's state");
}

}  // namespace titer
