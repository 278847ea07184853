#include "titer/topology/failures.hpp"

#include <set>

#include "samples.hpp"
#include "titer/topology/properties.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using namespace testing;

/// Two leaves with three devices each, on four spines by two links each; what has failed.
std::string tree(const std::string& failures) {
  return R"({"family": "fat-tree", "down": [3, 2], "up": [1, 4], "parallel": [1, 2],
             "bandwidth": "10 GB/s", "failures": )" +
         failures + "}";
}

int links(const Topology& topology) {
  int sum = 0;
  for (const Wire& wire : topology.wires) {
    sum += wire.count;
  }
  return sum;
}

double bandwidth(const Topology& topology) {
  double sum = 0;
  for (const Wire& wire : topology.wires) {
    sum += wire.count * wire.bandwidth.si();
  }
  return sum;
}

TEST(Failures, TakeSoManyLinksBetweenSwitches) {
  const Topology whole = graph_of(tree("{}"));
  ASSERT_EQ(links(whole), 6 + 16);
  const Topology less = graph_of(tree(R"({"links": 5})"));
  EXPECT_EQ(links(less), links(whole) - 5);
  for (int device = 0; device < less.devices; ++device) {
    EXPECT_EQ(graphs::degree(less, device), 1) << "ports are not drawn";
  }
  EXPECT_EQ(links(graph_of(tree(R"({"links": 0.25})"))), links(whole) - 4);
}

TEST(Failures, AreDrawnBySeed) {
  const auto wires = [](int seed) {
    std::vector<int> counts;
    const std::string seeded = R"({"links": 3, "seed": )" + std::to_string(seed) + "}";
    for (const Wire& wire : graph_of(tree(seeded)).wires) {
      counts.insert(counts.end(), {wire.a, wire.b, wire.count});
    }
    return counts;
  };
  EXPECT_EQ(wires(1), wires(1));
  std::set<std::vector<int>> different;
  for (int seed = 0; seed < 10; ++seed) {
    different.insert(wires(seed));
  }
  EXPECT_GT(different.size(), 5U);
}

TEST(Failures, TakeWhatIsNamed) {
  const Topology whole = graph_of(tree("{}"));
  const Topology no_link = graph_of(tree(R"({"named": ["leaf 0 - spine 3"]})"));
  EXPECT_EQ(links(no_link), links(whole) - 2);
  EXPECT_EQ(graphs::degree(no_link, whole.devices), 3 + 6);
  const Topology no_spine = graph_of(tree(R"({"named": ["spine 3"]})"));
  EXPECT_EQ(links(no_spine), links(whole) - 4);
  EXPECT_EQ(graphs::degree(no_spine, no_spine.vertices() - 1), 0);
  EXPECT_EQ(no_spine.vertices(), whole.vertices()) << "numbers stay";
}

TEST(Failures, MayLeaveSomeBandwidth) {
  const double whole = bandwidth(graph_of(tree("{}")));
  const Topology slow = graph_of(tree(R"({"named": ["leaf 0 - spine 3"], "left": 0.25})"));
  EXPECT_EQ(links(slow), 6 + 16);
  EXPECT_NEAR(bandwidth(slow), whole - 0.75 * 2 * 10e9, 1.0);
}

TEST(Failures, OfPortsLeaveDevicesWithoutLinks) {
  const Topology one_less = graph_of(tree(R"({"ports": 1})"));
  int without = 0;
  for (int device = 0; device < one_less.devices; ++device) {
    without += graphs::degree(one_less, device) == 0 ? 1 : 0;
  }
  EXPECT_EQ(without, 1);
}

TEST(Failures, OfDirectLinksAreOfDevices) {
  const Topology ring = graph_of(
      R"({"family": "ring", "devices": 6, "bandwidth": "1 GB/s", "failures": {"links": 1}})");
  EXPECT_EQ(links(ring), 5);
  EXPECT_EQ(diameter(ring), 5);
}

TEST(Failures, ChangeWhatAFamilyKnowsOfItself) {
  const std::string text = tree(R"({"switches": 0, "named": ["spine 0", "spine 1"]})");
  const NamedTopology network = read_topology_text(text);
  const TopologySummary summary = summarize(network, build(network));
  ASSERT_TRUE(summary.bisection.has_value());
  EXPECT_DOUBLE_EQ(summary.bisection->bandwidth.si(), 3 * 10e9) << "the ports of a leaf";
  const NamedTopology worse =
      read_topology_text(tree(R"({"named": ["spine 0", "spine 1", "spine 2"]})"));
  EXPECT_DOUBLE_EQ(summarize(worse, build(worse)).bisection->bandwidth.si(), 2 * 10e9);
}

TEST(Failures, ThatCannotBeAreRefused) {
  expect_complaint(tree(R"({"named": ["spin 3"]})"), {"failures", R"(did you mean "spine 3"?)"});
  expect_complaint(tree(R"({"named": ["leaf 0 - leaf 1"]})"), {"failures", "no link joins them"});
  expect_complaint(tree(R"({"links": 17})"), {"failures", "17 fail of 16 links"});
  expect_complaint(tree(R"({"links": 1.5})"), {"failures.links", "whole number"});
  expect_complaint(tree(R"({"switches": 7})"), {"failures", "7 fail of 6 switches"});
  expect_complaint(tree(R"({"link": 1})"), {"failures.link", R"(did you mean "links"?)"});
  expect_complaint(tree(R"({"named": ["spine 0", "spine 1", "spine 2", "leaf 1 - spine 3"]})"),
                   {"failures", "device 3 is cut off"});
}

TEST(Failures, AreNothingOfANode) {
  const std::string node = R"({"family": "ring", "devices": 4, "bandwidth": "1 GB/s",
                     "failures": {"links": 1}})";
  const auto place_of_complaint = [](const std::string& text) {
    const Document document = parse_json(text, "node.json");
    Problems problems;
    Reader reader(document, problems);
    static_cast<void>(read_node_topology(reader));
    try {
      problems.raise();
    } catch (const InputError& error) {
      const std::string line = error.what();
      return line.substr(0, line.find(": {"));
    }
    return std::string();
  };
  EXPECT_EQ(place_of_complaint(node), "node.json:2:34: failures");
  EXPECT_EQ(place_of_complaint(R"({"topology": )" + node + "}"),
            "node.json:2:34: topology.failures");
}

TEST(Failures, AreSaid) {
  EXPECT_EQ(failures_text({.links = 10, .switches = 0.01, .seed = 7}),
            "10 links, 1 % of the switches (seed 7)");
  EXPECT_EQ(failures_text({.named = {"spine 3"}, .left = 0.5}),
            "spine 3 with 50 % of the bandwidth left");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
