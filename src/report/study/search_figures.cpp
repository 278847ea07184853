#include "search_figures.hpp"

#include <span>

#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr NumberStyle kWhole = {.format = "{:.0f}"};

/// What a search was asked.
Figures searched_figures(const Search& search, const SearchAnswer& answer) {
  const Scenario& scenario = searched(search, answer).scenario;
  const Training& training = scenario.training;
  return {{"model", answer.model.empty() ? scenario.model.name() : answer.model},
          {"cluster", scenario.cluster.name},
          {"chip", scenario.cluster.chip.name},
          {"stack", scenario.stack.name},
          {"global_batch", training.global_batch},
          {"sequence", training.sequence},
          {"tokens_per_step", counted_product(training.global_batch, training.sequence)},
          {"precision", training.precision_name(scenario.cluster.chip)}};
}

/// What only some searches say of a plan.
Figures more_figures(const FoundPlan& found) {
  std::optional<double> dollars;
  std::optional<double> tokens_per_dollar;
  std::optional<Joules> energy;
  if (found.bill) {
    dollars = found.bill->dollars;
    tokens_per_dollar =
        found.result.tokens_per_s * found.result.iteration_time.si() / found.bill->dollars;
    energy = found.bill->energy;
  }
  const auto goodput = found.goodput ? std::optional(found.goodput->fraction) : std::nullopt;
  return {if_any({"refined_iteration_time_s", found.refined, "refined"}),
          if_any({"iteration_dollars", Datum(dollars, NumberStyle{.format = "{:.2f}"}), "dollars"}),
          if_any({"tokens_per_dollar", Datum(tokens_per_dollar, kWhole), "tokens/dollar"}),
          if_any({"iteration_energy_j", energy, "energy"}),
          if_any({"goodput_fraction", Datum(goodput, kPercent), "goodput"}),
          if_any({"expected_time_s", found.expected_time, "expected"}),
          if_any({"chance_fastest", Datum(found.chance_fastest, kWholePercent), "P(fastest)"}),
          if_any({"chance_fits", Datum(found.chance_fits, kWholePercent), "P(fits)"})};
}

Figures key_figures(const Plan& plan, bool only_given) {
  Figures figures = {{"data", plan.data}};
  for (const SearchKey& key : search_keys()) {
    Value value = key.value(plan);
    if (!only_given) {
      figures.push_back(
          {std::string(key.name), value.kind == Value::Kind::null ? Datum() : Datum(shown(value))});
    } else if (value.kind != Value::Kind::null) {
      figures.push_back({std::string(key.name), std::move(value)});
    }
  }
  return figures;
}

Figures count_figures(const SearchCounts& counts) {
  Figures figures = {{"plans", counts.plans}};
  for (const SearchCountName& count : kSearchCounts) {
    figures.push_back({std::string(count.key), counts.*count.value});
  }
  figures.push_back({"beyond_software", counts.beyond});
  return figures;
}

/// The values of the keys that were given; of the others there are all.
Figures space_figures(const Search& search) {
  Figures figures;
  for (const SearchKey& key : search_keys()) {
    if (includes(search.narrowed, key.name)) {
      figures.push_back({std::string(key.name), key.values(search.space)});
    }
  }
  return figures;
}

/// How sure the time is.
Figures evidence_figures(const StepResult& result) {
  Datum low;
  Datum high;
  if (result.error_bar) {
    low = result.error_bar->low;
    high = result.error_bar->high;
  }
  return {if_any({"iteration_time_low_s", low}),
          if_any({"iteration_time_high_s", high}),
          {"grade", name(result.grade)}};
}

Figures plan_figures(const FoundPlan& found, const Plan& best) {
  const std::vector<std::string> differ =
      each_of(found.alike, [&](const Plan& plan) { return plan_difference(plan, found.plan); });
  return joined({{"plan", key_figures(found.plan, true)},
                 {"devices", found.devices},
                 {"differs", plan_difference(found.plan, best)},
                 {"alike", Figures{{"count", found.alike_count}, {"differ", differ}}}},
                joined(found_figures(found), evidence_figures(found.result)));
}

