#include "titer/whatif/network_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "titer/estimate/model_state.hpp"
#include "titer/plan/place/network_port.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/topology/family/trees.hpp"
#include "titer/topology/properties.hpp"
#include "titer/topology/traffic.hpp"

namespace titer {
namespace {

constexpr std::string_view kNetworkPath = "cluster.network.topology";

/// Whether oversubscription says something of the network, or nothing is known of it.
bool has_ratio(const ScenarioSource& source) {
  const Value* family = source.document().at(std::string(kNetworkPath) + ".family");
  return family == nullptr || family->text == FatTree::name || family->text == Rails::name;
}

/// The run with the variant in place of its network; what that network cannot have is taken out of
/// the variant.
ScenarioSource with_network(const ScenarioSource& run, NetworkVariant& variant) {
  ScenarioSource source = run;
  const auto put = [&](std::string_view key, Value value, std::string_view option) {
    source.assign({.path = std::string(kNetworkPath) + std::string(key),
                   .value = std::move(value),
                   .source = std::string(option)});
  };
  if (!variant.topology.empty()) {
    const std::string option = "--topology " + variant.topology;
    put("", written_or_named(variant.topology, option), option);
  }
  if (source.document().at(kNetworkPath) == nullptr &&
      (variant.oversubscription || variant.failed_links)) {
    throw InputError(
        "cluster.network: one ideal switch, without links of which some are fewer or "
        "fail; expected a topology (--topology NAME)");
  }
  if (!has_ratio(source)) {
    variant.oversubscription.reset();
  }
  if (variant.oversubscription) {
    const Value* up = source.document().at(std::string(kNetworkPath) + ".up");
    if (up != nullptr && up->kind != Value::Kind::null) {
      put(".up", Value(), "--oversubscription");  // says the same in another way
    }
    put(".oversubscription",
        Value(*variant.oversubscription),
        fmt::format("--oversubscription {:g}", *variant.oversubscription));
  }
  if (variant.failed_links) {
    put(".failures.links",
        Value(*variant.failed_links),
        fmt::format("--failed-links {:g}", *variant.failed_links));
  }
  return source;
}

/// Devices, the interfaces of nodes, then switches from the lowest level on.
int height(const Topology& topology, int vertex) {
  if (vertex < topology.devices) {
    return -1;
  }
  const SwitchKind kind = topology.detail(vertex).kind;
  return kind == SwitchKind::nic ? 0 : 1 + static_cast<int>(kind);
}

bool is_of_network(const Topology& topology, int vertex) {
  constexpr std::array kinds = {
      SwitchKind::leaf, SwitchKind::spine, SwitchKind::core, SwitchKind::router};
  return vertex >= topology.devices &&
         std::ranges::find(kinds, topology.detail(vertex).kind) != kinds.end();
}

bool is_nic(const Topology& topology, int vertex) {
  return vertex >= topology.devices && topology.detail(vertex).kind == SwitchKind::nic;
}

/// "NIC - leaf", or between NICs where there are no switches; empty inside nodes.
std::string tier_of(const Topology& topology, Lane lane) {
  int a = lane_begin(topology, lane);
  int b = lane_end(topology, lane);
  const bool joins_nics = is_nic(topology, a) && is_nic(topology, b);
  if (!joins_nics && !is_of_network(topology, a) && !is_of_network(topology, b)) {
    return "";
  }
  if (height(topology, a) > height(topology, b)) {
    std::swap(a, b);
  }
  const auto kind = [&](int vertex) {
    return vertex < topology.devices ? "device" : name_of(topology.detail(vertex).kind);
  };
  return fmt::format("{} - {}", kind(a), kind(b));
}

/// How busy the step's transfers keep the links that leave the nodes.
std::vector<TierLoad> tier_loads(const Scenario& scenario, const StepResult& step) {
  const std::vector<Seconds>& busy = step.contention->busy;
  if (plan_nodes(scenario) <= 1 || !scenario.cluster.network_topology) {
    return {};
  }
  const Topology topology =
      scenario.cluster.graph(static_cast<int>(*scenario.cluster.nodes_of_network()), 1.0, 1.0);
  const Capacities limits = capacities(topology);
  std::map<std::string, TierLoad> tiers;
  for (Lane lane = 0; lane < limits.of_lane.size(); ++lane) {
    const std::size_t capacity = limits.of_lane[lane];
    const std::string name = tier_of(topology, lane);
    if (name.empty() || capacity >= busy.size() || busy[capacity] == Seconds{}) {
      continue;
    }
    TierLoad& tier = tiers[name];
    const double share = busy[capacity] / step.iteration_time;
    tier.mean += share;
    tier.most = std::max(tier.most, share);
    ++tier.lanes;
  }
  std::vector<TierLoad> list;
  for (auto& [name, tier] : tiers) {
    tier.tier = name;
    tier.mean /= static_cast<double>(tier.lanes);
    list.push_back(tier);
  }
  std::ranges::stable_sort(list,
                           [](const TierLoad& a, const TierLoad& b) { return a.most > b.most; });
  return list;
}

NetworkPurchase purchase_of(const Scenario& scenario,
                            const NamedTopology& network,
                            const NetworkPrices& prices) {
  const Topology whole = build(network.family);
  const NetworkParts parts = network_parts(whole);
  const auto used = static_cast<double>(plan_nodes(scenario) * scenario.cluster.nics);
  return {.parts = parts,
          .cost = network_cost(prices, parts),
          .bisection = bisection_bandwidth(network.family, whole),
          .share = used / parts.nic_ports};
}

/// What the scenario takes on its network.
void evaluate_on(const ScenarioSource& source,
                 const std::optional<NetworkPrices>& prices,
                 NetworkStep& answer) {
  const Scenario scenario = source.read();
  if (const auto& network = scenario.cluster.network_topology) {
    answer.routing = name_of(network->routing_used());
    answer.port = narrow_port(scenario.cluster);
    const bool is_named = !answer.topology.empty() && !is_written_out(answer.variant.topology);
    answer.topology = is_named || network->name.empty() ? answer.topology : network->name;
    if (prices) {
      answer.purchase = purchase_of(scenario, *network, *prices);
    }
  }
  Estimator estimator;
  StepResult step;
  evaluate(scenario, Fidelity::network, estimator, step);
  answer.tiers = tier_loads(scenario, step);
  answer.step = std::move(step);
}

template <class T>
std::vector<std::optional<T>> each_or_none(const std::vector<T>& list) {
  std::vector<std::optional<T>> values(list.begin(), list.end());
  return values.empty() ? std::vector<std::optional<T>>(1) : values;
}

}  // namespace

Seconds NetworkStep::exposed_communication() const {
  const Breakdown& parts = step->breakdown;
  return parts.tensor_comm + parts.context_comm + parts.expert_comm + parts.pipeline_comm +
         parts.data_comm;
}

std::vector<NetworkVariant> network_variants(const NetworkAxes& axes) {
  std::vector<NetworkVariant> variants;
  for (const auto& topology : each_or_none(axes.topologies)) {
    for (const auto& ratio : each_or_none(axes.oversubscriptions)) {
      for (const auto& failed : each_or_none(axes.failed_links)) {
        variants.push_back(
            {.topology = topology.value_or(""), .oversubscription = ratio, .failed_links = failed});
      }
    }
  }
  return variants;
}

std::vector<NetworkStep> compare_networks(const ScenarioSource& source,
                                          const std::vector<NetworkVariant>& variants,
                                          const std::optional<NetworkPrices>& prices) {
  std::vector<NetworkStep> steps;
  steps.reserve(variants.size());
  for (const NetworkVariant& asked : variants) {
    NetworkStep step{.variant = asked, .topology = asked.topology, .routing = ""};
    const auto is_there = [&] {
      return std::ranges::any_of(
          steps, [&](const NetworkStep& one) { return one.variant == step.variant; });
    };
    try {
      const ScenarioSource on_it = with_network(source, step.variant);
      if (is_there()) {
        continue;
      }
      evaluate_on(on_it, prices, step);
    } catch (const InputError& error) {
      step.problem = error.lines.front();
    }
    if (!is_there()) {
      steps.push_back(std::move(step));
    }
  }
  const auto has_step = [](const NetworkStep& one) { return one.step.has_value(); };
  if (!steps.empty() && std::ranges::none_of(steps, has_step)) {
    throw InputError(steps.front().problem);
  }
  return steps;
}

}  // namespace titer
