#pragma once
// A step on the links of its whole cluster: what every transfer takes of them, so that transfers
// that run at the same time slow one another down where they meet.

#include "titer/engine/loads.hpp"
#include "titer/step/step_program.hpp"

namespace titer {

/// As many devices as are followed on the links, whose groups are all listed, and as many ranks of
/// one group, who send each other so many messages squared.
inline constexpr std::int64_t kMostDevicesOnLinks = 131'072;
inline constexpr std::int64_t kMostRanksOnLinks = 4096;

/// Gives every transfer of the program its load on the links of the cluster; the loads.
///
/// One device of a pipeline rank stands for all: an instruction is the transfer of all their groups
/// at once, on the links of all of them, by the algorithm that libraries take. A transfer that
/// takes more than all of a link by itself, where its own groups meet, gets so much longer. Links
/// that are taken alike are one resource; links that can never be asked for more than all are none.
///
/// The transfers of a pass (or a pair of passes) among its tensor, context or expert groups count
/// as an even mix each. A transfer between two pipeline ranks that both do (the embedding's, and
/// the gradients of two copies of a stage) counts as half of each. Where the stack's compute and
/// transfers slow one another down, they also share the SMs of their device.
///
/// REQUIRES a program with one device for each pipeline rank, no torus. Throws InputError where the
/// groups of a kind do not lie alike on the nodes, and for sharding beyond zero1.
[[nodiscard]] Loads share_links(const Scenario& scenario,
                                const StepCosts& costs,
                                StepProgram& program);

}  // namespace titer
