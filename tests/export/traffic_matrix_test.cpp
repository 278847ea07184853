#include "titer/export/traffic_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "cost/blocks.hpp"
#include "export/exported_graphs.hpp"
#include "scenario/moe.hpp"
#include "scenario/plain.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::vector<int> nodes_of(int ranks, int per_node) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    nodes.push_back(rank / per_node);
  }
  return nodes;
}

Plan degrees(std::int64_t p, std::int64_t t, std::int64_t d) {
  Plan plan;
  plan.pipeline = p;
  plan.tensor = t;
  plan.data = d;
  plan.pipeline_send = PipelineSend::blocking;
  return plan;
}

TrafficMatrix matrix_of(const Scenario& scenario, const TrafficOptions& options = {}) {
  const ExportedStep step(scenario, ExportDetail::pass);
  return StepTraffic(step).matrix(options);
}

std::vector<double> row_sums(const TrafficMatrix& matrix) {
  std::vector<double> sums(static_cast<std::size_t>(matrix.ranks()));
  for (const TrafficPair& pair : matrix.pairs()) {
    sums[static_cast<std::size_t>(pair.from)] += pair.bytes.si();
  }
  return sums;
}

/// Of all kinds together.
std::map<std::pair<int, int>, double> bytes_of(const TrafficMatrix& matrix) {
  std::map<std::pair<int, int>, double> bytes;
  for (const TrafficPair& pair : matrix.pairs()) {
    bytes[{pair.from, pair.to}] += pair.bytes.si();
  }
  return bytes;
}

/// E11: what every rank sends in its collectives and messages, listed one by one.
void expect_conserved(const Scenario& scenario, const std::string& text) {
  const ExportedStep step(scenario, ExportDetail::operation);
  std::vector<double> wanted;
  for (const RankGraph& graph : exported::graphs(step)) {
    Bytes sum;
    for (const GraphNode& node : graph.nodes()) {
      if (node.kind == NodeKind::send) {
        sum += node.bytes;
      } else if (node.kind == NodeKind::collective) {
        const auto ranks = static_cast<int>(step.group(node.group).ranks.size());
        sum += volume(node.collective, node.bytes, ranks);
      }
    }
    wanted.push_back(sum.si());
  }
  for (const auto& spread : kCollectiveSpreads) {
    const auto sums = row_sums(matrix_of(scenario, {.spread = spread.value}));
    for (std::size_t rank = 0; rank < sums.size(); ++rank) {
      EXPECT_NEAR(sums[rank] / wanted[rank], 1, 1e-9)
          << text << ", " << spread.name << ", rank " << rank;
    }
  }
}

TEST(TrafficMatrixOfAPlan, HasInEveryRowWhatTheRankSends) {
  for (const Sharding sharding : {Sharding::none, Sharding::zero1}) {
    for (const Schedule& schedule :
         {named_schedule("1f1b"), named_schedule("zb-v"), named_schedule("dualpipe")}) {
      Plan plan = degrees(4, 2, 2);
      plan.schedule = schedule;
      plan.virtual_stages = usual_chunks(schedule);
      plan.sharding = sharding;
      plan.overlap_grad_reduce = true;
      plan.overlap_param_gather = sharding == Sharding::zero1;
      plan.sequence_parallel = sharding == Sharding::zero1;
      Scenario scenario = plain::scenario(plan);
      scenario.stack.pipeline_scatter_gather = true;
      ASSERT_TRUE(validate(scenario).empty());
      expect_conserved(scenario, std::string(name(schedule)));
    }
  }
}

TEST(TrafficMatrixOfAPlan, HasInEveryRowWhatARankWithExpertsSendsWhereAllGetAsMany) {
  for (const moe::Degrees& one : moe::kDegrees) {
    Scenario scenario = moe::scenario(one);
    scenario.model.transformer().experts->routing.shape = RoutingShape::balanced;
    ASSERT_TRUE(validate(scenario).empty()) << moe::text_of(one);
    expect_conserved(scenario, moe::text_of(one));
  }
}

