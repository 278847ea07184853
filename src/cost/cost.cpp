#include "titer/cost/cost.hpp"

#include <algorithm>

#include "titer/cost/cost_parts.hpp"
#include "titer/cost/group_fabric.hpp"
#include "titer/cost/shard_cost.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/plan/place/torus_place.hpp"

namespace titer {
namespace {

/// The slowest channel between the ranks of two stages of one node, by what `probe` takes.
Channel stage_channel(const Scenario& scenario,
                      const GroupPlace& pipeline,
                      Bytes probe,
                      std::array<int, 2> stages) {
  const int devices = scenario.cluster.devices_per_node;
  Channel slowest;
  const std::int64_t stride = pipeline.stride;
  const std::int64_t length = pipeline.group.ranks() * stride;
  const std::int64_t end = std::min<std::int64_t>(devices, pipeline.stretches * length);
  for (std::int64_t start = 0; start < end; start += length) {
    for (int offset = 0; offset < pipeline.stride; ++offset) {
      const auto device = [&](int stage) {
        return static_cast<int>((start + stage * stride + offset) % devices);
      };
      const Channel other =
          scenario.cluster.pair_channel(device(stages.front()), device(stages.back()));
      const bool first = slowest.links().empty();
      slowest = first || other.time(1, probe) > slowest.time(1, probe) ? other : slowest;
    }
  }
  return slowest;
}

/// The chips of neighbouring stages on a torus, as two ranks whose wires are as long and as shared.
Group torus_pair(const Torus& torus, const GroupRanks& pipeline, int from, int to) {
  const WireLoad load = torus_send(torus, pipeline, from, to);
  Group pair{.per_node = 2, .nodes = 1};
  pair.torus.axes = 1;
  pair.torus.length[0] = 2;
  pair.torus.hops[0] = load.messages;
  pair.torus.sharing[0] = load.share;
  return pair;
}

/// One activation across a stage boundary, one way.
class SendClock {
 public:
  SendClock(const Scenario& scenario, const ModelBlocks& blocks)
      : scenario_(scenario), probe_(boundary_bytes(blocks)) {
    const StageMessage message = stage_message(scenario, blocks);
    size_ = message.size;
    if (message.regathered) {
      const GroupPlace tensor = place(scenario.plan, PlanGroup::tensor, scenario.cluster);
      gather_ =
          group_time(Collective::all_gather, probe_, tensor.group, group_fabric(scenario, tensor));
    }
  }

  /// Of the messages from the rank.
  void fill(std::size_t rank, StepCosts& costs) const {
    const StageWay way = stage_way(scenario_, static_cast<int>(rank), probe_);
    costs.send[rank] = way.send_time(size_) + gather_;
    costs.send_leaves_node[rank] = way.pair.nodes > 1 ? 1 : 0;
  }

 private:
  const Scenario& scenario_;
  Bytes probe_;
  Bytes size_;
  Seconds gather_;
};

}  // namespace

Seconds embedding_sync_time(const Scenario& scenario, const StepCosts& costs) {
  const int holder = place_of(costs.placement, costs.stages - 1, 0, costs.shape).rank;
  if (costs.blocks.tied_table == 0 || costs.blocks.embedding.frozen ||
      costs.placement == Placement::two_ways || holder == 0) {
    return {};
  }
  const auto last = static_cast<int>(scenario.plan.pipeline - 1);
  const StageWay way = stage_way(scenario, last, boundary_bytes(costs.blocks));
  Fabric fabric;
  (is_torus(way.pair)   ? fabric.wire
   : way.pair.nodes > 1 ? fabric.network
                        : fabric.node) = way.channel;
  return group_time(
      Collective::all_reduce, token_table_gradient(scenario, costs.blocks), way.pair, fabric);
}

BlockCost StepCosts::chunk(int stage) const {
  const std::span<const double> counts = contents.kinds(stage);
  const std::span<const double> repeated = contents.repeated(stage);
  const auto layers = [&](std::size_t kind) {
    BlockCost all = counts[kind] * kinds[kind];
    if (repeated[kind] < counts[kind]) {
      all.recompute = repeated[kind] * kinds[kind].recompute;
    }
    return all;
  };
  BlockCost cost = layers(0);
  for (std::size_t kind = 1; kind < counts.size(); ++kind) {
    if (counts[kind] > 0) {
      cost += layers(kind);
    }
  }
  if (stage == 0) {
    cost += embedding;
  }
  if (stage == stages - 1) {
    cost += head;
  }
  return cost;
}

PassCost StepCosts::pair(int stage) const {
  const BlockCost forth = chunk(stage);
  const BlockCost back = chunk(stages - 1 - stage);
  PassCost pair = forth.forward;
  pair += back.recompute;
  pair += back.backward;
  // The other run's transfers are in those gaps too.
  pair.compute = pair.launched;
  const Seconds all = pair.comm_total();
  const Seconds beside = std::min(pair.compute, all);
  // What a run hides by itself has slowed its compute already.
  const Seconds hidden = all - pair.comm();
  const Seconds left = std::max(Seconds{}, all - pair.compute);
  for (const PassComm comm : kAllPassComms) {
    pair.exposed[comm] = all > Seconds{} ? left / all * pair.transfers[comm] : Seconds{};
  }
  pair.compute += (slowdown - 1.0) * std::max(Seconds{}, beside - hidden);
  return pair;
}

std::optional<StepCosts::Message> StepCosts::message_after(StagePlace place, Pass pass) const {
  const int stage = stage_of(placement, place, shape);
  const int next = pass == Pass::forward ? stage + 1 : stage - 1;
  if (pass == Pass::weight_gradient || next < 0 || next == stages) {
    return std::nullopt;
  }
  const int to = place_of(placement, next, place.chunk, shape).rank;
  if (to == place.rank) {
    return std::nullopt;
  }
  // Both ways cross the same boundary, named after the rank before it.
  const int p = shape.stages;
  const int after = to == (place.rank + 1) % p ? place.rank : to;
  return Message{.to = to, .after = static_cast<std::size_t>(after)};
}

bool StepCosts::meets_sync(bool leaves_node) const {
  const Group& group = groups.dense.group;
  return group.ranks() > 1 && !is_torus(group) && leaves_node == (group.nodes > 1);
}

Seconds StepCosts::meeting_sync(const PassCost& pass) const {
  Seconds sum;
  for (const PassComm comm : {PassComm::tensor, PassComm::context, PassComm::expert}) {
    if (meets_sync(comm_leaves_node[static_cast<std::size_t>(comm)])) {
      sum += pass.exposed[comm];
    }
  }
  return sum;
}

void fill_shape(const Scenario& scenario, StepCosts& costs) {
  costs.shape = scenario.shape();
  costs.placement = placement(scenario.plan.schedule);
  costs.stages = model_stages(costs.placement, costs.shape);
}

void fill_layer_costs(const Scenario& scenario, StepCosts& costs) {
  scenario_blocks(scenario, costs.blocks);
  fill_kind_costs(scenario, costs);
}

void fill_kind_costs(const Scenario& scenario, StepCosts& costs) {
  const BlockClock clock = block_clock(scenario);
  costs.slowdown = clock.slowdown;
  costs.comm_leaves_node = {};
  for (std::size_t i = 0; i < kLayerGroups; ++i) {
    const auto comm = static_cast<std::size_t>(comm_of(static_cast<LayerGroup>(i)));
    costs.comm_leaves_node[comm] = costs.comm_leaves_node[comm] || clock.groups[i].nodes > 1;
  }
  costs.kinds.resize(costs.blocks.kinds.size());
  for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
    const Block& block = costs.blocks.kinds[kind];
    const Repeats repeats = repeats_of(scenario, block);
    costs.kinds[kind] = block_cost(block.operations, repeats, clock);
  }
  costs.embedding = block_cost(costs.blocks.embedding.operations, {}, clock);
  costs.head = block_cost(costs.blocks.head.operations, {}, clock);
}

