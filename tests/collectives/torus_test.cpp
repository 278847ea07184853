#include "titer/collectives/algorithm/torus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "collectives/honoured.hpp"
#include "titer/collectives/algorithm/torus_all_to_all.hpp"
#include "titer/collectives/algorithm/torus_links.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Fabric kFabric{.wire = Channel({.latency = 2_us, .bandwidth = 50_GBps})};
constexpr Fabric kNoLatency{.wire = Channel({.latency = Seconds{}, .bandwidth = 50_GBps})};
constexpr double kA = 2e-6;
constexpr double kB = 50e9;

struct Axis {
  int length;
  bool wrap;
};

Group torus(const std::vector<Axis>& axes) {
  Group group;
  for (const Axis& axis : axes) {
    group.torus.length[group.torus.axes] = axis.length;
    group.torus.wrap[group.torus.axes] = axis.wrap;
    ++group.torus.axes;
  }
  group.per_node = group.torus.ranks();
  return group;
}

Group square(int length) { return torus({{length, true}, {length, true}}); }

// ---- Shape -----------------------------------------------------------------------------------

TEST(TorusShape, NumbersTheFirstAxisFastest) {
  const Group group = torus({{4, true}, {3, true}, {2, false}});
  EXPECT_EQ(group.torus.ranks(), 24);
  for (int rank = 0; rank < 24; ++rank) {
    const int x = coordinate(group.torus, rank, 0);
    const int y = coordinate(group.torus, rank, 1);
    const int z = coordinate(group.torus, rank, 2);
    EXPECT_EQ(rank, x + 4 * (y + 3 * z));
    EXPECT_TRUE(x < 4 && y < 3 && z < 2);
  }
}

TEST(TorusShape, IsTwoWayOnlyWhereAnAxisIsARingOfWires) {
  const Group group = torus({{3, true}, {3, false}, {2, true}, {1, true}});
  EXPECT_TRUE(is_two_way(group.torus, 0));
  EXPECT_FALSE(is_two_way(group.torus, 1));
  EXPECT_FALSE(is_two_way(group.torus, 2)) << "two ranks are joined by one wire";
  EXPECT_FALSE(is_two_way(group.torus, 3));
}

TEST(TorusShape, IsRegularWhereAllAxesAreAlike) {
  EXPECT_TRUE(is_regular(square(4).torus));
  EXPECT_TRUE(is_regular(torus({{3, false}, {3, false}}).torus));
  EXPECT_TRUE(is_regular(torus({{2, true}, {2, false}}).torus));
  EXPECT_FALSE(is_regular(torus({{4, true}}).torus)) << "one axis has no others to share with";
  EXPECT_FALSE(is_regular(torus({{4, true}, {3, true}}).torus));
  EXPECT_FALSE(is_regular(torus({{4, true}, {4, false}}).torus));
}

TEST(RingOrder, OfALineKeepsNeighboursWithinTwoWires) {
  for (int length = 1; length <= 9; ++length) {
    const Group line = torus({{length, false}});
    const std::vector<int> order = ring_order(line.torus, 0);
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (int i = 0; i < length; ++i) {
      EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
      const int next = order[static_cast<std::size_t>((i + 1) % length)];
      EXPECT_LE(std::abs(next - order[static_cast<std::size_t>(i)]), 2);
    }
  }
  EXPECT_EQ(ring_order(torus({{6, false}}).torus, 0), (std::vector<int>{0, 2, 4, 5, 3, 1}));
  EXPECT_EQ(ring_order(torus({{5, false}}).torus, 0), (std::vector<int>{0, 2, 4, 3, 1}));
  EXPECT_EQ(ring_order(torus({{5, true}}).torus, 0), (std::vector<int>{0, 1, 2, 3, 4}));
}

// ---- Formulas by hand ------------------------------------------------------------------------

TEST(TorusAllReduce, OfOneAxisIsARingBothWaysRound) {
  EXPECT_DOUBLE_EQ(TorusAllReduce::time(1_GB, torus({{8, true}}), kFabric).si(),
                   2 * 7 * (kA + 1e9 / 8 / (2 * kB)));
}

