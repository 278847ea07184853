// Context and expert groups: every rank by itself, unequal devices, exports and links.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "export/exported_graphs.hpp"
#include "plan/blocks.hpp"
#include "scenario/moe.hpp"
#include "simulate/simulations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/export/exported_step.hpp"
#include "titer/simulate/world.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using simulations::all_of;
using simulations::kBackward;
using simulations::kForward;
using simulations::kOptimizer;
using simulations::RoundStep;
using simulations::ticks;

constexpr SimulationOptions kEveryRank = {.every_rank = true};

/// Exposed and hidden transfers of every kind in both passes, experts' buckets and tails.
RoundStep with_transfers(const moe::Degrees& degrees) {
  RoundStep step(moe::plan_of(degrees), 4);
  Seconds time = 1_us;
  for (PassCost* cost : {&step.costs.kinds.front().forward, &step.costs.kinds.front().backward}) {
    for (const PassComm comm : kAllPassComms) {
      cost->exposed[comm] = time;
      cost->transfers[comm] = 2.0 * time;
      time += 0.25_us;
    }
  }
  for (StageTail& tail : step.costs.tails) {
    tail.gradient_sync = 9_us;
    tail.expert_gradients = 4_us;
    tail.parameter_sync = 5_us;
    tail.expert_parameters = 2_us;
  }
  return step;
}

std::vector<GradientBucket> buckets() {
  return {{.ready = 0.5, .sync = 12_us, .gather = 4_us, .expert_sync = 5_us, .expert_gather = 1_us},
          {.ready = 1.0, .sync = 6_us, .gather = 4_us, .expert_sync = 6_us, .expert_gather = 4_us}};
}

TEST(ExpertAndContextGroups, SayRankByRankWhatTheFoldedStepSays) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    for (const double slowdown : {1.0, 1.25}) {
      for (const bool in_buckets : {false, true}) {
        RoundStep step = with_transfers(degrees);
        step.scenario.stack.overlap_slowdown = slowdown;
        if (in_buckets) {
          step.costs.buckets.assign(static_cast<std::size_t>(step.costs.stages), buckets());
        }
        const StepResult folded = step.result();
        EXPECT_EQ(all_of(step.scenario, step.run(kEveryRank).result), all_of(step.scenario, folded))
            << moe::text_of(degrees) << " " << slowdown << " " << in_buckets;
        if (slowdown == 1.0) {
          EXPECT_GT(folded.breakdown.expert_comm, Seconds{});
          EXPECT_GT(folded.comm_total.context, folded.breakdown.context_comm);
        }
      }
    }
  }
}

TEST(ExpertAndContextGroups, SayTheSameForTheOperationsOfAModel) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
      Scenario scenario = moe::scenario(degrees);
      scenario.plan.sharding = sharding;
      scenario.plan.overlap_grad_reduce = sharding == Sharding::zero1;
      ASSERT_TRUE(validate(scenario).empty()) << moe::text_of(degrees);
      const StepResult folded = simulate(scenario).result;
      EXPECT_EQ(all_of(scenario, simulate(scenario, kEveryRank).result), all_of(scenario, folded))
          << moe::text_of(degrees);
      EXPECT_EQ(ticks(folded.iteration_time), ticks(estimate(scenario).iteration_time))
          << moe::text_of(degrees);
    }
  }
}

