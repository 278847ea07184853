#include "titer/simulate/step_program.hpp"

#include <algorithm>

#include "rank_builder.hpp"

namespace titer {

bool StepProgram::uses(Track track) const {
  return std::ranges::any_of(ranks, [&](const RankProgram& rank) {
    return !rank.tracks[static_cast<std::size_t>(track)].empty();
  });
}

StepProgram step_program(const Scenario& scenario,
                         const StepCosts& costs,
                         SimulatedMembers members) {
  const std::vector<ActionList> lists = action_lists(scenario.plan.schedule, costs.shape);
  const Messages messages(costs, lists);
  const Plans plans{.costs = costs,
                    .messages = messages,
                    .send = scenario.pipeline_send(),
                    .members = members,
                    .leave_together = scenario.stack.overlap_slowdown > 1,
                    .islands_have_links = scenario.plan.local_steps &&
                                          scenario.plan.local_steps->bandwidth.has_value()};
  StepProgram program;
  program.ranks.reserve(lists.size());
  for (int rank = 0; rank < costs.shape.stages; ++rank) {
    program.ranks.push_back(
        RankBuilder(plans, rank, lists[static_cast<std::size_t>(rank)]).build());
  }
  return program;
}

}  // namespace titer
