// The contract's own check: that it sees what is wrong.

#include "collectives/data_flow.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <vector>

namespace titer {
namespace TITER_TEST_FILE {

using Ids = std::vector<std::uint32_t>;
const std::vector<Run> kAll = {Run{}};

/// Plays messages between three ranks that hold one piece, each its own contribution.
struct Trial {
  Trial() : steps(3, 1_KiB, 1) {}
  Trial& add(int from, int to, const Ids& after = {}) {
    return send(from, to, Arrival::add, after);
  }
  Trial& replace(int from, int to, const Ids& after = {}) {
    return send(from, to, Arrival::replace, after);
  }
  Trial& send(int from, int to, Arrival arrival, const Ids& after) {
    steps.add({.from = from, .to = to, .arrival = arrival}, kAll, after);
    return *this;
  }
  [[nodiscard]] Ranks of(std::size_t rank, Collective collective = Collective::all_reduce) const {
    return DataFlow(Promise(collective, {.per_node = 3}, 1), steps).holds(rank, 0);
  }
  Steps steps;
};

TEST(DataFlow, CarriesWhatTheMessageWaitsFor) {
  EXPECT_EQ(Trial().add(0, 1).add(1, 2, {0}).of(2), only(0) | only(1) | only(2));
}

TEST(DataFlow, DoesNotCarryWhatMayArriveLater) {
  EXPECT_EQ(Trial().add(0, 1).add(1, 2).of(2), only(1) | only(2));
}

TEST(DataFlow, SeesThroughJoins) {
  Trial trial;
  trial.add(0, 1);
  trial.steps.add({.from = 1, .to = 1}, {}, Ids{0});
  EXPECT_EQ(trial.add(1, 2, {1}).of(2), only(0) | only(1) | only(2));
}

TEST(DataFlow, RefusesToAddARankTwice) {
  EXPECT_NONFATAL_FAILURE((void)Trial().add(0, 1).add(0, 1, {0}).of(1), "adds what is there");
}

TEST(DataFlow, RefusesToLoseAContribution) {
  EXPECT_NONFATAL_FAILURE((void)Trial().replace(0, 1).of(1), "replaces what it does not bring");
}

TEST(DataFlow, RefusesWritesThatMayComeInTheWrongOrder) {
  // Rank 1 may get the sum of all before rank 2's own, which would then count twice.
  EXPECT_NONFATAL_FAILURE((void)Trial().add(2, 1).add(1, 0).add(2, 0).replace(0, 1, {1, 2}).of(1),
                          "wrong order");
}

TEST(DataFlow, RefusesToSendNothing) {
  EXPECT_NONFATAL_FAILURE((void)Trial().replace(1, 2).of(2, Collective::broadcast), "has nothing");
}

TEST(Promise, OfAnAllToAllIsABlockFromEachToEach) {
  const Promise promise(Collective::all_to_all, {.per_node = 3}, 9);
  EXPECT_EQ(promise.start(1, 1 * 3 + 2), only(1));
  EXPECT_EQ(promise.start(2, 1 * 3 + 2), 0U);
  EXPECT_EQ(promise.end(2, 1 * 3 + 2), only(1));
  EXPECT_EQ(promise.end(0, 1 * 3 + 2), 0U);
}

TEST(Promise, OfABroadcastIsThatOfRankZeroEverywhere) {
  const Promise promise(Collective::broadcast, {.per_node = 3}, 2);
  EXPECT_EQ(promise.start(0, 1), only(0));
  EXPECT_EQ(promise.start(1, 1), 0U);
  EXPECT_EQ(promise.end(2, 1), only(0));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
