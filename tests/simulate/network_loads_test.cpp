#include "cost/blocks.hpp"

#include <gtest/gtest.h>

#include "simulate/simulations.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using simulations::kBackward;
using simulations::kForward;
using simulations::kOptimizer;
using simulations::RoundStep;
using simulations::ticks;

/// What an InputError says.
template <class Action>
std::string refusal_of(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing";
}

constexpr SimulationOptions kNetwork{.network = true};

/// Pure data parallelism over the nodes of the plain cluster; device i of every node is a group.
Plan data_parallel(std::int64_t nodes) {
  Plan plan;
  plan.tensor = 8;
  plan.data = nodes;
  return plan;
}

/// As many bytes as the gradients of rank 0.
Bytes gradient_bytes(const Scenario& scenario) {
  return rank_parameters(scenario.model, scenario.plan, 0) * size_of(scenario.gradient_type());
}

/// What the gradients of all groups take together, as `titer collective` tells it.
Seconds asked(const Scenario& scenario, NetworkFidelity fidelity) {
  std::vector<std::vector<int>> groups;
  for (int t = 0; t < static_cast<int>(scenario.plan.tensor); ++t) {
    std::vector<int>& group = groups.emplace_back();
    for (int d = 0; d < static_cast<int>(scenario.plan.data); ++d) {
      group.push_back(t + d * static_cast<int>(scenario.plan.tensor));
    }
  }
  CollectiveDesk desk(scenario.cluster, groups);
  return desk
      .answer({.collective = Collective::all_reduce,
               .size = gradient_bytes(scenario),
               .algorithm = {},
               .fidelity = fidelity})
      .time;
}

TEST(NetworkLoads, AreNoneWhereTransfersNeverMeet) {
  Plan plan;
  plan.pipeline = 4;
  plan.tensor = 8;
  plan.data = 2;
  Scenario scenario = plain::scenario(plan);
  scenario.training.global_batch = plan.data;  // one micro-batch: one rank does something at a time
  const Simulation event = simulate(scenario);
  const Simulation network = simulate(scenario, kNetwork);
  EXPECT_EQ(network.timeline.makespan, event.timeline.makespan);
  EXPECT_EQ(network.result.contention->found, 0U);
}

TEST(NetworkLoads, OfCollectivesAloneLeaveThemAsTheyAre) {
  for (const std::int64_t nodes : {2, 3, 4}) {
    const Scenario scenario = plain::scenario(data_parallel(nodes));
    const Ticks event = simulate(scenario).timeline.makespan;
    EXPECT_EQ(simulate(scenario, kNetwork).timeline.makespan, event) << nodes;
  }
}

/// Two nodes of eight devices, whose eight groups meet at fewer interfaces.
Scenario with_nics(int nics) {
  Scenario scenario = plain::scenario(data_parallel(2));
  scenario.cluster.nics = nics;
  return scenario;
}

TEST(NetworkLoads, OfGroupsThatShareAnInterfaceTakeWhatTheBusiestLinkDoes) {
  const Scenario scenario = with_nics(1);
  StepCosts costs;
  step_costs(scenario, costs);
  // The cost of a step knows that they share it; one that does not is put right.
  costs.tails[0].gradient_sync = costs.tails[0].gradient_sync / 8;
  const StepResult result = simulate(scenario, costs, kNetwork).result;
  const Seconds busiest = asked(scenario, NetworkFidelity::busiest);
  EXPECT_NEAR(result.comm_total.data / busiest, 1.0, 0.01);
}

TEST(NetworkLoads, OfBucketsAndSendsOnOneInterfaceAreFair) {
  // Four nodes; every stage has two of them, and its sends leave by the interfaces that its
  // gradients use.
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 8;
  plan.data = 2;
  RoundStep step(plan, 2);
  step.scenario.stack.pipeline_send = PipelineSend::overlapped;
  const Seconds send = stage_message(step.scenario).size / plain::kBetween.bandwidth;
  std::fill(step.costs.send.begin(), step.costs.send.end(), send);
  const Seconds sync =
      gradient_bytes(step.scenario) / plain::kBetween.bandwidth;  // 2 (n-1) / n = 1
  const double parameters = rank_parameters(step.scenario.model, plan, 0);
  // The last stage's one bucket is complete when its last backward pass ends; then its gradient
  // and the last message leave by the same interface.
  const std::vector<GradientBucket> bucket = {
      {.ready = 1, .sync = sync, .gather = {}, .parameters = {.dense = parameters}}};
  step.costs.buckets = {bucket, bucket};
  ASSERT_GT(sync, send);
  const Ticks event = step.run().timeline.makespan;
  const Simulation network = step.run(kNetwork);
  EXPECT_GT(network.timeline.makespan, event);
  EXPECT_GT(network.result.contention->found, 0U);
  // Until the message is through both go at half speed: it takes twice as long, and then the last
  // backward pass of the first stage and its gradients follow.
  const Ticks longer = network.timeline.makespan - event;
  EXPECT_NEAR(static_cast<double>(longer), static_cast<double>(ticks(send)), 2.0);
}

