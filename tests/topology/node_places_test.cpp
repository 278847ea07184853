// Where the nodes of a job lie in a network.
#include "titer/topology/node_places.hpp"

#include <gtest/gtest.h>

#include <set>

#include "titer/input/read_document.hpp"
#include "titer/topology/families.hpp"

namespace titer {
namespace TITER_TEST_FILE {

NamedTopology named(const std::string& placement) {
  // Four leaves of four ports, two spines.
  const std::string text = R"({"family": "fat-tree", "down": [4, 4], "up": [1, 2],
      "parallel": [1, 1], "bandwidth": "50 GB/s")" +
                           placement + "}";
  return read_document(parse_json(text, "network.json"), read_topology);
}

/// The switch of each device.
std::vector<int> switches(const Topology& network) {
  std::vector<int> of(static_cast<std::size_t>(network.devices), -1);
  for (const Wire& wire : network.wires) {
    const auto [device, other] = std::minmax(wire.a, wire.b);
    if (device < network.devices) {
      of[static_cast<std::size_t>(device)] = other;
    }
  }
  return of;
}

TEST(NodePlaces, AreInARowUnlessTold) {
  const Topology network = build(named(""));
  ASSERT_EQ(network.devices, 16);
  const std::vector<int> of = switches(network);
  EXPECT_EQ(of[0], of[3]);
  EXPECT_NE(of[3], of[4]);
  EXPECT_EQ(switches(build(named(R"(, "placement": "contiguous")"))), of);
}

TEST(NodePlaces, GoByTurnsOfLeaves) {
  const NamedTopology turns = named(R"(, "placement": "round-robin")");
  const std::vector<int> of = switches(build(turns));
  EXPECT_EQ(std::set<int>(of.begin(), of.begin() + 4).size(), 4u);
  EXPECT_EQ(of[0], of[4]);
  // The ports of a node stay together.
  const std::vector<int> pairs = switches(build(turns, 2));
  EXPECT_EQ(pairs[0], pairs[1]);
  EXPECT_NE(pairs[1], pairs[2]);
  EXPECT_EQ(pairs[0], pairs[8]);
}

TEST(NodePlaces, AreDrawnBySeed) {
  const auto drawn = [](int seed) {
    return switches(
        build(named(R"(, "placement": "random", "placement_seed": )" + std::to_string(seed))));
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
  std::vector<int> sorted = drawn(1);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, switches(build(named("")))) << "every place once";
}

TEST(NodePlaces, AreRefusedWhereTheyMeanNothing) {
  EXPECT_THROW(static_cast<void>(named(R"(, "placement_seed": 1)")), InputError);
  EXPECT_THROW(static_cast<void>(named(R"(, "placement": "near")")), InputError);
  const Document torus = parse_json(
      R"({"family": "torus", "dimensions": [4, 4], "bandwidth": "50 GB/s", "placement": "random"})",
      "torus.json");
  EXPECT_THROW(static_cast<void>(read_document(torus, read_topology)), InputError);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
