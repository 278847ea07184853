#include "titer/report/difference_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "difference_verdict.hpp"
#include "titer/report/step_report.hpp"
#include "titer/report/table.hpp"
#include "titer/step/figures.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostInputs = 20;  // of the text
constexpr std::size_t kWidestInput = 40;

/// With its sign; "0 s" has none.
std::string signed_text(Seconds time) { return (time > Seconds{} ? "+" : "") + format(time); }

/// '+' for what B takes longer, '-' for what it takes less.
std::string signed_bar(double share) {
  constexpr double width = 40.0;
  const auto length = static_cast<std::size_t>(std::lround(std::min(1.0, std::abs(share)) * width));
  return std::string(length, share < 0 ? '-' : '+');
}

std::string value_text(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "(none)";
    case Value::Kind::text:
      return value.text;
    default:
      return to_json(value, 0);
  }
}

std::string shortened(std::string text) {
  if (text.size() > kWidestInput) {
    text.resize(kWidestInput - 3);
    text += "...";
  }
  return text;
}

std::string joined_paths(const Contribution& contribution) {
  std::string text;
  for (const std::string& path : contribution.paths) {
    text += (text.empty() ? "" : " and ") + path;
  }
  return text;
}

std::string parts_text(const Difference& found) {
  std::vector<Row> rows = {{"", "A", "B", "B - A", "of A", ""}};
  const auto add = [&](std::string_view name, Seconds a, Seconds b) {
    if (a == Seconds{} && b == Seconds{}) {
      return;
    }
    const double share = (b - a) / found.a.iteration_time;
    rows.push_back({std::string(name),
                    format(a),
                    format(b),
                    signed_text(b - a),
                    fmt::format("{:+.1f} %", 100.0 * share),
                    signed_bar(share)});
  };
  for (const BreakdownPart& part : kBreakdownParts) {
    add(part.name, found.a.breakdown.*part.value, found.b.breakdown.*part.value);
  }
  add("iteration time", found.a.iteration_time, found.b.iteration_time);
  return fmt::format(
             "where the time differs (pipeline stage {} of A, {} of B, the last to finish; exposed "
             "parts)\n",
             found.a.reference_stage,
             found.b.reference_stage) +
         text_table(
             rows,
             {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left}) +
         "\n";
}

/// Which orders the contributions are a mean of.
std::string orders_text(const Difference& found) {
  if (found.contributions.size() == 1) {
    return "in one step";
  }
  if (found.orders == found.sound_orders) {
    return fmt::format("one change after the other, the mean of all {} orders", found.orders);
  }
  return fmt::format(
      "one change after the other, the mean of {} of {} orders", found.sound_orders, found.orders);
}

std::string contributions_text(const Difference& found) {
  std::vector<Row> rows;
  std::string none;
  for (const Contribution& one : found.contributions) {
    if (one.time == Seconds{}) {
      none += (none.empty() ? "" : ", ") + joined_paths(one);
      continue;
    }
    const double share = one.time / found.a.iteration_time;
    rows.push_back({joined_paths(one),
                    signed_text(one.time),
                    fmt::format("{:+.1f} %", 100.0 * share),
                    signed_bar(share)});
  }
  return fmt::format("which inputs make the difference ({})\n", orders_text(found)) +
         text_table(rows, {Align::left, Align::right, Align::right, Align::left}) +
         (none.empty() ? "" : "  no difference by " + none + "\n") +
         (found.orders == found.sound_orders
              ? ""
              : fmt::format("  on the way of the other orders: {}\n", found.refusal)) +
         "\n";
}

std::string rates_text(const Difference& found) {
  std::vector<Row> rows = {{"", "A", "B", "B / A"}};
  for (const ResultFigure& figure : kResultFigures) {
    const double a = figure.value(found.a);
    const double b = figure.value(found.b);
    if (figure.name == "iteration_time_s" || (a == 0 && b == 0)) {
      continue;
    }
    rows.push_back({std::string(figure.name),
                    fmt::format("{:.4g}", a),
                    fmt::format("{:.4g}", b),
                    a == 0 ? "" : fmt::format("{:.3f}", b / a)});
  }
  return "rates\n" + text_table(rows, {Align::left, Align::right}) + "\n";
}

std::string memory_difference_text(const Difference& found) {
  std::vector<Row> rows = {{"", "A", "B", "B - A"}};
  const StageMemory& a = found.a.peak_stage();
  const StageMemory& b = found.b.peak_stage();
  const auto add = [&](std::string_view name, Bytes left, Bytes right) {
    if (left == Bytes{} && right == Bytes{}) {
      return;
    }
    rows.push_back({std::string(name),
                    fmt::format("{:.2f}", left / 1_GiB),
                    fmt::format("{:.2f}", right / 1_GiB),
                    fmt::format("{:+.2f}", (right - left) / 1_GiB)});
  };
  for (const MemoryPart& part : kMemoryParts) {
    add(part.name, a.*part.value, b.*part.value);
  }
  add("total", a.total(), b.total());
  add("capacity", found.a.memory_capacity, found.b.memory_capacity);
  return fmt::format(
             "memory per device at its peak, GiB (stage {} of A, {} of B)\n", a.stage, b.stage) +
         text_table(rows, {Align::left, Align::right}) + "\n";
}

std::string inputs_text(const Difference& found) {
  std::vector<Row> rows = {{"", "A", "B"}};
  for (const InputChange& change : found.changes) {
    if (rows.size() <= kMostInputs) {
      rows.push_back(
          {change.path, shortened(value_text(change.from)), shortened(value_text(change.to))});
    }
  }
  const std::size_t more = found.changes.size() + 1 - rows.size();
  return "inputs that differ\n" + text_table(rows, {Align::left, Align::left, Align::left}) +
         (more > 0 ? fmt::format("  and {} more (--format csv has all)\n", more) : "");
}

