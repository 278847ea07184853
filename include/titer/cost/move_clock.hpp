#pragma once
// What the moves of a plan take, and the work after the backward passes, for a number of parameters
// on the device.

#include "titer/cost/moves.hpp"
#include "titer/cost/sync_cost.hpp"

namespace titer {

/// What of a move is sent in one group: all but experts, or experts.
struct MovePart {
  bool experts = false;
  const SyncGroup* among = nullptr;
  Bytes size{};
};
using MoveParts = FewOf<MovePart, 2>;
/// REQUIRES a move among shards or their copies. `places` must stay.
[[nodiscard]] MoveParts parts_of(const Move& move,
                                 const DeviceParameters& parameters,
                                 const SyncGroups& places);

/// By the collective of its move.
[[nodiscard]] Seconds time_of(const Move& move, const MovePart& part);

/// Whether it is among groups of ranks, of whose parameters it moves a part each.
[[nodiscard]] bool has_parts(const Move& move);

/// The ranks that do it.
[[nodiscard]] PlanGroup plan_group(const Scenario& scenario,
                                   const Move& move,
                                   const MovePart& part);

/// When islands meet, as much as a step has of it.
struct IslandMeeting {
  Seconds exchange;
  Seconds host;    // states from there and back
  Seconds update;  // of the outer optimizer
};

class MoveClock {
 public:
  /// Both must stay.
  MoveClock(const Scenario& scenario, const SyncGroups& places);
  MoveClock(Scenario&&, const SyncGroups&) = delete;

  [[nodiscard]] const Moves& moves() const { return moves_; }
  [[nodiscard]] const SyncGroups& places() const { return *places_; }
  /// A move of so many parameters, or of bytes that are none.
  [[nodiscard]] Seconds time(const Move& move,
                             const DeviceParameters& parameters,
                             Bytes others = {}) const;
  /// All that are moved then.
  [[nodiscard]] Seconds time(MoveTime when, const DeviceParameters& parameters) const;
  /// Of these, what experts take.
  [[nodiscard]] Seconds expert_time(MoveTime when, const DeviceParameters& parameters) const;
  [[nodiscard]] IslandMeeting meeting(const DeviceParameters& trained) const;
  /// Servers update the parameters as the gradients come.
  [[nodiscard]] Seconds optimizer(const DeviceParameters& trained,
                                  const MatrixUpdate& matrices) const;
  /// What it reads and writes of parameters one by one, and of all gradients.
  [[nodiscard]] Bytes optimizer_bytes(const DeviceParameters& trained,
                                      const MatrixUpdate& matrices) const;
  [[nodiscard]] bool alone() const {
    return places_->dense.group.ranks() == 1 && places_->experts.group.ranks() == 1;
  }
  [[nodiscard]] double ranks() const { return places_->dense.group.ranks(); }

 private:
  /// Its part of what ranks split among them.
  [[nodiscard]] double own(const DeviceParameters& parameters) const;

  const Scenario* scenario_;
  const SyncGroups* places_;
  Moves moves_;
  MemoryClock kernels_;
  OptimizerTraffic traffic_;
};

/// Cuts every stage's gradients into buckets. REQUIRES block costs.
void fill_gradient_buckets(const Scenario& scenario, const MoveClock& clock, StepCosts& costs);

}  // namespace titer