TEST(ExpertAndContextGroups, HaveLanesOfTheirOwn) {
  const RoundStep step = with_transfers(moe::kDegrees[1]);
  const Simulation simulation = step.run({.every_rank = true, .record = true});
  std::map<std::pair<DeviceLane, TaskPart>, Ticks> busy;
  for (const LaneSpan& span : simulation.timeline.spans) {
    if (span.rank == simulation.result.reference_stage) {
      busy[{span.lane, span.part}] += span.end - span.start;
    }
  }
  const StepResult& result = simulation.result;
  EXPECT_EQ(ticks(result.comm_total.context),
            (busy[{DeviceLane::context_comm, TaskPart::context_comm}]));
  EXPECT_EQ(ticks(result.comm_total.expert),
            (busy[{DeviceLane::expert_comm, TaskPart::expert_comm}]));
  EXPECT_EQ(ticks(result.comm_total.host), (busy[{DeviceLane::host_copy, TaskPart::host_copy}]));
  // Passes' and the tail's.
  EXPECT_EQ(ticks(result.comm_total.data), (busy[{DeviceLane::data_comm, TaskPart::data_comm}]));
  EXPECT_GT(result.comm_total.host, Seconds{});
  std::set<std::array<int, 4>> places;
  for (const TimelineRank& rank : simulation.timeline.ranks) {
    places.insert({rank.stage, rank.tensor, rank.context, rank.data});
  }
  EXPECT_EQ(places.size(), 8U) << "t cp d, each once";
}

/// What the members of a slow device's groups lose: all that meet it wait in every pass.
TEST(UnequalDevices, HoldUpTheGroupsThatTheyAreIn) {
  struct Case {
    PassComm comm;
    std::set<int> held;  // devices that end with the slow device 0
  };
  // t = 2, cp = 2, d = 2; experts over ep 2 with etp 1: tensor neighbours.
  const std::array<Case, 3> cases = {
      {{PassComm::tensor, {0, 1}}, {PassComm::context, {0, 2}}, {PassComm::expert, {0, 1}}}};
  for (const Case& one : cases) {
    RoundStep step(
        moe::plan_of({.tensor = 2, .context = 2, .data = 2, .expert = 2, .expert_tensor = 1}), 2);
    PassCost& forward = step.costs.kinds.front().forward;
    forward.exposed[one.comm] = 2_us;
    forward.transfers[one.comm] = 2_us;
    step.scenario.conditions.devices = {{.first = 0, .last = 0, .compute = 2}};
    const StepTimeline timeline = step.run({.every_rank = true, .record = true}).timeline;
    std::map<int, Ticks> begin;  // of the first transfer
    for (const LaneSpan& span : timeline.spans) {
      if (span.part != TaskPart::forward && span.part != TaskPart::backward &&
          span.part != TaskPart::optimizer) {
        begin.try_emplace(span.rank, span.start);
      }
    }
    ASSERT_EQ(begin.size(), 8U);
    for (const auto& [rank, start] : begin) {
      EXPECT_EQ(start, ticks(one.held.count(rank) > 0 ? 2 * kForward : kForward))
          << name(PassComm{one.comm} == PassComm::expert ? TaskPart::expert_comm
                                                         : TaskPart::context_comm)
          << " of device " << rank;
    }
  }
}

TEST(UnequalDevices, LetTheReplicasOfTheirExpertsWait) {
  // ep = 2 of d = 4: devices 0 and 2 have the same experts, 1 and 3 the others.
  RoundStep step(moe::plan_of({.data = 4, .expert = 2}), 2);
  step.costs.tails[0].gradient_sync = 8_us;
  step.costs.tails[0].expert_gradients = 8_us;
  step.scenario.conditions.devices = {{.first = 0, .last = 0, .compute = 2}};
  const StepTimeline timeline = step.run({.every_rank = true, .record = true}).timeline;
  for (const LaneSpan& span : timeline.spans) {
    if (span.part == TaskPart::data_comm) {
      const Seconds passes = 2 * (kForward + kBackward);
      EXPECT_EQ(span.start, ticks(span.rank % 2 == 0 ? 2 * passes : passes)) << span.rank;
    }
  }
}

