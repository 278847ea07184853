#include "titer/export/exported_step.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "export/exported_graphs.hpp"
#include "export/exported_steps.hpp"
#include "plan/plans.hpp"
#include "plan/schedules.hpp"
#include "repetitions.hpp"
#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using namespace exported_steps;

constexpr int kMostDevicesTried = 64;

constexpr double kMostNodesTried = 1e6;

bool small_enough(const ExportedStep& step) {
  return step.ranks() <= kMostDevicesTried && step.ranks() * step.most_nodes() < kMostNodesTried;
}

bool pairs_passes(const Scenario& scenario) {
  for (const Action& action : actions(scenario.plan.schedule, 0, scenario.shape())) {
    if (action.with_next) {
      return true;
    }
  }
  return false;
}

bool splits_passes(const Scenario& scenario) {
  for (const Action& action : actions(scenario.plan.schedule, 0, scenario.shape())) {
    if (action.pass == Pass::weight_gradient) {
      return true;
    }
  }
  return false;
}

TEST(ExportedStep, TakesTheTicksOfTheClosedFormWithoutTensorRanks) {
  scenarios::Maker maker(5);
  int tried = 0;
  int piped = 0;
  int data_parallel = 0;
  while (tried < testing::repetitions(60)) {
    Scenario scenario = maker.next_on_nodes();
    scenario.plan.tensor = 1;
    scenario.plan.pipeline_send = PipelineSend::blocking;
    scenario.plan.overlap_grad_reduce = false;
    scenario.plan.overlap_param_gather = false;
    const ExportDetail detail = kExportDetails[static_cast<std::size_t>(tried) % 3].value;
    if (!validate(scenario).empty() || pairs_passes(scenario)) {
      continue;
    }
    const ExportedStep step(scenario, detail);
    constexpr Seconds kExact = 9000_s;  // a double has whole picoseconds up to 2^53
    if (!small_enough(step) || estimate(scenario).iteration_time > kExact) {
      continue;
    }
    ++tried;
    piped += scenario.plan.pipeline > 1 ? 1 : 0;
    data_parallel += scenario.plan.data > 1 ? 1 : 0;
    const auto taken = exported::time(step);
    ASSERT_TRUE(taken.has_value()) << scenarios::text_of(scenario);
    EXPECT_EQ(*taken, to_ticks(estimate(scenario).iteration_time))
        << scenarios::text_of(scenario) << ", detail " << static_cast<int>(detail);
  }
  EXPECT_GT(piped, testing::repetitions(10));
  EXPECT_GT(data_parallel, testing::repetitions(10));
}

TEST(ExportedStep, TakesAsLongAsHostsNeedForItsInput) {
  Scenario scenario = plain::scenario(plans::plan_of(2, 1, 2));
  const StepResult alone = estimate(scenario);
  const auto batch = static_cast<double>(scenario.training.global_batch);
  scenario.training.input_rate = batch / (3 * alone.iteration_time.si());
  const Seconds with_input = estimate(scenario).iteration_time;
  EXPECT_GT(with_input, 2.9 * alone.iteration_time);
  for (const Choice<ExportDetail>& detail : kExportDetails) {
    const ExportedStep step(scenario, detail.value);
    EXPECT_EQ(exported::time(step), to_ticks(with_input)) << detail.name;
    EXPECT_LE(static_cast<double>(step.graph(0).size()), step.most_nodes());
  }
}

/// Islands that meet once in many steps: each step has its share of what they send one another.
TEST(ExportedStep, HasAStepsShareOfWhatIslandsSend) {
  Plan plan = plan_of(2, 1, 16);
  plan.overlap_grad_reduce = false;
  plan.overlap_param_gather = false;
  plan.pipeline_send = PipelineSend::blocking;
  for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
    for (const bool apart : {false, true}) {
      plan.sharding = sharding;
      plan.local_steps = LocalSteps{.islands = 4, .steps = 10};
      if (apart) {
        plan.local_steps->bandwidth = BytesPerSecond::from_si(1.25e9);
      }
      const Scenario scenario = plain::scenario(plan);
      ASSERT_EQ(texts(scenario), Lines());
      const ExportedStep step(scenario, ExportDetail::layer);
      EXPECT_EQ(exported::time(step), to_ticks(estimate(scenario).iteration_time));
      const RankGraph graph = step.graph(0);
      const auto meeting =
          std::find_if(graph.nodes().begin(), graph.nodes().end(), [](const GraphNode& node) {
            return node.what == "how far islands have come";
          });
      ASSERT_NE(meeting, graph.nodes().end());
      EXPECT_EQ(step.group(meeting->group).ranks.size(), 4u);
      // What stands for half of the model's layers in fp32, once in ten steps.
      const double whole = step.costs().trained.front().total() * 4.0;
      const bool own = apart || sharding == Sharding::zero1;
      EXPECT_NEAR(meeting->bytes.si() / (whole / (own ? 4.0 : 1.0) / 10), 1, 1e-9);
    }
  }
}

