#include "titer/cost/move_clock.hpp"

#include <algorithm>

#include "titer/cost/root_cost.hpp"
#include "titer/scenario/parameter_server.hpp"

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

/// Of a node, that the plan uses.
int devices_of_node(const Scenario& scenario) {
  return static_cast<int>(
      std::min<std::int64_t>(scenario.plan.devices(), scenario.cluster.devices_per_node));
}

/// What the processors of a node do for one device of it.
BytesPerSecond processors_share(const Scenario& scenario) {
  const std::optional<HostTier>& host = scenario.cluster.host_memory;
  ensure(host && host->processors, "a host that updates parameters has a rate");
  return kUpdateShare / static_cast<double>(devices_of_node(scenario)) * *host->processors;
}

/// The way of a device to the memory of its host, or to NVMe.
HostPath host_path(const Scenario& scenario, HostPlace where) {
  const Cluster& cluster = scenario.cluster;
  const int devices = devices_of_node(scenario);
  ensure(cluster.host_memory.has_value(), "what is offloaded has a place");
  HostPath path{.host = cluster.host_memory->share(devices),
                .pipelined = scenario.plan.offload.prefetch};
  if (where == HostPlace::nvme) {
    ensure(cluster.nvme.has_value(), "what is offloaded to NVMe has a place");
    path.nvme = cluster.nvme->share(devices);
  }
  return path;
}

/// Ranks that split among them what is sharded.
DeviceParameters shards_of(const SyncGroups& places) {
  return {.dense = static_cast<double>(places.dense_shard.group.ranks()),
          .experts = static_cast<double>(places.expert_shard.group.ranks())};
}

/// Of an all-reduce around the islands, in which each device has its part of what its island sends.
Seconds time_between_islands(const Scenario& scenario, Bytes part) {
  const LocalSteps& local = *scenario.plan.local_steps;
  const auto islands = static_cast<double>(local.islands);
  const double devices = static_cast<double>(scenario.plan.devices()) / islands;
  const Bytes sent = volume(Collective::all_reduce, part, static_cast<int>(local.islands));
  return devices * sent / *local.bandwidth + 2 * (islands - 1) * local.latency;
}

}  // namespace

bool has_parts(const Move& move) {
  return move.among == MoveAmong::shard || move.among == MoveAmong::copies ||
         move.among == MoveAmong::islands;
}

MoveParts parts_of(const Move& move, const DeviceParameters& parameters, const SyncGroups& places) {
  const bool copies = move.among == MoveAmong::copies || move.among == MoveAmong::islands;
  const DeviceParameters of = move.own ? shards_of(places) : DeviceParameters{1, 1};
  MoveParts parts;
  if (parameters.dense > 0 || parameters.experts == 0) {
    parts.add({.among = copies ? &places.dense_copies : &places.dense_shard,
               .size = parameters.dense / of.dense * move.each});
  }
  if (parameters.experts > 0) {
    parts.add({.experts = true,
               .among = copies ? &places.expert_copies : &places.expert_shard,
               .size = parameters.experts / of.experts * move.each});
  }
  return parts;
}

Seconds time_of(const Move& move, const MovePart& part) {
  return exchange_time(move.collective, part.size, part.among->group, part.among->fabric);
}

PlanGroup plan_group(const Scenario& scenario, const Move& move, const MovePart& part) {
  if (scenario.cuts_images()) {
    return PlanGroup::stage;
  }
  if (move.among == MoveAmong::copies) {
    return part.experts ? PlanGroup::expert_shard_copies : PlanGroup::shard_copies;
  }
  if (scenario.plan.group()) {
    return part.experts ? PlanGroup::expert_shard : PlanGroup::shard;
  }
  return part.experts ? PlanGroup::expert_replicas : PlanGroup::replicas;
}

MoveClock::MoveClock(const Scenario& scenario, const SyncGroups& places)
    : scenario_(&scenario),
      places_(&places),
      moves_(list_moves(scenario)),
      kernels_(scenario.cluster.chip),
      traffic_(optimizer_traffic(scenario)) {}

