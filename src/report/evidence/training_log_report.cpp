// What a training program printed, beside the prediction.

#include <fmt/format.h>

#include <array>

#include "titer/report/evidence/trace_breakdown_report.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

/// A figure of the log, by its name in a step's result, and how it is written.
struct LogFigure {
  std::string_view name;
  std::string_view label;
  NumberStyle style;
  std::optional<LogSpread> (*spread)(const TrainingLog&);
  double (*predicted)(const PredictedLog&);
};

std::optional<LogSpread> memory_spread(const TrainingLog& log) {
  if (!log.memory) {
    return std::nullopt;
  }
  const double most = log.memory->si();
  return LogSpread{.mean = most, .median = most, .least = most, .most = most, .lines = 1};
}

constexpr std::array<LogFigure, 5> kLogFigures = {
    {{"iteration_time_s",
      "iteration",
      kUnitsOf<Seconds>,
      [](const TrainingLog& log) { return log.time; },
      [](const PredictedLog& log) { return log.step->iteration_time.si(); }},
     {"tokens_per_s_per_device",
      "tokens/s of a device",
      {.format = "{:.5g}"},
      [](const TrainingLog& log) { return log.tokens_per_s; },
      [](const PredictedLog& log) { return log.step->tokens_per_s_per_device; }},
     {"samples_per_s",
      "samples/s of all",
      {.format = "{:.5g}"},
      [](const TrainingLog& log) { return log.samples_per_s; },
      [](const PredictedLog& log) { return log.samples / log.step->iteration_time.si(); }},
     {"model_flops_per_device",
      "FLOP/s of a device",
      kUnitsOf<FlopsPerSecond>,
      [](const TrainingLog& log) { return log.flops; },
      [](const PredictedLog& log) { return log.step->model_flops_per_device.si(); }},
     {"memory_peak_bytes",
      "most memory",
      kUnitsOf<Bytes>,
      memory_spread,
      [](const PredictedLog& log) { return log.step->memory_peak.si(); }}}};

/// What the log says of a figure, beside what is predicted; the error is that of the median.
Figures spread_figures(const LogFigure& figure,
                       const LogSpread& spread,
                       const std::optional<double>& predicted) {
  std::optional<double> error;
  if (predicted && spread.median > 0) {
    error = *predicted / spread.median - 1;
  }
  return {{"figure", figure.name},
          {"", figure.label, kNoHeading},
          {"lines", spread.lines},
          {"median", Datum(spread.median, figure.style), "median"},
          {"mean", Datum(spread.mean, figure.style), "mean"},
          {"least", Datum(spread.least, figure.style), "least"},
          {"most", Datum(spread.most, figure.style), "most"},
          {"predicted", Datum(predicted, figure.style), predicted ? "predicted" : ""},
          {"relative_error", or_blank(Datum(error, kSignedPercent)), predicted ? "error" : ""}};
}

FigureRows log_rows(const TrainingLog& log, const PredictedLog* predicted) {
  FigureRows rows;
  for (const LogFigure& figure : kLogFigures) {
    if (const auto spread = figure.spread(log)) {
      const auto value =
          predicted != nullptr ? std::optional(figure.predicted(*predicted)) : std::nullopt;
      rows.push_back(spread_figures(figure, *spread, value));
    }
  }
  return rows;
}

}  // namespace

View log_view(const TrainingLog& log, const PredictedLog* predicted, const std::string& title) {
  View view{.text = fmt::format("{:<10}{}: {}, {}, {} of them used after {} of warm-up\n",
                                "log",
                                log.source,
                                log.program.empty() ? "unknown program" : log.program,
                                counted_text(log.steps.size(), "line"),
                                log.used(),
                                log.warm_up),
            .figures = {{"source", log.source},
                        {"format", "training log"},
                        {"program", said(log.program)},
                        {"lines", log.steps.size()},
                        {"warm_up", log.warm_up},
                        {"slow", log.slow},
                        {"remarks", log.remarks},
                        if_any({"scenario", predicted == nullptr ? Datum() : Datum(title)})},
            .rows = log_rows(log, predicted),
            .columns = "figure lines median mean least most predicted relative_error"};
  view.text.add(title.empty() ? "" : fmt::format("{:<10}{}\n", "scenario", title));
  for (const std::string& remark : log.remarks) {
    view.text.add(remark + "\n");
  }
  view.text.add("\n").table(view.rows);
  Figures all;
  for (const Figures& row : view.rows) {
    all.push_back({row.front().datum.words(), Figures(row.begin() + 1, row.end())});
  }
  view.figures.push_back({"figures", all});
  return view;
}

}  // namespace titer
