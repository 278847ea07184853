// From an expanded document to a Scenario, part by part.

#include "titer/plan/plan_fields.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// The nearest value on the way to `path` that is written somewhere: a missing key has no place of
/// its own.
Origin origin_near(const Document& document, std::string path) {
  while (true) {
    if (const Value* value = document.at(path); value != nullptr) {
      return value->origin;
    }
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) {
      return document.root.origin;
    }
    path.resize(dot);
  }
}

using E = E7Options;
constexpr std::array kE7Fields = {
    fields::number<&E::utilization>("utilization", {1e-6, 1}, "u: of the devices, needed by `e7`"),
    fields::quantity<&E::tensor_bandwidth>("tensor_bandwidth", "C_TP, of tensor groups")
        .or_else("the link's own"),
    fields::quantity<&E::pipeline_bandwidth>("pipeline_bandwidth", "C_PP, between stages")
        .or_else("the link's own"),
    fields::quantity<&E::data_bandwidth>("data_bandwidth", "C_DP, of data-parallel groups")
        .or_else("the link's own")};

Value formula_schema() {
  Value schema = schema_of<E7Options>(kE7Fields);
  schema::add_key(schema,
                  {.key = "name",
                   .about = "one of `titer list formulas`",
                   .required = true,
                   .written = schema::one_of<Formula>(kFormulas)});
  return schema::either({schema::one_of<Formula>(kFormulas), std::move(schema)});
}

Value part_schema(ScenarioPart part) {
  switch (part) {
    case ScenarioPart::model:
    case ScenarioPart::cluster:
    case ScenarioPart::stack:
      return schema::named_data();
    case ScenarioPart::plan:
      return schema_of(plan_fields());
    case ScenarioPart::training:
      return schema_of(training_fields());
    case ScenarioPart::formula:
      return formula_schema();
    case ScenarioPart::conditions:
      return conditions_schema();
  }
  return {};
}

struct PartWords {
  std::string_view about;
  std::string_view otherwise;  // "": required
};
// In the order of ScenarioPart.
constexpr std::array<PartWords, kScenarioParts.size()> kPartWords = {{
    {"a name of `titer list models`, a file, or an object; one with a `name` and other keys "
     "changes that model",
     ""},
    {"likewise of `titer list clusters`; `{\"name\": \"dgx-h100\", \"nodes\": 8}` fixes its size",
     ""},
    {"likewise of `titer list stacks`: the training software", "`megatron-lm`"},
    {"how the model is laid over the devices", "one device"},
    {"how it is trained", ""},
    {"one of `titer list formulas`, or that and what it needs", "`titer`"},
    {"how devices and links differ from what their data say", "they do not"},
}};

void read_formula(Reader& root, Scenario& scenario) {
  const Value* written = root.raw("formula");
  scenario.e7 = {};
  if (written == nullptr) {
    scenario.formula = Formula::titer;
    return;
  }
  Reader in = root.object("formula");
  scenario.formula = in.choice<Formula>("name", kFormulas);
  read_fields<E7Options>(kE7Fields, in, scenario.e7);
}

void read_one(ScenarioPart part, Reader& root, Scenario& scenario) {
  switch (part) {
    case ScenarioPart::model: {
      Reader in = root.object("model");
      scenario.model = read_model(in);
      break;
    }
    case ScenarioPart::cluster: {
      Reader in = root.object("cluster");
      scenario.cluster = read_cluster(in);
      scenario.cluster.use_for(scenario.plan.devices());
      break;
    }
    case ScenarioPart::stack: {
      Reader in = root.object("stack");
      scenario.stack = read_stack(in);
      break;
    }
    case ScenarioPart::plan: {
      Reader in = root.object("plan");
      const bool has_data = in.has("data");
      scenario.plan = read_plan(in);
      if (!has_data) {
        derive_data_degree(scenario);
      }
      scenario.cluster.use_for(scenario.plan.devices());
      break;
    }
    case ScenarioPart::training: {
      Reader in = root.object("training");
      scenario.training = read_training(in, scenario.model);
      break;
    }
    case ScenarioPart::formula:
      read_formula(root, scenario);
      break;
    case ScenarioPart::conditions: {
      auto in = root.maybe_object("conditions");
      scenario.conditions =
          in ? read_conditions(*in, scenario.cluster.devices_per_node) : Conditions();
      break;
    }
  }
}

}  // namespace

Value run_schema() {
  Value run = schema::object();
  schema::add_key(run, {.key = "name", .about = "a label", .written = schema::text()});
  schema::add_key(run, {.key = "title", .about = "a label in words", .written = schema::text()});
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    const PartWords& words = kPartWords[static_cast<std::size_t>(part.value)];
    schema::add_key(run,
                    {.key = part.name,
                     .about = words.about,
                     .otherwise = words.otherwise,
                     .required = words.otherwise.empty(),
                     .written = part_schema(part.value)});
  }
  return run;
}

void derive_data_degree(Scenario& scenario) {
  const Plan& plan = scenario.plan;
  const std::int64_t others =
      counted_product(plan.pipeline, counted_product(plan.tensor, plan.context));
  const std::int64_t devices =
      scenario.cluster.nodes ? *scenario.cluster.nodes * scenario.cluster.devices_of_whole_node()
                             : 1;
  scenario.plan.data = devices % others == 0 ? devices / others : 1;
}

void ScenarioSource::read_part(ScenarioPart part, Scenario& scenario) const {
  Problems problems;
  Reader root(document_, problems);
  read_one(part, root, scenario);
  if (part == ScenarioPart::cluster) {
    size_.check(document_, problems);
  }
  problems.raise();
}

void ScenarioSource::read_unchecked(Scenario& scenario) const { read_without({}, scenario); }

void ScenarioSource::read_without(std::span<const ScenarioPart> left_out,
                                  Scenario& scenario) const {
  Problems problems;
  Reader root(document_, problems);
  static_cast<void>(root.maybe_text("name"));
  static_cast<void>(root.maybe_text("title"));
  for (const Choice<ScenarioPart>& part : kScenarioParts) {
    if (!includes(left_out, part.value)) {
      read_one(part.value, root, scenario);
    } else {
      static_cast<void>(root.raw(part.name));
    }
  }
  if (!includes(left_out, ScenarioPart::cluster)) {
    size_.check(document_, problems);
  }
  root.finish();
  problems.raise();
}

Scenario ScenarioSource::read() const {
  Scenario scenario;
  read_unchecked(scenario);
  Problems violations;
  for (std::string& line : located(validate(scenario), document_)) {
    violations.add(std::move(line));
  }
  violations.raise();
  return scenario;
}

std::vector<std::string> located(const std::vector<Violation>& violations,
                                 const Document& document) {
  std::vector<std::string> lines;
  for (const Violation& violation : violations) {
    const std::string where = document.where(origin_near(document, violation.path));
    lines.push_back((where.empty() ? "" : where + ": ") + violation.text());
  }
  return lines;
}

}  // namespace titer
