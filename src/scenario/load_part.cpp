#include "titer/scenario/load_part.hpp"

namespace titer {
namespace {

/// Only that part of the scenario is read.
Scenario with_part(ScenarioPart part, Document own, std::span<const Assignment> changes) {
  Document document{.root = Value::make_object(), .sources = std::move(own.sources)};
  document.root.add(std::string(kScenarioParts[static_cast<std::size_t>(part)].name),
                    std::move(own.root));
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
  return load_cluster(Document{.root = std::move(cluster), .sources = {}}, changes);
}

Cluster load_cluster(const Document& cluster, std::span<const Assignment> changes) {
  return with_part(ScenarioPart::cluster, cluster, changes).cluster;
}

Model load_model(Value model, std::span<const Assignment> changes) {
  return with_part(ScenarioPart::model, {.root = std::move(model), .sources = {}}, changes).model;
}

}  // namespace titer
