// Which collectives add up gradients: volumes (E11, trap T16) and times (F22 to F26).

#include <gtest/gtest.h>

#include "plan/blocks.hpp"
#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/cost/data_volume.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/export/exported_step.hpp"
#include "titer/simulate/simulate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using enum GradientCollective;

/// fp16 parameters and gradients of plain data parallelism, one micro-batch.
Scenario scenario_of(std::int64_t data,
                     Sharding sharding,
                     std::optional<GradientCollective> collective = std::nullopt) {
  Plan plan;
  plan.data = data;
  plan.sharding = sharding;
  plan.gradient_collective = collective;
  plan.overlap_grad_reduce = false;
  Scenario scenario = plain::scenario(plan);
  scenario.training.global_batch = data;
  scenario.training.gradient_precision = DataType::fp16;
  scenario.stack.overlap_slowdown = 1;
  return scenario;
}

/// What a device sends, per parameter and without (1 - 1/n): 2 for every collective of P numbers of
/// two bytes, but 4 for an all-reduce.
double volume_of(const Scenario& scenario) {
  EXPECT_EQ(texts(scenario), Lines());
  StepCosts costs;
  step_costs(scenario, costs);
  Bytes sum;
  for (const DataMove& move : data_moves(scenario, costs, 0)) {
    sum += move.moved;
  }
  const auto n = static_cast<double>(scenario.plan.data);
  return sum.si() / (1 - 1 / n) / rank_parameters(costs.blocks, scenario.plan, 0).total();
}

Seconds data_comm(const Scenario& scenario) { return estimate(scenario).breakdown.data_comm; }

TEST(E11, VolumesOfShardingByItsCollectives) {
  for (const std::int64_t n : {2, 8, 64}) {
    EXPECT_DOUBLE_EQ(volume_of(scenario_of(n, Sharding::none)), 4);
    EXPECT_DOUBLE_EQ(volume_of(scenario_of(n, Sharding::zero1)), 2 + 2);
    EXPECT_DOUBLE_EQ(volume_of(scenario_of(n, Sharding::zero1, all_reduce)), 4 + 2) << "T16";
    EXPECT_DOUBLE_EQ(volume_of(scenario_of(n, Sharding::zero2)), 2 + 2);
    EXPECT_DOUBLE_EQ(volume_of(scenario_of(n, Sharding::zero2, reduce)), 2 + 2) << "F22";
  }
}

TEST(E11, VolumeOfZero3IsOneAndAHalfTimesThatOfDataParallelism) {
  // 6 P, but for the embedding and the head, which are gathered by one pass only, and the table of
  // both, which is gathered for each of them.
  Scenario scenario = scenario_of(8, Sharding::zero3);
  StepCosts costs;
  step_costs(scenario, costs);
  const double all = rank_parameters(costs.blocks, scenario.plan, 0).total();
  const double layers = static_cast<double>(scenario.model.layers()) *
                        on_device(costs.blocks.kinds[0].parameters, scenario.plan).total();
  const auto table = static_cast<double>(costs.blocks.tied_table);
  const double gathered = 2 * layers + (all - layers) + table;
  EXPECT_NEAR(volume_of(scenario), 2 * (gathered + all) / all, 1e-9);
  const double gradients = 2;
  EXPECT_DOUBLE_EQ(volume_of(scenario_of(8, Sharding::zero3, reduce)), volume_of(scenario));
  scenario.plan.reshard_after_forward = false;
  EXPECT_NEAR(volume_of(scenario), 2 * (all + table) / all + gradients, 1e-9);
  scenario.training.global_batch *= 3;  // by every micro-batch
  EXPECT_NEAR(volume_of(scenario), 3 * (2 * (all + table) / all + gradients), 1e-9);
}

TEST(E12b, EarlyZero1TakesOneAndAHalfTimesAsLongAsDataParallelism) {
  // t_AllReduce = 4 P / BW, and "AllGather takes half of AllReduce time".
  const Seconds plain = data_comm(scenario_of(8, Sharding::none));
  EXPECT_NEAR(data_comm(scenario_of(8, Sharding::zero1, all_reduce)) / plain, 1.5, 0.001);
  EXPECT_NEAR(data_comm(scenario_of(8, Sharding::zero1, reduce_scatter)) / plain, 1.0, 0.001);
  EXPECT_EQ(data_comm(scenario_of(8, Sharding::none, all_reduce)), plain);
}

