// What explain() says of the work after, and of the transfers beside, the passes.

#include <fmt/format.h>

#include <algorithm>

#include "explain_parts.hpp"
#include "sync_cost.hpp"

namespace titer {
namespace {

/// What is synchronised beside the passes of a rank.
void add_bucket_terms(const Scenario& scenario,
                      const StepCosts& costs,
                      const StepResult& result,
                      Section& section) {
  const int rank = result.reference_stage;
  const StageTail& tail = costs.tails[static_cast<std::size_t>(rank)];
  std::size_t count = 0;
  Seconds sync;
  Seconds gather;
  for (int chunk = 0; chunk < chunks_per_rank(costs.placement, costs.shape); ++chunk) {
    const int stage = stage_of(costs.placement, {.rank = rank, .chunk = chunk}, costs.shape);
    for (const GradientBucket& bucket : costs.buckets[static_cast<std::size_t>(stage)]) {
      ++count;
      sync += bucket.sync;
      gather += bucket.gather;
    }
  }
  const double ranks = sync_group(scenario, costs.placement, rank).group.ranks();
  section.terms.push_back(
      {"gradients, in buckets beside the last backward passes",
       "layers until max(B, B_d d) parameters; each when its layers are through",
       fmt::format("{} buckets of at least {:.4g} parameters", count, scenario.stack.bucket(ranks)),
       format(sync),
       "stack " + scenario.stack.name});
  if (scenario.overlap_param_gather()) {
    section.terms.push_back({"updated parameters, beside the first forward passes",
                             "all-gather of each bucket",
                             fmt::format("{} buckets", count),
                             format(gather),
                             "stack " + scenario.stack.name});
  }
  const Seconds all = sync + gather + tail.gradient_sync + tail.parameter_sync;
  const Seconds exposed = result.breakdown.data_comm;
  section.terms.push_back(
      {"of these exposed",
       "while the rank computes nothing",
       fmt::format("{} of {} hidden", format(std::max(Seconds{}, all - exposed)), format(all)),
       format(exposed),
       "in-order lane beside the passes"});
}

/// What is synchronised once, where that is no single collective over all replicas.
void add_sync_terms(const Scenario& scenario, const StageTail& tail, Section& section) {
  const bool serves = scenario.plan.sharding == Sharding::parameter_server;
  if (tail.gradient_sync > Seconds{}) {
    section.terms.push_back(
        {"gradients",
         serves ? "t1 = N g / (M BW_node)"
                : fmt::format("{} by shard, all-reduce of equal shards",
                              name(scenario.plan.gradient_exchange())),
         serves ? fmt::format(
                      "N = {}, M = {}", scenario.plan.replicas(), scenario.plan.servers.value_or(1))
                : "",
         format(tail.gradient_sync),
         serves ? "seed equation E13" : "Rajbhandari et al. 2020; Zhao et al. 2023"});
  }
  if (tail.parameter_sync > Seconds{}) {
    section.terms.push_back({"updated parameters",
                             serves ? "t2 = N W / (M BW_node)" : "all-gather by shard",
                             "",
                             format(tail.parameter_sync),
                             serves ? "seed equation E13" : "Rajbhandari et al. 2020"});
  }
}

}  // namespace

Section tail_section(const Scenario& scenario, const StepCosts& costs, const StepResult& result) {
  const int stage = result.reference_stage;
  Section section{.title = fmt::format("after the passes, on stage {}", stage), .terms = {}};
  const StageTail& tail = costs.tails[static_cast<std::size_t>(stage)];
  const double count =
      trained_parameters(costs.blocks, costs.contents, scenario.plan, stage).total();
  const OptimizerTraffic traffic = optimizer_traffic(scenario);
  const SyncGroup data = sync_group(scenario, costs.placement, stage);
  if (costs.embedding_sync > Seconds{}) {
    section.terms.push_back({"token table's gradient, first with last stage",
                             "all-reduce over the two stages",
                             "",
                             format(costs.embedding_sync),
                             "seeds F17; Narayanan et al. 2021"});
  }
  if (!costs.buckets.empty()) {
    add_bucket_terms(scenario, costs, result, section);
  }
  const bool sharded = scenario.plan.shards();
  const bool at_once = !scenario.plan.shard && !scenario.plan.reduces_every_pass() &&
                       scenario.plan.sharding != Sharding::parameter_server;
  if (!at_once) {
    add_sync_terms(scenario, tail, section);
  }
  if (at_once && tail.gradient_sync > Seconds{}) {
    section.terms.push_back(gradient_term(scenario, count * scenario.gradient_message(), data));
  }
  if (at_once && tail.parameter_sync > Seconds{}) {
    const Transfer weights{Collective::all_gather, count * scenario.weight_message()};
    section.terms.push_back(transfer_term("updated parameters", weights, data.group, data.fabric));
  }
  section.terms.push_back(
      {"optimizer",
       "t0 + (updated x bytes + gradients x bytes) / (eta_m BW)",
       fmt::format("{:.4g} parameters{}, {} per updated, {} per gradient",
                   count,
                   sharded
                       ? fmt::format(" / d = {}", scenario.plan.shard.value_or(data.group.ranks()))
                       : "",
                   format(traffic.per_updated),
                   format(traffic.per_gradient)),
       format(tail.optimizer),
       scenario.training.fused_optimizer
           ? "memory traffic of the fused step; Rajbhandari et al. 2020"
           : "memory traffic, a pass for each "
             "step of the rule"});
  if (tail.host > Seconds{}) {
    section.terms.push_back({"the optimizer's state, from and to the host",
                             "state / bandwidth, both ways at once where it is prefetched",
                             "",
                             format(tail.host),
                             "Rajbhandari et al. 2021"});
  }
  return section;
}

}  // namespace titer
