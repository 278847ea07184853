#include "titer/topology/properties.hpp"

#include <gtest/gtest.h>

#include "titer/topology/family/node_families.hpp"
#include "topology/graphs.hpp"
#include "topology/samples.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

double bisection(const NodeTopology& family) {
  return bisection_bandwidth(family, build(family))->bandwidth.si();
}

TEST(ClosedDiameter, IsThatOfTheGraph) {
  std::vector<std::string> texts = small_families();
  for (const char* dimensions : {"[7]", "[2, 2]", "[5, 4]", "[1, 6, 3]", "[3, 3, 3, 2]"}) {
    for (const char* wrap : {"true", "false"}) {
      texts.push_back(R"({"family": "torus", "bandwidth": "1 GB/s", "dimensions": )" +
                      std::string(dimensions) + R"(, "wrap": )" + wrap + "}");
    }
  }
  for (const char* down : {"[4]", "[1, 4]", "[4, 1]", "[3, 1, 2]", "[2, 2, 3]"}) {
    texts.push_back(
        R"({"family": "fat-tree", "bandwidth": "1 GB/s", "oversubscription": 1, "down": )" +
        std::string(down) + "}");
  }
  for (const std::string& text : texts) {
    SCOPED_TRACE(text);
    const NodeTopology family = family_of(text);
    const Topology graph = build(family);
    EXPECT_EQ(diameter(family, graph), diameter(graph));
  }
}

TEST(ClosedDiameter, OfALargeTorusIsHalfOfEachDimension) {
  const NodeTopology family = family_of(
      R"({"family": "torus", "dimensions": [16, 16, 16], "wrap": true, "bandwidth": "1 GB/s"})");
  const Topology graph = build(family);
  EXPECT_EQ(diameter(family, graph), 3 * 16 / 2);
  EXPECT_EQ(diameter(graph), 3 * 16 / 2);
}

TEST(ClosedBisection, OfATorusIsTheMinCutOfItsHalves) {
  // The longest dimension is even and the last, so that the halves as numbered are the worst ones.
  for (const char* shape : {R"("dimensions": [8], "wrap": true)",
                            R"("dimensions": [3, 4], "wrap": true)",
                            R"("dimensions": [3, 4], "wrap": false)",
                            R"("dimensions": [3, 6], "wrap": [true, false])",
                            R"("dimensions": [2, 3, 4], "wrap": true)",
                            R"("dimensions": [2, 2], "wrap": true)"}) {
    const NodeTopology family =
        family_of(R"({"family": "torus", "bandwidth": "1 GB/s", )" + std::string(shape) + "}");
    EXPECT_DOUBLE_EQ(bisection(family), halves_bandwidth(build(family)).si()) << shape;
  }
}

TEST(ClosedBisection, OfATorusIsTwoPOverItsLongestSideLinks) {
  const auto torus = [](const std::string& shape) {
    return bisection(family_of(R"({"family": "torus", "bandwidth": "50 GB/s", )" + shape + "}"));
  };
  EXPECT_DOUBLE_EQ(torus(R"("dimensions": [16, 16, 16], "wrap": true)"), 2 * 4096 / 16 * 50e9);
  EXPECT_DOUBLE_EQ(torus(R"("dimensions": [16, 16, 16], "wrap": false)"), 4096 / 16 * 50e9);
  // The multipod is open in its long dimension.
  EXPECT_DOUBLE_EQ(torus(R"("dimensions": [128, 32], "wrap": [false, true])"), 32 * 50e9);
}

TEST(ClosedBisection, OfAFatTreeIsTheMinCutOfItsHalves) {
  for (const char* shape : {R"("down": [4, 4], "up": [1, 2], "parallel": [1, 2])",
                            R"("down": [4, 4], "up": [1, 1])",
                            R"("down": [3, 2, 4], "up": [1, 2, 1], "planes": 2)",
                            R"("down": [4, 2], "up": [2, 4])",
                            R"("down": [2, 4, 1], "up": [1, 2, 3])"}) {
    const NodeTopology family =
        family_of(R"({"family": "fat-tree", "bandwidth": "1 GB/s", )" + std::string(shape) + "}");
    EXPECT_DOUBLE_EQ(bisection(family), halves_bandwidth(build(family)).si()) << shape;
  }
}

