#pragma once
// What the transfers of a step take of the links of its cluster, each kind for itself.

#include <map>
#include <tuple>
#include <vector>

#include "titer/cost/block_moves.hpp"
#include "titer/cost/pass_items.hpp"
#include "titer/estimate/result.hpp"
#include "titer/plan/place/link_use.hpp"
#include "titer/simulate/step_program.hpp"

namespace titer {

/// The transfers of the groups of each pipeline rank, all of a kind at once.
class NetworkTransfers {
 public:
  /// Throws InputError where the groups of a kind do not lie alike on the nodes, or servers find no
  /// ports. Both must stay.
  NetworkTransfers(const Scenario& scenario, const StepCosts& costs);

  /// The transfers of a rank's groups in these passes that count as `comm`, recomputation included,
  /// which take so much time by their costs.
  [[nodiscard]] LinkUse of_passes(int rank,
                                  std::span<const Action> passes,
                                  PassComm comm,
                                  Seconds time);
  /// What a rank's replicas synchronise, experts' or all others': a bucket of a stage, or all that
  /// the rank has.
  [[nodiscard]] LinkUse of_data(int rank, const Instruction& instruction);
  [[nodiscard]] LinkUse of_send(int rank, bool onward);
  /// The token table's, of the first and the last rank.
  [[nodiscard]] LinkUse of_ends();
  /// Of all that was asked for, the collectives that the closed form would do otherwise.
  [[nodiscard]] std::vector<TakenAlgorithm> algorithms() const;

 private:
  class Counted;
  using Groups = std::vector<std::vector<int>>;

  [[nodiscard]] CollectiveUse collective_of(PlanGroup among,
                                            Collective kind,
                                            Bytes size,
                                            const Groups& groups) const;
  [[nodiscard]] LinkUse in_turn(PlanGroup among,
                                Collective kind,
                                Bytes size,
                                const Groups& groups) const;
  [[nodiscard]] LinkUse beside(PlanGroup among, Bytes size, const Groups& groups) const;
  [[nodiscard]] LinkUse of_root(Pass pass) const;
  [[nodiscard]] LinkUse of_root(std::span<const Action> passes) const;
  [[nodiscard]] LinkUse of_servers(const Move& move, const DeviceParameters& parameters) const;
  [[nodiscard]] Groups replica_groups(int rank, PlanGroup group) const;
  [[nodiscard]] Groups end_groups() const;
  void check_alike(const Groups& groups, std::string_view kind) const;
  /// The collective on the groups of a rank, remembered; `pipeline`: of its two ends.
  [[nodiscard]] const LinkUse& collective(PlanGroup among, int rank, Collective kind, Bytes size);

  const Scenario& scenario_;
  const StepCosts& costs_;
  Cluster cluster_;  // of a torus the plan's slice
  ClusterLinks links_;
  ModelItems items_;
  MoveClock clock_;
  std::vector<BlockMoves> moves_;
  std::map<std::tuple<PlanGroup, int, Collective, double>, CollectiveUse> known_;
};

}  // namespace titer