TEST(TorusAllReduce, SendsThePayloadOverTheColumnSizeAlongTheRows) {
  // Seed 002: reduce-scatter over columns of R, all-reduce over rows of C on S/R, all-gather.
  const int r = 8;
  const int c = 4;
  const double s = 1e9;
  const double expected = 2.0 * (r - 1) / r * s / (2 * kB) +
                          2.0 * (c - 1) / c * (s / r) / (2 * kB) + 2 * ((r - 1) + (c - 1)) * kA;
  EXPECT_NEAR(
      TorusAllReduce::time(1_GB, torus({{r, true}, {c, true}}), kFabric).si(), expected, 1e-15);
}

TEST(TorusAllReduce, OnAMeshTakesTwiceTheBytesTimeOfATorus) {
  const double ring = TorusAllReduce::time(1_GB, square(4), kNoLatency).si();
  const Group mesh = torus({{4, false}, {4, false}});
  EXPECT_NEAR(TorusAllReduce::time(1_GB, mesh, kNoLatency).si(), 2 * ring, 1e-15);
  EXPECT_NEAR(ring, 2 * (15.0 / 16) * 1e9 / (2 * kB), 1e-15);
}

TEST(TorusAllReduce, OfAMultipodHasOneOpenAxis) {
  // TPU v3 multipod (trap T18): 128 without wrap by 32 with.
  const Group group = torus({{32, true}, {128, false}});
  EXPECT_NEAR(TorusReduceScatter::time(1_GB, group, kFabric).si(),
              31 * (kA + 1e9 / 32 / (2 * kB)) + 127 * (kA + 1e9 / 32 / 128 / kB),
              1e-15);
}

TEST(TorusAllReduce, TendsToAConstantAsTheTorusGrows) {
  const double limit = 2 * 1e9 / (2 * kB);
  for (const int k : {2, 4, 8, 16, 32}) {
    const double time = TorusAllReduce::time(1_GB, square(k), kNoLatency).si();
    if (k > 2) {
      EXPECT_NEAR(time, limit * (1 - 1.0 / (k * k)), 1e-15) << k;
    }
  }
}

TEST(TorusAllLinks, KeepsAllWiresBusy) {
  // Four wires out of every rank of a square, six of a cube; all of them carry the same.
  EXPECT_NEAR(TorusAllLinksAllReduce::time(1_GB, square(4), kFabric).si(),
              2 * 2 * 3 * kA + 2 * (15.0 / 16) * 1e9 / (4 * kB),
              1e-15);
  const Group cube = torus({{4, true}, {4, true}, {4, true}});
  EXPECT_NEAR(TorusAllLinksAllGather::time(1_GB, cube, kFabric).si(),
              3 * 3 * kA + (63.0 / 64) * 1e9 / (6 * kB),
              1e-15);
  const Group hypercube = torus({{2, true}, {2, true}, {2, true}});
  EXPECT_NEAR(TorusAllLinksReduceScatter::time(1_GB, hypercube, kFabric).si(),
              3 * kA + (7.0 / 8) * 1e9 / (3 * kB),
              1e-15);
}

// ---- All-to-all ------------------------------------------------------------------------------

/// The busiest wire, one way, of a uniform all-to-all along an axis, pair by pair the shorter way
/// round (half each way where both are as long); in blocks of S / p.
double busiest_wire(int length, bool ring) {
  std::map<std::pair<int, int>, double> load;
  const auto walk = [&](int from, int steps, int direction, double part) {
    for (int i = 0; i < steps; ++i) {
      const int next = (from + direction + length) % length;
      load[{from, next}] += part;
      from = next;
    }
  };
  for (int from = 0; from < length; ++from) {
    for (int to = 0; to < length; ++to) {
      const int ahead = (to - from + length) % length;
      if (!ring) {
        walk(from, std::abs(to - from), to > from ? 1 : -1, 1.0);
      } else if (2 * ahead == length) {
        walk(from, ahead, 1, 0.5);
        walk(from, ahead, -1, 0.5);
      } else if (2 * ahead < length) {
        walk(from, ahead, 1, 1.0);
      } else {
        walk(from, length - ahead, -1, 1.0);
      }
    }
  }
  double busiest = 0.0;
  for (const auto& [wire, blocks] : load) {
    busiest = std::max(busiest, blocks);
  }
  return busiest;
}

