#include "titer/step/load_cluster.hpp"

namespace titer {

Cluster load_cluster(Value cluster, std::span<const Assignment> changes) {
  Document document;
  document.root = Value::make_object();
  document.root.add("cluster", std::move(cluster));
  ScenarioSource source(std::move(document));
  for (const Assignment& change : changes) {
    source.assign(change);
  }
  Scenario scenario;
  source.read_part(ScenarioPart::cluster, scenario);
  return std::move(scenario.cluster);
}

}  // namespace titer
