// Racks of which plans use some hosts.

#include <gtest/gtest.h>

#include <cstdint>

#include "plan/shipped.hpp"

namespace titer {
namespace TITER_TEST_FILE {

int used(const Cluster& cluster, std::vector<std::int64_t> devices) {
  return cluster.used_of_node(devices);
}

TEST(UsedNodes, AreFilledByEachNumberOfDevices) {
  const Cluster rack = shipped::cluster("gb200-nvl72");
  EXPECT_EQ(used(rack, {8}), 72) << "on one";
  EXPECT_EQ(used(rack, {72}), 72);
  EXPECT_EQ(used(rack, {144}), 72);
  EXPECT_EQ(used(rack, {128}), 64);
  EXPECT_EQ(used(rack, {136}), 68) << "17 of 18 hosts";
  EXPECT_EQ(used(rack, {576}), 72) << "also 9 x 64";
  EXPECT_EQ(used(rack, {100}), 72) << "fills none";
  EXPECT_EQ(used(rack, {120}), 72) << "60 are less than eight ninths";
  EXPECT_EQ(used(rack, {64, 128, 256}), 64);
  EXPECT_EQ(used(rack, {72, 128}), 72) << "no number is right for both";
  EXPECT_EQ(used(shipped::cluster("dgx-h100"), {12}), 8) << "one host";
}

TEST(UsedNodes, HaveTheirPartOfWhatHostsHave) {
  const Cluster whole = shipped::cluster("gb200-nvl72");
  Cluster cluster = whole;
  cluster.use_for(256);
  EXPECT_EQ(cluster.devices_per_node, 64);
  EXPECT_EQ(cluster.devices_of_whole_node(), 72);
  EXPECT_EQ(cluster.nics, 64);
  EXPECT_EQ(cluster.nic_share(), whole.nic_share());
  EXPECT_NEAR(cluster.host_memory->capacity / whole.host_memory->capacity, 64.0 / 72, 1e-12);
  EXPECT_EQ(cluster.host_memory->share(64), whole.host_memory->share(72));
  EXPECT_EQ(cluster.graph(2, 1, 1).devices, 128);
  EXPECT_TRUE(cluster.ring_bandwidth(64, 1).has_value());
  cluster.use_for(72);
  EXPECT_EQ(cluster.devices_per_node, 72);
  EXPECT_EQ(cluster.nics, 72);
  EXPECT_EQ(cluster.host_memory->capacity, whole.host_memory->capacity);
  EXPECT_EQ(cluster.ring_bandwidths, whole.ring_bandwidths);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
