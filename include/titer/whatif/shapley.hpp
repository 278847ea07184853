#pragma once
// A difference shared out among those that make it together.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace titer {

/// What a coalition is worth, by the players in it (bit i: player i); nothing where it cannot be.
using CoalitionWorth = std::vector<std::optional<double>>;

struct ShapleyShares {
  std::vector<double> shares;  // of each group; they add up to worth(all) - worth(none)
  double orders = 0;           // in which all groups can come, every coalition on the way being one
};

/// The share of each group of players, whose members come together: what its coming adds, averaged
/// over the orders of the groups that are possible. `groups`: the players of each, as bits.
/// REQUIRES the worth of none and of all. No order: no shares.
[[nodiscard]] ShapleyShares shapley_shares(const CoalitionWorth& worth,
                                           std::span<const std::uint32_t> groups);

/// Puts groups together, two at a time, until there is an order: each time the two that leave the
/// largest share of all orders possible, and while no two do, the last two.
[[nodiscard]] std::vector<std::uint32_t> joined_groups(const CoalitionWorth& worth,
                                                       std::vector<std::uint32_t> groups);

}  // namespace titer
