#include "sync_clock.hpp"

#include <algorithm>

#include "shard_cost.hpp"
#include "titer/step/parameter_server.hpp"

namespace titer {
namespace {

/// Of data-parallel workers; a server's node gets what its NICs get of long messages.
ParameterServers servers_of(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  double efficiency = 0;
  for (const Protocol& protocol : cluster.network_protocols) {
    efficiency = std::max(efficiency, protocol.efficiency);
  }
  return {.workers = static_cast<double>(scenario.plan.replicas()),
          .servers = static_cast<double>(scenario.plan.servers.value_or(1)),
          .bandwidth = cluster.nics * efficiency * cluster.nic_bandwidth};
}

/// What `time` (number of parameters, group -> Seconds) says of the dense part and of experts.
template <class Time>
Seconds both_parts(const DeviceParameters& parameters,
                   const SyncGroup& dense,
                   const SyncGroup& experts,
                   const Time& time) {
  Seconds sum;
  if (parameters.dense > 0 || parameters.experts == 0) {
    sum += time(parameters.dense, dense);
  }
  if (parameters.experts > 0) {
    sum += time(parameters.experts, experts);
  }
  return sum;
}

}  // namespace

SyncClock::SyncClock(const Scenario& scenario, const SyncGroups& places)
    : scenario_(&scenario),
      places_(&places),
      kernels_(scenario.cluster.chip),
      traffic_(optimizer_traffic(scenario)) {}

Seconds SyncClock::gradient_sync(const DeviceParameters& trained) const {
  const Plan& plan = scenario_->plan;
  switch (plan.sharding) {
    case Sharding::none:
    case Sharding::zero1:
    case Sharding::zero2:
    case Sharding::zero3:
      return (plan.reduces_every_pass() ? Seconds{}
                                        : exchange(plan.gradient_exchange(),
                                                   trained,
                                                   places_->dense_shard,
                                                   places_->expert_shard)) +
             copies_sync(trained);
    case Sharding::parameter_server:
      return servers_of(*scenario_).push(trained.total() * scenario_->gradient_message());
    case Sharding::data_parallel_root:
      return {};  // every pass hands them to the root
  }
  ensure(false, "a sharding is one of the enumerated ones");
  return {};
}

Seconds SyncClock::parameter_sync(const DeviceParameters& trained) const {
  const Sharding sharding = scenario_->plan.sharding;
  const Bytes each = scenario_->weight_message();
  if (sharding == Sharding::parameter_server) {
    return servers_of(*scenario_).pull(trained.total() * each);
  }
  if (sharding != Sharding::zero1 && sharding != Sharding::zero2) {
    return {};
  }
  return both_parts(
      trained, places_->dense_shard, places_->expert_shard, [&](double count, const SyncGroup& of) {
        return group_time(Collective::all_gather, count * each, of.group, of.fabric);
      });
}

Seconds SyncClock::expert_gradients(const DeviceParameters& trained) const {
  const bool apart = trained.experts > 0 && scenario_->plan.sharding != Sharding::parameter_server;
  return apart ? gradient_sync({.dense = 0, .experts = trained.experts}) : Seconds{};
}

Seconds SyncClock::expert_parameters(const DeviceParameters& trained) const {
  const bool apart = trained.experts > 0 && scenario_->plan.sharding != Sharding::parameter_server;
  return apart ? parameter_sync({.dense = 0, .experts = trained.experts}) : Seconds{};
}

Seconds SyncClock::optimizer(const DeviceParameters& trained) const {
  if (scenario_->plan.sharding == Sharding::parameter_server) {
    return {};
  }
  const DeviceParameters ranks = shards();
  Bytes bytes = optimizer_bytes(traffic_, trained.dense, ranks.dense);
  if (trained.experts > 0) {
    bytes += optimizer_bytes(traffic_, trained.experts, ranks.experts);
  }
  return bytes > Bytes{} ? kernels_.time(bytes) + (traffic_.kernels - 1) * kernels_.launch_floor()
                         : Seconds{};
}

Seconds SyncClock::host(const DeviceParameters& trained) const {
  const Offload& offload = scenario_->plan.offload;
  if (!offload.optimizer) {
    return {};
  }
  const DeviceParameters ranks = shards();
  const double own = trained.dense / ranks.dense + trained.experts / ranks.experts;
  const Bytes state =
      own * parameter_bytes(scenario_->training.optimizer, scenario_->tensor_types()).optimizer;
  const Seconds one_way = host_path(*scenario_, *offload.optimizer).time(state);
  return offload.prefetch ? one_way : 2.0 * one_way;
}

Seconds SyncClock::exchange(GradientCollective exchange,
                            const DeviceParameters& gradients,
                            const SyncGroup& dense,
                            const SyncGroup& experts) const {
  const Bytes each = scenario_->gradient_message();
  return both_parts(gradients, dense, experts, [&](double count, const SyncGroup& of) {
    return exchange_time(exchange, count * each, of.group, of.fabric);
  });
}

Seconds SyncClock::copies_sync(const DeviceParameters& trained) const {
  if (!scenario_->plan.shard) {
    return {};
  }
  const DeviceParameters ranks = shards();
  const DeviceParameters own{.dense = trained.dense / ranks.dense,
                             .experts = trained.experts / ranks.experts};
  return exchange(
      GradientCollective::all_reduce, own, places_->dense_copies, places_->expert_copies);
}

DeviceParameters SyncClock::shards() const {
  const bool sharded = scenario_->plan.shards();
  return {.dense = sharded ? static_cast<double>(places_->dense_shard.group.ranks()) : 1.0,
          .experts = sharded ? static_cast<double>(places_->expert_shard.group.ranks()) : 1.0};
}

}  // namespace titer
