#include "tune_figures.hpp"

#include <fmt/format.h>

#include "titer/report/step/step_report.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/units/listed.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

std::string value_words(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "none";
    case Value::Kind::boolean:
      return value.boolean ? "on" : "off";
    case Value::Kind::array:
      return listed(value.items, bare_text, "+");
    default:
      return bare_text(value);
  }
}

bool is_simple(const Tuning& tuning) {
  return tuning.outcome == TuneOutcome::unsound || tuning.outcome == TuneOutcome::beyond_software;
}

Figures value_figures(const KnobValue& value) {
  return {{"path", value.path}, {"from", value.from}, {"to", value.to}};
}

/// What a change comes to; nothing of one that has no answer.
Figures answer_figures(const TuneReport& report, const Tuning& tuning) {
  if (is_simple(tuning)) {
    return {};
  }
  Figures figures = {{"iteration_time_s", tuning.iteration_time},
                     {"gain", tuning.gain},
                     {"memory_peak_bytes", whole_bytes(tuning.peak)},
                     {"memory_spare_bytes", whole_bytes(tuning.spare)},
                     {"odds", tuning.odds},
                     {"confidence", odds_words(tuning.odds)}};
  if (report.measured) {
    figures.push_back({"of_measured_s", tuning.of_measured(*report.measured)});
  }
  return figures;
}

std::vector<std::string> flags_of(const TuneReport& report, const Tuning& tuning) {
  return report.flags && !is_simple(tuning) ? report.flags(tuning) : std::vector<std::string>{};
}

std::string knobs_text(const Tuning& tuning) { return listed(tuning.knobs, "; "); }

Figures tuning_figures(const TuneReport& report, const Tuning& tuning) {
  return joined(joined({{"knobs", tuning.knobs},
                        {"values", rows_of(tuning.values, value_figures)},
                        {"outcome", name(tuning.outcome)}},
                       answer_figures(report, tuning)),
                {{"same_numbers", tuning.same_numbers},
                 {"flags", flags_of(report, tuning)},
                 if_any({"reason", said(tuning.reason)})});
}

Figures base_figures(const TuneReport& report) {
  const StepResult& base = report.probe->base();
  Figures figures = {{"iteration_time_s", base.iteration_time},
                     {"fits", report.answer.run_fits},
                     {"memory_spare_bytes", whole_bytes(base.memory_capacity - base.memory_peak)}};
  if (report.measured) {
    figures.push_back({"measured_s", *report.measured});
    figures.push_back({"error", base.iteration_time / *report.measured - 1});
  }
  return figures;
}

Figures count_figures(const TuneAnswer& answer) {
  Figures counts;
  for (const Choice<TuneOutcome>& outcome : kTuneOutcomes) {
    counts.push_back({std::string(outcome.name), answer.count(outcome.value)});
  }
  return joined(counts, {{"pairs", answer.pairs_tried}});
}

}  // namespace

std::string change_words(const Tuning& tuning) {
  return listed(tuning.values, [](const KnobValue& value) {
    return fmt::format("{} {} -> {}",
                       value.path.substr(value.path.find('.') + 1),
                       value_words(value.from),
                       value_words(value.to));
  });
}

FigureRows tune_rows(const TuneReport& report) {
  FigureRows rows;
  const StepResult& base = report.probe->base();
  const auto add = [&](std::string_view section, const std::vector<Tuning>& list) {
    for (const Tuning& tuning : list) {
      rows.push_back(joined(joined({{"section", section},
                                    {"knobs", knobs_text(tuning)},
                                    {"change", change_words(tuning)},
                                    {"outcome", name(tuning.outcome)}},
                                   answer_figures(report, tuning)),
                            {{"same_numbers", tuning.same_numbers},
                             {"set", set_options(tuning.assignments())},
                             {"flags", listed(flags_of(report, tuning), "; ")},
                             {"reason", tuning.reason}}));
    }
  };
  rows.push_back({{"section", "run"},
                  {"iteration_time_s", base.iteration_time},
                  {"memory_peak_bytes", whole_bytes(base.memory_peak)},
                  {"memory_spare_bytes", whole_bytes(base.memory_capacity - base.memory_peak)}});
  if (report.measured) {
    rows.back().push_back({"of_measured_s", *report.measured});
  }
  add("single", report.answer.singles);
  add("pair", report.answer.pairs);
  return rows;
}

Figures tune_figures(const TuneReport& report, const std::vector<std::string>& notes) {
  const auto of = [&](const Tuning& tuning) { return tuning_figures(report, tuning); };
  const auto best = [&](bool other_numbers) {
    const Tuning* found = report.answer.best(other_numbers);
    return found == nullptr ? Datum() : Datum(of(*found));
  };
  return {{"scenario", asked_figures(report.probe->scenario())},
          {"run", base_figures(report)},
          {"best", best(false)},
          {"best_with_other_numbers", best(true)},
          {"kept_free_bytes", whole_bytes(report.answer.kept_free)},
          {"software", said(report.software)},
          {"tried", count_figures(report.answer)},
          {"singles", rows_of(report.answer.singles, of)},
          {"pairs", rows_of(report.answer.pairs, of)},
          notes_figure(notes)};
}

}  // namespace titer