/// The best plan of any software, and what of it the search's own does not have.
Figures beyond_figures(const Search& search, const BeyondSoftware& beyond) {
  const FoundPlan& best = beyond.best.plans.front();
  Figures figures = plan_figures(best, best.plan);
  if (!beyond.best.model.empty()) {
    figures.push_back({"model", beyond.best.model});
  }
  figures.push_back({"beyond", leaving_software(search, beyond.best)});
  return figures;
}

/// Null where staying inside costs nothing. Of a front a list: which objectives it costs, and what.
Datum beyond_datum(const Search& search, std::span<const BeyondSoftware> beyond) {
  if (beyond.empty()) {
    return {};
  }
  if (search.objectives.size() == 1) {
    return beyond_figures(search, beyond.front());
  }
  return rows_of(beyond, [&](const BeyondSoftware& one) {
    return joined(beyond_figures(search, one),
                  {{"objective", name(search.objectives[one.objective])}});
  });
}

Figures row_figures(const FoundPlan& found, const Figures& asked, std::size_t rank) {
  Figures row = joined({{"rank", rank}}, asked);
  row = joined(joined(row, {{"devices", found.devices}}), key_figures(found.plan, false));
  row = joined(joined(row, result_figures(found.result)), more_figures(found));
  return joined(row, {{"alike", found.alike_count}});
}

}  // namespace

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::number:
    case Value::Kind::array:
      return to_json(value, 0);
    case Value::Kind::object:
      return listed(
          value.members, [](const auto& member) { return member.first; }, "+");
    default:
      return Datum(value).words();
  }
}

std::string plan_difference(const Plan& plan, const Plan& other) {
  std::string text;
  for (const SearchKey& key : search_keys()) {
    const std::string own = shown(key.value(plan));
    if (own != shown(key.value(other))) {
      add_listed(text, std::string(key.name) + " " + own);
    }
  }
  return text;
}

std::vector<std::string> leaving_software(const Search& search, const SearchAnswer& beyond) {
  Scenario scenario = searched(search, beyond).scenario;
  scenario.plan = beyond.plans.front().plan;
  return beyond_software(searched(search, beyond).abilities, scenario);
}

Figures found_figures(const FoundPlan& found) {
  const StepResult& result = found.result;
  return joined({{"iteration_time_s", result.iteration_time, "time"},
                 {"tokens_per_s", Datum(result.tokens_per_s, kWhole), "tokens/s"},
                 {"mfu", Datum(result.mfu, kPercent), "MFU"},
                 {"mfu_causal", Datum(result.mfu_causal, kPercent), "causal MFU"},
                 {"memory_peak_bytes", result.memory_peak, "memory"}},
                more_figures(found));
}

Figures search_figures(const Search& search,
                       const SearchAnswer& answer,
                       const std::vector<std::string>& notes,
                       std::span<const BeyondSoftware> beyond) {
  const std::vector<std::string_view> objectives =
      each_of(search.objectives, [&](const Objective objective) { return name(objective); });
  const SearchCounts& counts = answer.counts;
  const auto found = [&](const FoundPlan& plan) {
    return plan_figures(plan, answer.plans.front().plan);
  };
  return {{"objectives", objectives},
          if_any({"model", said(answer.model)}),
          {"scenario", searched_figures(search, answer)},
          {"space", space_figures(searched(search, answer))},
          {"memory_margin", search.limits.memory_margin},
          {"complete", answer.complete},
          {"counts", count_figures(counts)},
          if_any({"defect", counts.defects > 0 ? Datum(counts.defect) : Datum()}),
          {"without_plan", answer.without_plan},
          {"degrees_left_out", degrees_left_out(searched(search, answer))},
          {"beyond_software", beyond_datum(search, beyond)},
          {"plans", rows_of(answer.plans, found)},
          {"notes", notes}};
}

void add_search_rows(const Search& search, const SearchAnswer& answer, View& view) {
  const Figures asked = searched_figures(search, answer);
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    view.rows.push_back(row_figures(answer.plans[i], asked, i + 1));
  }
  if (view.rows.empty()) {
    FoundPlan none;
    none.result.memory.resize(1);
    view.columns = column_names({row_figures(none, asked, 0)});
  }
}

}  // namespace titer