// F17: pure data parallelism is a line beside the diagonal, of 2 (d-1)/d N gradients (E6).
TEST(TrafficMatrixOfAPlan, IsALineBesideTheDiagonalForDataParallelismAlone) {
  constexpr int d = 16;
  const Scenario scenario = plain::scenario(degrees(1, 1, d));
  const TrafficMatrix matrix = matrix_of(scenario);
  ASSERT_EQ(matrix.pairs().size(), std::size_t{d});
  const double parameters = static_cast<double>(titer::parameters(scenario.model));
  for (const TrafficPair& pair : matrix.pairs()) {
    EXPECT_EQ(pair.to, (pair.from + 1) % d);
    EXPECT_EQ(pair.kind, TrafficKind::data);
    EXPECT_NEAR(pair.bytes.si(),
                2.0 * (d - 1) / d * parameters * size_of(scenario.gradient_type()).si(),
                1e-9 * pair.bytes.si());
  }
}

/// The sets of ranks that talk to one another.
std::vector<std::set<int>> circles(const TrafficMatrix& matrix) {
  std::vector<int> head(static_cast<std::size_t>(matrix.ranks()));
  std::iota(head.begin(), head.end(), 0);
  for (const TrafficPair& pair : matrix.pairs()) {
    const int to = head[static_cast<std::size_t>(pair.to)];
    std::replace(head.begin(), head.end(), to, head[static_cast<std::size_t>(pair.from)]);
  }
  std::map<int, std::set<int>> sets;
  for (int rank = 0; rank < matrix.ranks(); ++rank) {
    sets[head[static_cast<std::size_t>(rank)]].insert(rank);
  }
  std::vector<std::set<int>> list;
  for (const auto& [first, set] : sets) {
    list.push_back(set);
  }
  return list;
}

constexpr std::array<std::array<Dimension, kDimensions>, 3> kOrders = {
    {{Dimension::tensor, Dimension::context, Dimension::data, Dimension::pipeline},
     {Dimension::tensor, Dimension::context, Dimension::pipeline, Dimension::data},
     {Dimension::data, Dimension::context, Dimension::tensor, Dimension::pipeline}}};

// F17: every device is in one stage, one tensor group and one data group.
TEST(TrafficMatrixOfAPlan, PutsEveryDeviceInOneStageOneTensorGroupAndOneDataGroup) {
  for (const auto& [p, t, d] : {std::array{4, 2, 4}, std::array{4, 4, 4}, std::array{2, 8, 4}}) {
    for (const auto& order : kOrders) {
      Plan plan = degrees(p, t, d);
      plan.rank_order = order;
      const Scenario scenario = plain::scenario(plan);
      ASSERT_TRUE(validate(scenario).empty());
      const ExportedStep step(scenario, ExportDetail::pass);
      const StepTraffic traffic(step);
      const auto tensor = circles(traffic.matrix({.only = TrafficKind::tensor}));
      const auto data = circles(traffic.matrix({.only = TrafficKind::data}));
      const auto pipeline = circles(traffic.matrix({.only = TrafficKind::pipeline}));
      EXPECT_EQ(tensor.size(), static_cast<std::size_t>(p * d));
      EXPECT_EQ(data.size(), static_cast<std::size_t>(p * t));
      EXPECT_EQ(pipeline.size(), static_cast<std::size_t>(t * d));
      for (const auto& a : tensor) {
        EXPECT_EQ(a.size(), static_cast<std::size_t>(t));
        for (const auto& b : data) {
          std::vector<int> both;
          std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
          const bool same_stage =
              step.place_of_rank(*a.begin()).pipeline == step.place_of_rank(*b.begin()).pipeline;
          EXPECT_EQ(both.size(), same_stage ? 1u : 0u);
        }
      }
      for (const auto& b : data) {
        EXPECT_EQ(b.size(), static_cast<std::size_t>(d));
      }
    }
  }
}

