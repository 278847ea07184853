// The host's time for kernels of each kind, where a stack knows them apart.

#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "scenario/plain.hpp"
#include "titer/cost/cost.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Seconds host_time(const Scenario& scenario) {
  StepCosts costs;
  step_costs(scenario, costs);
  return costs.kinds.front().forward.host;
}

/// Kernels and collectives of a layer's forward pass, by their kinds.
struct Launched {
  double matrix = 0;
  double attention = 0;
  double memory = 0;
  double transfer = 0;
};
Launched launched(const Scenario& scenario) {
  Launched sum;
  ModelBlocks blocks;
  scenario_blocks(scenario, blocks);
  for (const Operation& op : blocks.kinds.front().operations) {
    if (op.forward.exists()) {
      (op.forward.kind == KernelKind::matrix      ? sum.matrix
       : op.forward.kind == KernelKind::attention ? sum.attention
                                                  : sum.memory) += 1;
    }
    sum.transfer += op.forward_transfer.exists() ? 1 : 0;
  }
  return sum;
}

TEST(Dispatch, IsOfEachKindOfKernelWhereItIsKnown) {
  Scenario scenario = plain::scenario(plans::plan_of(1, 2, 1));
  scenario.plan.attention = AttentionKernel::flash;
  scenario.stack.dispatch = 10_us;
  const Launched count = launched(scenario);
  ASSERT_GT(count.matrix * count.attention * count.memory * count.transfer, 0);
  const double all = count.matrix + count.attention + count.memory + count.transfer;
  EXPECT_NEAR(host_time(scenario).si(), all * 10e-6, 1e-12);
  scenario.stack.matrix_dispatch = 1_us;
  scenario.stack.attention_dispatch = 200_us;
  scenario.stack.memory_dispatch = 30_us;
  scenario.stack.transfer_dispatch = 4000_us;
  EXPECT_NEAR(
      host_time(scenario).si(),
      1e-6 * (count.matrix + 200 * count.attention + 30 * count.memory + 4000 * count.transfer),
      1e-12);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
