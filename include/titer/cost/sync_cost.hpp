#pragma once
// The parts of step_costs() that follow the passes: synchronisation of gradients and parameters,
// and the optimizer step.

#include "titer/cost/cost.hpp"

namespace titer {

/// A collective over a process group; nothing for a single rank.
[[nodiscard]] Seconds group_time(Collective kind, Bytes size, Group group, const Fabric& fabric);

/// What adds up gradients of all ranks, as a collective; of reduces one of many.
[[nodiscard]] Collective collective_of(GradientCollective exchange);
/// Whether of gradients or parameters it is one for each of the n ranks, of an n-th of them:
/// reduces to them, or broadcasts from them, one after the other.
[[nodiscard]] constexpr bool goes_in_turn(Collective exchange) {
  return exchange == Collective::reduce || exchange == Collective::broadcast;
}
/// As what ranks send and get of those in turn: as much as of one collective of all.
[[nodiscard]] constexpr Collective all_at_once(Collective exchange) {
  return exchange == Collective::reduce      ? Collective::reduce_scatter
         : exchange == Collective::broadcast ? Collective::all_gather
                                             : exchange;
}
/// The ways of a chain of reduces or broadcasts, which libraries send along their ring.
[[nodiscard]] Fabric along_ring(Fabric fabric);
/// A collective of gradients or parameters.
[[nodiscard]] Seconds exchange_time(Collective exchange,
                                    Bytes size,
                                    Group group,
                                    const Fabric& fabric);

/// Where the chains of those in turn lie: along one ring through all ranks, or along one for each
/// NIC of a node. Of reduces a rank sends to the one at the place before its own, of broadcasts to
/// the one behind it; each chain goes over all of its ring but the hop behind the rank at its end,
/// or before the one at its beginning.
struct ChainRings {
  int ranks = 1;
  int count = 1;
  int blocks = 1;  // of a chain

  /// The member at a place of a ring.
  [[nodiscard]] int member(int ring, int place) const {
    const int around = place % ranks;
    return around / count * count + (ring + around) % count;
  }
  [[nodiscard]] int place(int ring, int member) const {
    return member / count * count + (member + count - ring) % count;
  }
};
[[nodiscard]] ChainRings chain_rings(Collective exchange,
                                     Bytes size,
                                     const Group& group,
                                     const Fabric& fabric);

/// Of a rank of the pipeline.
[[nodiscard]] SyncGroups sync_groups(const Scenario& scenario, Placement placement, int rank);
[[nodiscard]] SyncGroup sync_group(const Scenario& scenario, Placement placement, int rank);

/// Parameters of the output head on a device. A tied token table is counted with it too where the
/// last stage has a copy of its own.
[[nodiscard]] DeviceParameters head_count(const Scenario& scenario, const StepCosts& costs);

/// Of the token table on a device, between the model's first and last stage.
[[nodiscard]] Bytes token_table_gradient(const Scenario& scenario, const ModelBlocks& blocks);

/// Nothing where the rule knows no matrices. REQUIRES blocks, contents and groups.
[[nodiscard]] MatrixUpdate matrix_update(const Scenario& scenario,
                                         const StepCosts& costs,
                                         int rank);

/// Fills `trained`. REQUIRES shape, blocks and contents.
void fill_trained(const Plan& plan, StepCosts& costs);

/// Fills tails and buckets. REQUIRES shape, placement, stages, block costs and `trained`.
void fill_synchronisation(const Scenario& scenario, StepCosts& costs);

}  // namespace titer