// Each rank as slow as it is by itself, transfers as the slowest that take part.
TEST(ExportedStep, TakesTheTimeOfEventsWhereDevicesAreUnlike) {
  Plan plan = plan_of(2, 1, 8);
  plan.overlap_grad_reduce = false;
  plan.pipeline_send = PipelineSend::blocking;
  plan.micro_batch = 2;
  const Scenario alike = plain::scenario(plan);
  const auto of_events = [](const Scenario& scenario) {
    return simulate(scenario).result.iteration_time;
  };
  const auto expect_same = [&](const Scenario& scenario) {
    ASSERT_EQ(texts(scenario), Lines());
    const auto taken = exported::time(ExportedStep(scenario, ExportDetail::layer));
    ASSERT_TRUE(taken.has_value());
    EXPECT_NEAR(to_seconds(*taken) / of_events(scenario), 1.0, 1e-6);
    EXPECT_GT(of_events(scenario) / of_events(alike), 1.01);
  };
  Scenario slow = alike;
  slow.conditions.devices = {{.first = 3, .last = 3, .compute = 1.5}};
  expect_same(slow);
  slow.conditions.devices = {{.first = 0, .last = 7, .node = 3, .network = 4}};
  expect_same(slow);
  Scenario other = alike;
  other.conditions.chips = {alike.cluster.chip};
  other.conditions.chips.front().memory.bandwidth =
      0.3 * other.conditions.chips.front().memory.bandwidth;
  other.conditions.devices = {{.first = 5, .last = 6, .chip = 0}};
  expect_same(other);
  Scenario uneven = alike;
  uneven.plan.batch_shares.weights = {1, 1, 1, 1, 3, 3, 3, 3};
  expect_same(uneven);
}

TEST(ExportedStep, TakesTheTimeOfTheClosedFormWithTensorRanksButForRounding) {
  scenarios::Maker maker(6);
  int tried = 0;
  while (tried < testing::repetitions(25)) {
    Scenario scenario = maker.next_on_nodes();
    scenario.stack.pipeline_scatter_gather = false;  // its gather is the receiver's here
    scenario.plan.tensor_overlap = TensorOverlap::none;
    scenario.plan.pipeline_send = PipelineSend::blocking;
    if (scenario.plan.tensor == 1 || !validate(scenario).empty() || pairs_passes(scenario)) {
      continue;
    }
    const ExportedStep step(scenario, ExportDetail::layer);
    if (!small_enough(step)) {
      continue;
    }
    ++tried;
    const auto taken = exported::time(step);
    ASSERT_TRUE(taken.has_value()) << scenarios::text_of(scenario);
    // Half a tick for every transfer that the closed form rounds together with others.
    const double rounding =
        static_cast<double>(step.graph(0).size()) * static_cast<double>(scenario.plan.pipeline);
    EXPECT_NEAR(static_cast<double>(*taken),
                static_cast<double>(to_ticks(estimate(scenario).iteration_time)),
                rounding)
        << scenarios::text_of(scenario);
  }
}

TEST(ExportedStep, HidesWhatTheClosedFormHidesBesideKernels) {
  for (const TensorOverlap overlap : {TensorOverlap::bulk, TensorOverlap::ring}) {
    for (const bool sharded : {false, true}) {
      for (const Schedule& schedule : {named_schedule("1f1b"), named_schedule("zb-h1")}) {
        Plan plan = plan_of(2, 4, 1);
        plan.schedule = schedule;
        plan.sequence_parallel = sharded;
        plan.tensor_overlap = overlap;
        const Scenario scenario = plain::scenario(plan);
        const ExportedStep step(scenario, ExportDetail::operation);
        const auto taken = exported::time(step);
        ASSERT_TRUE(taken.has_value());
        EXPECT_NEAR(static_cast<double>(*taken),
                    static_cast<double>(to_ticks(estimate(scenario).iteration_time)),
                    2.0 * static_cast<double>(step.graph(0).size()))
            << name(overlap) << " " << name(schedule) << " " << sharded;
        plan.tensor_overlap = TensorOverlap::none;
        const ExportedStep without(plain::scenario(plan), ExportDetail::operation);
        EXPECT_LE(*taken, *exported::time(without));
      }
    }
  }
}