/// section, name, a, b, difference
std::string row(const std::string& section, std::string_view name, double a, double b) {
  return csv_line({section, std::string(name), number_text(a), number_text(b), number_text(b - a)});
}

/// What was asked, then B over A.
std::string question_rows(const Difference& found) {
  std::string text;
  for (const AskedValue& value : asked_values(found)) {
    text += value.a.is_integer
                ? row("question", value.key, value.a.number, value.b.number)
                : csv_line({"question", std::string(value.key), value.a.text, value.b.text, ""});
  }
  for (const auto& [name, ratio] : named_ratios(found)) {
    text += row("ratio", name, 1, ratio);
  }
  return text;
}

}  // namespace

std::string difference_text(const Difference& difference) {
  const std::string titles = fmt::format(
      "A: {}\nB: {}\n", step_title(difference.a_scenario), step_title(difference.b_scenario));
  if (difference.changes.empty()) {
    return titles + fmt::format("the same scenario: no input differs, both take {}\n",
                                format(difference.a.iteration_time));
  }
  return titles + verdict_text(difference) + "\n" + parts_text(difference) +
         contributions_text(difference) + rates_text(difference) +
         memory_difference_text(difference) + inputs_text(difference);
}

std::string difference_csv(const Difference& difference) {
  const StepResult& a = difference.a;
  const StepResult& b = difference.b;
  std::string text = csv_line({"section", "name", "a", "b", "difference"});
  text += question_rows(difference);
  for (const BreakdownPart& part : kBreakdownParts) {
    text += row(
        "breakdown_s", part.name, (a.breakdown.*part.value).si(), (b.breakdown.*part.value).si());
  }
  for (const ResultFigure& figure : kResultFigures) {
    text += row("result", figure.name, figure.value(a), figure.value(b));
  }
  for (const MemoryPart& part : kMemoryParts) {
    text += row("memory_bytes",
                part.name,
                (a.peak_stage().*part.value).si(),
                (b.peak_stage().*part.value).si());
  }
  text += row("memory_bytes", "total", a.memory_peak.si(), b.memory_peak.si());
  text += row("memory_bytes", "capacity", a.memory_capacity.si(), b.memory_capacity.si());
  for (const Contribution& one : difference.contributions) {
    text += csv_line({"contribution_s", joined_paths(one), "", "", number_text(one.time.si())});
  }
  for (const InputChange& change : difference.changes) {
    text += csv_line({"input", change.path, value_text(change.from), value_text(change.to), ""});
  }
  return text;
}

namespace {

Value pair_json(double a, double b) {
  Value json = Value::make_object();
  json.add("a", Value(a)).add("b", Value(b)).add("difference", Value(b - a));
  return json;
}

/// With whether the scenarios ask for the same work on as many devices.
Value asked_json(const Difference& difference) {
  Value json = Value::make_object();
  bool same = true;
  for (const AskedValue& value : asked_values(difference)) {
    Value pair = Value::make_object();
    pair.add("a", value.a).add("b", value.b).add("differs", value.differs);
    json.add(std::string(value.key), std::move(pair));
    same = same && !value.differs;
  }
  json.add("same", same);
  return json;
}

Value ratios_json(const Difference& difference) {
  Value json = Value::make_object();
  for (const auto& [name, ratio] : named_ratios(difference)) {
    json.add(std::string(name), Value(ratio));
  }
  return json;
}

Value contributions_json(const Difference& difference) {
  Value list = Value::make_array();
  for (const Contribution& one : difference.contributions) {
    Value paths = Value::make_array();
    for (const std::string& path : one.paths) {
      paths.push(Value(path));
    }
    Value item = Value::make_object();
    item.add("paths", std::move(paths)).add("time_s", Value(one.time.si()));
    list.push(std::move(item));
  }
  return list;
}

Value inputs_json(const Difference& difference) {
  Value list = Value::make_array();
  for (const InputChange& change : difference.changes) {
    Value item = Value::make_object();
    item.add("path", Value(change.path)).add("a", change.from).add("b", change.to);
    list.push(std::move(item));
  }
  return list;
}

}  // namespace

Value difference_json(const Difference& difference) {
  const StepResult& a = difference.a;
  const StepResult& b = difference.b;
  Value json = Value::make_object();
  json.add("format_version", Value(kFormatVersion));
  json.add("question", asked_json(difference)).add("ratios", ratios_json(difference));
  for (const ResultFigure& figure : kResultFigures) {
    json.add(std::string(figure.name), pair_json(figure.value(a), figure.value(b)));
  }
  Value breakdown = Value::make_object();
  for (const BreakdownPart& part : kBreakdownParts) {
    breakdown.add(std::string(part.name),
                  pair_json((a.breakdown.*part.value).si(), (b.breakdown.*part.value).si()));
  }
  Value memory = Value::make_object();
  for (const MemoryPart& part : kMemoryParts) {
    memory.add(std::string(part.name),
               pair_json((a.peak_stage().*part.value).si(), (b.peak_stage().*part.value).si()));
  }
  memory.add("total", pair_json(a.memory_peak.si(), b.memory_peak.si()));
  memory.add("capacity", pair_json(a.memory_capacity.si(), b.memory_capacity.si()));
  json.add("breakdown_s", std::move(breakdown)).add("memory_bytes", std::move(memory));
  json.add("contributions", contributions_json(difference));
  json.add("orders", Value(difference.orders));
  json.add("sound_orders", Value(difference.sound_orders));
  json.add("inputs", inputs_json(difference));
  return json;
}

}  // namespace titer
