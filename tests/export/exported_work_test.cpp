#include <gtest/gtest.h>

#include <set>

#include "cost/blocks.hpp"
#include "export/exported_graphs.hpp"
#include "export/exported_steps.hpp"
#include "plan/plans.hpp"
#include "plan/schedules.hpp"
#include "scenario/plain.hpp"
#include "scenario/violations.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using namespace exported_steps;

double sum_of(const std::vector<RankGraph>& graphs, double (*value)(const GraphNode&)) {
  double sum = 0;
  for (const RankGraph& graph : graphs) {
    for (const GraphNode& node : graph.nodes()) {
      sum += value(node);
    }
  }
  return sum;
}

TEST(ExportedStep, CutsBucketsAsTheClosedFormDoes) {
  Plan plan = plan_of(2, 1, 4);
  plan.overlap_grad_reduce = true;
  plan.overlap_param_gather = true;
  plan.sharding = Sharding::zero1;
  plan.layers = LayerRule::lighter_ends;
  Scenario scenario = plain::scenario(plan);
  for (const double size : {1.0, 40e6, 200e6, 1e12}) {
    scenario.stack.bucket_parameters = size;
    const ExportedStep step(scenario, ExportDetail::layer);
    for (int rank = 0; rank < step.ranks(); ++rank) {
      const auto stage = static_cast<std::size_t>(step.place_of_rank(rank).pipeline);
      std::vector<std::pair<double, Ticks>> wanted;
      std::vector<std::pair<double, Ticks>> gathers;
      for (const GradientBucket& bucket : step.costs().buckets[stage]) {
        wanted.emplace_back(bucket.parameters.total(), to_ticks(bucket.sync));
        gathers.emplace(gathers.begin(), bucket.parameters.total(), to_ticks(bucket.gather));
      }
      std::vector<std::pair<double, Ticks>> got;
      std::vector<std::pair<double, Ticks>> got_gathers;
      const RankGraph graph = step.graph(rank);
      for (const GraphNode& node : graph.nodes()) {
        if (node.part == TaskPart::data_comm) {
          const bool gather = node.collective == Collective::all_gather;
          const DataType type = gather ? scenario.training.precision : scenario.gradient_type();
          (gather ? got_gathers : got).emplace_back(node.bytes / size_of(type), node.duration);
        }
      }
      EXPECT_EQ(got, wanted);
      EXPECT_EQ(got_gathers, gathers);
    }
  }
}

TEST(ExportedStep, HasTheSameWorkAndBytesWhateverTheDetail) {
  Plan plan = plan_of(2, 2, 1);
  plan.sequence_parallel = true;
  plan.recompute = Recompute::full;
  const Scenario scenario = plain::scenario(plan);
  const auto flops = [](const GraphNode& node) { return node.flops.si(); };
  const auto transferred = [](const GraphNode& node) {
    return node.kind == NodeKind::collective ? node.bytes.si() : 0.0;
  };
  const auto duration = [](const GraphNode& node) {
    return node.kind == NodeKind::compute ? static_cast<double>(node.duration) : 0.0;
  };
  const auto whole = exported::graphs(ExportedStep(scenario, ExportDetail::pass));
  for (const ExportDetail detail : {ExportDetail::layer, ExportDetail::operation}) {
    const auto other = exported::graphs(ExportedStep(scenario, detail));
    EXPECT_GT(other.front().size(), whole.front().size());
    EXPECT_NEAR(sum_of(other, flops) / sum_of(whole, flops), 1.0, 1e-12);
    EXPECT_NEAR(sum_of(other, transferred) / sum_of(whole, transferred), 1.0, 1e-12);
    EXPECT_EQ(sum_of(other, duration), sum_of(whole, duration));
  }
}

TEST(ExportedStep, DoesTheFlopsOfTheModelAndMovesTheBytesOfItsOperations) {
  Plan plan = plan_of(2, 2, 1);
  const Scenario scenario = plain::scenario(plan);
  const ExportedStep step(scenario, ExportDetail::layer);
  double of_layer = 0;
  double tensor = 0;
  for (const Operation& op : step.costs().blocks.kinds.front().operations) {
    of_layer += (op.forward.flops + op.input_gradient.flops + op.weight_gradient.flops).si();
    tensor += (op.forward_transfer.size + op.backward_transfer.size).si();
  }
  ASSERT_GT(tensor, 0);
  const double passes =
      static_cast<double>(scenario.micro_batches() * scenario.model.transformer().layers) / 2;
  for (int rank = 0; rank < step.ranks(); ++rank) {
    double flops = 0;
    double moved = 0;
    const RankGraph graph = step.graph(rank);
    for (const GraphNode& node : graph.nodes()) {
      flops += node.layer ? node.flops.si() : 0.0;
      moved += node.layer && node.kind == NodeKind::collective ? node.bytes.si() : 0.0;
    }
    EXPECT_NEAR(flops, passes * of_layer, 1e-12 * flops);
    EXPECT_NEAR(moved, passes * tensor, 1e-12 * moved);
  }
}

