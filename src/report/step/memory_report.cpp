#include "memory_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/plot/step_plots.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

Datum gibibytes(Bytes bytes) { return {whole_bytes(bytes), kGibibytes}; }

Figures stage_figures(const StageMemory& stage) {
  Figures figures = {{"stage", stage.stage, "stage"},
                     {"parameters", std::llround(stage.parameters.total())}};
  for (const MemoryPart& part : kMemoryParts) {
    const std::string name(part.name);
    figures.push_back({name + "_bytes", gibibytes(stage.*part.value), name});
  }
  figures.push_back({"total_bytes", gibibytes(stage.total()), "total"});
  return figures;
}

Datum tier_figures(const StepResult& result) {
  if (result.tiers.empty()) {
    return {};
  }
  return rows_of(result.tiers, [](const TierNeed& tier) -> Figures {
    return {{"tier", tier.tier},
            {"needed_bytes", whole_bytes(tier.needed)},
            {"capacity_bytes", whole_bytes(tier.capacity)}};
  });
}

Figures advice_figures(const FitAdvice& advice) {
  Figures change;
  for (const PlanChange& part : advice.changes) {
    change.push_back({part.path, part.value});
  }
  return {{"change", Datum(change, "  " + advice.text() + ":"), kNoHeading},
          {"iteration_time_s", advice.iteration_time, kNoHeading},
          {"peak_bytes", whole_bytes(advice.peak), kNoHeading}};
}

/// How much is missing, and what would fit.
TextView advice_text(const StepResult& result, const std::vector<FitAdvice>& advice) {
  if (result.fits()) {
    return {};
  }
  TextView text;
  if (result.memory_peak > result.memory_capacity) {
    text.add(fmt::format("  {} too much", format(result.memory_peak - result.memory_capacity)));
  } else {
    text.add("  too much beside the devices");
  }
  if (advice.empty()) {
    return text.add("; none of the changes tried on as many devices makes it fit\n");
  }
  return text.add("; would fit with\n").table(rows_of(advice, advice_figures));
}

}  // namespace

Figures memory_figures(const StepResult& result, const std::vector<FitAdvice>& advice) {
  Figures figures = {{"peak_bytes", whole_bytes(result.memory_peak)},
                     {"capacity_bytes", whole_bytes(result.memory_capacity)},
                     {"fits", result.fits()},
                     if_any({"tiers", tier_figures(result)}),
                     {"peak_stage", result.peak_stage().stage},
                     {"stages", rows_of(result.memory, stage_figures)}};
  if (!result.fits()) {
    figures.push_back({"advice", rows_of(advice, advice_figures)});
  }
  return figures;
}

View check_view(const Scenario& scenario,
                const StepResult& result,
                const std::vector<std::string>& notes) {
  const std::string sentence = memory_sentence(result);
  const Figures figures = {{.key = "fits", .datum = result.fits()},
                           {.key = "memory", .datum = sentence}};
  const FigureRows rows = {joined(figures, {notes_column(notes)})};
  return {
      .text = notes_text(notes) + sentence + "\n",
      .figures = joined(figures, {notes_figure(notes)}),
      .rows = rows,
      .columns = column_names(rows),
      .title = step_title(scenario),
      .headline = {{"", result.fits() ? "yes" : "no", "fits in memory"}, memory_headline(result)},
      .plots = {memory_plot(result)}};
}

TextView memory_text(const StepResult& result, const std::vector<FitAdvice>& advice) {
  return TextView("memory per device at its peak, GiB by pipeline stage\n")
      .table(rows_of(result.memory, stage_figures), "r")
      .add("  " + memory_sentence(result) + "\n")
      .append(advice_text(result, advice));
}

}  // namespace titer