/// What reduces take over a reduce-scatter of the same gradients, once an iteration.
double reduces_over_scatter(std::int64_t data) {
  const auto gradients = [&](GradientCollective collective) {
    Scenario scenario = scenario_of(data, Sharding::zero2, collective);
    scenario.plan.reduce_every_pass = false;
    StepCosts costs;
    step_costs(scenario, costs);
    return costs.tails.front().gradient_sync;
  };
  return gradients(reduce) / gradients(reduce_scatter);
}

TEST(F26, ReducesScalePoorlyWithTheRanks) {
  // Of two ranks each S / 2 twice, one after the other.
  EXPECT_NEAR(reduces_over_scatter(2), 2, 0.01);
  // Of more the bytes are all there is no more: each chain has to fill, and over several nodes a
  // reduce-scatter has all ports of a node.
  double before = 1;
  for (const std::int64_t data : {8, 16, 64, 256}) {
    const double now = reduces_over_scatter(data);
    EXPECT_GT(now, before) << data;
    before = now;
  }
  EXPECT_GT(before, 5);
}

TEST(GradientCollective, IsAChainToEveryOwner) {
  Scenario scenario = scenario_of(8, Sharding::zero2, reduce);
  scenario.plan.reduce_every_pass = false;
  StepCosts costs;
  step_costs(scenario, costs);
  const Bytes all = rank_parameters(costs.blocks, scenario.plan, 0).total() * 2_B;
  // n chains of k blocks: (n - 2 + k) (a + S / (n k B)), with the best k.
  double chain = INFINITY;
  for (int k = 1; k < 4096; ++k) {
    const Seconds block = plain::kInside.latency + all / 8 / k / plain::kInside.bandwidth;
    chain = std::min(chain, (8 - 2 + k) * block.si());
  }
  EXPECT_NEAR(costs.tails.front().gradient_sync.si(), 8 * chain, 1e-9 * 8 * chain);
}

/// [InternEvo, HybridZeroOptimizer.broadcast_params]
TEST(BroadcastUpdates, AreAChainFromEveryOwner) {
  const auto parameter_sync = [](std::int64_t data, bool broadcasts) {
    Scenario scenario = scenario_of(data, Sharding::zero1);
    scenario.plan.overlap_param_gather = false;
    scenario.stack.broadcasts_updates = broadcasts;
    StepCosts costs;
    step_costs(scenario, costs);
    return std::pair(costs.tails.front().parameter_sync,
                     rank_parameters(costs.blocks, scenario.plan, 0).total() * 2_B);
  };
  const auto [broadcasts, all] = parameter_sync(8, true);
  double chain = INFINITY;
  for (int k = 1; k < 4096; ++k) {
    const Seconds block = plain::kInside.latency + all / 8 / k / plain::kInside.bandwidth;
    chain = std::min(chain, (8 - 2 + k) * block.si());
  }
  EXPECT_NEAR(broadcasts.si(), 8 * chain, 1e-9 * 8 * chain);
  double before = 1;
  for (const std::int64_t data : {8, 16, 64, 256}) {  // one after the other: worse with more ranks
    const double now = parameter_sync(data, true).first / parameter_sync(data, false).first;
    EXPECT_GT(now, before) << data;
    before = now;
  }
}

TEST(BroadcastUpdates, AreRefusedOnATorus) {
  Scenario scenario = scenario_of(16, Sharding::zero1);
  scenario.cluster = shipped::cluster("tpu-v3-32");
  scenario.stack.broadcasts_updates = true;
  const Lines said = texts(scenario);
  EXPECT_NE(std::ranges::find(said,
                              "stack.broadcasts_updates: true: expected nodes on a network: chains "
                              "of broadcasts on a torus are not modelled"),
            said.end());
}