TEST(NetworkLoads, RememberWhatMetBefore) {
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 8;
  plan.data = 2;
  const auto patterns = [&](int micro_batches) {
    RoundStep step(plan, micro_batches);
    step.scenario.stack.overlap_slowdown = 1.25;
    step.scenario.stack.pipeline_send = PipelineSend::overlapped;
    return *step.run(kNetwork).result.contention;
  };
  const SharedLinkUse few = patterns(8);
  const SharedLinkUse many = patterns(16);
  EXPECT_GT(few.found, 0U);
  EXPECT_EQ(many.found, few.found);
  EXPECT_GT(many.known, few.known);
}

/// Two-level fat tree for eight nodes of eight interfaces: leaves of 16 ports, so many of them up.
NodeTopology tree(int spines) {
  const BytesPerSecond port = plain::kBetween.bandwidth;
  return FatTree{
      .levels = {{.down = 16, .bandwidth = port}, {.down = 4, .up = spines, .bandwidth = port}}};
}

TEST(NetworkLoads, SlowTheGradientsOfAnOversubscribedTree) {
  Plan plan = data_parallel(8);
  Scenario scenario = plain::scenario(plan);
  const Seconds closed = simulate(scenario).result.comm_total.data;
  scenario.cluster.network_topology = NamedTopology{.family = tree(16)};
  EXPECT_NEAR(simulate(scenario, kNetwork).result.comm_total.data / closed, 1.0, 1e-6);
  scenario.cluster.network_topology = NamedTopology{.family = tree(2)};
  const double slower = simulate(scenario, kNetwork).result.comm_total.data / closed;
  // A ring leaves every second node: 8 messages of 16 ports go up, over 2 links; the latency of
  // its steps stays.
  EXPECT_NEAR(slower, 8.0 / 2, 0.2);
}

TEST(NetworkLoads, SlowTheGradientsWhereLinksHaveFailed) {
  Scenario scenario = plain::scenario(data_parallel(8));
  NamedTopology network{.family = tree(4)};
  const auto with = [&](const Failures& failures) {
    network.failures = failures;
    scenario.cluster.network_topology = network;
    return simulate(scenario, kNetwork).result.comm_total.data;
  };
  const Seconds whole = with({});
  // Two of four spines carry what all did; so do all four with half of their bandwidth.
  EXPECT_NEAR(with({.named = {"spine 0", "spine 2"}}) / whole, 2.0, 0.1);
  EXPECT_NEAR(
      with({.named = {"spine 0", "spine 1", "spine 2", "spine 3"}, .left = 0.5}) / whole, 2.0, 0.1);
  // Each leaf has the same links up and down: the worst of them counts.
  EXPECT_NEAR(with({.named = {"leaf 1 - spine 3"}}) / whole, 4.0 / 3, 0.1);
  // Nor does it matter that the last switch is gone, where switches of the network could add.
  EXPECT_NEAR(with({.named = {"spine 3"}}) / whole, 4.0 / 3, 0.1);
}

TEST(NetworkLoads, AreByTheRoutingOfTheNetwork) {
  Scenario scenario = plain::scenario(data_parallel(8));
  NamedTopology network{.family = tree(8)};
  const auto by = [&](NetworkRouting routing) {
    network.routing = routing;
    scenario.cluster.network_topology = network;
    return simulate(scenario, kNetwork).result.comm_total.data;
  };
  const Seconds minimal = by(NetworkRouting::minimal);
  EXPECT_EQ(by(NetworkRouting::adaptive), minimal) << "nothing to go round";
  EXPECT_GT(by(NetworkRouting::ecmp), 1.2 * minimal) << "some of a leaf's pairs meet";
  EXPECT_GT(by(NetworkRouting::valiant), minimal);
}

