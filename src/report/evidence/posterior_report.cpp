#include "titer/report/evidence/posterior_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/measured/statistics.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr NumberStyle kErrorOf = {.format = "{:.1f}"};
constexpr NumberStyle kShareOf = {.format = "{:.2f}"};

Datum in_percent(double share) { return {100.0 * share, kErrorOf}; }

Figures given_trial_figures(const GivenTrial& trial) {
  return {{"family", trial.family, "family"},
          {"stack", trial.stack, "stack"},
          {"chip", trial.chip, "chip"},
          {"others", trial.after.rows, "others"},
          {"mape_before_pct", in_percent(trial.before.mean), "mean error % before"},
          {"mape_pct", in_percent(trial.after.mean), "with them"},
          {"median_ape_pct", in_percent(trial.after.median), "median"},
          {"p90_ape_pct", in_percent(trial.after.p90), "p90"},
          {"coverage80", Datum(trial.coverage80, kShareOf), "in 80 % bars"},
          {"given", trial.given}};
}

/// Each family counts once, however many runs it has.
double mean_over(std::span<const GivenTrial> trials, double (*of)(const GivenTrial&)) {
  const std::vector<double> values =
      each_of(trials, [&](const GivenTrial& trial) { return of(trial); });
  return mean_of(values);
}

Figures mean_figures(std::span<const GivenTrial> trials) {
  std::size_t others = 0;
  for (const GivenTrial& trial : trials) {
    others += trial.after.rows;
  }
  const auto mean = [&](double (*of)(const GivenTrial&)) {
    return in_percent(mean_over(trials, of));
  };
  return {{"family", "mean of all", "family"},
          {"", "", "stack"},
          {"", "", "chip"},
          {"others", others, "others"},
          {"mape_before_pct",
           mean([](const GivenTrial& trial) { return trial.before.mean; }),
           "mean error % before"},
          {"mape_pct", mean([](const GivenTrial& trial) { return trial.after.mean; }), "with them"},
          {"median_ape_pct",
           mean([](const GivenTrial& trial) { return trial.after.median; }),
           "median"},
          {"p90_ape_pct", mean([](const GivenTrial& trial) { return trial.after.p90; }), "p90"},
          {"coverage80",
           Datum(mean_over(trials,
                           [](const GivenTrial& trial) { return trial.coverage80.value_or(0.0); }),
                 kShareOf),
           "in 80 % bars"}};
}

}  // namespace

View given_view(std::span<const GivenTrial> trials, std::size_t given, std::size_t runs) {
  TextView text = fmt::format(
      "of {} runs, {} of each family, software and chip tell of its others\n"
      "(families of {} runs or more; given are, in the order of what is predicted, the shortest "
      "to\n"
      "the longest, spread evenly)\n\n",
      runs,
      given,
      kLeastTried);
  if (trials.empty()) {
    text.add("no family has as many\n");
    return {.text = std::move(text),
            .figures = {{"format_version", kFormatVersion}, {"families", FigureRows()}},
            .rows = {},
            .columns = {}};
  }
  const FigureRows rows = rows_of(trials, given_trial_figures);
  const Figures mean = mean_figures(trials);
  FigureRows shown = rows;
  shown.push_back(mean);
  text.table(shown, "lllr");
  const auto better = static_cast<std::size_t>(std::ranges::count_if(
      trials, [](const GivenTrial& trial) { return trial.after.mean < trial.before.mean; }));
  text.add(fmt::format("\nof {} families {} are nearer with them\n", trials.size(), better));
  return {
      .text = std::move(text),
      .figures = {{"format_version", kFormatVersion},
                  {"given", given},
                  {"mean", mean},
                  {"families", rows}},
      .rows = rows,
      .columns = {},
      .headline = {
          {"", trials.size(), "families"},
          {"",
           Datum(mean_over(trials, [](const GivenTrial& t) { return t.before.mean; }), kPercent),
           "mean error before"},
          {"",
           Datum(mean_over(trials, [](const GivenTrial& t) { return t.after.mean; }), kPercent),
           "mean error with them"}}};
}

}  // namespace titer
