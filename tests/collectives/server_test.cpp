#include "titer/collectives/algorithm/server.hpp"

#include <gtest/gtest.h>

#include "collectives/port_network.hpp"
#include "titer/collectives/algorithm/ring.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kBandwidth = 12.5e9;
constexpr Fabric kNoLatency{
    .network = Channel({.latency = Seconds{}, .bandwidth = 100_Gbps}),
};
constexpr Fabric kFabric{
    .network = Channel({.latency = 10_us, .bandwidth = 100_Gbps}),
    .exchange = Channel({.latency = 3_us, .bandwidth = 200_GBps}),
};

Group workers(int n, int servers) { return {.per_node = 1, .nodes = n, .servers = servers}; }

double time_of(int n, int servers, const Fabric& fabric = kNoLatency) {
  return ParameterServer::time(1_GB, workers(n, servers), fabric).si();
}

TEST(ParameterServer, E13_PushAndPullAreTheWorkersBytesOverTheServersPorts) {
  const double g = 1e9;  // gradients and weights are as large
  for (const int n : {2, 4, 8}) {
    for (const int m : {1, 2, n}) {
      const double t1 = n * g / (m * kBandwidth);
      const double t2 = n * g / (m * kBandwidth);
      EXPECT_DOUBLE_EQ(time_of(n, m), t1 + t2) << n << " workers, " << m << " servers";
    }
  }
}

TEST(ParameterServer, E13_WithOneServerIsItsPortShared) {
  EXPECT_DOUBLE_EQ(time_of(8, 1), 2 * 8 * 1e9 / kBandwidth);
}

TEST(ParameterServer, E13_WithAServerForEachWorkerTakesTheVectorTwice) {
  EXPECT_DOUBLE_EQ(time_of(8, 8), 2 * 1e9 / kBandwidth);
  // A ring takes 2 (n-1)/n of that: hardly less; the book's unchunked ring takes 2n - 1.
  EXPECT_NEAR(
      RingAllReduce::time(1_GB, workers(8, 8), kNoLatency).si(), time_of(8, 8) * 7 / 8, 1e-12);
  EXPECT_LT(time_of(8, 8), NaiveRingAllReduce::time(1_GB, workers(8, 8), kNoLatency).si());
}

TEST(ParameterServer, T13_WithMoreServersThanWorkersIsBoundByTheWorkers) {
  EXPECT_DOUBLE_EQ(time_of(4, 8), 2 * 1e9 / kBandwidth);
  EXPECT_DOUBLE_EQ(time_of(4, 8), time_of(4, 4));
}

TEST(ParameterServer, F41_ShardsRemoveTheBottleneckOfASinglePort) {
  EXPECT_DOUBLE_EQ(time_of(16, 1) / time_of(16, 16), 16.0);
  EXPECT_DOUBLE_EQ(time_of(16, 1) / time_of(16, 4), 4.0);
}

TEST(ParameterServer, PaysALatencyToPushAndOneToPull) {
  EXPECT_DOUBLE_EQ(time_of(6, 3, kFabric), 2 * (10e-6 + 2 * 1e9 / kBandwidth));
  const Group node{.per_node = 4, .servers = 2};
  EXPECT_DOUBLE_EQ(ParameterServer::time(1_GB, node, kFabric).si(), 2 * (3e-6 + 2 * 1e9 / 200e9));
}

TEST(ParameterServer, RunsAtTheTimeOfTheBusierPorts) {
  for (const int n : {1, 2, 5, 8}) {
    for (const int m : {1, 2, 3, 8, 11}) {
      const Steps steps = ParameterServer::steps(1_GB, workers(n, m), kFabric);
      const double formula = time_of(n, m, kFabric);
      EXPECT_NEAR(to_seconds(PortNetwork(steps, kFabric).run().makespan).si(),
                  formula,
                  2e-12 + 1e-12 * formula)
          << n << " workers, " << m << " servers";
    }
  }
}

TEST(ParameterServer, AppliesWhereThereAreServers) {
  EXPECT_TRUE(ParameterServer::applies(workers(4, 1), kFabric));
  EXPECT_FALSE(ParameterServer::applies(workers(4, 0), kFabric));
  EXPECT_FALSE(ParameterServer::applies(workers(4, 1), Fabric{}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
