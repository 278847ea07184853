#include "titer/plan/memory/overhead.hpp"

#include <gtest/gtest.h>

#include "plan/layouts.hpp"
#include "plan/plans.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using layouts::Layout;

using plans::plan_of;

ProcessGroups groups_of(const Plan& plan) { return process_groups(plan); }

TEST(ProcessGroups, AreThoseOfMoreThanOneRank) {
  EXPECT_EQ(groups_of({}).collective, 0);
  EXPECT_FALSE(groups_of({}).sends);
  EXPECT_EQ(groups_of(plan_of(1, 8, 1)).collective, 2) << "world and tensor";
  const ProcessGroups all = groups_of(plan_of(2, 2, 2));
  EXPECT_EQ(all.collective, 3) << "world, tensor and data";
  EXPECT_TRUE(all.sends);
}

TEST(ProcessGroups, OfExpertsComeOnTop) {
  const Plan dense = plan_of(1, 2, 8);
  Plan experts = dense;
  experts.expert = 4;
  // Among the 16 devices of a stage: of 4 experts' ranks, of 2 parts, of 2 copies.
  EXPECT_EQ(groups_of(experts).collective, groups_of(dense).collective + 3);
}

TEST(RuntimeMemory, IsContextCommunicatorsAndTheRest) {
  Stack stack;
  stack.runtime_memory = 3_GiB;
  stack.memory = {.context = 1_GiB, .communicator = 0.25_GiB, .sends = 0.125_GiB};
  EXPECT_EQ(runtime_memory({}, stack, {}).total(), 3_GiB + 1_GiB);
  const Plan plan = plan_of(4, 8, 1);
  EXPECT_EQ(runtime_memory(plan, stack, {}).total(), 3_GiB + 1_GiB + 2 * 0.25_GiB + 0.125_GiB);
}

TEST(RuntimeMemory, HasNoCommunicatorsOnATorus) {
  Stack stack;
  stack.memory = {.context = 1_GiB, .communicator = 0.25_GiB, .sends = 0.125_GiB};
  Cluster torus;
  torus.topology = Torus{};
  EXPECT_EQ(runtime_memory(plan_of(4, 8, 1), stack, torus).total(), 1_GiB);
}

TEST(RuntimeMemory, GrowsByTheAllocatorsShareOfTheTensors) {
  const Layout layout;
  const ModelBlocks blocks = layout.blocks();
  MemoryNeeds needs = layout.needs(blocks);
  const StageMemory without = layouts::stage_memory(layout.plan, needs).front();
  needs.allocator_overhead = 0.125;
  const StageMemory with = layouts::stage_memory(layout.plan, needs).front();
  EXPECT_EQ(with.allocated(), without.allocated());
  EXPECT_DOUBLE_EQ(with.runtime.si(), (without.runtime + 0.125 * without.allocated()).si());
}

TEST(Buffers, AreWhatTheRulesSay) {
  Layout layout;
  layout.plan.pipeline = 2;
  layout.plan.tensor = 4;
  layout.plan.data = 2;
  const auto of = [&](const BufferRules& rules) {
    const ModelBlocks blocks = layout.blocks();
    MemoryNeeds needs = layout.needs(blocks);
    needs.buffers = rules;
    return layouts::stage_memory(layout.plan, needs).front().buffers.si();
  };
  EXPECT_EQ(of({}), 0.0);
  EXPECT_DOUBLE_EQ(of({.receives_ahead = true}), 2 * 2 * layout.sbh());
  const double h = 1024.0;
  const double layer = (3 + 1 + 4 + 4) * h * h / 4 + (3 * h + 4 * h) / 4;  // split over t
  const double replicated = (1 + 1) * h + 4 * h;                           // biases, norms
  EXPECT_DOUBLE_EQ(of({.weight_gradient_dummies = true}), 2 * (layer + replicated));
  ModelBlocks frozen = layout.blocks();
  for (Block& kind : frozen.kinds) {
    kind.frozen = true;
  }
  MemoryNeeds needs = layout.needs(frozen);
  needs.buffers = {.weight_gradient_dummies = true};
  EXPECT_EQ(layouts::stage_memory(layout.plan, needs).front().buffers.si(), 0.0);
  EXPECT_DOUBLE_EQ(of({.flat_gradients = true}), layout.stages().front().gradients.si());
  layout.plan.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(of({}), 2 * 2 * layout.sbh()) << "input and output gradient, whole";
  layout.plan.sequence_parallel = false;
  layout.plan.data = 1;
  EXPECT_EQ(of({.flat_gradients = true}), 0.0) << "nobody to synchronise with";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
