#include "titer/cost/moves.hpp"

#include "sharding_schemes.hpp"
#include "titer/cost/sync_cost.hpp"

namespace titer {
namespace {

/// Each rank has whole matrices of its group's for a while: their moments come to it, and what
/// becomes of them goes back to their shards; of all parameters, though those of no hidden layer
/// stay. [Microsoft Dion 2025: Muon on FSDP2]
void add_matrices(const Scenario& scenario, Moves& moves) {
  static constexpr MoveText text{
      .what = "moments to where their matrices are orthogonalised, and updates back",
      .of_experts = "those of experts",
      .source = "Ahn et al. 2025, github.com/microsoft/dion"};
  if (scenario.training.optimizer.orthogonal && scenario.plan.splits().gradients) {
    moves.add({.text = &text,
               .when = MoveTime::updated,
               .collective = Collective::all_to_all,
               .each = 2.0 * size_of(DataType::bf16),
               .own = true});
  }
}

/// Two fp32 numbers of each tensor, the weights' norm and the update's, whose parts are added up
/// over the shards: of a transformer's layers a matrix and a vector for about every hidden²
/// parameters. [NVIDIA Apex, DistributedFusedLAMB]
void add_norms(const Scenario& scenario, Moves& moves) {
  static constexpr MoveText norms{.what = "norms of tensors",
                                  .of_experts = "those of experts",
                                  .source = "NVIDIA Apex, DistributedFusedLAMB"};
  const Transformer* model = scenario.model.if_transformer();
  if (scenario.training.optimizer.whole_tensors && scenario.plan.shards() && model != nullptr) {
    const auto hidden = static_cast<double>(model->hidden);
    moves.add({.text = &norms,
               .when = MoveTime::updated,
               .collective = Collective::all_reduce,
               .each = Bytes::from_si(2.0 * 2.0 * 4.0 / (hidden * hidden))});
  }
}

constexpr std::string_view kOffloadSource = "Ren et al. 2021, ZeRO-Offload";

Move copy(const MoveText& text, MoveTime when, HostPlace place) {
  return {.text = &text,
          .when = when,
          .among = MoveAmong::host,
          .collective = Collective::send_recv,
          .place = place};
}

/// States come and go, with them gradients that are not on the device.
void add_device_update(const Scenario& scenario, Moves& moves) {
  static constexpr MoveText states{
      .what = "the optimizer's state, from and to the host",
      .formula = "state / bandwidth, both ways at once where it is prefetched",
      .source = "Rajbhandari et al. 2021"};
  static constexpr MoveText gradients{.what = "gradients, from the host",
                                      .formula = "gradients / bandwidth",
                                      .source = kOffloadSource};
  const Plan& plan = scenario.plan;
  Move state = copy(states, MoveTime::update, *plan.offload.optimizer);
  state.each = parameter_bytes(scenario.training.optimizer, scenario.tensor_types()).optimizer;
  state.own = plan.shards();
  state.ways = plan.offload.prefetch ? 1 : 2;
  moves.add(state);
  if (plan.offload.gradients) {
    Move back = copy(gradients, MoveTime::update, *plan.offload.gradients);
    back.each = size_of(scenario.gradient_type());
    back.own = plan.shards();
    moves.add(back);
  }
}

/// Gradients go to the host, if they are not there, its processors update, and what passes compute
/// with comes back, if it is kept on the device.
void add_host_update(const Scenario& scenario, Moves& moves) {
  static constexpr MoveText gradients{.what = "gradients, to the host",
                                      .formula = "gradients / bandwidth",
                                      .source = kOffloadSource};
  static constexpr MoveText update{.what = "the optimizer's step, by the host's processors",
                                   .formula = "updated x bytes / (0.43 x processors' bandwidth)",
                                   .source = kOffloadSource};
  static constexpr MoveText weights{.what = "updated parameters, from the host",
                                    .formula = "parameters / bandwidth",
                                    .source = kOffloadSource};
  const Plan& plan = scenario.plan;
  if (!plan.offload.gradients) {
    Move out = copy(gradients, MoveTime::update, HostPlace::host);
    out.each = size_of(scenario.gradient_type());
    out.own = plan.shards();
    moves.add(out);
  }
  moves.add({.text = &update,
             .when = MoveTime::update,
             .among = MoveAmong::processors,
             .collective = Collective::send_recv,
             .each = update_bytes(scenario),
             .own = plan.shards()});
  if (!plan.offload.weights) {
    Move in = copy(weights, MoveTime::update, HostPlace::host);
    in.each = scenario.weight_message();
    in.own = plan.shards();
    moves.add(in);
  }
}

/// Copies of what is kept outside the device. Every device supplies its own part of what is split:
/// the bandwidth grows with the devices. [ZeRO-Infinity: bandwidth-centric partitioning]
void add_copies(const Scenario& scenario, Moves& moves) {
  static constexpr std::string_view source = "Rajbhandari et al. 2021";
  static constexpr MoveText weights{.what = "parameters, from the host", .source = source};
  static constexpr MoveText activations{.what = "activations, to the host", .source = source};
  static constexpr MoveText gradients{.what = "gradients, to the host", .source = kOffloadSource};
  const Plan& plan = scenario.plan;
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
  if (plan.offload.gradients) {
    // From the second micro-batch on, what is there comes back first, to be added to.
    const auto passes = static_cast<double>(scenario.micro_batches());
    Move out = copy(gradients, MoveTime::gradients, *plan.offload.gradients);
    out.each = size_of(scenario.gradient_type());
    out.own = plan.splits().gradients;
    out.ways = plan.offload.prefetch ? 1 : 2 - 1 / passes;
    moves.add(out);
  }
  if (plan.offload.updates_on_host()) {
    add_host_update(scenario, moves);
  } else if (plan.offload.optimizer) {
    add_device_update(scenario, moves);
  }
}

/// Of all that each island has trained, once, its difference to what it was; and what is kept of
/// that on the host comes and goes.  [Douillard et al. 2023, algorithm 1]
void add_meeting(const Scenario& scenario, Moves& moves) {
  static constexpr std::string_view source = "Douillard et al. 2023, DiLoCo";
  static constexpr MoveText differences{.what = "how far islands have come",
                                        .of_experts = "how far their experts have come",
                                        .formula = "(2 (M - 1) / M S / BW + 2 (M - 1) t) / H",
                                        .source = source};
  static constexpr MoveText states{
      .what = "where islands were and their momentum, from and to the host",
      .formula = "2 x state / bandwidth / H",
      .source = source};
  const std::optional<LocalSteps>& local = scenario.plan.local_steps;
  if (!local) {
    return;
  }
  const auto every = static_cast<double>(local->steps);
  moves.add({.text = &differences,
             .when = MoveTime::met,
             .among = local->bandwidth ? MoveAmong::islands : MoveAmong::copies,
             .each = size_of(local->messages),
             .own = local->bandwidth || scenario.plan.shards(),
             .every = every});
  if (local->state) {
    moves.add({.text = &states,
               .when = MoveTime::met,
               .among = MoveAmong::host,
               .collective = Collective::send_recv,
               .each = kOuterState,
               .own = scenario.plan.shards(),
               .ways = 2,
               .every = every,
               .place = local->state});
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
             .returns =
                 scenario.stack.broadcasts_updates ? Collective::broadcast : Collective::all_gather,
             .weight = scenario.weight_message(),
             .every_pass = plan.reduces_every_pass(),
             .again = plan.reshard_after_forward,
             .copied = plan.shard.has_value()},
            moves);
  add_matrices(scenario, moves);
  add_norms(scenario, moves);
  add_copies(scenario, moves);
  add_meeting(scenario, moves);
  return moves;
}

}  // namespace titer