// F17: messages between neighbouring stages, and the token table between the first and the last.
TEST(TrafficMatrixOfAPlan, JoinsNeighbouringStagesAndTheEndsOfThePipeline) {
  const Scenario scenario = plain::scenario(degrees(4, 2, 2));
  const ExportedStep step(scenario, ExportDetail::pass);
  const auto stage = [&](int rank) { return step.place_of_rank(rank).pipeline; };
  const auto m = static_cast<double>(scenario.micro_batches());
  const Transformer& model = scenario.model.transformer();
  const double table = static_cast<double>(model.padded_vocabulary(2) / 2 * model.hidden) *
                       size_of(scenario.gradient_type()).si();
  int messages = 0;
  int tables = 0;
  const TrafficMatrix matrix = StepTraffic(step).matrix({});
  for (const TrafficPair& pair : matrix.pairs()) {
    if (pair.kind == TrafficKind::pipeline) {
      ++messages;
      EXPECT_EQ(std::abs(stage(pair.from) - stage(pair.to)), 1);
      // E7b: an activation of 2bsh bytes of each micro-batch, or its gradient.
      EXPECT_DOUBLE_EQ(pair.bytes.si(), m * boundary_bytes(scenario).si());
    } else if (pair.kind == TrafficKind::embedding) {
      ++tables;
      EXPECT_EQ(std::abs(stage(pair.from) - stage(pair.to)), 3);
      EXPECT_DOUBLE_EQ(pair.bytes.si(), table);  // 2 (2-1)/2 = 1 time
    }
  }
  EXPECT_EQ(messages, 2 * 3 * 4);
  EXPECT_EQ(tables, 2 * 4);
}

// Trap T1: per layer and micro-batch two all-reduces of 2bsh bytes forward, two backward.
TEST(TrafficMatrixOfAPlan, HasFourAllReducesOfAnActivationPerLayerAndMicroBatch) {
  constexpr int p = 4;
  constexpr int t = 4;
  const Scenario scenario = plain::scenario(degrees(p, t, 1));
  const Transformer& model = scenario.model.transformer();
  const double activation =
      2.0 * static_cast<double>(scenario.training.sequence * model.hidden);  // 2bsh, b = 1
  const double of_rank = static_cast<double>(model.layers) / p * 4 * activation * 2 * (t - 1) / t *
                         static_cast<double>(scenario.micro_batches());
  const auto sums = row_sums(matrix_of(scenario, {.only = TrafficKind::tensor}));
  for (int rank = t; rank < (p - 1) * t; ++rank) {  // without embedding or head
    EXPECT_NEAR(sums[static_cast<std::size_t>(rank)], of_rank, 1e-9 * of_rank);
  }
}

TEST(TrafficMatrixOfAPlan, SpreadsCollectivesOverRingsOrAllPairs) {
  const Scenario scenario = plain::scenario(degrees(1, 8, 1));
  const auto ring = matrix_of(scenario);
  const auto direct = matrix_of(scenario, {.spread = CollectiveSpread::direct});
  EXPECT_EQ(ring.pairs().size(), 8u);
  EXPECT_EQ(direct.pairs().size(), 8u * 7u);
  for (const TrafficPair& pair : direct.pairs()) {
    EXPECT_NEAR(pair.bytes.si(), ring.pairs().front().bytes.si() / 7, 1e-9 * pair.bytes.si());
  }
}

TEST(TrafficMatrixOfAPlan, IsSparseForThousandsOfDevices) {
  Plan plan = degrees(8, 8, 64);
  Scenario scenario = plain::scenario(plan);
  const TrafficMatrix matrix = matrix_of(scenario);
  EXPECT_EQ(matrix.ranks(), 4096);
  // Rings of tensor and data groups, messages both ways, the token table.
  EXPECT_EQ(matrix.pairs().size(), 4096u + 4096u + 2u * 7u * 512u + 2u * 512u);
  scenario = plain::scenario(degrees(1, 1, 4096));
  EXPECT_EQ(matrix_of(scenario).pairs().size(), 4096u);
  EXPECT_THROW((void)matrix_of(scenario, {.spread = CollectiveSpread::direct}), InputError);
}

constexpr moe::Degrees kEight = {.data = 8, .expert = 8};

Scenario routed(const Routing& routing, const moe::Degrees& degrees = kEight) {
  Scenario scenario = moe::scenario(degrees);
  scenario.model.transformer().experts->routing = routing;
  return scenario;
}

TEST(ExpertTraffic, IsAlikeBetweenAllPairsWhereEveryExpertIsAsLikely) {
  const Scenario uniform = routed({});
  const auto mean = bytes_of(matrix_of(uniform, {.only = TrafficKind::expert}));
  ASSERT_EQ(mean.size(), 8u * 7u);
  // 2 of 4 layers, m micro-batches; there and back, forward and backward: k s h fp16 numbers each,
  // an eighth of them to each rank.
  const Transformer& model = uniform.model.transformer();
  const double wanted = 2.0 * static_cast<double>(uniform.micro_batches()) * 4 * 2 *
                        static_cast<double>(uniform.training.sequence * model.hidden) * 2.0 / 8;
  for (const auto& [pair, bytes] : mean) {
    EXPECT_NEAR(bytes, wanted, 1e-9 * wanted);
  }
}

