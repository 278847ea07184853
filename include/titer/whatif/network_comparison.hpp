#pragma once
// One run on other networks: what a topology, an oversubscription or links that have failed cost
// its step, on the links of the whole cluster.

#include <optional>
#include <string>
#include <vector>

#include "titer/campaign/network_price.hpp"
#include "titer/estimate/result.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// In place of the run's own.
struct NetworkVariant {
  std::string topology{};  // a name, a file, or JSON as it holds; "": the run's
  std::optional<double> oversubscription{};
  std::optional<double> failed_links{};  // below 1: a share of them

  friend bool operator==(const NetworkVariant&, const NetworkVariant&) = default;
};

/// What one tier of links carries, such as those between leaves and spines: how long the transfers
/// of one iteration, by the algorithms that they take, keep those of its links busy that they use,
/// over the iteration; each direction by itself.
struct TierLoad {
  std::string tier;  // "leaf - spine"
  std::size_t lanes = 0;
  double mean = 0;
  double most = 0;
};

/// The whole network, whatever of it the run uses.
struct NetworkPurchase {
  NetworkParts parts;
  NetworkCost cost;
  std::optional<Bisection> bisection{};
  double share = 1;  // of its ports that the run's nodes have

  [[nodiscard]] double dollars_per_port() const { return cost.dollars / parts.nic_ports; }
  [[nodiscard]] Watts power_per_port() const { return cost.power / parts.nic_ports; }
  /// What its part of the network costs the run, for each of its tokens in a second.
  [[nodiscard]] double dollars_per_rate(double tokens_per_s) const {
    return share * cost.dollars / tokens_per_s;
  }
};

struct NetworkStep {
  NetworkVariant variant;  // without an oversubscription that its family does not have
  std::string topology;    // by its name
  std::string routing;
  std::optional<BytesPerSecond> port{};  // of the network, where it carries less than a NIC
  std::optional<StepResult> step{};
  std::vector<TierLoad> tiers{};  // the hottest first
  std::optional<NetworkPurchase> purchase{};
  std::string problem{};  // why there is no step

  /// Of the stage that the breakdown is seen from.
  [[nodiscard]] Seconds exposed_communication() const;
};

/// Which variants: every combination, the topologies first.
struct NetworkAxes {
  std::vector<std::string> topologies{};
  std::vector<double> oversubscriptions{};
  std::vector<double> failed_links{};
};
[[nodiscard]] std::vector<NetworkVariant> network_variants(const NetworkAxes& axes);

/// Each at the fidelity network, whose algorithms are the fastest there. What a topology does not
/// have is its variant's problem; one whose family has no oversubscription is there once, without.
/// With prices what networks cost.
[[nodiscard]] std::vector<NetworkStep> compare_networks(
    const ScenarioSource& source,
    const std::vector<NetworkVariant>& variants,
    const std::optional<NetworkPrices>& prices = {});

}  // namespace titer