TEST(ExportedStep, SendsOneActivationForwardAndOneBackPerMicroBatchAndBoundary) {
  Plan plan = plan_of(4, 1, 1);
  const Scenario scenario = plain::scenario(plan);
  const auto graphs = exported::graphs(ExportedStep(scenario, ExportDetail::pass));
  const double sent = sum_of(graphs, [](const GraphNode& node) {
    return node.kind == NodeKind::send ? node.bytes.si() : 0.0;
  });
  const auto m = static_cast<double>(scenario.micro_batches());
  EXPECT_DOUBLE_EQ(sent, 2.0 * m * 3.0 * boundary_bytes(scenario).si());
}

TEST(ExportedStep, SynchronisesEveryGradientOnceInBucketsOrNot) {
  for (const bool buckets : {false, true}) {
    for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
      Plan plan = plan_of(2, 2, 2);
      plan.overlap_grad_reduce = buckets;
      plan.overlap_param_gather = buckets;
      plan.sharding = sharding;
      Scenario scenario = plain::scenario(plan);
      scenario.stack.bucket_parameters = 40e6;
      const ExportedStep step(scenario, ExportDetail::layer);
      for (int rank = 0; rank < step.ranks(); ++rank) {
        const double parameters =
            rank_parameters(step.costs().blocks, scenario.plan, step.place_of_rank(rank).pipeline)
                .total();
        double gradients = 0;
        double gathered = 0;
        int syncs = 0;
        const RankGraph graph = step.graph(rank);
        for (const GraphNode& node : graph.nodes()) {
          if (node.part == TaskPart::data_comm) {
            const bool gathers = node.collective == Collective::all_gather;
            (gathers ? gathered : gradients) += node.bytes.si();
            syncs += gathers ? 0 : 1;
          }
        }
        EXPECT_NEAR(
            gradients, parameters * size_of(scenario.gradient_type()).si(), 1e-9 * gradients);
        EXPECT_NEAR(gathered,
                    sharding == Sharding::zero1 ? parameters * 2.0 : 0.0,  // fp16
                    1e-9 * gradients);
        EXPECT_EQ(syncs > 1, buckets);
      }
    }
  }
}

TEST(ExportedStep, SynchronisesAStageOppositeOneWithoutLayers) {
  Plan plan = plan_with(named_schedule("dualpipe"), 4, 1, 1);
  Scenario scenario = plain::scenario(plan);
  const std::int64_t half = scenario.model.transformer().layers / 2;
  scenario.plan.layers =
      std::vector<std::int64_t>{half, scenario.model.transformer().layers - half, 0, 0};
  scenario.plan.overlap_grad_reduce = true;
  scenario.stack.bucket_parameters = 40e6;
  ASSERT_TRUE(validate(scenario).empty());
  const ExportedStep step(scenario, ExportDetail::layer);
  expect_sound(step, "dualpipe");
  for (int rank = 0; rank < step.ranks(); ++rank) {
    double gradients = 0;
    const RankGraph graph = step.graph(rank);
    for (const GraphNode& node : graph.nodes()) {
      gradients += node.part == TaskPart::data_comm ? node.bytes.si() : 0.0;
    }
    const double parameters = rank_parameters(step.costs().blocks, scenario.plan, rank).total();
    EXPECT_NEAR(gradients, parameters * size_of(scenario.gradient_type()).si(), 1e-9 * gradients);
    EXPECT_GT(gradients, 0);
  }
}

TEST(ExportedStep, IsFasterWithBucketsBesideTheBackwardPass) {
  Plan plan = plan_of(1, 1, 4);
  const auto apart = exported::time(ExportedStep(plain::scenario(plan), ExportDetail::layer));
  plan.overlap_grad_reduce = true;
  const auto beside = exported::time(ExportedStep(plain::scenario(plan), ExportDetail::layer));
  ASSERT_TRUE(apart && beside);
  EXPECT_LT(*beside, *apart);
}

TEST(ExportedStep, PutsGroupsWhereTheRankOrderSays) {
  Plan plan = plan_of(2, 2, 3);
  plan.rank_order = {Dimension::data, Dimension::pipeline, Dimension::tensor, Dimension::context};
  Scenario scenario = plain::scenario(plan);
  const ExportedStep step(scenario, ExportDetail::pass);
  std::set<std::vector<int>> data;
  std::set<std::vector<int>> tensor;
  for (const RankGroup& group : step.groups()) {
    if (group.role == GroupRole::data) {
      data.insert(group.ranks);
    } else if (group.role == GroupRole::tensor) {
      tensor.insert(group.ranks);
    }
    EXPECT_EQ(step.group(group.number).ranks, group.ranks);
  }
  EXPECT_EQ(data, (std::set<std::vector<int>>{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}));
  EXPECT_EQ(tensor, (std::set<std::vector<int>>{{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}, {5, 11}}));
  for (int rank = 0; rank < step.ranks(); ++rank) {
    EXPECT_EQ(step.rank_at(step.place_of_rank(rank)), rank);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