TEST(ExpertTraffic, GoesToTheRanksOfPopularExpertsAndBack) {
  const auto mean = bytes_of(matrix_of(routed({.shape = RoutingShape::zipf, .exponent = 0.5}),
                                       {.only = TrafficKind::expert}));
  EXPECT_GT(mean.at({7, 0}), mean.at({7, 1}));
  EXPECT_GT(mean.at({7, 1}), mean.at({7, 6}));
  // Tokens of 6 at 7 and of 7 at 6, there and back.
  const double shares = (std::pow(7, -0.5) + std::pow(8, -0.5)) / (1 + std::pow(8, -0.5));
  EXPECT_NEAR(mean.at({6, 7}) / mean.at({0, 7}), shares, 1e-9);
  for (const auto& [pair, bytes] : mean) {
    EXPECT_NEAR(bytes, mean.at({pair.second, pair.first}), 1e-9 * bytes);
  }
}

// Ranks with parts of the same experts gather the tokens of these: more where they are popular.
TEST(ExpertTraffic, IsGatheredWherePartsOfAnExpertLie) {
  const auto mean =
      bytes_of(matrix_of(routed({.shape = RoutingShape::zipf, .exponent = 0.5},
                                {.tensor = 2, .data = 4, .expert = 4, .expert_tensor = 2}),
                         {.only = TrafficKind::expert}));
  const double popular = 1 + std::pow(2, -0.5);  // two experts to a rank
  const double others = std::pow(7, -0.5) + std::pow(8, -0.5);
  EXPECT_NEAR(mean.at({0, 1}) / mean.at({6, 7}), popular / others, 1e-9);
}

// All tokens go to all ranks that have experts, whoever is popular.
TEST(ExpertTraffic, IsAmongAllRanksWithExpertsWhereTokensAreGathered) {
  Scenario scenario = routed({.shape = RoutingShape::zipf, .exponent = 0.5},
                             {.tensor = 2, .data = 4, .expert = 4, .expert_tensor = 2});
  scenario.plan.expert_dispatch = ExpertDispatch::all_gather;
  const ExportedStep step(scenario, ExportDetail::operation);
  int groups = 0;
  for (const RankGroup& group : step.groups()) {
    if (group.role == GroupRole::all_experts) {
      ++groups;
      EXPECT_EQ(group.ranks.size(), 8u);
    }
  }
  EXPECT_EQ(groups, 1);
  const RankGraph graph = step.graph(0);
  for (const GraphNode& node : graph.nodes()) {
    EXPECT_NE(node.collective, Collective::all_to_all) << node.what;
  }
  const auto sent = bytes_of(matrix_of(scenario, {.only = TrafficKind::expert}));
  ASSERT_FALSE(sent.empty());
  for (const auto& [pair, bytes] : sent) {
    EXPECT_NEAR(bytes, sent.begin()->second, 1e-9 * bytes);
  }
}

TEST(ExpertTraffic, IsDrawnAnewInEveryIterationAndByItsSeed) {
  const ExportedStep step(routed({.shape = RoutingShape::zipf, .exponent = 0.5}),
                          ExportDetail::pass);
  const StepTraffic traffic(step);
  const auto drawn = [&](std::uint64_t seed, std::uint32_t iteration) {
    return bytes_of(traffic.matrix(
        {.only = TrafficKind::expert, .draw = ExpertDraw{.seed = seed, .iteration = iteration}}));
  };
  EXPECT_EQ(drawn(1, 0), drawn(1, 0));
  EXPECT_NE(drawn(1, 0), drawn(2, 0));
  EXPECT_NE(drawn(1, 0), drawn(1, 1));
  const auto mean = bytes_of(traffic.matrix({.only = TrafficKind::expert}));
  constexpr int iterations = 400;
  std::map<std::pair<int, int>, double> sums;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    for (const auto& [pair, bytes] : drawn(1, i)) {
      sums[pair] += bytes;
    }
  }
  // 2 layers x 8 micro-batches x 1024 tokens x 2 choices of a rank, at least a 14th for each other:
  // relative deviation below 1 / sqrt(32768 / 14) = 2.1 %, of the mean over 400 a twentieth.
  for (const auto& [pair, bytes] : mean) {
    EXPECT_NEAR(sums.at(pair) / iterations / bytes, 1, 4 * 0.021 / 20);
  }
}

