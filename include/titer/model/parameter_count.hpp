#pragma once
// Parameters by who holds them.

#include <cstdint>

namespace titer {

/// Parameters by how parallelism treats them: split over the tensor-parallel ranks, held by each of
/// these, or of routed experts, split over the expert- and expert-tensor-parallel ranks.
struct ParameterCount {
  std::int64_t split = 0;
  std::int64_t replicated = 0;
  std::int64_t experts = 0;

  [[nodiscard]] std::int64_t total() const { return split + replicated + experts; }
  ParameterCount& operator+=(const ParameterCount& other) {
    split += other.split;
    replicated += other.replicated;
    experts += other.experts;
    return *this;
  }
  friend ParameterCount operator*(std::int64_t factor, const ParameterCount& count) {
    return {factor * count.split, factor * count.replicated, factor * count.experts};
  }
  friend bool operator==(const ParameterCount&, const ParameterCount&) = default;
};

/// The same on one device: what the data-parallel ranks share, and what the smaller data-parallel
/// groups of experts do.
struct DeviceParameters {
  double dense = 0;
  double experts = 0;

  [[nodiscard]] double total() const { return dense + experts; }
  DeviceParameters& operator+=(const DeviceParameters& other) {
    dense += other.dense;
    experts += other.experts;
    return *this;
  }
  friend DeviceParameters operator*(double factor, const DeviceParameters& of) {
    return {factor * of.dense, factor * of.experts};
  }
  friend bool operator==(const DeviceParameters&, const DeviceParameters&) = default;
};

}  // namespace titer
