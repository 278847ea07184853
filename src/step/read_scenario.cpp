// From an expanded document to a Scenario, part by part.

#include <algorithm>

#include "titer/step/source.hpp"

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

void read_formula(Reader& root, Scenario& scenario) {
  const Value* written = root.raw("formula");
  scenario.e7 = {};
  if (written == nullptr) {
    scenario.formula = Formula::titer;
    return;
  }
  Reader in = root.object("formula");
  scenario.formula = in.choice<Formula>("name", kFormulas);
  scenario.e7.utilization = in.maybe_number("utilization", 1e-6, 1.0);
  scenario.e7.tensor_bandwidth = in.maybe_quantity<BytesPerSecond>("tensor_bandwidth");
  scenario.e7.pipeline_bandwidth = in.maybe_quantity<BytesPerSecond>("pipeline_bandwidth");
  scenario.e7.data_bandwidth = in.maybe_quantity<BytesPerSecond>("data_bandwidth");
  in.finish();
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

void derive_data_degree(Scenario& scenario) {
  const Plan& plan = scenario.plan;
  const std::int64_t others =
      counted_product(plan.pipeline, counted_product(plan.tensor, plan.context));
  const std::int64_t devices =
      scenario.cluster.nodes ? *scenario.cluster.nodes * scenario.cluster.devices_per_node : 1;
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
    if (std::find(left_out.begin(), left_out.end(), part.value) == left_out.end()) {
      read_one(part.value, root, scenario);
    } else {
      static_cast<void>(root.raw(part.name));
    }
  }
  if (std::find(left_out.begin(), left_out.end(), ScenarioPart::cluster) == left_out.end()) {
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
