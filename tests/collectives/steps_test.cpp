#include "titer/collectives/steps.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace titer {
namespace TITER_TEST_FILE {

constexpr Run kAll{};
using Runs = std::vector<Run>;

std::vector<std::uint32_t> awaited(const Steps& steps, std::size_t message) {
  return {steps.after(message).begin(), steps.after(message).end()};
}

TEST(StepsMessage, IsAsLargeAsItsPieces) {
  Steps steps(2, {1_KiB, 2_KiB, 4_KiB});
  const Runs runs = {{.first = 0, .count = 1}, {.first = 2, .count = 1}};
  const std::uint32_t id = steps.add({.from = 0, .to = 1}, runs, {});
  EXPECT_DOUBLE_EQ(steps.message(id).size.si(), 1024 + 4096);
  EXPECT_EQ(steps.runs(id).size(), 2U);
}

TEST(StepsMessage, OfEqualPiecesIsItsShareOfTheBuffer) {
  Steps steps(2, 1_MB, 8);
  EXPECT_EQ(steps.pieces(), 8);
  EXPECT_DOUBLE_EQ(steps.message(steps.add({.from = 0, .to = 1}, Runs{{3, 2}}, {})).size.si(),
                   2 * 1e6 / 8);
}

TEST(StepsMessage, WaitsForEarlierOnesBetweenKnownRanks) {
  Steps steps(2, 1_MB, 1, 1);
  const Runs all = {kAll};
  const std::vector<std::uint32_t> itself = {0};
  EXPECT_THROW((void)steps.add({.from = 0, .to = 1}, all, itself), Defect);
  EXPECT_THROW((void)steps.add({.from = 0, .to = 3}, all, {}), Defect);
  EXPECT_THROW((void)steps.add({.from = 0, .to = 1}, Runs{{0, 2}}, {}), Defect);
  EXPECT_EQ(steps.add({.from = 0, .to = 2}, all, {}), 0U) << "to the helper";
}

TEST(Script, MakesARankWaitForItsEarlierRoundsOnly) {
  Script script(Steps(4, 1_MB, 1));
  script.send({.from = 0, .to = 1}, kAll);  // message 0
  script.send({.from = 2, .to = 3}, kAll);  // message 1
  script.next_round();
  script.send({.from = 1, .to = 2}, kAll);  // message 2
  script.send({.from = 0, .to = 3}, kAll);  // message 3
  script.next_round();
  script.send({.from = 2, .to = 0}, kAll);  // message 4
  const Steps steps = script.take();
  EXPECT_TRUE(awaited(steps, 0).empty());
  EXPECT_EQ(awaited(steps, 2), (std::vector<std::uint32_t>{0})) << "what reached rank 1";
  EXPECT_EQ(awaited(steps, 3), (std::vector<std::uint32_t>{0})) << "what rank 0 sent";
  EXPECT_EQ(awaited(steps, 4), (std::vector<std::uint32_t>{1, 2}));
}

TEST(Script, KeepsThreadsApart) {
  Script script(Steps(2, 1_MB, 2), 2);
  script.send({.from = 0, .to = 1}, titer::Run{0, 1});
  script.next_round();
  script.thread(1);
  script.send({.from = 1, .to = 0}, titer::Run{1, 1});
  script.next_round();
  script.thread(0);
  script.send({.from = 1, .to = 0}, titer::Run{0, 1});
  const Steps steps = script.take();
  EXPECT_TRUE(awaited(steps, 1).empty());
  EXPECT_EQ(awaited(steps, 2), (std::vector<std::uint32_t>{0}));
}

TEST(Script, JoinsWhatARankWouldAwaitInManyMessages) {
  constexpr int kRanks = 20;
  Script script(Steps(kRanks, 1_MB, 1));
  for (int rank = 1; rank < kRanks; ++rank) {
    script.send({.from = rank, .to = 0, .arrival = Arrival::add}, kAll);
  }
  script.next_round();
  script.send({.from = 0, .to = 1}, kAll);
  const Steps steps = script.take();
  ASSERT_EQ(steps.size(), kRanks - 1U + 2U);
  const std::size_t join = kRanks - 1;
  EXPECT_TRUE(steps.message(join).is_join());
  EXPECT_EQ(steps.after(join).size(), kRanks - 1U);
  EXPECT_EQ(steps.message(join).size, Bytes{});
  EXPECT_EQ(awaited(steps, join + 1), (std::vector<std::uint32_t>{join}));
}

TEST(HomePiece, KeepsThePiecesOfOneNumberTogether) {
  const Group group{.per_node = 2, .nodes = 3};
  for (int node = 0; node < 3; ++node) {
    EXPECT_EQ(home_piece(2 * node, group), node);
    EXPECT_EQ(home_piece(2 * node + 1, group), 3 + node);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