TEST(TorusAllToAll, HasTheLoadOfTheBusiestWireAlongEveryAxis) {
  for (int p = 2; p <= 12; ++p) {
    EXPECT_NEAR(all_to_all_share(torus({{p, false}}).torus, 0), busiest_wire(p, false) / p, 1e-12);
    if (p > 2) {
      EXPECT_NEAR(all_to_all_share(torus({{p, true}}).torus, 0), busiest_wire(p, true) / p, 1e-12);
    }
  }
  EXPECT_DOUBLE_EQ(all_to_all_share(torus({{16, true}}).torus, 0), 16.0 / 8);
  EXPECT_DOUBLE_EQ(all_to_all_share(torus({{16, false}}).torus, 0), 16.0 / 4);
  EXPECT_DOUBLE_EQ(all_to_all_share(torus({{5, true}}).torus, 0), 6.0 / 5 / 2);
}

/// Lower bound on any all-to-all whose messages take shortest ways: the largest of these shares
/// over the bandwidth of a wire. [bisection; on a k x k torus k S / (8 B), F10]
Seconds all_to_all_bound(Bytes size, const TorusShape& torus, BytesPerSecond wire) {
  double largest = 0.0;
  for (std::size_t axis = 0; axis < torus.axes; ++axis) {
    largest = std::max(largest, torus.sharing[axis] * all_to_all_share(torus, axis));
  }
  return largest * size / wire;
}

TEST(TorusAllToAll, F10_IsLimitedByTheBisection) {
  for (const int k : {4, 8, 32}) {
    const Seconds bound = all_to_all_bound(1_GB, square(k).torus, 50_GBps);
    EXPECT_NEAR(bound.si(), k * 1e9 / (8 * kB), 1e-12);
    // Half of all bytes cross the middle, half of them each way, over 2 k wires.
    EXPECT_NEAR(bound.si(), k * k * 1e9 / 2 / 2 / (2 * k * kB), 1e-12);
    EXPECT_NEAR(TorusAllLinksAllToAll::time(1_GB, square(k), kNoLatency).si(), bound.si(), 1e-12);
    EXPECT_NEAR(TorusAllToAll::time(1_GB, square(k), kNoLatency).si(), 2 * bound.si(), 1e-12);
  }
}

TEST(TorusAllToAll, GetsTheShareThatItsProtocolSays) {
  for (const int k : {4, 8}) {
    Fabric half = kNoLatency;
    half.wire = Channel({.latency = {}, .bandwidth = 50_GBps, .exchange_share = 0.5});
    EXPECT_EQ(TorusAllToAll::time(1_GB, square(k), half),
              2 * TorusAllToAll::time(1_GB, square(k), kNoLatency));
    EXPECT_EQ(TorusAllLinksAllToAll::time(1_GB, square(k), half),
              2 * TorusAllLinksAllToAll::time(1_GB, square(k), kNoLatency));
    EXPECT_EQ(TorusAllReduce::time(1_GB, square(k), half),
              TorusAllReduce::time(1_GB, square(k), kNoLatency));
  }
}

TEST(TorusAllToAll, F9_GrowsAsTheRootOfTheRanks) {
  // 4 x 4 to 32 x 32: 64 times the ranks take 8 times as long; an all-reduce hardly longer.
  const auto growth = [](auto algorithm) {
    return algorithm.time(1_GB, square(32), kNoLatency) /
           algorithm.time(1_GB, square(4), kNoLatency);
  };
  EXPECT_NEAR(growth(TorusAllToAll{}), 8.0, 1e-12);
  EXPECT_NEAR(growth(TorusAllLinksAllToAll{}), 8.0, 1e-12);
  EXPECT_NEAR(growth(TorusAllReduce{}), (1023.0 / 1024) / (15.0 / 16), 1e-12);
}

