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
GivenTrial mean_trial(std::span<const GivenTrial> trials) {
  const auto mean = [&](const auto& of) { return mean_of(each_of(trials, of)); };
  const auto before = [](const GivenTrial& trial) { return trial.before.mean; };
  GivenTrial all{.family = "mean of all",
                 .stack = "",
                 .chip = "",
                 .given = {},
                 .before = {.mean = mean(before)},
                 .after = {}};
  for (const GivenTrial& trial : trials) {
    all.after.rows += trial.after.rows;
  }
  all.after.mean = mean([](const GivenTrial& trial) { return trial.after.mean; });
  all.after.median = mean([](const GivenTrial& trial) { return trial.after.median; });
  all.after.p90 = mean([](const GivenTrial& trial) { return trial.after.p90; });
  all.coverage80 = mean([](const GivenTrial& trial) { return trial.coverage80.value_or(0.0); });
  return all;
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
            .figures = {{"families", FigureRows()}},
            .rows = {},
            .columns = {}};
  }
  const FigureRows rows = rows_of(trials, given_trial_figures);
  const GivenTrial all = mean_trial(trials);
  Figures mean = given_trial_figures(all);
  mean.pop_back();  // nothing is given of all
  FigureRows shown = rows;
  shown.push_back(mean);
  text.table(shown, "lllr");
  const auto better = static_cast<std::size_t>(std::ranges::count_if(
      trials, [](const GivenTrial& trial) { return trial.after.mean < trial.before.mean; }));
  text.add(fmt::format("\nof {} families {} are nearer with them\n", trials.size(), better));
  return {.text = std::move(text),
          .figures = {{"given", given}, {"mean", mean}, {"families", rows}},
          .rows = rows,
          .columns = {},
          .headline = {{"", trials.size(), "families"},
                       {"", Datum(all.before.mean, kPercent), "mean error before"},
                       {"", Datum(all.after.mean, kPercent), "mean error with them"}}};
}

}  // namespace titer
