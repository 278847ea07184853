#pragma once
// What networks cost to buy, and what they draw: switches by their ports, and the links.

#include "titer/topology/network_parts.hpp"

namespace titer {

/// Dollars and power for each 100 Gbps of one direction; of a link with what is at both its ends.
struct NetworkPrices {
  double switch_port = 0;
  Watts switch_port_power;
  double switch_link = 0;
  Watts switch_link_power;
  double nic_link = 0;
  Watts nic_link_power;
};

struct NetworkCost {
  double dollars = 0;
  Watts power;
};
/// The sum over its ports and links of rate times price.
[[nodiscard]] NetworkCost network_cost(const NetworkPrices& prices, const NetworkParts& parts);

}  // namespace titer
