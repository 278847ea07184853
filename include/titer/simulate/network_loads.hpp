#pragma once
// A step on the links of its whole cluster: what every transfer takes of them, so that transfers
// that run at the same time slow one another down where they meet.

#include <span>
#include <vector>

#include "titer/engine/loads.hpp"
#include "titer/estimate/result.hpp"
#include "titer/simulate/step_program.hpp"

namespace titer {

/// As many devices as are followed on the links, whose groups are all listed, and as many ranks of
/// one group, who send each other so many messages squared.
inline constexpr std::int64_t kMostDevicesOnLinks = 131'072;
inline constexpr std::int64_t kMostRanksOnLinks = 4096;

/// As many that are simulated one by one.
inline constexpr std::int64_t kMostUnlikeOnLinks = 4096;

class Contention;
class World;

/// The loads of the transfers of programs.
struct LinkLoads {
  Loads loads{};
  std::vector<TakenAlgorithm> algorithms;  // that the closed form would not take
  std::vector<Seconds> busy{};  // of each link, by its capacity: with all transfers of an iteration
  // Where devices are simulated one by one: of each what its instructions' numbers are.
  std::size_t uses = 0;
  std::vector<LoadId> of_device{};

  [[nodiscard]] LoadId of(std::size_t device, LoadId load) const {
    return of_device.empty() ? load : of_device[device * uses + load];
  }
};

/// What a step is made of whose transfers share links.
struct SharedStep {
  std::span<const Scenario> scenarios;      // as devices of each class see it
  std::span<const StepCosts> costs;         // of each class
  const std::vector<std::size_t>& classes;  // of each device
  const World& world;
  const Contention& contention;
};

/// Gives every transfer of the programs, one of each class of devices, its load on the links of the
/// cluster; the loads.
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
/// Where devices are simulated one by one, each takes its part of what all of its pipeline rank
/// take together, as large as the others': links that are taken alike are one, whoever uses them
/// when.
///
/// Throws InputError where the
/// groups of a kind do not lie alike on the nodes, or parameter servers find no ports.
[[nodiscard]] LinkLoads share_links(const SharedStep& step, std::span<StepProgram> programs);

}  // namespace titer
