#include "titer/report/sample_report.hpp"

#include <fmt/format.h>

#include <array>

#include "titer/units/text.hpp"

namespace titer {
namespace {

/// A figure of the samples, by its JSON name.
struct SampleFigure {
  std::string_view name;
  std::optional<double> (*value)(const SampleStatistics&);
};

std::optional<double> seconds(const std::optional<Seconds>& time) {
  return time ? std::optional(time->si()) : std::nullopt;
}

using Samples = SampleStatistics;
constexpr std::array<SampleFigure, 10> kSampleFigures = {{
    {"quiet_s", [](const Samples& s) { return std::optional(s.quiet.si()); }},
    {"mean_s", [](const Samples& s) { return std::optional(s.mean.si()); }},
    {"standard_error_s", [](const Samples& s) { return seconds(s.standard_error()); }},
    {"deviation_s", [](const Samples& s) { return seconds(s.deviation); }},
    {"min_s", [](const Samples& s) { return std::optional(s.least.si()); }},
    {"p50_s", [](const Samples& s) { return std::optional(s.p50.si()); }},
    {"p95_s", [](const Samples& s) { return std::optional(s.p95.si()); }},
    {"max_s", [](const Samples& s) { return std::optional(s.most.si()); }},
    {"slowdown", [](const Samples& s) { return std::optional(s.slowdown()); }},
    {"expected_slowdown", [](const Samples& s) { return s.expected_slowdown; }},
}};

/// " (+1.2 %)", over the step without noise.
std::string over_quiet(const SampleStatistics& samples, Seconds time) {
  return fmt::format(" ({:+.2f} %)", 100 * (time / samples.quiet - 1));
}

}  // namespace

Row sample_columns() {
  Row columns = {"samples"};
  for (const SampleFigure& figure : kSampleFigures) {
    columns.push_back("samples_" + std::string(figure.name));
  }
  return columns;
}

Row sample_cells(const SampleStatistics& samples) {
  Row cells = {std::to_string(samples.count)};
  for (const SampleFigure& figure : kSampleFigures) {
    const std::optional<double> value = figure.value(samples);
    cells.push_back(value ? number_text(*value) : "");
  }
  return cells;
}

Value sample_json(const SampleStatistics& samples) {
  Value json = Value::make_object();
  json.add("n", Value(static_cast<std::int64_t>(samples.count)));
  for (const SampleFigure& figure : kSampleFigures) {
    const std::optional<double> value = figure.value(samples);
    json.add(std::string(figure.name), value ? Value(*value) : Value());
  }
  return json;
}

std::string sample_text(const SampleStatistics& samples) {
  const auto with_share = [&](Seconds time) { return format(time) + over_quiet(samples, time); };
  const auto error = samples.standard_error();
  std::vector<Row> rows;
  rows.push_back({"without noise", format(samples.quiet)});
  rows.push_back(
      {"mean",
       with_share(samples.mean) + (error ? ", standard error " + format(*error) : std::string())});
  if (samples.deviation) {
    rows.push_back({"standard deviation", format(*samples.deviation)});
  }
  rows.push_back({"least", with_share(samples.least)});
  rows.push_back({"p50", with_share(samples.p50)});
  rows.push_back({"p95", with_share(samples.p95)});
  rows.push_back({"most", with_share(samples.most)});
  std::string text =
      fmt::format("iteration time of {} samples with noise (above: sample 0)\n", samples.count) +
      text_table(rows, {Align::left, Align::left});
  if (samples.expected_slowdown) {
    text += fmt::format(
        "  the slowest of all devices, each by itself until the step's end, would compute {:+.2f} "
        "%\n",
        100 * (*samples.expected_slowdown - 1));
  }
  return text;
}

}  // namespace titer
