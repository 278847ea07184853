#include "titer/cost/moves.hpp"

#include "sharding_schemes.hpp"
#include "titer/cost/sync_cost.hpp"

namespace titer {
namespace {

/// Each rank has whole matrices of its group's for a while, and hands on what becomes of them; of
/// all parameters, though those of no hidden layer stay. [Microsoft Dion 2025: Muon on FSDP2]
void add_matrices(const Scenario& scenario, Moves& moves) {
  static constexpr std::string_view source = "Ahn et al. 2025, github.com/microsoft/dion";
  static constexpr MoveText there{.what = "moments, to where their matrices are orthogonalised",
                                  .of_experts = "those of experts",
                                  .source = source};
  static constexpr MoveText back{.what = "updates of matrices, back to their shards",
                                 .of_experts = "those of experts",
                                 .source = source};
  const Sharding sharding = scenario.plan.sharding;
  const bool cuts = sharding == Sharding::zero2 || sharding == Sharding::zero3;
  if (scenario.training.optimizer.orthogonal && cuts) {
    for (const MoveText* text : {&there, &back}) {
      moves.add({.text = text,
                 .when = MoveTime::updated,
                 .collective = Collective::all_to_all,
                 .each = size_of(DataType::bf16),
                 .own = true});
    }
  }
}

/// Copies of what is kept outside the device. Every device supplies its own part of what is split:
/// the bandwidth grows with the devices. [ZeRO-Infinity: bandwidth-centric partitioning]
void add_copies(const Scenario& scenario, Moves& moves) {
  static constexpr std::string_view source = "Rajbhandari et al. 2021";
  static constexpr MoveText weights{.what = "parameters, from the host", .source = source};
  static constexpr MoveText activations{.what = "activations, to the host", .source = source};
  static constexpr MoveText states{.what = "the optimizer's state, from and to the host",
                                   .source = source};
  const Plan& plan = scenario.plan;
  const auto copy = [](const MoveText& text, MoveTime when, HostPlace place) {
    return Move{.text = &text,
                .when = when,
                .among = MoveAmong::host,
                .collective = Collective::send_recv,
                .place = place};
  };
  if (plan.offload.weights) {
    for (const MoveTime when : {MoveTime::forward, MoveTime::backward}) {
      Move fetch = copy(weights, when, *plan.offload.weights);
      fetch.each = scenario.weight_message();
      fetch.own = plan.gathers_every_pass();
      moves.add(fetch);
    }
  }
  if (plan.offload.activations) {
    moves.add(copy(activations, MoveTime::there_and_back, *plan.offload.activations));
  }
  if (plan.offload.optimizer) {
    Move state = copy(states, MoveTime::update, *plan.offload.optimizer);
    state.each = parameter_bytes(scenario.training.optimizer, scenario.tensor_types()).optimizer;
    state.own = plan.shards();
    state.ways = plan.offload.prefetch ? 1 : 2;
    moves.add(state);
  }
}

}  // namespace

const ShardingScheme& scheme_of(Sharding sharding) {
  return kShardingSchemes[static_cast<std::size_t>(sharding)];
}

Moves list_moves(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  Moves moves;
  scheme_of(plan.sharding)
      .list({.exchange = collective_of(plan.gradient_exchange()),
             .gradient = scenario.gradient_message(),
             .weight = scenario.weight_message(),
             .every_pass = plan.reduces_every_pass(),
             .again = plan.reshard_after_forward,
             .copied = plan.shard.has_value()},
            moves);
  add_matrices(scenario, moves);
  add_copies(scenario, moves);
  return moves;
}

}  // namespace titer
