#pragma once
// What running tasks take of things that they share: the arithmetic units of a device, its memory,
// its network card, a link. Such a resource has a capacity of one. A load is the list of shares
// that a task takes of resources while it runs at full speed.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace titer {

using LoadId = std::uint32_t;
using LoadResource = std::uint32_t;

/// The load of a task that shares nothing.
inline constexpr LoadId kNoLoad = std::numeric_limits<LoadId>::max();

/// What a load takes of a resource, at most all of it.
struct LoadShare {
  LoadResource resource = 0;
  double share = 0.0;
};

/// Loads and the resources they share, both numbered from 0 in the order in which they are added.
/// Shares are kept in units of 2^-40, so that sums of them are exact in any order.
class Loads {
 public:
  using Units = std::uint64_t;
  static constexpr Units unit = Units{1} << 40;
  /// Shares that add up to no more than this leave everyone at full speed: three thirds are one.
  static constexpr Units full = unit + (unit >> 30);

  struct Part {
    LoadResource resource = 0;
    Units units = 0;
  };

  /// A new resource.
  LoadResource add_resource() { return resource_count_++; }
  /// A new load on resources added before, each at most once; the shares lie in [0, 1].
  LoadId add(std::span<const LoadShare> shares);

  [[nodiscard]] std::size_t resources() const { return resource_count_; }
  [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
  [[nodiscard]] std::span<const Part> parts(LoadId load) const {
    return {parts_.data() + begin_[load], parts_.data() + begin_[load + 1]};
  }

 private:
  LoadResource resource_count_ = 0;
  std::vector<std::uint32_t> begin_ = {0};  // CSR: the parts of load i are
  std::vector<Part> parts_;                 // parts_[begin_[i] .. begin_[i+1])
};

}  // namespace titer