TEST(ClosedBisection, OfAFatTreeFallsWithItsOversubscription) {
  const auto tree = [](const std::string& ratio) {
    return bisection(family_of(
        R"({"family": "fat-tree", "down": [8, 8], "bandwidth": "1 GB/s", "oversubscription": )" +
        ratio + "}"));
  };
  EXPECT_DOUBLE_EQ(tree("1"), 64 / 2 * 1e9);
  EXPECT_DOUBLE_EQ(tree("4"), 64 / 2 / 4 * 1e9);
}

TEST(ClosedBisection, OfADragonflyIsNamedAnEstimate) {
  const NodeTopology family = family_of(
      R"({"family": "dragonfly", "groups": 9, "routers_per_group": 4, "devices_per_router": 2,
          "global_links": 2, "device_bandwidth": "1 GB/s", "local_bandwidth": "1 GB/s",
          "global_bandwidth": "3 GB/s"})");
  const auto found = bisection_bandwidth(family, build(family));
  EXPECT_DOUBLE_EQ(found->bandwidth.si(), 4 * 5 * 1 * 3e9);
  EXPECT_NE(found->how.find("estimate"), std::string_view::npos);
}

TEST(ClosedBisection, IsTheMinCutWhereNoneIsKnown) {
  const NodeTopology family = SwitchedNode{.devices = 8, .bandwidth = 300_GBps, .planes = 6};
  EXPECT_NEAR(bisection(family), 4 * 300e9, 1.0);
  EXPECT_FALSE(bisection_bandwidth(SwitchedNode{1, 1_GBps}, build(SwitchedNode{1, 1_GBps})));
}

TEST(Reach, NamesTheFirstDeviceThatIsCutOff) {
  Topology topology{.name = "islands",
                    .devices = 4,
                    .switches = 0,
                    .wires = {{.a = 0, .b = 1, .count = 1, .bandwidth = 1_GBps},
                              {.a = 2, .b = 3, .count = 1, .bandwidth = 1_GBps}}};
  EXPECT_EQ(unreachable_device(topology), 2);
  topology.wires.push_back({.a = 3, .b = 0, .count = 1, .bandwidth = 1_GBps});
  EXPECT_EQ(unreachable_device(topology), std::nullopt);
}

TEST(Labels, AreThoseOfEachVertex) {
  for (const std::string& text : small_families()) {
    const Topology graph = build(family_of(text));
    const std::vector<std::string> all = labels(graph);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(graph.vertices()));
    for (int vertex = 0; vertex < graph.vertices(); ++vertex) {
      EXPECT_EQ(all[static_cast<std::size_t>(vertex)], graph.label(vertex));
    }
  }
}

TEST(Degrees, AreThoseOfEachVertex) {
  for (const std::string& text : small_families()) {
    const Topology graph = build(family_of(text));
    const std::vector<int> all = degrees(graph);
    for (int vertex = 0; vertex < graph.vertices(); ++vertex) {
      EXPECT_EQ(all[static_cast<std::size_t>(vertex)], graphs::degree(graph, vertex));
    }
  }
}

TEST(Summary, CountsLinksAndPacksRingsOfWiredDevices) {
  const NodeTopology ring = RingNode{.devices = 6, .bandwidth = 10_GBps};
  const TopologySummary summary = summarize(ring, build(ring));
  EXPECT_EQ(summary.links, 6);
  EXPECT_EQ(summary.least_degree, 2);
  EXPECT_EQ(summary.most_degree, 2);
  EXPECT_EQ(summary.diameter, 6 / 2);
  ASSERT_TRUE(summary.rings.has_value());
  EXPECT_EQ(summary.rings->directed_rings, 2);
  const NodeTopology hub = SwitchedNode{.devices = 6, .bandwidth = 10_GBps, .reduces = true};
  EXPECT_FALSE(summarize(hub, build(hub)).rings.has_value());
  EXPECT_TRUE(summarize(hub, build(hub)).reduces);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