Seconds MoveClock::time(const Move& move, const DeviceParameters& parameters, Bytes others) const {
  switch (move.among) {
    case MoveAmong::shard:
    case MoveAmong::copies: {
      Seconds sum;
      for (const MovePart& part : parts_of(move, parameters, *places_)) {
        sum += time_of(move, part);
      }
      return sum / move.every;
    }
    case MoveAmong::islands: {
      Bytes sum;
      for (const MovePart& part : parts_of(move, parameters, *places_)) {
        sum += part.size;
      }
      return time_between_islands(*scenario_, sum) / move.every;
    }
    case MoveAmong::servers: {
      const ParameterServers servers = servers_of(*scenario_);
      const Bytes size = parameters.total() * move.each;
      return move.when == MoveTime::updated ? servers.pull(size) : servers.push(size);
    }
    case MoveAmong::root:
      return root_time(*scenario_, others + parameters.total() * move.each);
    case MoveAmong::host: {
      const double count = move.own ? own(parameters) : parameters.total();
      return move.ways / move.every *
             host_path(*scenario_, *move.place).time(others + count * move.each);
    }
    case MoveAmong::processors: {
      const double count = move.own ? own(parameters) : parameters.total();
      return count * move.each / processors_share(*scenario_);
    }
  }
  ensure(false, "a move is among one of the enumerated ones");
  return {};
}

Seconds MoveClock::time(MoveTime when, const DeviceParameters& parameters) const {
  Seconds sum;
  for (const Move& move : moves_) {
    sum += move.when == when ? time(move, parameters) : Seconds{};
  }
  return sum;
}

IslandMeeting MoveClock::meeting(const DeviceParameters& trained) const {
  IslandMeeting meeting;
  for (const Move& move : moves_) {
    if (move.when == MoveTime::met) {
      (move.among == MoveAmong::host ? meeting.host : meeting.exchange) += time(move, trained);
    }
  }
  if (const std::optional<LocalSteps>& local = scenario_->plan.local_steps) {
    const double parameters = scenario_->plan.shards() ? own(trained) : trained.total();
    meeting.update = kernels_.time(parameters * kOuterTraffic) / static_cast<double>(local->steps);
  }
  return meeting;
}

Seconds MoveClock::expert_time(MoveTime when, const DeviceParameters& parameters) const {
  Seconds sum;
  for (const Move& move : moves_) {
    if (move.when == when && has_parts(move) && parameters.experts > 0) {
      sum += time(move, {.dense = 0, .experts = parameters.experts});
    }
  }
  return sum;
}

Seconds MoveClock::optimizer(const DeviceParameters& trained, const MatrixUpdate& matrices) const {
  if (!scheme_of(scenario_->plan.sharding).updates) {
    return {};
  }
  const Bytes bytes = optimizer_bytes(trained, matrices);
  return bytes > Bytes{} ? kernels_.time(bytes) + (traffic_.kernels - 1) * kernels_.launch_floor() +
                               matrices.time
                         : Seconds{};
}

Bytes MoveClock::optimizer_bytes(const DeviceParameters& trained,
                                 const MatrixUpdate& matrices) const {
  const DeviceParameters ranks =
      scenario_->plan.shards() ? shards_of(*places_) : DeviceParameters{1, 1};
  const auto bytes = [&](double all, double of_matrices, double shards) {
    return (all - of_matrices) / shards * traffic_.per_updated + all * traffic_.per_gradient;
  };
  const Bytes dense = bytes(trained.dense, matrices.parameters.dense, ranks.dense);
  return trained.experts > 0
             ? dense + bytes(trained.experts, matrices.parameters.experts, ranks.experts)
             : dense;
}

double MoveClock::own(const DeviceParameters& parameters) const {
  const DeviceParameters ranks = shards_of(*places_);
  return parameters.dense / ranks.dense + parameters.experts / ranks.experts;
}

}  // namespace titer
