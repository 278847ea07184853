#include "titer/whatif/shapley.hpp"

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// The orders in which groups can come, counted over the lattice of coalitions of groups.
class OrderLattice {
 public:
  OrderLattice(const CoalitionWorth& worth, std::span<const std::uint32_t> groups)
      : worth_(worth), groups_(groups), size_(std::size_t{1} << groups.size()) {}

  /// From nobody to each coalition, or from each to everybody.
  [[nodiscard]] std::vector<double> ways(bool from_none) const {
    std::vector<double> count(size_, 0);
    const std::size_t begin = from_none ? 0 : size_ - 1;
    count[begin] = 1;
    for (std::size_t step = 1; step < size_; ++step) {
      const std::size_t at = from_none ? step : size_ - 1 - step;
      if (!worth_of(at)) {
        continue;
      }
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        const std::size_t bit = std::size_t{1} << i;
        const bool inside = (at & bit) != 0;
        count[at] += inside == from_none ? count[at ^ bit] : 0;
      }
    }
    return count;
  }

  [[nodiscard]] const std::optional<double>& worth_of(std::size_t coalition) const {
    std::uint32_t players = 0;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      players |= (coalition >> i & 1) != 0 ? groups_[i] : 0;
    }
    return worth_[players];
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  const CoalitionWorth& worth_;
  std::span<const std::uint32_t> groups_;
  std::size_t size_;
};

std::vector<std::uint32_t> with_joined(const std::vector<std::uint32_t>& groups,
                                       std::size_t first,
                                       std::size_t second) {
  std::vector<std::uint32_t> joined = groups;
  joined[first] |= joined[second];
  joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(second));
  return joined;
}

/// The two to put together next.
std::vector<std::uint32_t> best_join(const CoalitionWorth& worth,
                                     const std::vector<std::uint32_t>& groups) {
  std::vector<std::uint32_t> best = with_joined(groups, groups.size() - 2, groups.size() - 1);
  double most = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      std::vector<std::uint32_t> joined = with_joined(groups, i, j);
      const double orders = shapley_shares(worth, joined).orders;
      if (orders > most) {
        most = orders;
        best = std::move(joined);
      }
    }
  }
  return best;
}

}  // namespace

ShapleyShares shapley_shares(const CoalitionWorth& worth, std::span<const std::uint32_t> groups) {
  ensure(worth.front() && worth.back(), "a difference is between two that there are");
  const OrderLattice lattice(worth, groups);
  const std::vector<double> before = lattice.ways(true);
  const std::vector<double> after = lattice.ways(false);
  ShapleyShares result{.shares = {}, .orders = before.back()};
  if (result.orders == 0) {
    return result;
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::size_t bit = std::size_t{1} << i;
    double sum = 0;
    for (std::size_t without = 0; without < lattice.size(); ++without) {
      const bool comes = (without & bit) == 0 && before[without] * after[without | bit] > 0;
      if (comes) {
        sum += before[without] * after[without | bit] *
               (*lattice.worth_of(without | bit) - *lattice.worth_of(without));
      }
    }
    result.shares.push_back(sum / result.orders);
  }
  return result;
}

std::vector<std::uint32_t> joined_groups(const CoalitionWorth& worth,
                                         std::vector<std::uint32_t> groups) {
  while (groups.size() > 1 && shapley_shares(worth, groups).orders == 0) {
    groups = best_join(worth, groups);
  }
  return groups;
}

}  // namespace titer
