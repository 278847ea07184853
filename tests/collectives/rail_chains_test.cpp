#include "titer/collectives/algorithm/rail_chains.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "titer/collectives/choice.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kNode{.latency = 2_us, .bandwidth = 200_GBps, .startup = 30_us};
constexpr Link kNetwork{.latency = 10_us, .bandwidth = 20_GBps, .startup = 5_us};
constexpr Group kFourNodes{.per_node = 8, .nodes = 4};

Fabric fabric() { return {.node = Channel(kNode), .network = Channel(kNetwork)}; }

TEST(RailChains, UseEveryNicOnceInEachNode) {
  for (const bool reduces : {true, false}) {
    const Steps steps = reduces ? RailChainsReduce::steps(1_GB, kFourNodes, fabric())
                                : RailChainsBroadcast::steps(1_GB, kFourNodes, fabric());
    std::map<int, double> out;
    std::map<int, double> in;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Message& message = steps.message(i);
      if (message.tier == Tier::network) {
        out[message.from] += message.size.si();
        in[message.to] += message.size.si();
      }
    }
    // Three nodes send to the next one, and each of eight NICs an eighth.
    ASSERT_EQ(out.size(), 24U);
    ASSERT_EQ(in.size(), 24U);
    for (const auto& [rank, bytes] : out) {
      EXPECT_NEAR(bytes, 1e9 / 8, 1.0) << rank;
      EXPECT_EQ(rank / 8 == 0, !reduces && rank < 8);
    }
    for (const auto& [rank, bytes] : in) {
      EXPECT_NEAR(bytes, 1e9 / 8, 1.0) << rank;
    }
  }
}

TEST(RailChains, TakeTheVectorOverAllNicsAndTheFilling) {
  // The node's ports have less to do: 1 GB / 200 GB/s beside 1 GB / (8 x 20 GB/s).
  const RailChains chains{1_GB, kFourNodes};
  const int k = chains.blocks(kNode, kNetwork);
  EXPECT_GT(k, 10);
  const double between = 10e-6 + 1e9 / (8.0 * k) / 20e9;
  const double inside = 2e-6 + 1e9 / k / 200e9;
  EXPECT_NEAR(RailChainsReduce::time(1_GB, kFourNodes, fabric()).si(),
              35e-6 + 3 * between + 4 * 7 * inside + (k - 1) * between,
              1e-12);
  for (const int other : {k - 1, k + 1, k / 2, 2 * k}) {
    EXPECT_GE(chains.time(other, kNode, kNetwork), chains.time(k, kNode, kNetwork)) << other;
  }
  EXPECT_EQ(RailChainsBroadcast::time(1_GB, kFourNodes, fabric()),
            RailChainsReduce::time(1_GB, kFourNodes, fabric()));
}

TEST(RailChains, AreTakenForWhatOneChainWouldTakeLonger) {
  Fabric with_pairs = fabric();
  with_pairs.pair = Channel(kNode);
  for (const Collective collective : {Collective::reduce, Collective::broadcast}) {
    EXPECT_EQ(collective_time(collective, 1_GB, kFourNodes, with_pairs).algorithm,
              "multi-rail-chains");
    EXPECT_EQ(collective_time(collective, 1_GB, {.per_node = 1, .nodes = 4}, with_pairs).algorithm,
              "chain");
    EXPECT_EQ(collective_time(collective, 1_GB, {.per_node = 8}, with_pairs).algorithm, "chain");
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
