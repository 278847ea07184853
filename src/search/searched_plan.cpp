// The best of all plans for a number of devices.

#include <fmt/format.h>

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
  if (is_listed(scenario.plan.layers)) {
    return "expected no list of layers in a search, whose plans have different numbers of stages";
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
  return "";
}

}  // namespace

PlannedStep searched_plan(const CapacityQuestion& question,
                          std::int64_t devices,
                          unsigned threads) {
  PlannedStep planned{.memory_margin = SearchLimits().memory_margin};
  Scenario scenario = question.scenario;
  planned.problem = prepare(question, devices, scenario);
  if (!planned.problem.empty()) {
    return planned;
  }
  Search search{.title = {},
                .source = ScenarioSource(Document()),  // nobody writes the plan to a file
                .scenario = scenario,
                .space = full_space(scenario, std::array{devices}),
                .devices = {devices},
                .objectives = {question.reliability ? Objective::goodput : Objective::time},
                .top = 1};
  search.limits.memory_margin = planned.memory_margin;
  search.reliability = question.reliability;
  search.abilities = question.abilities;
  const SearchAnswer answer = run_search(search, {.threads = threads});
  if (answer.plans.empty()) {
    const SearchCounts& counts = answer.counts;
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

}  // namespace titer
