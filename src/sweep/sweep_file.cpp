// Reading a sweep's file.

#include <fmt/format.h>

#include <algorithm>

#include "sweep_axes.hpp"
#include "sweep_numbers.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/input/defect.hpp"
#include "titer/input/expression.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/sweep/sweep.hpp"
#include "titer/sweep/sweep_schema.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr double kMostNumbered = 9e18;

/// A sweep, and what it is read from.
struct SweepFile {
  const Document* document = nullptr;
  Problems* problems = nullptr;
  std::size_t most_points = 0;
  Sweep sweep{.base = ScenarioSource(Document()), .axes = {}};
};

/// A number with a name, or one that is put at a path.
std::optional<std::string> refused_name(const Sweep& sweep, const std::string& name) {
  const bool is_axis = includes(sweep.axes, name, &Axis::path);
  const std::vector<std::string> columns = result_names();
  if (is_axis) {
    return "expected another path than that of an axis";
  }
  if (includes(columns, name) || name == "status" || name == "reason" || name == "grade") {
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

constexpr std::array kDerivedFields = {
    fields::text<&DerivedField::expression>("expression", "in SI units").needed(),
    fields::text<&DerivedField::unit>("unit", "that its number is in")};

void read_derived(const Field<SweepFile>& own, Reader& root, SweepFile& file) {
  auto in = root.maybe_object(own.key);
  for (const std::string& name : in ? in->keys() : std::vector<std::string>()) {
    const Value* written = in->raw(name);
    DerivedField field{.name = name,
                       .expression = written->text,
                       .where = place_of(*file.document, *written, "derived." + name)};
    if (const auto refusal = refused_name(file.sweep, name)) {
      in->fail(name, *refusal);
    } else if (written->kind == Value::Kind::object) {
      Reader inner = in->object(name);
      read_fields<DerivedField>(kDerivedFields, inner, field);
    } else if (written->kind != Value::Kind::text) {
      in->fail(name, "expected an expression in quotes, such as \"64 / plan.tensor\"");
    }
    file.sweep.derived.push_back(std::move(field));
  }
}

Value derived_schema(const Field<SweepFile>& /*own*/) {
  return Value::make_object()
      .add("type", "object")
      .add("additionalProperties",
           schema::either({schema::text(), schema_of<DerivedField>(kDerivedFields)}));
}

void read_constraints(const Field<SweepFile>& own, Reader& in, SweepFile& file) {
  const Value* written = in.raw(own.key);
  if (written == nullptr || written->kind == Value::Kind::null) {
    return;
  }
  std::vector<SweepConstraint>& constraints = file.sweep.constraints;
  if (written->kind == Value::Kind::text) {
    constraints.push_back({written->text, place_of(*file.document, *written, own.key)});
    return;
  }
  const std::vector<std::string> texts = in.texts(own.key);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    constraints.push_back(
        {texts[i], place_of(*file.document, written->items[i], fmt::format("{}.{}", own.key, i))});
  }
}

void read_columns(const Field<SweepFile>& own, Reader& in, SweepFile& file) {
  Sweep& sweep = file.sweep;
  for (const std::string& text : in.texts(own.key)) {
    const auto* const column =
        std::ranges::find_if(kSweepColumns, [&](const auto& known) { return known.name == text; });
    if (column == kSweepColumns.end() || sweep.has(column->value)) {
      in.fail(own.key,
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
  std::vector<ScenarioPart> varied =
      each_of(sweep.axes, [&](const Axis& axis) { return *scenario_part(axis.path); });
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
  if (!sweep.constraints.empty() && worker.next_kept(0, points) == points) {
    refuse_empty(sweep, worker.left_out());
  }
}

/// Leaves an empty base where there is a problem.
void read_base(const Field<SweepFile>& /*own*/, Reader& in, SweepFile& file) {
  const Value* written = scenario_value(in);
  if (written != nullptr) {
    try {
      const Document base = scenario_document(*file.document, *written);
      if (written->kind == Value::Kind::text) {
        file.sweep.scenario = run_name(written->text, base);
      }
      file.sweep.base = ScenarioSource(base);
    } catch (const InputError& error) {
      for (const std::string& line : error.lines) {
        file.problems->add(line);
      }
    }
  }
}

void read_all_axes(const Field<SweepFile>& /*own*/, Reader& in, SweepFile& file) {
  read_axes(*file.document, in, *file.problems, file.sweep);
  check_points(file.sweep, file.most_points, in);
}

/// What may stand at a path is the scenario's matter.
Value axes_schema(const Field<SweepFile>& /*own*/) {
  std::string parts;
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    parts += (parts.empty() ? "" : "|") + std::string(part.name);
  }
  const Value axes = Value::make_object()
                         .add("type", "object")
                         .add("propertyNames",
                              schema::text_like("^([$]schema|notes|zip|(" + parts + ")([.].+)?)$"));
  return schema::either({axes, schema::list_of(axes)});
}

constexpr std::array kSweepFields = {
    fields::label<SweepFile>("name", "of the sweep"),
    fields::label<SweepFile>("title", "the same for people"),
    fields::of_schema<SweepFile, schema::named_data>(
        "scenario", read_base, "a run's name or file, or a scenario")
        .needed(),
    fields::special<SweepFile>(
        "axes",
        {read_all_axes, axes_schema, nullptr},
        "axes by their paths, or a list of such objects, in the order of the "
        "columns; the last varies fastest")
        .needed(),
    fields::special<SweepFile>(
        "derived",
        {read_derived, derived_schema, nullptr},
        "expressions by name, such as `{\"plan.data\": \"64 / plan.tensor\"}`"),
    fields::special<SweepFile>(
        "where",
        {read_constraints,
         [](const Field<SweepFile>& /*own*/) {
           return schema::either({schema::text(), schema::list_of(schema::text())});
         },
         nullptr},
        "constraints: an expression, or several"),
    fields::special<SweepFile>("columns",
                               {read_columns,
                                [](const Field<SweepFile>& /*own*/) {
                                  return schema::list_of(
                                      schema::one_of<SweepColumn>(kSweepColumns));
                                },
                                nullptr},
                               "columns beside those that all rows have")};

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
  if (std::ranges::any_of(sweep.derived,
                          [&](const DerivedField& field) { return says_it(field.name); })) {
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

Value sweep_schema() { return schema_of<SweepFile>(kSweepFields); }

Sweep read_sweep(const Document& document, std::size_t most_points) {
  Problems problems;
  Reader in(document, problems);
  SweepFile file{.document = &document, .problems = &problems, .most_points = most_points};
  read_fields<SweepFile>(kSweepFields, in, file);
  Sweep sweep = std::move(file.sweep);
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
  Sweep sweep = read_sweep(load_data(kSweepData, name_or_file), most_points);
  sweep.name = std::filesystem::path(name_or_file).stem().string();
  return sweep;
}

}  // namespace titer