TEST(UnequalDevices, SlowTheExpertTransfersThatTheyTakePartIn) {
  RoundStep step(moe::plan_of({.data = 4, .expert = 2}), 1);
  PassCost& forward = step.costs.kinds.front().forward;
  forward.exposed[PassComm::expert] = 4_us;
  forward.transfers[PassComm::expert] = 4_us;
  step.scenario.conditions.devices = {{.first = 1, .last = 1, .node = 1.5}};
  const StepTimeline timeline = step.run({.every_rank = true, .record = true}).timeline;
  for (const LaneSpan& span : timeline.spans) {
    if (span.part == TaskPart::expert_comm) {
      EXPECT_EQ(span.end - span.start, ticks((span.rank < 2 ? 1.5 : 1.0) * 4_us)) << span.rank;
    }
  }
  const Crossings crossings(step.scenario);
  EXPECT_FALSE(crossings.of(Meeting::expert)) << "all in one node";
}

// ---- exports and links -------------------------------------------------------------------------

TEST(ExportedGroups, HoldEveryRankOncePerRole) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    const ExportedStep step(moe::scenario(degrees), ExportDetail::pass);
    std::map<GroupRole, std::set<int>> seen;
    int number = 0;
    for (const RankGroup& group : step.groups()) {
      EXPECT_EQ(group.number, ++number) << moe::text_of(degrees);
      for (const int rank : group.ranks) {
        EXPECT_TRUE(seen[group.role].insert(rank).second) << moe::text_of(degrees);
      }
      EXPECT_EQ(step.ways(group).group.ranks(), static_cast<int>(group.ranks.size()))
          << moe::text_of(degrees);
      EXPECT_GT(group.ranks.size(), 1U);
    }
    const auto all = static_cast<std::size_t>(step.ranks());
    EXPECT_EQ(seen[GroupRole::context].size(), degrees.context > 1 ? all : 0U);
    EXPECT_EQ(seen[GroupRole::expert].size(), degrees.expert > 1 ? all : 0U);
    EXPECT_EQ(seen[GroupRole::data].size(), degrees.context * degrees.data > 1 ? all : 0U);
  }
}

void expect_closed_time(const moe::Degrees& degrees, bool overlap) {
  for (const ExportDetail detail : {ExportDetail::layer, ExportDetail::pass}) {
    Scenario scenario = moe::scenario(degrees);
    scenario.plan.sharding = Sharding::zero1;
    scenario.plan.expert_overlap = overlap;
    const ExportedStep step(scenario, detail);
    const auto taken = exported::time(step);
    ASSERT_TRUE(taken.has_value()) << moe::text_of(degrees);
    const double rounding =
        static_cast<double>(step.graph(0).size()) * static_cast<double>(degrees.pipeline);
    const bool mixes = detail == ExportDetail::pass && (degrees.context > 1 || overlap);
    const auto closed = static_cast<double>(to_ticks(estimate(scenario).iteration_time));
    // A ring hides behind its own kernel only, experts' exchanges behind their own layer; a whole
    // pass's, behind all kernels of the pass.
    EXPECT_NEAR(static_cast<double>(*taken), closed, mixes ? 0.2 * closed : rounding)
        << moe::text_of(degrees);
    EXPECT_LE(static_cast<double>(step.graph(0).size()), step.most_nodes());
  }
}

TEST(ExportedGroups, TakeTheTimeOfTheClosedFormButForRounding) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    expect_closed_time(degrees, false);
  }
}

TEST(ExportedGroups, TakeItAlsoWithExchangesBesideOtherMicroBatches) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    expect_closed_time(degrees, true);
  }
}

TEST(ExpertExchanges, AreExposedOnlyBeyondTheComputeOfOtherMicroBatches) {
  Scenario scenario = moe::scenario({.pipeline = 2, .data = 4, .expert = 4});
  const auto expert_time = [&] { return estimate(scenario).breakdown.expert_comm; };
  const Seconds exposed = expert_time();
  ASSERT_GT(exposed, Seconds{});
  scenario.plan.expert_overlap = true;
  const Seconds hidden = estimate(scenario).iteration_time;
  const Seconds left = expert_time();  // of passes with no other beside them
  EXPECT_LT(left, 0.8 * exposed);
  scenario.stack.overlap_slowdown = 1.2;  // of compute, as long as something is beside it
  EXPECT_GT(estimate(scenario).iteration_time, hidden);
  scenario.cluster.node_protocols.front().efficiency = 1e-3;
  scenario.cluster.peer_protocols.clear();
  EXPECT_GT(expert_time(), 10.0 * left) << "longer than all compute";
}

