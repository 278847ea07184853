#include "titer/report/trace_breakdown_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::size_t kShownKinds = 10;
constexpr std::size_t kShownName = 60;

std::string share_of(Seconds part, Seconds whole) {
  return whole > Seconds{} ? percent_text(part / whole) : "";
}

std::string calls_text(const TermTime& term) {
  return term.calls ? fmt::format("{:.5g}", *term.calls) : "";
}

/// "+12.3 %" of the predicted.
std::string difference_text(const TraceTerm& term) {
  const std::optional<Seconds> difference = term.difference();
  if (!difference) {
    return "";
  }
  const double sign = *difference < Seconds{} ? -1 : 1;
  std::string text = fmt::format("{}{}", sign < 0 ? "-" : "+", format(sign * *difference));
  if (term.predicted->counted > Seconds{}) {
    text += fmt::format(" ({:+.0f} %)", 100 * (*difference / term.predicted->counted));
  }
  return text;
}

bool moves(const TraceTerm& term) {
  return term.name != "compute" && term.name != "optimizer" && term.name != "idle" &&
         term.name != "step";
}

std::vector<std::string> term_row(const TraceTerm& term, const TraceComparison& comparison) {
  const TermTime& measured = term.measured;
  Row row = {term.name,
             format(measured.counted),
             share_of(measured.counted, comparison.step.measured.counted),
             moves(term) ? format(measured.exposed) : "",
             calls_text(measured)};
  if (comparison.step.predicted) {
    row.push_back(term.predicted ? format(term.predicted->counted) : "");
    row.push_back(term.predicted
                      ? share_of(term.predicted->counted, comparison.step.predicted->counted)
                      : "");
    row.push_back(term.predicted && moves(term) ? format(term.predicted->exposed) : "");
    row.push_back(term.predicted ? calls_text(*term.predicted) : "");
    row.push_back(difference_text(term));
  }
  return row;
}

/// What plain compute is made of, measured only.
std::vector<TraceTerm> compute_parts(const StepBreakdown& measured,
                                     const TraceComparison& comparison) {
  const double factor =
      measured.time > Seconds{} ? comparison.step.measured.counted / measured.time : 1.0;
  std::vector<TraceTerm> parts;
  for (const TraceCategory category : {TraceCategory::matrix,
                                       TraceCategory::attention,
                                       TraceCategory::elementwise,
                                       TraceCategory::other_compute}) {
    const CategoryTime& of = measured[category];
    if (of.busy > Seconds{}) {
      parts.push_back(
          {.name = std::string(name(category)),
           .measured = {.counted = factor * of.communication_first,
                        .exposed = factor * of.compute_first,
                        .busy = factor * of.busy,
                        .calls = of.calls > 0 ? std::optional(of.calls) : std::nullopt}});
    }
  }
  return parts;
}

std::string term_table(const StepBreakdown& measured, const TraceComparison& comparison) {
  std::vector<Row> rows = {{"", "measured", "share", "exposed", "calls"}};
  if (comparison.step.predicted) {
    rows.front().insert(rows.front().end(),
                        {"predicted", "share", "exposed", "calls", "difference"});
  }
  for (const TraceTerm& term : comparison.terms) {
    rows.push_back(term_row(term, comparison));
    if (term.name == "compute") {
      for (TraceTerm& part : compute_parts(measured, comparison)) {
        part.name = "  " + part.name;
        rows.push_back(term_row(part, comparison));
        rows.back()[3].clear();
      }
    }
  }
  rows.push_back(term_row(comparison.step, comparison));
  return text_table(rows);
}

std::string collective_table(const StepBreakdown& measured) {
  std::vector<Row> rows = {
      {"collective", "ranks", "calls", "bytes each", "mean", "fastest", "rate"}};
  for (const KindUse& use : measured.collectives) {
    const Seconds mean = use.time / use.calls;
    const bool rated = use.kind.bytes && mean > Seconds{};
    rows.push_back({use.kind.name,
                    use.kind.ranks ? std::to_string(*use.kind.ranks) : "",
                    fmt::format("{:.5g}", use.calls),
                    use.kind.bytes ? format(*use.kind.bytes) : "",
                    format(mean),
                    format(use.fastest),
                    rated ? format(*use.kind.bytes / mean) : ""});
  }
  return rows.size() > 1 ? "\n" + text_table(rows) : "";
}

std::string kind_table(const StepBreakdown& measured) {
  std::vector<Row> rows = {{"longest operations", "what", "calls", "time", "share"}};
  for (std::size_t i = 0; i < std::min(kShownKinds, measured.kinds.size()); ++i) {
    const KindUse& use = measured.kinds[i];
    rows.push_back({use.kind.name.substr(0, kShownName),
                    std::string(name(use.kind.category)),
                    use.calls > 0 ? fmt::format("{:.5g}", use.calls) : "",
                    format(use.time),
                    share_of(use.time, measured.time)});
  }
  return rows.size() > 1 ? "\n" + text_table(rows, {Align::left, Align::left}) : "";
}

std::string heading(const StepBreakdown& measured) {
  std::string text = fmt::format("{:<10}{}: {}", "trace", measured.source, measured.format);
  if (measured.only_shares) {
    return text + "\n";
  }
  text += fmt::format(", {} {}{}, {} streams",
                      measured.devices,
                      measured.devices == 1 ? "device" : "devices",
                      measured.chip.empty() ? "" : " (" + measured.chip + ")",
                      measured.streams);
  if (measured.rank) {
    text += fmt::format(", rank {}", *measured.rank);
    text += measured.world_size ? fmt::format(" of {}", *measured.world_size) : "";
  }
  text += fmt::format("\n{:<10}{:g}, mean {}", "steps", measured.steps, format(measured.time));
  return text + (measured.median ? fmt::format(", median {}\n", format(*measured.median)) : "\n");
}

