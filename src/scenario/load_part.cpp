#include "titer/scenario/load_part.hpp"

namespace titer {
namespace {

/// Only that part of the scenario is read.
Scenario with_part(ScenarioPart part, Value value, std::span<const Assignment> changes) {
  Document document;
  document.root = Value::make_object();
  document.root.add(std::string(kScenarioParts[static_cast<std::size_t>(part)].name),
                    std::move(value));
  ScenarioSource source(std::move(document));
  for (const Assignment& change : changes) {
    source.assign(change);
  }
  Scenario scenario;
  source.read_part(part, scenario);
  return scenario;
}

}  // namespace

Cluster load_cluster(Value cluster, std::span<const Assignment> changes) {
  return with_part(ScenarioPart::cluster, std::move(cluster), changes).cluster;
}

Model load_model(Value model, std::span<const Assignment> changes) {
  return with_part(ScenarioPart::model, std::move(model), changes).model;
}

}  // namespace titer
