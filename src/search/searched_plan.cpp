// The best of all plans for a number of devices.

#include <fmt/format.h>

#include <memory>

#include "titer/campaign/capacity.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace {

/// The scenario with its batch for so many devices; or why it cannot be searched.
std::string prepare(const CapacityQuestion& question, std::int64_t devices, Scenario& scenario) {
  if (scenario.formula != Formula::titer) {
    return "expected the formula titer in a search";
  }
  if (std::string why = no_slice_text(scenario.cluster, devices); !why.empty()) {
    return why;
  }
  if (question.batch == BatchRule::scaled) {
    std::int64_t& batch = scenario.training.global_batch;
    const std::int64_t sequences = counted_product(batch, devices);
    if (sequences % scenario.plan.devices() != 0) {
      return fmt::format(
          "batch {} of {} devices cannot be scaled to {}", batch, scenario.plan.devices(), devices);
    }
    batch = sequences / scenario.plan.devices();
  }
  scenario.cluster.nodes.reset();
  scenario.cluster.use_for(devices);
  return "";
}

/// The batches to try: the scenario's, and where the odd part of the devices does not divide it the
/// nearest one within the slack that the most replicas share out.
std::vector<std::int64_t> batches(const CapacityQuestion& question,
                                  std::int64_t devices,
                                  std::int64_t batch) {
  std::vector<std::int64_t> list = {batch};
  std::int64_t replicas = devices;
  const double room = question.batch_slack * static_cast<double>(batch);
  const auto off = [&] { return std::min(batch % replicas, replicas - batch % replicas); };
  while (replicas % 2 == 0 && static_cast<double>(off()) > room) {
    replicas /= 2;
  }
  if (off() > 0 && static_cast<double>(off()) <= room) {
    const bool is_less = batch % replicas == off() && batch > replicas;
    list.push_back(is_less ? batch - off() : batch / replicas * replicas + replicas);
  }
  return list;
}

PlannedStep best_plan(const CapacityQuestion& question,
                      Scenario scenario,
                      std::int64_t devices,
                      const SearchOptions& options) {
  PlannedStep planned{.memory_margin = SearchLimits().memory_margin};
  Search search{.title = {},
                .source = ScenarioSource(Document()),  // nobody writes the plan to a file
                .scenario = scenario,
                .space = full_space(scenario, std::array{devices}),
                .devices = {devices},
                .objectives = {question.reliability ? Objective::goodput : Objective::time},
                .top = 1};
  search.limits.memory_margin = planned.memory_margin;
  if (question.least_tokens_per_s > 0) {
    search.limits.least_tokens_per_s = question.least_tokens_per_s;
  }
  search.reliability = question.reliability;
  search.abilities = question.abilities;
  const SearchAnswer answer = run_search(search, options);
  if (answer.plans.empty()) {
    const SearchCounts& counts = answer.counts;
    planned.over_memory = counts.over_memory > 0;
    const std::int64_t batch = scenario.training.global_batch;
    if (const auto other = counts.plans == 0 ? batch_with_plans(search) : std::nullopt) {
      planned.problem = fmt::format("batch {} is not shared out by {} devices{}",
                                    batch,
                                    devices,
                                    offer_of_batch(batch, other));
      return planned;
    }
    planned.problem =
        fmt::format("none of {} plans that {} can run: {} over the memory, {} not sound{}",
                    counts.plans,
                    scenario.stack.name,
                    counts.over_memory,
                    counts.refused,
                    counts.refusal.empty() ? "" : ", for one " + counts.refusal);
    return planned;
  }
  scenario.plan = answer.plans.front().plan;
  planned.scenario = std::move(scenario);
  planned.step = answer.plans.front().result;
  return planned;
}

/// Tokens that count in a second, as the search has them.
double useful_rate(const CapacityQuestion& question, const PlannedStep& planned) {
  const double fraction =
      question.reliability
          ? goodput(*question.reliability, *planned.scenario, planned.step.iteration_time).fraction
          : 1;
  return planned.step.tokens_per_s * fraction;
}

PlannedStep searched_plan(const CapacityQuestion& question,
                          std::int64_t devices,
                          const SearchOptions& options) {
  PlannedStep best{.memory_margin = SearchLimits().memory_margin};
  Scenario scenario = question.scenario;
  best.problem = prepare(question, devices, scenario);
  if (!best.problem.empty()) {
    return best;
  }
  for (const std::int64_t batch : batches(question, devices, scenario.training.global_batch)) {
    scenario.training.global_batch = batch;
    PlannedStep next = best_plan(question, scenario, devices, options);
    const bool is_better =
        best.scenario ? next.scenario && useful_rate(question, next) > useful_rate(question, best)
                      : next.scenario || best.problem.empty();
    if (is_better) {
      best = std::move(next);
    }
  }
  return best;
}

/// What layers take, of the pair that was asked about last.
struct KnownOfPair {
  std::size_t pair = 0;
  std::unique_ptr<KnownWork> work{};
};

}  // namespace

PlanFinder searched_plans(unsigned threads) {
  return [threads, known = std::make_shared<KnownOfPair>()](const CapacityQuestion& question,
                                                            std::int64_t devices) {
    if (!known->work || known->pair != question.pair) {
      *known = {.pair = question.pair, .work = std::make_unique<KnownWork>()};
    }
    return searched_plan(question,
                         devices,
                         {.threads = threads,
                          .counts_beyond = false,
                          .tells_reasons = question.least_tokens_per_s == 0,
                          .known_work = known->work.get()});
  };
}

}  // namespace titer
