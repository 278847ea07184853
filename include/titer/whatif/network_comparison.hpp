#pragma once
// One run on other networks: what a topology, an oversubscription or links that have failed cost
// its step, on the links of the whole cluster.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "titer/estimate/result.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// In place of the run's own.
struct NetworkVariant {
  std::string topology{};  // a name or a file; "": the run's
  std::optional<double> oversubscription{};
  std::optional<double> failed_links{};  // below 1: a share of them
};

/// What one tier of links carries, such as those between leaves and spines: the time that its links
/// in use are busy with the bytes of one iteration, over the iteration; each direction by itself.
struct TierLoad {
  std::string tier;  // "leaf - spine"
  std::size_t lanes = 0;
  double mean = 0;
  double most = 0;
};

struct NetworkStep {
  NetworkVariant variant;
  std::string topology;  // by its name
  std::string routing;
  std::optional<StepResult> step{};
  std::vector<TierLoad> tiers{};  // the hottest first
  std::string problem{};          // why there is no step
  std::string untraced{};         // why there are no tiers

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
/// have is its variant's problem. Bytes of collectives go around rings, tokens to all experts.
[[nodiscard]] std::vector<NetworkStep> compare_networks(
    const ScenarioSource& source, const std::vector<NetworkVariant>& variants);

}  // namespace titer
