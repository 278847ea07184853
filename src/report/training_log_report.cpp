// What a training program printed, beside the prediction.

#include <fmt/format.h>

#include "titer/report/table.hpp"
#include "titer/report/trace_breakdown_report.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

/// A figure of the log, with how it is written.
struct LogFigure {
  std::string_view key;
  std::string_view label;
  LogSpread spread;
  std::optional<double> predicted;
  std::string (*text)(double);
};

std::string time_text(double value) { return format(Seconds::from_si(value)); }
std::string rate_text(double value) { return fmt::format("{:.5g}", value); }
std::string flops_text(double value) { return format(FlopsPerSecond::from_si(value)); }
std::string bytes_text(double value) { return format(Bytes::from_si(value)); }

std::vector<LogFigure> figures(const TrainingLog& log, const StepResult* predicted) {
  std::vector<LogFigure> figures;
  const auto add = [&](std::string_view key,
                       std::string_view label,
                       const std::optional<LogSpread>& spread,
                       double value,
                       std::string (*text)(double)) {
    if (spread) {
      figures.push_back({.key = key,
                         .label = label,
                         .spread = *spread,
                         .predicted = predicted != nullptr ? std::optional(value) : std::nullopt,
                         .text = text});
    }
  };
  const StepResult none;
  const StepResult& of = predicted != nullptr ? *predicted : none;
  add("iteration_time_s", "iteration", log.time, of.iteration_time.si(), time_text);
  add("tokens_per_s_per_device",
      "tokens/s of a device",
      log.tokens_per_s,
      of.tokens_per_s_per_device,
      rate_text);
  add("model_flops_per_device",
      "FLOP/s of a device",
      log.flops,
      of.model_flops_per_device.si(),
      flops_text);
  std::optional<LogSpread> memory;
  if (log.memory) {
    const double most = log.memory->si();
    memory = LogSpread{.mean = most, .median = most, .least = most, .most = most, .lines = 1};
  }
  add("memory_peak_bytes", "most memory", memory, of.memory_peak.si(), bytes_text);
  return figures;
}

/// Of the median.
std::optional<double> difference(const LogFigure& figure) {
  return figure.predicted && figure.spread.median > 0
             ? std::optional(*figure.predicted / figure.spread.median - 1)
             : std::nullopt;
}

}  // namespace

std::string log_text(const TrainingLog& log,
                     const StepResult* predicted,
                     const std::string& title) {
  std::string text = fmt::format("{:<10}{}: {}, {} lines, {} of them used after {} of warm-up\n",
                                 "log",
                                 log.source,
                                 log.program.empty() ? "unknown program" : log.program,
                                 log.steps.size(),
                                 log.used(),
                                 log.warm_up);
  if (!title.empty()) {
    text += fmt::format("{:<10}{}\n", "scenario", title);
  }
  std::vector<Row> rows = {{"", "median", "mean", "least", "most"}};
  if (predicted != nullptr) {
    rows.front().insert(rows.front().end(), {"predicted", "error"});
  }
  for (const LogFigure& figure : figures(log, predicted)) {
    rows.push_back({std::string(figure.label),
                    figure.text(figure.spread.median),
                    figure.text(figure.spread.mean),
                    figure.text(figure.spread.least),
                    figure.text(figure.spread.most)});
    if (figure.predicted) {
      const std::optional<double> error = difference(figure);
      rows.back().push_back(figure.text(*figure.predicted));
      rows.back().push_back(error ? fmt::format("{:+.1f} %", 100 * *error) : "");
    }
  }
  return text + "\n" + text_table(rows);
}

std::string log_csv(const TrainingLog& log, const StepResult* predicted) {
  std::string text = csv_line(
      {"figure", "lines", "median", "mean", "least", "most", "predicted", "relative_error"});
  const auto number = [](const std::optional<double>& value) {
    return value ? number_text(*value) : "";
  };
  for (const LogFigure& figure : figures(log, predicted)) {
    text += csv_line({std::string(figure.key),
                      std::to_string(figure.spread.lines),
                      number_text(figure.spread.median),
                      number_text(figure.spread.mean),
                      number_text(figure.spread.least),
                      number_text(figure.spread.most),
                      number(figure.predicted),
                      number(difference(figure))});
  }
  return text;
}

Value log_json(const TrainingLog& log, const StepResult* predicted, const std::string& title) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Value(*value) : Value();
  };
  Value json = Value::make_object();
  json.add("format_version", Value(kTraceBreakdownFormatVersion));
  json.add("source", Value(log.source));
  json.add("format", Value("training log"));
  json.add("program", log.program.empty() ? Value() : Value(log.program));
  json.add("lines", Value(static_cast<std::int64_t>(log.steps.size())));
  json.add("warm_up", Value(log.warm_up));
  if (predicted != nullptr) {
    json.add("scenario", Value(title));
  }
  Value all = Value::make_object();
  for (const LogFigure& figure : figures(log, predicted)) {
    Value one = Value::make_object();
    one.add("lines", Value(figure.spread.lines));
    one.add("median", Value(figure.spread.median));
    one.add("mean", Value(figure.spread.mean));
    one.add("least", Value(figure.spread.least));
    one.add("most", Value(figure.spread.most));
    one.add("predicted", number(figure.predicted));
    one.add("relative_error", number(difference(figure)));
    all.add(std::string(figure.key), std::move(one));
  }
  json.add("figures", std::move(all));
  return json;
}

}  // namespace titer
