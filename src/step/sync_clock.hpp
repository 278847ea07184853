#pragma once
// The work after the backward passes, for a number of parameters on the device.

#include "sync_cost.hpp"

namespace titer {

class SyncClock {
 public:
  /// Both must stay.
  SyncClock(const Scenario& scenario, const SyncGroups& places);

  /// What of the gradients' synchronisation comes once an iteration: zero1 reduce-scatters them
  /// there, zero2 and zero3 only add up what the groups of shards have (HSDP), workers push them to
  /// the parameter servers.
  [[nodiscard]] Seconds gradient_sync(const DeviceParameters& trained) const;
  /// Of updated parameters; those of zero3 are gathered by the passes.
  [[nodiscard]] Seconds parameter_sync(const DeviceParameters& trained) const;
  /// Of these, what experts take.
  [[nodiscard]] Seconds expert_gradients(const DeviceParameters& trained) const;
  [[nodiscard]] Seconds expert_parameters(const DeviceParameters& trained) const;
  /// Servers update the parameters as the gradients come.
  [[nodiscard]] Seconds optimizer(const DeviceParameters& trained) const;
  /// Copies of the optimizer's state: read, updated on the device and written back.
  [[nodiscard]] Seconds host(const DeviceParameters& trained) const;
  [[nodiscard]] bool alone() const {
    return places_->dense.group.ranks() == 1 && places_->experts.group.ranks() == 1;
  }
  [[nodiscard]] double ranks() const { return places_->dense.group.ranks(); }

 private:
  /// Gradients of all ranks added up, those of experts among their own.
  [[nodiscard]] Seconds exchange(GradientCollective exchange,
                                 const DeviceParameters& gradients,
                                 const SyncGroup& dense,
                                 const SyncGroup& experts) const;
  /// Over the groups that have the same shard.
  [[nodiscard]] Seconds copies_sync(const DeviceParameters& trained) const;
  /// Ranks that split the state among them.
  [[nodiscard]] DeviceParameters shards() const;

  const Scenario* scenario_;
  const SyncGroups* places_;
  MemoryClock kernels_;
  OptimizerTraffic traffic_;
};

/// Cuts every stage's gradients into buckets. REQUIRES block costs.
void fill_gradient_buckets(const Scenario& scenario, const SyncClock& clock, StepCosts& costs);

}  // namespace titer
