#include "evidence_plots.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"
#include "titer/view/table.hpp"

namespace titer {

Plot trace_plot(const TraceComparison& comparison) {
  const bool has_prediction = comparison.step.predicted.has_value();
  PlotBar measured{.name = "measured", .values = {}};
  PlotBar predicted{.name = "predicted", .values = {}};
  PlotBars bars{.axis = {}, .parts = {}, .bars = {}};
  for (const TraceTerm& term : comparison.terms) {
    const Seconds other = term.predicted ? term.predicted->counted : Seconds{};
    if (term.measured.counted == Seconds{} && other == Seconds{}) {
      continue;
    }
    const bool is_idle = term.name == "idle";
    bars.parts.push_back(
        {.name = term.name, .tone = is_idle ? std::optional(kGreyTone) : std::nullopt});
    measured.values.push_back(term.measured.counted.si());
    predicted.values.push_back(other.si());
  }
  Seconds longest = comparison.step.measured.counted;
  measured.words = format(longest);
  bars.bars.push_back(std::move(measured));
  if (has_prediction) {
    const Seconds time = comparison.step.predicted->counted;
    longest = std::max(longest, time);
    predicted.words = format(time);
    bars.bars.push_back(std::move(predicted));
  }
  bars.axis = time_axis("step", longest);
  return {.title = "Where the step goes",
          .note = "Communication first, then compute that none of it hides.",
          .chart = std::move(bars)};
}

Figures trace_headline(const TraceComparison& comparison) {
  const Seconds measured = comparison.step.measured.counted;
  Figures figures = {{"", measured, "measured step"}};
  if (const auto& predicted = comparison.step.predicted) {
    figures.push_back({"", predicted->counted, "predicted step"});
    figures.push_back(
        {"", Datum(predicted->counted / measured - 1, kSignedPercent), "predicted over measured"});
  }
  return figures;
}

std::vector<std::pair<std::string, Accuracy>> accuracies(const Calibration& calibration) {
  std::vector<std::pair<std::string, Accuracy>> list = {{"before the fit", calibration.base},
                                                        {"fitted", calibration.fitted}};
  if (calibration.left_out) {
    list.emplace_back("groups left out", *calibration.left_out);
  }
  if (calibration.datasheet) {
    list.emplace_back("data sheet only", *calibration.datasheet);
  }
  return list;
}

Plot calibration_plot(const Calibration& calibration) {
  PlotBars bars{
      .axis = percent_axis("mean error of the time"), .parts = {{.name = ""}}, .bars = {}};
  for (const auto& [name, accuracy] : accuracies(calibration)) {
    bars.bars.push_back(
        {.name = name,
         .values = {accuracy.mean},
         .words =
             fmt::format("{} (p90 {})", percent_text(accuracy.mean), percent_text(accuracy.p90))});
  }
  return {.title = "How far off predictions are", .note = "", .chart = std::move(bars)};
}

Figures calibration_headline(const Calibration& calibration) {
  Figures figures = {{"", calibration.is_sound() ? "sound" : "rejected", "the fit"}};
  for (const auto& [name, accuracy] : accuracies(calibration)) {
    figures.push_back({"", percent_text(accuracy.mean), "mean error, " + name});
  }
  return figures;
}

}  // namespace titer
