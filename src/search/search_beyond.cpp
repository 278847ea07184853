// What a search leaves out: plans beyond its software, and degrees that do not work out.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "search_score.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace {

/// Whether the best by one objective is better than what is known, a larger model or fewer devices
/// first, where they are asked for.
bool is_better(const BeyondSoftware& beyond, const SearchAnswer& known) {
  const SearchAnswer& best = beyond.best;
  if (best.plans.empty() || known.plans.empty()) {
    return !best.plans.empty();
  }
  if (best.without_plan.size() != known.without_plan.size()) {
    return best.without_plan.size() < known.without_plan.size();
  }
  return shown_score(best.plans.front().scores.front()) <
         shown_score(best_by(known, beyond.objective)->scores[beyond.objective]);
}

void take_any_software(Search& search, Objective objective) {
  search.abilities = {};
  search.objectives = {objective};
  search.top = 1;
}

/// The search for one plan of any software by one objective, no slower than the one that is known.
Search of_any_software(const Search& search, const SearchAnswer& known, std::size_t objective) {
  Search any = search;
  take_any_software(any, search.objectives[objective]);
  const bool by_time = any.objectives.front() == Objective::time && !any.fewest_devices;
  if (by_time && any.models.empty() && !known.plans.empty()) {
    const Seconds time = best_by(known, objective)->result.iteration_time;
    any.limits.most_time = std::min(time, any.limits.most_time.value_or(time));
  }
  for (Search& model : any.models) {
    take_any_software(model, search.objectives[objective]);
  }
  return any;
}

/// Why no plan has this many stages, tensor-parallel ranks, or sequences in a micro-batch.
std::string pipeline_reason(const Search& search, std::int64_t pipeline) {
  const std::int64_t layers = search.scenario.model.layers();
  const std::vector<LayerSplit>& splits = search.space.layers;
  const bool none = std::ranges::all_of(splits, [&](const LayerSplit& split) {
    const LayerSplit others = is_listed(split) ? LayerSplit() : split;  // than a list is of
    return refusal(others, layers, static_cast<int>(pipeline)).has_value();
  });
  return none ? fmt::format("{} layers are not shared out by {}", layers, text_of(splits.front()))
              : "";
}

std::string tensor_reason(const Search& search, std::int64_t tensor) {
  const Scenario& scenario = search.scenario;
  const Transformer* transformer = scenario.model.if_transformer();
  const bool divides = transformer == nullptr || transformer->heads % tensor == 0;
  return divides ? "" : fmt::format("{} heads are no multiple", transformer->heads);
}

std::string batch_reason(const Search& search, std::int64_t micro_batch) {
  const std::int64_t batch = search.scenario.training.global_batch;
  return batch % micro_batch == 0 ? "" : fmt::format("a batch of {} is no multiple", batch);
}

struct SearchedDegree {
  std::string_view name;
  std::vector<std::int64_t> SearchSpace::*values;
  bool splits_devices;
  std::string (*reason)(const Search&, std::int64_t);  // empty: there may be plans
};
constexpr std::array<SearchedDegree, 4> kSearchedDegrees = {
    {{"pipeline", &SearchSpace::pipeline, true, pipeline_reason},
     {"tensor", &SearchSpace::tensor, true, tensor_reason},
     {"context",
      &SearchSpace::context,
      true,
      [](const Search&, std::int64_t) { return std::string(); }},
     {"micro_batch", &SearchSpace::micro_batch, false, batch_reason}}};

std::string reason_of(const Search& search, const SearchedDegree& degree, std::int64_t value) {
  const auto is_split = [&](std::int64_t devices) { return devices % value == 0; };
  if (degree.splits_devices && std::ranges::none_of(search.devices, is_split)) {
    return fmt::format("{} devices are no multiple", fmt::join(search.devices, ", "));
  }
  return degree.reason(search, value);
}

bool has_plans(const Search& search, std::int64_t devices, std::int64_t batch) {
  Scenario scenario = search.scenario;
  scenario.training.global_batch = batch;
  return PlanTree(scenario, search.space, std::array{devices}, search.abilities).plans() > 0;
}

/// Multiples of what powers of two do not share out, beside the batch.
std::array<std::int64_t, 2> batches_beside(std::int64_t batch, std::int64_t devices) {
  const std::int64_t odd = odd_part(devices);
  const std::int64_t below = batch / odd * odd;
  return {below, below + odd};
}

}  // namespace

std::int64_t odd_part(std::int64_t devices) {
  while (devices % 2 == 0) {
    devices /= 2;
  }
  return devices;
}

std::optional<std::int64_t> batch_with_plans(const Search& search) {
  const std::int64_t batch = search.scenario.training.global_batch;
  std::optional<std::int64_t> nearest;
  for (const std::int64_t devices : search.devices) {
    for (const std::int64_t other : batches_beside(batch, devices)) {
      const bool is_near = other >= (batch + 1) / 2 && other <= 2 * batch && other != batch;
      const bool is_nearer = !nearest || std::abs(other - batch) < std::abs(*nearest - batch);
      if (is_near && is_nearer && has_plans(search, devices, other)) {
        nearest = other;
      }
    }
  }
  return nearest;
}

std::vector<BeyondSoftware> best_beyond_software(const Search& search,
                                                 const SearchAnswer& answer,
                                                 const SearchOptions& options) {
  std::vector<BeyondSoftware> found;
  if (answer.counts.beyond == 0 || !answer.complete) {
    return found;
  }
  for (std::size_t i = 0; i < search.objectives.size(); ++i) {
    BeyondSoftware beyond{.objective = i,
                          .best = run_search(of_any_software(search, answer, i), options)};
    if (beyond.best.complete && is_better(beyond, answer)) {
      found.push_back(std::move(beyond));
    }
  }
  return found;
}

std::optional<FoundPlan> least_memory_plan(const Search& search,
                                           const SearchAnswer& answer,
                                           const SearchOptions& options) {
  if (!answer.plans.empty() || !answer.complete || answer.counts.over_memory == 0 ||
      !search.models.empty()) {
    return std::nullopt;
  }
  constexpr double devices_worth = 1e6;  // of memory in each device: as if none were too small
  Search roomy = search;
  roomy.limits.memory_margin = 1 - devices_worth;
  roomy.objectives = {Objective::memory};
  roomy.top = 1;
  roomy.robust = false;
  SearchAnswer found = run_search(roomy, options);
  return found.complete && !found.plans.empty() ? std::optional(std::move(found.plans.front()))
                                                : std::nullopt;
}

std::vector<std::string> degrees_left_out(const Search& search) {
  std::vector<std::string> lines;
  for (const SearchedDegree& degree : kSearchedDegrees) {
    std::map<std::string, std::vector<std::int64_t>> values;
    for (const std::int64_t value : search.space.*degree.values) {
      const std::string reason = reason_of(search, degree, value);
      if (!reason.empty()) {
        values[reason].push_back(value);
      }
    }
    for (const auto& [reason, list] : values) {
      lines.push_back(
          fmt::format("no plan with {} {}: {}", degree.name, fmt::join(list, ", "), reason));
    }
  }
  return lines;
}

}  // namespace titer