void fill_sends(const Scenario& scenario, StepCosts& costs) {
  costs.send.resize(static_cast<std::size_t>(costs.shape.stages));
  costs.send_leaves_node.resize(costs.send.size());
  if (costs.shape.stages > 1) {
    const SendClock send(scenario, costs.blocks);
    for (std::size_t rank = 0; rank < costs.send.size(); ++rank) {
      send.fill(rank, costs);
    }
  }
}

void step_costs(const Scenario& scenario, StepCosts& costs) {
  fill_shape(scenario, costs);
  fill_layer_costs(scenario, costs);
  costs.contents.fill(scenario.plan, costs.blocks);
  fill_trained(scenario.plan, costs);
  costs.groups = sync_groups(scenario, costs.placement, 0);
  add_pass_transfers(scenario, costs);
  fill_sends(scenario, costs);
  costs.embedding_sync = embedding_sync_time(scenario, costs);
  fill_synchronisation(scenario, costs);
}

namespace {

Seconds send_beside_others(Bytes size, const Group& group, const Channel& channel) {
  if (is_torus(group)) {
    const WireLoad load = neighbour_load(group.torus);
    return channel.stream(load.messages, load.share * size);
  }
  return channel.time(1, size);
}

}  // namespace

Seconds neighbour_time(Bytes size, const Group& group, const Fabric& fabric) {
  return send_beside_others(size, group, neighbour_channel(group, fabric));
}

const Channel& neighbour_channel(const Group& group, const Fabric& fabric) {
  if (is_torus(group)) {
    return fabric.wire;
  }
  return group.nodes > 1 ? fabric.network : fabric.node;
}

Seconds StageWay::send_time(Bytes size) const { return send_beside_others(size, pair, channel); }

StageWay stage_way(const Scenario& scenario, int stage, Bytes probe) {
  const Cluster& cluster = scenario.cluster;
  const int next = (stage + 1) % scenario.shape().stages;
  if (const Torus* torus = cluster.torus_of(scenario.plan.devices())) {
    const GroupRanks pipeline = group_ranks(scenario.plan, PlanGroup::pipeline);
    return {.pair = torus_pair(*torus, pipeline, stage, next),
            .channel = cluster.fabric(2, 1).wire};
  }
  const GroupPlace pipeline = place(scenario.plan, PlanGroup::pipeline, cluster.devices_per_node);
  if (leaves_node(pipeline, stage, cluster.devices_per_node)) {
    return {.pair = {.per_node = 1, .nodes = 2}, .channel = cluster.network_channel()};
  }
  return {.pair = {.per_node = 2, .nodes = 1},
          .channel = stage_channel(scenario, pipeline, probe, {stage, next})};
}

Bytes boundary_bytes(const ModelBlocks& blocks) {
  Bytes most;
  for (const Block& kind : blocks.kinds) {
    most = std::max(most, kind.output);
  }
  return most;
}

StageMessage stage_message(const Scenario& scenario, const ModelBlocks& blocks) {
  const Bytes whole = boundary_bytes(blocks);
  const bool sharded = scenario.slice().sequence_parallel;
  const bool scattered = !sharded && scenario.stack.pipeline_scatter_gather;
  if (scenario.plan.tensor == 1 || !(sharded || scattered)) {
    return {.size = whole};
  }
  return {.size = whole / static_cast<double>(scenario.plan.tensor), .regathered = scattered};
}

}  // namespace titer
