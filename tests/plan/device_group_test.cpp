#include "titer/plan/place/device_group.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "plan/shipped.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Devices = std::vector<int>;

/// The one line that is said instead of an answer.
std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.size(), 1U);
    return error.lines.empty() ? "" : error.lines.front();
  }
  return "nothing was refused";
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

// ---- parse_devices ----------------------------------------------------------------------------

TEST(ParseDevices, TakesNumbersRangesAndStrides) {
  EXPECT_EQ(parse_devices("3"), (Devices{3}));
  EXPECT_EQ(parse_devices("0-3"), (Devices{0, 1, 2, 3}));
  EXPECT_EQ(parse_devices("0-9:4"), (Devices{0, 4, 8}));
  EXPECT_EQ(parse_devices("8,0-1,5"), (Devices{8, 0, 1, 5}));  // in the order written
  EXPECT_EQ(parse_devices("7-7:3"), (Devices{7}));
}

TEST(ParseDevices, RefusesWhatIsNoListOfDevices) {
  for (const char* text : {"",
                           ",",
                           "0-",
                           "-3",
                           "a",
                           "1.5",
                           "0-3:",
                           "1,,2",
                           "0x3",
                           " 1",
                           "1-2-3",
                           "99999999999",
                           "3-:2"}) {
    expect_in(refusal([&] { (void)parse_devices(text); }),
              std::string("ranks \"") + text + "\": expected device numbers such as 0-7");
  }
  for (const char* text : {"5-2", "0-7:0"}) {
    expect_in(refusal([&] { (void)parse_devices(text); }), "a range goes up, in steps of one");
  }
}

// ---- sub_torus --------------------------------------------------------------------------------

Torus torus(std::vector<int> dimensions, std::vector<bool> wrap) {
  return {.dimensions = std::move(dimensions), .wrap = std::move(wrap), .bandwidth = 45_GBps};
}

TEST(SubTorus, FindsBoxesAndLeavesOutAxesOfOneDevice) {
  const Torus cube = torus({4, 4, 4}, {true, true, true});
  const auto all = sub_torus(cube, parse_devices("0-63"));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->axes, 3U);
  EXPECT_EQ(all->ranks(), 64);
  EXPECT_TRUE(all->wrap[0] && all->wrap[1] && all->wrap[2]);
  const auto line = sub_torus(cube, {4, 5, 6});  // x 0-2 at y 1
  ASSERT_TRUE(line);
  EXPECT_EQ(line->axes, 1U);
  EXPECT_EQ(line->length[0], 3);
  EXPECT_FALSE(line->wrap[0]);  // three of four in a circle are a line
  const auto column = sub_torus(cube, parse_devices("5-63:16"));  // z 0-3 at x 1, y 1
  ASSERT_TRUE(column);
  EXPECT_EQ(column->axes, 1U);
  EXPECT_EQ(column->length[0], 4);
  EXPECT_TRUE(column->wrap[0]);
  const auto plane = sub_torus(cube, {0, 1, 16, 17, 32, 33, 48, 49});  // x 0-1, z 0-3
  ASSERT_TRUE(plane);
  EXPECT_EQ(plane->axes, 2U);
  EXPECT_EQ(plane->length[0], 2);
  EXPECT_EQ(plane->length[1], 4);
  EXPECT_FALSE(plane->wrap[0]);
  EXPECT_TRUE(plane->wrap[1]);
}

TEST(SubTorus, TakesEveryKthDeviceOfAnAxis) {
  const auto found = sub_torus(torus({12, 3}, {true, true}), parse_devices("1-35:4"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->axes, 2U);
  EXPECT_EQ(found->length[0], 3);
  EXPECT_EQ(found->hops[0], 4);
  EXPECT_EQ(found->hops[1], 1);
  EXPECT_TRUE(found->wrap[0]);
  EXPECT_EQ(found->sharing[0], 1.0);
  const auto half = sub_torus(torus({4}, {true}), {0, 2});
  ASSERT_TRUE(half);
  EXPECT_EQ(half->sharing[0], 0.5) << "both ways round are as long";
  const auto part = sub_torus(torus({12}, {true}), {0, 3});
  ASSERT_TRUE(part);
  EXPECT_FALSE(part->wrap[0]);
}

TEST(SubTorus, AnOpenAxisStaysOpen) {
  const auto found = sub_torus(torus({4, 2}, {false, true}), parse_devices("0-7"));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->wrap[0]);
  EXPECT_TRUE(found->wrap[1]);
}