TEST(ExpertTraffic, LosesWhatIsBeyondCapacity) {
  const Routing tight{.shape = RoutingShape::zipf, .exponent = 0.8, .capacity_factor = 0.5};
  const Routing free{.shape = RoutingShape::zipf, .exponent = 0.8};
  const auto total = [](const Routing& routing, bool drawn) {
    TrafficOptions options{.only = TrafficKind::expert};
    if (drawn) {
      options.draw = ExpertDraw{};
    }
    return traffic_statistics(matrix_of(routed(routing), options), 8 * 7, nodes_of(8, 8))
        .total.si();
  };
  EXPECT_LT(total(tight, false), 0.6 * total(free, false));
  EXPECT_NEAR(total(tight, true) / total(tight, false), 1, 0.02);
}

// F21: the more even the routing gets in training, the more uniform the matrix.
TEST(ExpertTraffic, GetsMoreUniformAsTheRoutingDoes) {
  const ExportedStep step(routed({}, {.tensor = 2, .data = 8, .expert = 8, .expert_tensor = 1}),
                          ExportDetail::pass);
  const StepTraffic traffic(step);
  EXPECT_EQ(traffic.expert_pairs(), 2 * 8 * 7);
  double before = 0;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const TrafficOptions options{
        .only = TrafficKind::expert,
        .routing = Routing{.shape = RoutingShape::zipf, .exponent = 1 - 0.1 * i},
        .draw = ExpertDraw{.seed = 3, .iteration = i}};
    const TrafficStatistics found = traffic_statistics(
        traffic.matrix(options), traffic.expert_pairs(), nodes_of(step.ranks(), 8));
    EXPECT_GT(found.uniformity, before);
    EXPECT_LT(found.uniformity, 1);
    before = found.uniformity;
  }
  EXPECT_GT(before, 0.999);
}

// Replicas with three times the batch send three times the activations.
TEST(TrafficMatrix, HasTheSharesOfUnequalBatches) {
  Plan plan;
  plan.pipeline = 2;
  plan.data = 2;
  plan.micro_batch = 2;
  plan.batch_shares.weights = {1, 3};
  const ExportedStep step(plain::scenario(plan), ExportDetail::pass);
  const TrafficMatrix matrix = StepTraffic(step).matrix({.only = TrafficKind::pipeline});
  std::vector<Bytes> sent(2);
  for (const TrafficPair& pair : matrix.pairs()) {
    sent[static_cast<std::size_t>(step.place_of_rank(pair.from).data)] += pair.bytes;
  }
  EXPECT_DOUBLE_EQ(sent[1] / sent[0], 3);
}

TEST(TrafficStatisticsOf, KnownMatricesAreKnown) {
  std::vector<TrafficPair> all;
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      if (from != to) {
        all.push_back({from, to, TrafficKind::expert, 3_MB});
      }
    }
  }
  const TrafficStatistics even = traffic_statistics({8, all}, 8 * 7, nodes_of(8, 4));
  EXPECT_NEAR(even.entropy, std::log2(56), 1e-12);
  EXPECT_NEAR(even.uniformity, 1, 1e-12);
  EXPECT_NEAR(even.largest_over_mean, 1, 1e-12);
  EXPECT_NEAR(even.share_within_nodes(), 2.0 * 4 * 3 / 56, 1e-12);
  const TrafficStatistics halves = traffic_statistics({4,
                                                       {{2, 3, TrafficKind::data, 1_MB},
                                                        {0, 1, TrafficKind::tensor, 3_MB},
                                                        {2, 3, TrafficKind::pipeline, 2_MB}}},
                                                      4 * 3,
                                                      nodes_of(4, 2));
  EXPECT_EQ(halves.pairs, 2);  // two kinds of one pair are one
  EXPECT_DOUBLE_EQ(halves.entropy, 1);
  EXPECT_EQ(halves.largest, 3_MB);
  EXPECT_DOUBLE_EQ(halves.largest_over_mean, 12.0 / 2);
  const TrafficStatistics none = traffic_statistics({1, {}}, 0, nodes_of(1, 8));
  EXPECT_EQ(none.pairs, 0);
  EXPECT_EQ(none.entropy + none.uniformity + none.share_within_nodes(), 0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
