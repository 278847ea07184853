// Reading a sweep's file.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sweep_axes.hpp"
#include "sweep_numbers.hpp"
#include "titer/input/defect.hpp"
#include "titer/input/expression.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/sweep/sweep.hpp"

namespace titer {
namespace {

constexpr double kMostNumbered = 9e18;

/// A number with a name, or one that is put at a path.
std::optional<std::string> refused_name(const Sweep& sweep, const std::string& name) {
  const bool is_axis = std::any_of(
      sweep.axes.begin(), sweep.axes.end(), [&](const Axis& axis) { return axis.path == name; });
  const std::vector<std::string> columns = result_names();
  if (is_axis) {
    return "expected another path than that of an axis";
  }
  if (std::find(columns.begin(), columns.end(), name) != columns.end() || name == "status" ||
      name == "reason" || name == "grade") {
    return "expected another name than that of a result's column";
  }
  const bool is_path = name.find('.') != std::string::npos;
  const bool is_name = expression_name(name) == name && !name.empty() &&
                       std::isdigit(static_cast<unsigned char>(name.front())) == 0;
  if (!is_name || scenario_part(name).has_value() != is_path) {
    return "expected a path to a number of the scenario, such as \"plan.data\", or a name of "
           "letters, digits and \"_\"";
  }
  return std::nullopt;
}

/// {"plan.data": "64 / plan.tensor"}, or {"expression", "unit"} in place of the text.
void read_derived(const Document& document, Reader in, Sweep& sweep) {
  for (const std::string& name : in.keys()) {
    const Value* written = in.raw(name);
    DerivedField field{.name = name,
                       .expression = written->text,
                       .where = place_of(document, *written, "derived." + name)};
    if (const auto refusal = refused_name(sweep, name)) {
      in.fail(name, *refusal);
    } else if (written->kind == Value::Kind::object) {
      Reader inner = in.object(name);
      field.expression = inner.text("expression");
      field.unit = inner.maybe_text("unit").value_or("");
      inner.finish();
    } else if (written->kind != Value::Kind::text) {
      in.fail(name, "expected an expression in quotes, such as \"64 / plan.tensor\"");
    }
    sweep.derived.push_back(std::move(field));
  }
}

/// An expression, or several.
void read_constraints(const Document& document, Reader& in, Sweep& sweep) {
  const Value* written = in.raw("where");
  if (written == nullptr || written->kind == Value::Kind::null) {
    return;
  }
  if (written->kind == Value::Kind::text) {
    sweep.constraints.push_back({written->text, place_of(document, *written, "where")});
    return;
  }
  const std::vector<std::string> texts = in.texts("where");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    sweep.constraints.push_back(
        {texts[i], place_of(document, written->items[i], fmt::format("where.{}", i))});
  }
}

void read_columns(Reader& in, Sweep& sweep) {
  for (const std::string& text : in.texts("columns")) {
    const auto* const column = std::find_if(kSweepColumns.begin(),
                                            kSweepColumns.end(),
                                            [&](const auto& known) { return known.name == text; });
    if (column == kSweepColumns.end() || sweep.has(column->value)) {
      in.fail("columns",
              fmt::format("expected {} and {}, each once or not at all",
                          kSweepColumns[0].name,
                          kSweepColumns[1].name));
      return;
    }
    sweep.columns.push_back(column->value);
  }
}

/// A mistake that every point would repeat is the file's, not the points'.
void check_constant_parts(const Sweep& sweep) {
  std::vector<ScenarioPart> varied;
  for (const Axis& axis : sweep.axes) {
    varied.push_back(*scenario_part(axis.path));
  }
  for (const DerivedField& field : sweep.derived) {
    if (const auto part = scenario_part(field.name)) {
      varied.push_back(*part);
    }
  }
  Scenario ignored;
  sweep.base.read_without(varied, ignored);
}

void check_points(const Sweep& sweep, std::size_t most_points, Reader& in) {
  double points = 1.0;
  for (const Axis& axis : sweep.axes) {
    points *= axis.zipped ? 1.0 : static_cast<double>(axis.values.size());
  }
  if (points > kMostNumbered) {
    in.fail("axes",
            fmt::format("{:.1e} points in all: expected fewer than can be numbered", points));
  } else if (points > static_cast<double>(most_points)) {
    in.fail("axes",
            fmt::format("{:.0f} points in all: expected at most {}; to compute them all, give "
                        "--limit {:.0f}",
                        points,
                        most_points,
                        points));
  }
}

/// That expressions mention what is there, and constraints over inputs leave something.
void check_expressions(const Sweep& sweep) {
  if (sweep.derived.empty() && sweep.constraints.empty()) {
    return;
  }
  SweepWorker worker(sweep, Fidelity::closed);
  const std::size_t points = sweep.points();
  if (sweep.constraints.empty() || worker.next_kept(0, points) < points) {
    return;
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < sweep.constraints.size(); ++i) {
    const SweepConstraint& constraint = sweep.constraints[i];
    if (worker.left_out()[i] > 0) {
      lines.push_back(
          fmt::format("{}: {}: leaves out {} of {} points; expected constraints that "
                      "some point satisfies",
                      constraint.where,
                      constraint.expression,
                      worker.left_out()[i],
                      points));
    }
  }
  throw InputError(std::move(lines));
}

/// Leaves an empty base where there is a problem.
void read_base(const Document& document, Reader& in, Problems& problems, Sweep& sweep) {
  const Value* written = scenario_value(in);
  if (written != nullptr) {
    try {
      const Document base = scenario_document(document, *written);
      if (written->kind == Value::Kind::text) {
        sweep.scenario = run_name(written->text, base);
      }
      sweep.base = ScenarioSource(base);
    } catch (const InputError& error) {
      for (const std::string& line : error.lines) {
        problems.add(line);
      }
    }
  }
}

/// Refuses a sweep that does not say how long sequences are: each model's longest would be another
/// question for each.
void demand_sequences(const Sweep& sweep) {
  const auto says_it = [](std::string_view path) {
    return path == "training.sequence" || path == "training";
  };
  ScenarioSource first = sweep.base;
  for (const Axis& axis : sweep.axes) {
    if (says_it(axis.path)) {
      return;
    }
    if (axis.path == "model" && !axis.values.empty()) {
      first.assign({axis.path, axis.values.front(), "axes"});
    }
  }
  if (std::any_of(sweep.derived.begin(), sweep.derived.end(), [&](const DerivedField& field) {
        return says_it(field.name);
      })) {
    return;
  }
  Scenario scenario;
  if (defect_met([&] { first.read_part(ScenarioPart::model, scenario); })) {
    return;  // its points meet it again, each a row that says so
  }
  if (const auto longest = assumed_sequence(first, scenario)) {
    throw InputError(missing_sequence(first, *longest, "it in the scenario, or as an axis"));
  }
}

}  // namespace

Sweep read_sweep(const Document& document, std::size_t most_points) {
  Problems problems;
  Reader in(document, problems);
  static_cast<void>(in.maybe_text("name"));
  static_cast<void>(in.maybe_text("title"));
  Sweep sweep{.base = ScenarioSource(Document()), .axes = {}};
  read_base(document, in, problems, sweep);
  read_axes(document, in, problems, sweep);
  if (auto derived = in.maybe_object("derived")) {
    read_derived(document, *derived, sweep);
  }
  read_constraints(document, in, sweep);
  read_columns(in, sweep);
  check_points(sweep, most_points, in);
  in.finish();
  problems.raise();
  check_overlaps(sweep, problems);
  problems.raise();
  check_paths(sweep, problems);
  problems.raise();
  check_constant_parts(sweep);
  demand_sequences(sweep);
  check_expressions(sweep);
  return sweep;
}

Sweep load_sweep(std::string_view name_or_file, std::size_t most_points) {
  return read_sweep(load_data(kSweepData, name_or_file), most_points);
}

}  // namespace titer