TEST(TorusAllToAll, IsOneHopForEveryStepOfDistance) {
  EXPECT_NEAR(TorusAllToAll::time(1_GB, torus({{5, true}, {4, false}}), kFabric).si(),
              2 * kA + (1 + 2) / 5.0 * 1e9 / kB + 4 * kA + 4 / 4.0 * 1e9 / kB,
              1e-15);
  EXPECT_NEAR(TorusAllToAll::time(1_GB, torus({{2, true}}), kFabric).si(), kA + 0.5e9 / kB, 1e-15);
}

// ---- On the wires ----------------------------------------------------------------------------

/// The bytes that the busiest wire of a line carries one way, every message going straight.
double busiest_of(const Steps& steps) {
  std::map<std::pair<int, int>, double> load;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    const int direction = message.to > message.from ? 1 : -1;
    for (int at = message.from; at != message.to; at += direction) {
      load[{at, at + direction}] += message.size.si();
    }
  }
  double busiest = 0.0;
  for (const auto& [wire, bytes] : load) {
    busiest = std::max(busiest, bytes);
  }
  return busiest;
}

TEST(TorusSteps, OnALineFillEveryWireAndNoMore) {
  for (int p = 2; p <= 9; ++p) {
    const Group line = torus({{p, false}});
    const Steps gather = TorusAllGather::steps(1_GB, line, kFabric);
    EXPECT_NEAR(busiest_of(gather), (p - 1) * 1e9 / p, 1.0) << p;
    const Steps exchange = TorusAllToAll::steps(1_GB, line, kFabric);
    EXPECT_NEAR(busiest_of(exchange), p * p / 4 * 1e9 / p, 10.0) << p;
  }
}

TEST(TorusSteps, KeepTheirPromiseWhereAxesDiffer) {
  const std::vector<std::vector<Axis>> shapes = {{{4, true}, {3, false}},
                                                 {{5, false}, {4, true}},
                                                 {{2, true}, {6, true}},
                                                 {{1, false}, {7, true}},
                                                 {{3, true}, {2, false}, {4, false}},
                                                 {{2, true}, {3, false}, {2, true}, {3, true}}};
  for (const auto& shape : shapes) {
    SCOPED_TRACE(::testing::PrintToString(torus(shape).torus.length));
    expect_honoured<TorusAllReduce>(Collective::all_reduce, torus(shape), 1_MB, kFabric);
    expect_honoured<TorusAllGather>(Collective::all_gather, torus(shape), 1_MB, kFabric);
    expect_honoured<TorusReduceScatter>(Collective::reduce_scatter, torus(shape), 1_MB, kFabric);
    expect_honoured<TorusAllToAll>(Collective::all_to_all, torus(shape), 1_MB, kFabric);
  }
}

TEST(TorusSteps, DoNotDependOnHowTheRanksLieOnNodes) {
  for (const auto& [per_node, nodes] : {std::pair{4, 3}, std::pair{1, 12}, std::pair{2, 6}}) {
    Group group = torus({{4, true}, {3, true}});
    group.per_node = per_node;
    group.nodes = nodes;
    expect_honoured<TorusAllGather>(Collective::all_gather, group, 1_MB, kFabric);
    expect_honoured<TorusReduceScatter>(Collective::reduce_scatter, group, 1_MB, kFabric);
  }
}

TEST(Torus, AppliesToRanksThatAreAllOnItAndHaveWires) {
  Group group = square(4);
  EXPECT_TRUE(TorusAllReduce::applies(group, kFabric));
  EXPECT_FALSE(TorusAllReduce::applies(group, Fabric{}));
  group.nodes = 2;
  EXPECT_FALSE(TorusAllReduce::applies(group, kFabric));
  EXPECT_FALSE(TorusAllToAll::applies({.per_node = 16}, kFabric));
  EXPECT_FALSE(TorusAllLinksAllReduce::applies(torus({{8, true}}), kFabric));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
