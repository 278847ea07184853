#pragma once
// The costs of one step after another. A search goes through plans of one model on one cluster that
// differ in a few keys each: what these have nothing to do with is kept from the plan before.

#include "titer/cost/cost.hpp"

namespace titer {

/// What of a scenario may be otherwise than in the one before.
enum class Changed { anything, plan };

/// What of a plan's keys together the passes of a layer depend on, beside each by itself.
struct LayerKeys {
  std::int64_t devices = 0;
  std::int64_t launchers = 0;  // devices whose kernels one process launches

  friend bool operator==(const LayerKeys&, const LayerKeys&) = default;
};

/// Where the groups lie among which layers exchange data: where this is equal, so are their costs.
struct LayerPlaces {
  std::array<Group, kLayerGroups> groups{};
  std::array<int, kLayerGroups> strides{};
  bool own_experts = false;  // no other rank has them

  friend bool operator==(const LayerPlaces&, const LayerPlaces&) = default;
};
[[nodiscard]] LayerPlaces layer_places(const Scenario& scenario);

/// Finds costs as step_costs() does.
class CostFinder {
 public:
  /// With Changed::plan: REQUIRES that nothing but the plan is otherwise than in the find() before,
  /// if there was one.
  void find(const Scenario& scenario, Changed changed);

  [[nodiscard]] const StepCosts& costs() const { return costs_; }
  /// Whether the blocks and their own costs are those of the find() before.
  [[nodiscard]] bool same_layers() const { return same_layers_; }
  /// Whether the passes of all stages are, and what is sent between them.
  [[nodiscard]] bool same_passes() const { return same_passes_; }
  [[nodiscard]] bool same_sends() const { return same_sends_; }

 private:
  [[nodiscard]] bool keeps_layers(const Scenario& scenario, bool may_keep, bool same_places);
  void find_layers(const Scenario& scenario);
  bool find_stages(const Plan& plan, bool same_keys);
  bool find_sends(const Scenario& scenario);
  void restore_layers();

  StepCosts costs_;
  bool complete_ = false;  // the find() before came to its end
  bool same_layers_ = false;
  bool same_passes_ = false;
  bool same_sends_ = false;
  bool moved_ = false;  // costs_ has what passes move besides
  Plan plan_;           // of the find() before
  LayerKeys layer_keys_;
  LayerPlaces layer_places_;
  GroupRanks pipeline_;
  // Without what passes move besides.
  std::vector<BlockCost> kinds_;
  BlockCost embedding_;
  BlockCost head_;
};

}  // namespace titer
