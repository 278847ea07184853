#pragma once
// What the tasks of a simulated step share: the SMs of a device, and its links.

#include <array>
#include <vector>

#include "titer/engine/loads.hpp"
#include "titer/simulate/world.hpp"

namespace titer {

/// Where the stack measures that compute and communication beside one another slow down, compute
/// takes all of a device's SMs and a transfer `overlap_slowdown` - 1 of them: while both run, each
/// takes that many times longer. Then transfers of a device over the same links also share them, in
/// each direction. Tensor-parallel transfers beside compute take no SMs here: the costs of the pass
/// hold their slow-down. With a slow-down of 1 nothing is shared.
class Contention {
 public:
  Contention() = default;  // nothing is shared
  Contention(const Scenario& scenario, const World& world);

  [[nodiscard]] bool exists() const { return !of_rank_.empty(); }
  [[nodiscard]] const Loads& loads() const { return loads_; }
  /// What a rank's transfer or compute takes of them; nothing where nothing is shared.
  [[nodiscard]] std::vector<LoadShare> shares(std::size_t rank, Affected affected) const;
  [[nodiscard]] LoadId load(std::size_t rank, Affected affected) const {
    return of_rank_[rank][static_cast<std::size_t>(affected)];
  }

 private:
  Loads loads_;
  std::vector<std::array<LoadId, kAffected>> of_rank_;
};

}  // namespace titer