TEST(BroadcastUpdates, AreNoneOfWhatPassesGather) {
  Scenario scenario = scenario_of(16, Sharding::zero3);
  const Seconds gathered = estimate(scenario).iteration_time;
  scenario.stack.broadcasts_updates = true;
  EXPECT_EQ(estimate(scenario).iteration_time, gathered);
}

TEST(GradientCollective, NeedsNoWayBetweenEveryTwoDevices) {
  // Of a DGX-1's eight GPUs not all are joined; chains go along its rings.
  Scenario scenario = scenario_of(8, Sharding::zero2, reduce);
  scenario.cluster = shipped::cluster("dgx1-v100");
  ASSERT_EQ(texts(scenario), Lines());
  Scenario scattered = scenario;
  scattered.plan.gradient_collective.reset();
  EXPECT_GT(data_comm(scenario), data_comm(scattered));
}

TEST(GradientCollective, TakesAsLongInEventsAsInClosedForm) {
  for (const Sharding sharding : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    for (const bool beside : {false, true}) {
      for (const bool every_pass : {false, true}) {
        for (const std::int64_t pipeline : {1, 2}) {
          const bool early = sharding == Sharding::zero1;
          Scenario scenario = scenario_of(4, sharding, early ? all_reduce : reduce);
          scenario.plan.overlap_grad_reduce = beside;
          scenario.plan.reduce_every_pass = early || every_pass;
          scenario.plan.pipeline = pipeline;
          scenario.training.global_batch *= 4;
          ASSERT_EQ(texts(scenario), Lines());
          const StepResult closed = estimate(scenario);
          const StepResult events = simulate(scenario).result;
          EXPECT_EQ(to_ticks(closed.iteration_time), to_ticks(events.iteration_time))
              << scenarios::text_of(scenario);
          if (sharding == Sharding::zero3 && beside && !every_pass) {
            continue;  // buckets beside what the passes gather: counted once in events
          }
          EXPECT_NEAR(closed.comm_total.data.si(), events.comm_total.data.si(), 1e-8);
        }
      }
    }
  }
}

TEST(GradientCollective, IsWhatIsExported) {
  for (const GradientCollective collective : {all_reduce, reduce_scatter}) {
    const ExportedStep step(scenario_of(4, Sharding::zero1, collective), ExportDetail::pass);
    int all_reduces = 0;
    int scatters = 0;
    const RankGraph graph = step.graph(0);
    for (const GraphNode& node : graph.nodes()) {
      all_reduces += node.kind == NodeKind::collective && node.collective == Collective::all_reduce;
      scatters +=
          node.kind == NodeKind::collective && node.collective == Collective::reduce_scatter;
    }
    EXPECT_EQ(all_reduces, collective == all_reduce ? 1 : 0);
    EXPECT_EQ(scatters, collective == reduce_scatter ? 1 : 0);
  }
}

TEST(GradientCollective, IsWhatGoesOverTheLinks) {
  const auto on_links = [](GradientCollective collective) {
    const Scenario scenario = scenario_of(8, Sharding::zero1, collective);
    return simulate(scenario, {.network = true}).result.iteration_time;
  };
  EXPECT_GT(on_links(all_reduce), on_links(reduce_scatter));
}

TEST(GradientCollective, MustDoWhatTheShardingNeeds) {
  EXPECT_EQ(texts(scenario_of(8, Sharding::zero1, reduce)),
            Lines{"plan.gradient_collective: reduce: expected the sharding zero2 or zero3, whose "
                  "gradients have an owner each"});
  EXPECT_EQ(texts(scenario_of(8, Sharding::zero3, all_reduce)),
            Lines{"plan.gradient_collective: all-reduce: expected the sharding none or zero1, "
                  "whose ranks may have all gradients"});
  EXPECT_EQ(texts(scenario_of(8, Sharding::none, reduce_scatter)),
            Lines{"plan.gradient_collective: reduce-scatter: expected the sharding zero1, zero2 or "
                  "zero3, which splits something"});
  Scenario groups = scenario_of(8, Sharding::zero1, all_reduce);
  groups.plan.shard = 4;
  EXPECT_EQ(texts(groups),
            Lines{"plan.gradient_collective: all-reduce: expected no plan.shard: an all-reduce is "
                  "of all replicas"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
