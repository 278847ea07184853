#pragma once
// A step on the links of its whole cluster: what every transfer takes of them, so that transfers
// that run at the same time slow one another down where they meet.

#include "titer/engine/loads.hpp"
#include "titer/estimate/result.hpp"
#include "titer/simulate/step_program.hpp"

namespace titer {

/// As many devices as are followed on the links, whose groups are all listed, and as many ranks of
/// one group, who send each other so many messages squared.
inline constexpr std::int64_t kMostDevicesOnLinks = 131'072;
inline constexpr std::int64_t kMostRanksOnLinks = 4096;

class Contention;

/// The loads of a program's transfers.
struct LinkLoads {
  Loads loads;
  std::vector<TakenAlgorithm> algorithms;  // that the closed form would not take
};

/// Gives every transfer of the program its load on the links of the cluster; the loads.
///
/// One device of a pipeline rank stands for all: an instruction is the transfer of all their groups
/// at once, on the links of all of them, by the algorithm that is the fastest there. One that is
/// slower by its closed form than what the costs have makes the instruction longer, and so does a
/// transfer that takes more than all of a link by itself, where its own groups meet. Links
/// that are taken alike are one resource; links that can never be asked for more than all are none.
///
/// The transfers of a pass (or a pair of passes) among its tensor, context or expert groups count
/// as an even mix each. A transfer between two pipeline ranks that both do (the embedding's, and
/// the gradients of two copies of a stage) counts as half of each. What events without links share
/// (`contention`) is shared here too, so that links only ever make something longer.
///
/// REQUIRES a program with one device for each pipeline rank, no torus. Throws InputError where the
/// groups of a kind do not lie alike on the nodes, or parameter servers find no ports.
[[nodiscard]] LinkLoads share_links(const Scenario& scenario,
                                    const StepCosts& costs,
                                    const Contention& contention,
                                    StepProgram& program);

}  // namespace titer
