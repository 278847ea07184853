#include "titer/collectives/algorithms.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace titer {
namespace {

constexpr Link kInside{.latency = 2_us, .bandwidth = 240_GBps};
constexpr Link kBetween{.latency = 10_us, .bandwidth = 20_GBps};
constexpr Fabric kFabric{.node = Channel(kInside), .network = Channel(kBetween)};

static_assert(all_reduce(1_MB, {.per_node = 8, .nodes = 1}, kFabric).time > Seconds{},
              "the choice can be made at compile time");

TEST(RingAllReduce, IsTwiceTheOthersTimesAPiece) {
  EXPECT_DOUBLE_EQ(RingAllReduce::time(1_GB, {.per_node = 8, .nodes = 1}, kFabric).si(),
                   2 * 7 * (2e-6 + 1e9 / 8 / 240e9));
}

TEST(RingAllReduce, OnSeveralNodesGoesThroughTheNetwork) {
  EXPECT_DOUBLE_EQ(RingAllReduce::time(1_GB, {.per_node = 2, .nodes = 3}, kFabric).si(),
                   2 * 5 * (10e-6 + 1e9 / 6 / 20e9));
}

TEST(RingAllReduce, TendsToTwiceTheVectorOverTheBandwidth) {
  const Fabric free{.node = Channel({.latency = Seconds{}, .bandwidth = 100_GBps}), .network = {}};
  const double limit = 2 * 1e9 / 100e9;
  EXPECT_NEAR(RingAllReduce::time(1_GB, {.per_node = 1024, .nodes = 1}, free).si(),
              limit * (1 - 1.0 / 1024),
              1e-12);
}

TEST(HierarchicalAllReduce, IsTheSumOfItsTwoTiers) {
  const double inside = 2 * 7 * (2e-6 + 1e9 / 8 / 240e9);
  const double between = 2 * 3 * (10e-6 + 1e9 / 32 / 20e9);
  EXPECT_DOUBLE_EQ(HierarchicalAllReduce::time(1_GB, {.per_node = 8, .nodes = 4}, kFabric).si(),
                   inside + between);
}

TEST(HierarchicalAllReduce, SendsAShardOfTheVectorThroughTheNetwork) {
  double through_network = 0.0;
  for (const Send& send : HierarchicalAllReduce::sends(1_GB, {.per_node = 4, .nodes = 3})) {
    if (send.tier == Tier::network && send.from == 5) {
      through_network += send.size.si();
    }
  }
  EXPECT_NEAR(through_network, 2.0 * 2 / 3 * 1e9 / 4, 1.0);
}

TEST(NaiveRingAllReduce, E14_BookRingTakesTwiceTheRanksLessOneForwards) {
  const double g = 1e9;
  const double bandwidth = 25e9;
  const Fabric book{.node = Channel({.latency = Seconds{}, .bandwidth = 25_GBps}), .network = {}};
  for (const int n : {2, 3, 8}) {
    const double reduce = n * g / bandwidth;
    const double broadcast = (n - 1) * g / bandwidth;
    EXPECT_DOUBLE_EQ(NaiveRingAllReduce::time(1_GB, {.per_node = n, .nodes = 1}, book).si(),
                     reduce + broadcast);
  }
}

TEST(NaiveRingAllReduce, E14_TrapT11_ChunkedRingIsFarFaster) {
  const Fabric book{.node = Channel({.latency = Seconds{}, .bandwidth = 25_GBps}), .network = {}};
  const auto in_vectors = [&](Seconds time) { return time.si() * 25e9 / 1e9; };
  const Group three{.per_node = 3, .nodes = 1};
  const Group eight{.per_node = 8, .nodes = 1};
  EXPECT_NEAR(in_vectors(NaiveRingAllReduce::time(1_GB, three, book)), 5, 1e-9);
  EXPECT_NEAR(in_vectors(RingAllReduce::time(1_GB, three, book)), 4.0 / 3, 1e-9);
  EXPECT_NEAR(in_vectors(NaiveRingAllReduce::time(1_GB, eight, book)), 15, 1e-9);
  EXPECT_NEAR(in_vectors(RingAllReduce::time(1_GB, eight, book)), 1.75, 1e-9);
}

TEST(NaiveRingAllReduce, PaysTheLatencyOfEveryForward) {
  EXPECT_DOUBLE_EQ(NaiveRingAllReduce::time(Bytes{}, {.per_node = 4, .nodes = 1}, kFabric).si(),
                   (2 * 4 - 1) * 2e-6);
}

TEST(HierarchicalAllGather, IsTheSumOfItsTwoTiers) {
  EXPECT_DOUBLE_EQ(HierarchicalAllGather::time(1_GB, {.per_node = 8, .nodes = 4}, kFabric).si(),
                   3 * (10e-6 + 1e9 / 32 / 20e9) + 7 * (2e-6 + 1e9 / 8 / 240e9));
}

TEST(AllGather, IsHalfAnAllReduce) {
  for (const Group group : {Group{8, 1}, Group{1, 5}, Group{4, 6}}) {
    EXPECT_DOUBLE_EQ(all_reduce(1_GB, group, kFabric).time.si(),
                     2 * all_gather(1_GB, group, kFabric).time.si());
    EXPECT_DOUBLE_EQ(reduce_scatter(1_GB, group, kFabric).time.si(),
                     all_gather(1_GB, group, kFabric).time.si());
  }
}

TEST(PointToPoint, UsesTheTierThatJoinsThePair) {
  EXPECT_DOUBLE_EQ(send_recv(1_MB, {.per_node = 2, .nodes = 1}, kFabric).time.si(),
                   2e-6 + 1e6 / 240e9);
  EXPECT_DOUBLE_EQ(send_recv(1_MB, {.per_node = 1, .nodes = 2}, kFabric).time.si(),
                   10e-6 + 1e6 / 20e9);
}

TEST(PointToPoint, IsForAPairOnly) {
  EXPECT_FALSE(PointToPoint::applies({.per_node = 3, .nodes = 1}));
  EXPECT_THROW((void)send_recv(1_MB, {.per_node = 3, .nodes = 1}, kFabric), Defect);
  EXPECT_THROW((void)PointToPoint::sends(1_MB, {.per_node = 3, .nodes = 1}), Defect);
}

TEST(AlgorithmChoice, TakesTheFasterOneByPredictedTime) {
  const Group group{.per_node = 8, .nodes = 4};
  const CollectiveTime large = all_reduce(1_GB, group, kFabric);
  EXPECT_EQ(large.algorithm, "hierarchical");
  EXPECT_EQ(large.time, HierarchicalAllReduce::time(1_GB, group, kFabric));

  // A slow node and a network without latency: the flat ring avoids the node.
  const Fabric slow_node{.node = Channel({.latency = 50_us, .bandwidth = 1_GBps}),
                         .network = Channel({.latency = Seconds{}, .bandwidth = 20_GBps})};
  EXPECT_EQ(all_reduce(1_GB, group, slow_node).algorithm, "ring");
  EXPECT_EQ(all_gather(1_GB, group, slow_node).algorithm, "ring");
  EXPECT_EQ(reduce_scatter(1_GB, group, slow_node).algorithm, "ring");
}

TEST(AlgorithmChoice, LeavesTheHierarchyOutWhereThereIsNone) {
  EXPECT_EQ(all_reduce(1_GB, {.per_node = 8, .nodes = 1}, kFabric).algorithm, "ring");
  EXPECT_EQ(all_gather(1_GB, {.per_node = 1, .nodes = 8}, kFabric).algorithm, "ring");
}

TEST(AlgorithmChoice, NeverTakesTheNaiveRing) {
  for (const Bytes size : {1_B, 1_KiB, 1_MiB, 1_GiB}) {
    for (int ranks = 2; ranks <= 64; ++ranks) {
      EXPECT_NE(all_reduce(size, {.per_node = ranks, .nodes = 1}, kFabric).algorithm, "naive-ring");
    }
  }
}

TEST(AlgorithmChoice, OfOneRankIsNoneAndNeedsNoFabric) {
  for (const Collective collective : kCollectives) {
    const CollectiveTime none = collective_time(collective, 1_GB, Group{}, Fabric{});
    EXPECT_EQ(none.time, Seconds{});
    EXPECT_EQ(none.algorithm, "none");
  }
}

TEST(AlgorithmChoice, IsTheSameForACollectiveKnownAtRunTime) {
  const Group pair{.per_node = 1, .nodes = 2};
  EXPECT_EQ(collective_time(Collective::all_reduce, 1_MB, pair, kFabric).time,
            all_reduce(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::all_gather, 1_MB, pair, kFabric).time,
            all_gather(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::reduce_scatter, 1_MB, pair, kFabric).time,
            reduce_scatter(1_MB, pair, kFabric).time);
  EXPECT_EQ(collective_time(Collective::send_recv, 1_MB, pair, kFabric).time,
            send_recv(1_MB, pair, kFabric).time);
}

TEST(HomePiece, IsADifferentOneForEveryRank) {
  const Group group{.per_node = 4, .nodes = 3};
  std::set<int> pieces;
  for (int rank = 0; rank < group.ranks(); ++rank) {
    pieces.insert(home_piece(rank, group));
  }
  EXPECT_EQ(pieces.size(), 12U);
  EXPECT_EQ(*pieces.begin(), 0);
  EXPECT_EQ(*pieces.rbegin(), 12 - 1);
}

TEST(AlgorithmCatalogue, ListsEveryAlternativeWithItsFormulaAndSource) {
  const auto catalogue = algorithm_catalogue();
  EXPECT_EQ(catalogue.size(),
            std::variant_size_v<AllReduce> + std::variant_size_v<AllGather> +
                std::variant_size_v<ReduceScatter> + std::variant_size_v<SendRecv>);
  std::set<std::pair<Collective, std::string_view>> keys;
  for (const AlgorithmInfo& info : catalogue) {
    keys.emplace(info.collective, info.name);
    EXPECT_FALSE(info.formula.empty()) << info.name;
    EXPECT_FALSE(info.source.empty()) << info.name;
  }
  EXPECT_EQ(keys.size(), catalogue.size()) << "a name stands for one algorithm of a collective";
  EXPECT_EQ(catalogue.front().formula, RingAllReduce::formula);
}

}  // namespace
}  // namespace titer