Value maybe_number(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

Value term_json(const TermTime& term) {
  Value json = Value::make_object();
  json.add("counted_s", Value(term.counted.si()));
  json.add("exposed_s", Value(term.exposed.si()));
  json.add("busy_s", Value(term.busy.si()));
  json.add("calls", maybe_number(term.calls));
  json.add("bytes", term.bytes ? Value(term.bytes->si()) : Value());
  json.add("ranks", term.ranks ? Value(*term.ranks) : Value());
  return json;
}

Value row_json(const TraceTerm& term) {
  Value json = Value::make_object();
  json.add("name", Value(term.name));
  json.add("measured", term_json(term.measured));
  if (term.predicted) {
    json.add("predicted", term_json(*term.predicted));
    json.add("difference_s", Value(term.difference()->si()));
  }
  return json;
}

Value kind_json(const KindUse& use) {
  Value json = Value::make_object();
  json.add("name", Value(use.kind.name));
  json.add("category", Value(name(use.kind.category)));
  json.add("ranks", use.kind.ranks ? Value(*use.kind.ranks) : Value());
  json.add("bytes", use.kind.bytes ? Value(use.kind.bytes->si()) : Value());
  json.add("calls", Value(use.calls));
  json.add("time_s", Value(use.time.si()));
  json.add("fastest_s", Value(use.fastest.si()));
  return json;
}

template <class T, class Make>
Value array_json(const std::vector<T>& values, const Make& make) {
  Value array = Value::make_array();
  for (const T& value : values) {
    array.push(make(value));
  }
  return array;
}

Row csv_cells(const TraceTerm& term, Seconds step) {
  const auto number = [](const std::optional<double>& value) {
    return value ? number_text(*value) : "";
  };
  const auto time = [](const std::optional<Seconds>& value) {
    return value ? number_text(value->si()) : "";
  };
  const auto bytes = [](const std::optional<Bytes>& value) {
    return value ? number_text(value->si()) : "";
  };
  Row row = {term.name,
             number_text(term.measured.counted.si()),
             number_text(term.measured.counted / step),
             number_text(term.measured.exposed.si()),
             number_text(term.measured.busy.si()),
             number(term.measured.calls),
             bytes(term.measured.bytes)};
  const TermTime none;
  const TermTime& predicted = term.predicted ? *term.predicted : none;
  const auto there = [&](Seconds value) {
    return time(term.predicted ? std::optional(value) : std::nullopt);
  };
  row.insert(row.end(),
             {there(predicted.counted),
              there(predicted.exposed),
              there(predicted.busy),
              number(predicted.calls),
              bytes(predicted.bytes),
              time(term.difference())});
  return row;
}

}  // namespace

std::string trace_text(const StepBreakdown& measured,
                       const TraceComparison& comparison,
                       const std::string& title) {
  std::string text = heading(measured);
  if (!title.empty()) {
    text += fmt::format("{:<10}{}\n", "scenario", title);
  }
  text += "\n" + term_table(measured, comparison);
  text += collective_table(measured) + kind_table(measured);
  const auto add = [&](const std::vector<std::string>& lines) {
    text += lines.empty() ? "" : "\n";
    for (const std::string& line : lines) {
      text += line + "\n";
    }
  };
  add(comparison.readings);
  add(comparison.remarks);
  return text;
}

std::string trace_csv(const StepBreakdown& measured, const TraceComparison& comparison) {
  std::string text = csv_line({"term",
                               "measured_s",
                               "share",
                               "exposed_s",
                               "busy_s",
                               "calls",
                               "bytes",
                               "predicted_s",
                               "predicted_exposed_s",
                               "predicted_busy_s",
                               "predicted_calls",
                               "predicted_bytes",
                               "difference_s"});
  const Seconds step = comparison.step.measured.counted;
  for (const TraceTerm& term : comparison.terms) {
    text += csv_line(csv_cells(term, step));
    if (term.name == "compute") {
      for (TraceTerm& part : compute_parts(measured, comparison)) {
        part.name = "compute: " + part.name;
        text += csv_line(csv_cells(part, step));
      }
    }
  }
  return text + csv_line(csv_cells(comparison.step, step));
}

Value trace_json(const StepBreakdown& measured,
                 const TraceComparison& comparison,
                 const std::string& title) {
  const auto text = [](const std::string& line) { return Value(line); };
  Value json = Value::make_object();
  json.add("format_version", Value(kTraceBreakdownFormatVersion));
  json.add("source", Value(measured.source));
  json.add("format", Value(measured.format));
  json.add("chip", measured.chip.empty() ? Value() : Value(measured.chip));
  json.add("rank", measured.rank ? Value(*measured.rank) : Value());
  json.add("world_size", measured.world_size ? Value(*measured.world_size) : Value());
  json.add("devices", Value(measured.devices));
  json.add("streams", Value(measured.streams));
  json.add("steps", Value(measured.steps));
  json.add("only_shares", Value(measured.only_shares));
  json.add("measured_s", Value(measured.time.si()));
  json.add("median_s", measured.median ? Value(measured.median->si()) : Value());
  if (comparison.step.predicted) {
    json.add("scenario", Value(title));
    json.add("predicted_s", Value(comparison.step.predicted->counted.si()));
  }
  json.add("terms", array_json(comparison.terms, row_json));
  json.add("compute", array_json(compute_parts(measured, comparison), row_json));
  json.add("collectives", array_json(measured.collectives, kind_json));
  json.add("longest", array_json(measured.kinds, kind_json));
  json.add("readings", array_json(comparison.readings, text));
  json.add("remarks", array_json(comparison.remarks, text));
  return json;
}

}  // namespace titer
