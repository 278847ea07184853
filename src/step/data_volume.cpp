#include "titer/step/data_volume.hpp"

#include <algorithm>

#include "root_cost.hpp"
#include "sync_cost.hpp"

namespace titer {
namespace {

std::string_view formula_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "2 (1 - 1/n) S";
    case Collective::reduce:
      return "n reduces of S / n, each sent by n-1 ranks: (1 - 1/n) S";
    default:
      return "(1 - 1/n) S";
  }
}

/// What one all-reduce, all-gather or reduce-scatter of a device sends; or reduces to all ranks.
Bytes sent(Collective collective, Bytes size, int ranks) {
  const bool reduces = collective == Collective::reduce;  // one to each rank
  return volume(reduces ? Collective::reduce_scatter : collective, size, ranks);
}

/// Of a rank of the pipeline.
class MoveList {
 public:
  MoveList(const Scenario& scenario, const StepCosts& costs, int rank)
      : scenario_(scenario),
        plan_(scenario.plan),
        costs_(costs),
        rank_(rank),
        groups_(sync_groups(scenario, costs.placement, rank)),
        trained_(trained_parameters(costs.blocks, costs.contents, plan_, rank)),
        passes_(static_cast<double>(scenario.micro_batches())) {}

  std::vector<DataMove> run() {
    switch (plan_.sharding) {
      case Sharding::data_parallel_root:
        add_root();
        break;
      case Sharding::parameter_server:
        add_served("gradients, to the servers", scenario_.gradient_message());
        add_served("parameters, from the servers", scenario_.weight_message());
        break;
      default:
        add_gradients();
        add_parameters();
        break;
    }
    return std::move(moves_);
  }

 private:
  void add(std::string_view what, Collective collective, Bytes size, const SyncGroup& among) {
    const int ranks = among.group.ranks();
    if (ranks > 1 && size > Bytes{}) {
      moves_.push_back({.what = what,
                        .collective = collective,
                        .formula = formula_of(collective),
                        .ranks = static_cast<double>(ranks),
                        .size = size,
                        .moved = sent(collective, size, ranks)});
    }
  }

  void add_gradients() {
    const Collective collective = collective_of(plan_.gradient_exchange());
    const Bytes each = scenario_.gradient_message();
    const double times = plan_.reduces_every_pass() ? passes_ : 1.0;
    add("gradients", collective, times * trained_.dense * each, groups_.dense_shard);
    add("gradients of experts", collective, times * trained_.experts * each, groups_.expert_shard);
    if (plan_.shard) {
      const Bytes dense = trained_.dense / groups_.dense_shard.group.ranks() * each;
      const Bytes experts = trained_.experts / groups_.expert_shard.group.ranks() * each;
      add("gradients of equal shards", Collective::all_reduce, dense, groups_.dense_copies);
      add("those of experts", Collective::all_reduce, experts, groups_.expert_copies);
    }
  }

  void add_parameters() {
    if (!plan_.shards()) {
      return;
    }
    const Bytes each = scenario_.weight_message();
    const DeviceParameters count = plan_.gathers_every_pass() ? gathered_by_passes() : trained_;
    add("parameters", Collective::all_gather, count.dense * each, groups_.dense_shard);
    add("parameters of experts",
        Collective::all_gather,
        count.experts * each,
        groups_.expert_shard);
  }

  /// By all passes of all micro-batches: layers again for the backward pass, unless they stayed.
  [[nodiscard]] DeviceParameters gathered_by_passes() const {
    DeviceParameters sum;
    const ModelBlocks& blocks = costs_.blocks;
    for (int chunk = 0; chunk < costs_.contents.chunks(); ++chunk) {
      const int stage = costs_.contents.of(rank_, chunk);
      const std::span<const double> counts = costs_.contents.kinds(stage);
      for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        const bool again = plan_.reshard_after_forward && blocks.kinds[kind].backward;
        add_times(counts[kind] * (again ? 2.0 : 1.0), blocks.kinds[kind].parameters, sum);
      }
      if (stage == 0) {
        add_times(1, blocks.embedding.parameters, sum);
      }
      if (stage == costs_.contents.last()) {
        add_times(1, blocks.head.parameters, sum);
        add_times(1, {.split = blocks.tied_table}, sum);
      }
    }
    return sum;
  }
  void add_times(double times, const ParameterCount& parameters, DeviceParameters& sum) const {
    const DeviceParameters count = on_device(parameters, plan_);
    sum.dense += passes_ * times * count.dense;
    sum.experts += passes_ * times * count.experts;
  }

  /// A worker's own; it has one message for all servers together.
  void add_served(std::string_view what, Bytes each) {
    const Bytes size = trained_.total() * each;
    moves_.push_back({.what = what,
                      .collective = Collective::send_recv,
                      .formula = "S",
                      .ranks = static_cast<double>(plan_.replicas()),
                      .size = size,
                      .moved = size});
  }

  void add_root() {
    const RootMoves root = root_moves(scenario_, costs_);
    const auto add_one = [&](std::string_view what, Collective collective, const RootMove& move) {
      if (root.ranks > 1) {
        moves_.push_back({.what = what,
                          .collective = collective,
                          .formula = "(n-1) S",
                          .ranks = static_cast<double>(root.ranks),
                          .size = passes_ * move.size,
                          .moved = (root.ranks - 1) * passes_ * move.size});
      }
    };
    add_one("inputs, from the root", Collective::send_recv, root.inputs);
    add_one("parameters, from the root", Collective::broadcast, root.weights);
    add_one("outputs, to the root and their gradients back", Collective::send_recv, root.outputs);
    add_one("gradients, to the root", Collective::reduce, root.gradients);
  }

  const Scenario& scenario_;
  const Plan& plan_;
  const StepCosts& costs_;
  int rank_;
  SyncGroups groups_;
  DeviceParameters trained_;
  double passes_;
  std::vector<DataMove> moves_;
};

}  // namespace

std::vector<DataMove> data_moves(const Scenario& scenario, const StepCosts& costs, int rank) {
  return MoveList(scenario, costs, rank).run();
}

}  // namespace titer