TEST(NetworkLoads, MakeNoShippedStepShorter) {
  scenarios::Maker maker(5, true);
  int compared = 0;
  for (int i = 0; i < 40; ++i) {
    Scenario scenario = maker.next();
    scenario.stack.overlap_slowdown = 1;
    // With the sends in line nothing overtakes anything: each device follows one order.
    scenario.plan.pipeline_send = PipelineSend::blocking;
    if (scenario.plan.devices() > 512) {
      continue;
    }
    try {
      const Ticks event = simulate(scenario).timeline.makespan;
      EXPECT_GE(simulate(scenario, kNetwork).timeline.makespan, event)
          << scenarios::text_of(scenario);
      ++compared;
    } catch (const InputError&) {  // groups that do not lie alike, sends that wait for ever
    }
  }
  EXPECT_GT(compared, 10);
}

// Slower transfers may begin in another order, which may end earlier.  [Graham 1969]
TEST(NetworkLoads, MakeNoOverlappingStepShorter) {
  constexpr double kAnomaly = 1e-3;
  scenarios::Maker maker(6, true);
  const Stack stack = shipped::stack("megatron-core");
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    Scenario scenario = maker.next_on_nodes();
    scenario.stack.overlap_slowdown = stack.overlap_slowdown;
    if (scenario.plan.devices() > 256) {
      continue;
    }
    try {
      const auto event = static_cast<double>(simulate(scenario).timeline.makespan);
      const auto network = static_cast<double>(simulate(scenario, kNetwork).timeline.makespan);
      EXPECT_LE(event, network * (1 + kAnomaly)) << scenarios::text_of(scenario);
      ++compared;
    } catch (const InputError&) {  // groups that do not lie alike, sends that wait for ever
    }
  }
  EXPECT_GT(compared, 50);
}

// Two buckets on one port, neither of which fills it: events know the port, not how full it is.
TEST(NetworkLoads, ShareWhatEventsShareWithoutThem) {
  Scenario scenario = scenarios::shipped_run({"model=deepseek-v2-lite",
                                              "cluster={\"name\": \"gb200-nvl72\"}",
                                              "stack=megatron-core",
                                              "plan={\"tensor\": 2, \"data\": 8, \"sharding\": "
                                              "\"zero1\"}",
                                              "training={\"global_batch\": 64, \"sequence\": 4096, "
                                              "\"precision\": \"bf16\"}"});
  const Ticks event = simulate(scenario).timeline.makespan;
  EXPECT_GE(simulate(scenario, kNetwork).timeline.makespan, event);
}

TEST(NetworkLoads, TakeNoMoreOfDevicesThanEventsDo) {
  // Gradients beside passes take three tenths of each device, and links that nobody shares.
  const Scenario scenario = scenarios::shipped_run(
      {"model=llama3-70b",
       "cluster={\"name\": \"dgx-h100\"}",
       "stack=megatron-core",
       "stack.overlap_slowdown=1.3",
       "plan={\"tensor\": 8, \"data\": 8, \"sharding\": \"zero1\", \"overlap_grad_reduce\": true}",
       "training={\"global_batch\": 64, \"sequence\": 8192, \"precision\": \"bf16\"}"});
  const auto event = static_cast<double>(simulate(scenario).timeline.makespan);
  const auto network = static_cast<double>(simulate(scenario, kNetwork).timeline.makespan);
  EXPECT_NEAR(network / event, 1.0, 0.01);
}

TEST(NetworkLoads, OfTwoCopiesOfAStageAreThoseOfOneSynchronisation) {
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 8;
  plan.data = 2;
  plan.virtual_stages = usual_chunks(named_schedule("dualpipe"));
  plan.schedule = named_schedule("dualpipe");
  const Scenario scenario = plain::scenario(plan);
  ASSERT_TRUE(validate(scenario).empty());
  const StepResult event = simulate(scenario).result;
  const StepResult network = simulate(scenario, kNetwork).result;
  // Both ranks synchronise the same gradients at the same time, and do not count twice.
  EXPECT_NEAR(network.breakdown.data_comm / event.breakdown.data_comm, 1.0, 0.02);
}

TEST(NetworkLoads, AreRefusedWhereTheyAreNotFollowed) {
  const auto refusal = [](Scenario scenario) {
    return refusal_of([&] { check_fidelity(scenario, Fidelity::network); });
  };
  Scenario e7 = plain::scenario(Plan{});
  e7.formula = Formula::e7;
  EXPECT_NE(refusal(e7).find("formula: e7"), std::string::npos);
  Plan plan;
  plan.tensor = 3;
  plan.data = 8;
  EXPECT_NE(refusal_of([&] {
              static_cast<void>(simulate(plain::scenario(plan), kNetwork));
            }).find("lie alike"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
