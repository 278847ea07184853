// What explain() says of the work after, and of the transfers beside, the passes.

#include <fmt/format.h>

#include <algorithm>

#include "explain_parts.hpp"
#include "titer/cost/move_clock.hpp"

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

/// What a move sends in one group; those in turn go along a chain for each of its ranks.
Term part_term(const std::string& name, const Move& move, const MovePart& part) {
  const SyncGroup& among = *part.among;
  if (!goes_in_turn(move.collective)) {
    return transfer_term(name, {move.collective, part.size}, among.group, among.fabric);
  }
  const int ranks = among.group.ranks();
  const bool reduces = move.collective == Collective::reduce;
  Term term = transfer_term(
      fmt::format(fmt::runtime(reduces ? "{}, {} reduces, to each rank its shard"
                                       : "{}, {} broadcasts, from each rank its shard"),
                  name,
                  ranks),
      {move.collective, part.size / ranks},
      among.group,
      along_ring(among.fabric));
  term.formula = fmt::format("{} x ({})", ranks, term.formula);
  term.value = format(time_of(move, part));
  return term;
}

/// What a move between each rank and the servers takes.
Term server_term(const std::string& name, const Move& move, const Plan& plan, Seconds time) {
  return {name,
          std::string(move.text->formula),
          fmt::format("N = {}, M = {}", plan.replicas(), plan.servers.value_or(1)),
          format(time),
          std::string(move.text->source)};
}

/// What islands send one another over links of their own.
Term island_term(const Move& move, const LocalSteps& local, Seconds time) {
  return {
      std::string(move.text->what),
      std::string(move.text->formula),
      fmt::format("M = {}, H = {}, BW = {}", local.islands, local.steps, format(*local.bandwidth)),
      format(time),
      std::string(move.text->source)};
}

/// What a move sends in each group of several ranks.
void add_parts(const std::string& before,
               const Move& move,
               const MoveParts& parts,
               Section& section) {
  for (const MovePart& part : parts) {
    if (part.among->group.ranks() > 1) {
      const std::string_view what = part.experts ? move.text->of_experts : move.text->what;
      Term term = part_term(before + std::string(what), move, part);
      if (move.every > 1) {
        term.formula = fmt::format("({}) / {} steps", term.formula, move.every);
        term.value = format(time_of(move, part) / move.every);
      }
      section.terms.push_back(std::move(term));
    }
  }
}

/// What is moved once, at a time after the passes.
void add_moves(const Scenario& scenario,
               const MoveClock& clock,
               MoveTime when,
               const DeviceParameters& trained,
               Section& section) {
  const std::string before = when == MoveTime::updated ? "updated " : "";
  for (const Move& move : clock.moves()) {
    const Seconds time = clock.time(move, trained);
    if (move.when != when || time <= Seconds{}) {
      continue;
    }
    if (move.is_of_host()) {
      continue;  // told of by themselves
    }
    if (move.among == MoveAmong::islands) {
      section.terms.push_back(island_term(move, *scenario.plan.local_steps, time));
      continue;
    }
    if (move.among == MoveAmong::servers) {
      section.terms.push_back(
          server_term(before + std::string(move.text->what), move, scenario.plan, time));
      continue;
    }
    add_parts(before, move, parts_of(move, trained, clock.places()), section);
  }
}

/// The update of the parameters of a rank, and what of it is of matrices or once in many steps.
void add_optimizer_terms(const Scenario& scenario,
                         const StepCosts& costs,
                         int stage,
                         const MoveClock& clock,
                         Section& section) {
  const DeviceParameters& trained = costs.trained[static_cast<std::size_t>(stage)];
  const OptimizerTraffic traffic = optimizer_traffic(scenario);
  section.terms.push_back(
      {"optimizer",
       "t0 + (updated x bytes + gradients x bytes) / (eta_m BW)",
       fmt::format("{:.4g} parameters{}, {} per updated, {} per gradient",
                   trained.total(),
                   scenario.plan.shards()
                       ? fmt::format(" / d = {}", clock.places().dense_shard.group.ranks())
                       : "",
                   format(traffic.per_updated),
                   format(traffic.per_gradient)),
       format(costs.tails[static_cast<std::size_t>(stage)].optimizer),
       scenario.training.fused_optimizer
           ? "memory traffic of the fused step; Rajbhandari et al. 2020"
           : "memory traffic, a pass for each "
             "step of the rule"});
  const MatrixUpdate matrices = matrix_update(scenario, costs, stage);
  if (matrices.time > Seconds{}) {
    const std::optional<Preconditioner>& sides = scenario.training.optimizer.preconditioner;
    section.terms.push_back({"of it, matrices of hidden layers",
                             sides
                                 ? fmt::format("{0:g} (2 n² m + 2 n m²) FLOPs each, {1:.3g} (n³ + "
                                               "m³) once in {2:g} steps, in fp32; Adam's step",
                                               sides->products,
                                               sides->cubes,
                                               sides->every)
                                 : "5 (4 n² m + 2 n³) FLOPs each, n <= m, in bf16; moment, "
                                   "norm, update",
                             fmt::format("{:.4g} parameters, those of the rank that has most",
                                         matrices.parameters.total()),
                             format(matrices.time),
                             sides ? "Anil et al. 2020; Vyas et al. 2024" : "Jordan et al. 2024"});
  }
  if (const std::optional<LocalSteps>& local = scenario.plan.local_steps) {
    section.terms.push_back({"of it, the outer optimizer",
                             "(t0 + 9 x 4 B of a parameter / (eta_m BW)) / H",
                             fmt::format("H = {}", local->steps),
                             format(clock.meeting(trained).update),
                             "Douillard et al. 2023, DiLoCo"});
  }
}

}  // namespace

Section tail_section(const Scenario& scenario, const StepCosts& costs, const StepResult& result) {
  const int stage = result.reference_stage;
  Section section{.title = fmt::format("after the passes, on stage {}", stage), .terms = {}};
  const DeviceParameters& trained = costs.trained[static_cast<std::size_t>(stage)];
  const SyncGroups places = sync_groups(scenario, costs.placement, stage);
  const MoveClock clock(scenario, places);
  if (costs.embedding_sync > Seconds{}) {
    section.terms.push_back({"token table's gradient, first with last stage",
                             "all-reduce over the two stages",
                             "",
                             format(costs.embedding_sync),
                             "seeds F17; Narayanan et al. 2021"});
  }
  if (!costs.buckets.empty()) {
    add_bucket_terms(scenario, costs, result, section);
  } else {
    add_moves(scenario, clock, MoveTime::complete, trained, section);
  }
  if (!scenario.overlap_param_gather()) {
    add_moves(scenario, clock, MoveTime::updated, trained, section);
  }
  add_moves(scenario, clock, MoveTime::met, trained, section);
  add_optimizer_terms(scenario, costs, stage, clock, section);
  for (const Move& move : clock.moves()) {
    if (move.is_of_host() && !move.is_of_pass()) {
      section.terms.push_back({std::string(move.text->what),
                               std::string(move.text->formula),
                               fmt::format("{} of a parameter", format(move.each)),
                               format(clock.time(move, trained)),
                               std::string(move.text->source)});
    }
  }
  return section;
}

}  // namespace titer
