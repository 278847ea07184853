#include "titer/campaign/network_price.hpp"

namespace titer {

NetworkCost network_cost(const NetworkPrices& prices, const NetworkParts& parts) {
  constexpr BytesPerSecond unit = BytesPerSecond::from_si(100e9 / 8);
  const double ports = parts.switch_ports / unit;
  const double links = parts.switch_links / unit;
  const double nics = parts.nic_links / unit;
  return {
      .dollars = ports * prices.switch_port + links * prices.switch_link + nics * prices.nic_link,
      .power = ports * prices.switch_port_power + links * prices.switch_link_power +
               nics * prices.nic_link_power};
}

}  // namespace titer