TEST(SubTorus, IsNoneOfDevicesThatAreNoBox) {
  const Torus cube = torus({4, 4, 4}, {true, true, true});
  EXPECT_FALSE(sub_torus(cube, {0, 1, 2, 4}));  // an L
  EXPECT_FALSE(sub_torus(cube, {0, 3}));        // with a hole of two
  EXPECT_FALSE(sub_torus(cube, {0, 1, 3}));     // unevenly apart
  EXPECT_FALSE(sub_torus(cube, {0, 5}));        // a diagonal
  EXPECT_FALSE(sub_torus(cube, {3, 4}));        // neighbours by number alone
  EXPECT_FALSE(sub_torus(cube, {0, 1, 6, 7}));  // as many as the box 0 .. 7 of half of it
  EXPECT_FALSE(sub_torus(cube, {0, 1, 2, 5}));  // as many as the box of its ends, not in it
  EXPECT_FALSE(sub_torus(torus({2, 2, 2, 2, 2}, std::vector<bool>(5, true)),
                         parse_devices("0-31")));  // more axes than algorithms know
}

// ---- group_devices ----------------------------------------------------------------------------

TEST(GroupDevices, CountsRanksPerNodeWhateverTheirOrder) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const DeviceGroup group = group_devices(cluster, {9, 1, 8, 0});
  EXPECT_EQ(group.devices, (Devices{0, 1, 8, 9}));
  EXPECT_EQ(group.group.per_node, 2);
  EXPECT_EQ(group.group.nodes, 2);
  EXPECT_EQ(group.last_node(cluster), 1);
  EXPECT_TRUE(group.remark.empty());
  EXPECT_TRUE(group.fabric.node.exists());
  EXPECT_TRUE(group.fabric.network.exists());
}

TEST(GroupDevices, SaysWhatItAssumesOfAnUnevenGroup) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const DeviceGroup group = group_devices(cluster, parse_devices("0-2,8,9"));
  EXPECT_EQ(group.group.per_node, 1);
  EXPECT_EQ(group.group.nodes, 5);
  EXPECT_FALSE(group.fabric.node.exists());
  expect_in(group.remark, "(2 to 3)");
  expect_in(group.remark, "every message is taken through the network");
}

TEST(GroupDevices, FindsTheRingsAndTreesOfTheWires) {
  const Cluster cluster = shipped::cluster("dgx1-v100");
  const DeviceGroup all = group_devices(cluster, parse_devices("0-7"));
  ASSERT_NE(all.group.wiring, nullptr);
  EXPECT_EQ(all.group.wiring, all.wiring.get());
  EXPECT_EQ(all.group.wiring->rings.size(), 6U);
  EXPECT_FALSE(all.group.wiring->trees.empty());
  EXPECT_FALSE(all.fabric.exchange.exists());  // not all pairs are joined
  const DeviceGroup quad = group_devices(cluster, parse_devices("0-3"));
  ASSERT_NE(quad.group.wiring, nullptr);
  EXPECT_EQ(quad.group.wiring->rings.size(), 4U);
  EXPECT_TRUE(quad.fabric.exchange.exists());
  const DeviceGroup apart = group_devices(cluster, {0, 7});
  EXPECT_EQ(apart.group.wiring, nullptr);
  EXPECT_EQ(apart.fabric.node.links().front().bandwidth, cluster.host_path->bandwidth);
}

TEST(GroupDevices, TheSlowestNodeHoldsUpTheOthers) {
  const Cluster cluster = shipped::cluster("dgx1-v100");
  const auto ring = [&](const Devices& devices) {
    return group_devices(cluster, devices).fabric.node.stream(1, 1_GB);
  };
  // 0 and 3 have two links, 8 and 9 have one.
  EXPECT_EQ(ring({0, 3, 8, 9}), ring({8, 9}));
  EXPECT_EQ(ring({0, 3, 8, 9}), ring({0, 1}));
  EXPECT_LT(ring({0, 3}), ring({0, 1}));
}

TEST(GroupDevices, RefusesInOneSentence) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const auto said = [](const Cluster& of, const Devices& devices) {
    return refusal([&] { (void)group_devices(of, devices); });
  };
  expect_in(said(cluster, {}), "expected one device or more");
  expect_in(said(cluster, {3, 1, 3}), "device 3 is listed twice");
  Cluster fixed = cluster;
  fixed.nodes = 2;
  expect_in(said(fixed, {0, 16}), "device 16 is not in dgx-a100-80gb, whose devices are 0 to 15");
  Cluster alone = cluster;
  alone.network_protocols.clear();
  expect_in(said(alone, {0, 8}), "device 8 is not in dgx-a100-80gb, whose devices are 0 to 7");
}

TEST(GroupDevices, OfATorusIsABoxOrNothing) {
  Cluster pod = shipped::cluster("dgx-a100-80gb");
  pod.name = "pod";
  pod.topology = torus({4, 4}, {true, true});
  pod.devices_per_node = 16;
  pod.network_protocols.clear();
  const DeviceGroup row = group_devices(pod, parse_devices("4-7"));
  EXPECT_EQ(row.group.torus.axes, 1U);
  EXPECT_EQ(row.group.per_node, 4);
  EXPECT_TRUE(row.fabric.wire.exists());
  EXPECT_FALSE(row.fabric.node.exists());
  expect_in(refusal([&] {
              (void)group_devices(pod, {0, 5});
            }),
            "these 2 devices are no sub-torus of pod (4 x 4): expected a box of it, such as 0-3");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