TEST(ExpertExchanges, SendATokenOnceToEveryRankOrNode) {
  Scenario scenario = moe::scenario({.data = 16, .expert = 4});
  EXPECT_EQ(scenario.slice().expert_sent, 1.0);
  scenario.plan.expert_dispatch = ExpertDispatch::deduplicated;
  // Two of eight experts, in pairs: the second is on the first one's rank with probability 1/7.
  EXPECT_NEAR(scenario.slice().expert_sent, (2.0 - 1.0 / 7.0) / 2.0, 1e-12);
  scenario.plan.expert = 8;
  EXPECT_EQ(scenario.slice().expert_sent, 1.0);  // one on each rank
  scenario.cluster.devices_per_node = 4;         // four of them on each of two nodes
  EXPECT_NEAR(scenario.slice().expert_sent, (2.0 - 3.0 / 7.0) / 2.0, 1e-12);
  scenario.plan.expert_dispatch.reset();
  scenario.stack.expert_dispatch = ExpertDispatch::deduplicated;
  EXPECT_LT(scenario.slice().expert_sent, 1.0) << "unless the plan says otherwise";
}

TEST(ExportedGroups, SynchroniseExpertsAmongTheirOwnReplicas) {
  const Scenario scenario = moe::scenario(moe::kDegrees[4]);
  const ExportedStep step(scenario, ExportDetail::layer);
  const DeviceParameters own = rank_parameters(step.costs().blocks, scenario.plan, 0);
  EXPECT_GT(own.experts, 0);
  std::map<GroupRole, Bytes> sent;
  const RankGraph graph = step.graph(0);
  for (const GraphNode& node : graph.nodes()) {
    if (node.part == TaskPart::data_comm) {
      sent[step.group(node.group).role] += node.bytes;
    }
  }
  const Bytes each = size_of(scenario.gradient_type());
  EXPECT_DOUBLE_EQ(sent[GroupRole::data].si(), (own.dense * each).si());
  EXPECT_EQ(sent.count(GroupRole::experts), 0U) << "d / (ep / t etp) = 1: no other has them";
  const Scenario replicated = moe::scenario({.data = 4, .expert = 2});
  const ExportedStep with(replicated, ExportDetail::layer);
  Bytes experts;
  const RankGraph other = with.graph(0);
  for (const GraphNode& node : other.nodes()) {
    const bool has_group = node.kind == NodeKind::collective;
    if (has_group && with.group(node.group).role == GroupRole::experts) {
      experts += node.bytes;
    }
  }
  const DeviceParameters of_rank = rank_parameters(with.costs().blocks, replicated.plan, 0);
  EXPECT_DOUBLE_EQ(experts.si(), (of_rank.experts * each).si());
}

TEST(NetworkFidelity, FollowsContextAndExpertGroupsOnTheLinks) {
  for (const moe::Degrees& degrees : moe::kDegrees) {
    const Scenario scenario = moe::scenario(degrees);
    const Seconds alone = simulate(scenario).result.iteration_time;
    const Seconds shared = simulate(scenario, {.network = true}).result.iteration_time;
    EXPECT_GE(ticks(shared), ticks(alone)) << moe::text_of(degrees);
    EXPECT_LT(shared, 3.0 * alone) << moe::text_of(degrees);
  }
}

TEST(NetworkFidelity, FollowsShardsOfExperts) {
  for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
    Scenario scenario = moe::scenario({.data = 4, .expert = 2});
    scenario.plan.sharding = sharding;
    const Seconds alone = simulate(scenario).result.iteration_time;
    const Seconds shared = simulate(scenario, {.network = true}).result.iteration_time;
    EXPECT_GE(ticks(shared), ticks(alone)) << name(sharding);
    EXPECT_LT(shared, 3.0 * alone) << name(sharding);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
