#pragma once
// What the transfers of a step take of the links of its cluster, each kind for itself.

#include <map>
#include <tuple>
#include <vector>

#include "titer/plan/link_use.hpp"
#include "titer/step/step_program.hpp"

namespace titer {

/// The transfers of the groups of each pipeline rank, all of a kind at once.
class NetworkTransfers {
 public:
  /// Throws InputError where the groups of a dimension do not lie alike on the nodes.
  NetworkTransfers(const Scenario& scenario, const StepCosts& costs);

  /// The transfers of the tensor-parallel groups of a rank in these passes, recomputation included.
  [[nodiscard]] LinkUse of_passes(int rank, std::span<const Action> passes);
  /// What a rank's data-parallel groups do: a bucket of a stage, or all that the rank has.
  [[nodiscard]] LinkUse of_data(int rank, const Instruction& instruction);
  [[nodiscard]] LinkUse of_send(int rank, bool onward);
  /// The token table's, of the first and the last rank.
  [[nodiscard]] LinkUse of_ends();

 private:
  using Groups = std::vector<std::vector<int>>;

  [[nodiscard]] int device(int rank, int tensor, int data) const;
  [[nodiscard]] Groups tensor_groups(int rank) const;
  [[nodiscard]] Groups data_groups(int rank) const;
  [[nodiscard]] Groups end_groups() const;
  void check_alike(const Groups& groups, std::string_view dimension) const;
  /// The collective on the groups of a rank, remembered.
  enum class Among { tensor, data, ends };
  [[nodiscard]] const LinkUse& collective(Among among, int rank, Collective kind, Bytes size);

  const Scenario& scenario_;
  const StepCosts& costs_;
  ClusterLinks links_;
  std::map<std::tuple<Among, int, Collective, double>, LinkUse> known_;
};

}  // namespace titer