TEST(ExportedStep, HasAReceiveForEverySendAndOneOrderOfCollectivesInEveryGroup) {
  for (const Schedule& schedule : testing::named_schedules()) {
    int tried = 0;
    for (int bits = 0; bits < 16; ++bits) {
      Plan plan = plan_with(schedule, bits % 3 == 1 ? 4 : 2, 2, bits / 2 % 3 == 0 ? 1 : 2);
      plan.sequence_parallel = bits % 2 == 1;
      plan.sharding = bits / 2 % 2 == 1 ? Sharding::zero1 : Sharding::none;
      plan.recompute = bits / 4 % 2 == 1 ? Recompute::full : Recompute::selective;
      plan.tensor_overlap = kTensorOverlaps[static_cast<std::size_t>(bits) % 3].value;
      plan.pipeline_send = bits % 3 == 0 ? PipelineSend::overlapped : PipelineSend::blocking;
      plan.overlap_grad_reduce = bits % 4 != 0;
      plan.overlap_param_gather = bits % 4 > 1 && plan.sharding == Sharding::zero1;
      Scenario scenario = plain::scenario(plan);
      scenario.stack.bucket_parameters = 30e6;
      scenario.stack.pipeline_scatter_gather = bits % 4 == 2;
      if (!validate(scenario).empty()) {
        continue;
      }
      const Choice<ExportDetail>& detail = kExportDetails[static_cast<std::size_t>(tried) % 3];
      ++tried;
      expect_sound(ExportedStep(scenario, detail.value),
                   scenarios::text_of(scenario) + ", by " + std::string(detail.name));
    }
    EXPECT_GT(tried, 4) << name(schedule);
  }
}

TEST(ExportedStep, SynchronisesTwoCopiesOfAStageInOneGroup) {
  const ExportedStep step(plain::scenario(plan_with(named_schedule("dualpipe"), 4, 2, 2)),
                          ExportDetail::pass);
  const ExportedStep alone(plain::scenario(plan_with(named_schedule("dualpipe"), 2, 1, 1)),
                           ExportDetail::pass);
  std::map<std::pair<int, int>, std::vector<int>> copies;  // of a tensor rank's stages
  for (int rank = 0; rank < step.ranks(); ++rank) {
    const RankPlace at = step.place_of_rank(rank);
    copies[{at.tensor, std::min(at.pipeline, 3 - at.pipeline)}].push_back(rank);
  }
  std::set<std::vector<int>> wanted;
  for (const auto& [place, ranks] : copies) {
    EXPECT_EQ(ranks.size(), 2u * 2u);  // 2 d
    wanted.insert(ranks);
  }
  std::set<std::vector<int>> got;
  for (const RankGroup& group : step.groups()) {
    if (group.role == GroupRole::data) {
      got.insert(group.ranks);
      EXPECT_EQ(step.ways(group).group.ranks(), 2 * 2);
    }
  }
  EXPECT_EQ(got, wanted);
  ASSERT_EQ(alone.groups().size(), 1u);
  EXPECT_EQ(alone.groups().front().ranks, (std::vector<int>{0, 1}));
}

TEST(ExportedStep, TakesTheTimeOfTheClosedFormWithBucketsAndSendsBesideThePasses) {
  scenarios::Maker maker(7, true);
  int tried = 0;
  int bucketed = 0;
  while (tried < testing::repetitions(40)) {
    Scenario scenario = maker.next_on_nodes();
    scenario.plan.tensor = 1;
    scenario.plan.overlap_param_gather = false;
    // The closed form recomputes the whole chunk before its first bucket, the export layer by
    // layer.
    scenario.plan.recompute = Recompute::none;
    if (!validate(scenario).empty() || pairs_passes(scenario) ||
        placement(scenario.plan.schedule) == Placement::two_ways) {
      continue;
    }
    const ExportedStep step(scenario, ExportDetail::layer);
    if (!small_enough(step)) {
      continue;
    }
    ++tried;
    bucketed += step.costs().buckets.empty() ? 0 : 1;
    const auto taken = exported::time(step);
    ASSERT_TRUE(taken.has_value()) << scenarios::text_of(scenario);
    // Where the passes are split, the closed form has the buckets at the shares of whole ones: up
    // to 1.2e-3 off where gradients wait for slow links.
    const auto time = static_cast<double>(to_ticks(estimate(scenario).iteration_time));
    const double rounding =
        static_cast<double>(step.graph(0).size()) * static_cast<double>(scenario.plan.pipeline);
    EXPECT_NEAR(static_cast<double>(*taken),
                time,
                splits_passes(scenario) ? std::max(rounding, 2e-3 * time) : rounding)
        << scenarios::text_of(scenario);
  }
  EXPECT_GE(bucketed, testing::repetitions(10));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
