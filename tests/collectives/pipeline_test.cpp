#include "titer/collectives/algorithm/pipeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace titer {
namespace TITER_TEST_FILE {

constexpr Run kAll{};
constexpr Link kLink{.latency = 2_us, .bandwidth = 100_GBps};

TEST(PipelineTime, IsTheRoundsTimesABlock) {
  const Pipeline pipeline{.fill = 5, .per_block = 2, .parts = 3};
  EXPECT_DOUBLE_EQ(pipeline.time(1_GB, 7, kLink).si(),
                   (5 + 2 * 7) * (2e-6 + 1e9 / (3 * 7) / 100e9));
}

TEST(PipelineTime, CountsTheStartUpOnce) {
  const Link started{.latency = 2_us, .bandwidth = 100_GBps, .startup = 50_us};
  EXPECT_DOUBLE_EQ(Pipeline{.fill = 3}.time(1_MB, 4, started).si(),
                   50e-6 + Pipeline{.fill = 3}.time(1_MB, 4, kLink).si());
}

TEST(PipelineBlocks, AreTheWholeNumberWithTheLeastTime) {
  for (const Pipeline& pipeline : {Pipeline{.fill = 1},
                                   Pipeline{.fill = 14, .per_block = 2, .parts = 2},
                                   Pipeline{.fill = 62, .parts = 3}}) {
    for (const Bytes size : {1_KiB, 1_MiB, 10_MB, 1_GB}) {
      const int best = pipeline.blocks(size, kLink);
      for (int other = 1; other <= 2 * best + 1; ++other) {
        EXPECT_LE(pipeline.time(size, best, kLink).si(),
                  (1 + 1e-15) * pipeline.time(size, other, kLink).si())
            << best << " and " << other;
      }
    }
  }
}

TEST(PipelineBlocks, AreOneOfTheTwoBesideTheRootOfThePaper) {
  const double root = std::sqrt(62 * 1e9 / (2e-6 * 100e9));
  EXPECT_NEAR(Pipeline{.fill = 62}.blocks(1_GB, kLink), root, 1.0);
}

TEST(PipelineBlocks, AreOneWhereNothingHasToBeFilled) {
  EXPECT_EQ(Pipeline{}.blocks(1_GB, kLink), 1);
  EXPECT_EQ((Pipeline{.fill = 9}.blocks(Bytes{}, kLink)), 1);
  EXPECT_EQ((Pipeline{.fill = 9}.blocks(1_B, kLink)), 1);
}

TEST(PipelineBlocks, AreNoMoreThanTriedEvenWithoutLatency) {
  const Link free{.latency = {}, .bandwidth = 100_GBps};
  EXPECT_EQ((Pipeline{.fill = 9}.blocks(1_GB, free)), Pipeline::most_blocks);
}

TEST(PipelineBlocks, AreThoseOfTheFastestProtocol) {
  Channel channel({.latency = 1_us, .bandwidth = 10_GBps});
  channel.add(kLink);
  const Pipeline pipeline{.fill = 14};
  EXPECT_EQ(pipeline.blocks(1_GB, channel), pipeline.blocks(1_GB, kLink));
  EXPECT_NE(pipeline.blocks(1_GB, channel), pipeline.blocks(1_GB, channel.links()[0]));
  EXPECT_EQ(pipeline.time(1_GB, channel), pipeline.time(1_GB, pipeline.blocks(1_GB, kLink), kLink));
}

std::vector<std::uint32_t> awaited(const Steps& steps, std::size_t message) {
  return {steps.after(message).begin(), steps.after(message).end()};
}

TEST(Rendezvous, WaitsForTheEarlierRoundsOfSenderAndReceiver) {
  Rendezvous script(Steps(4, 1_MB, 1));
  script.send({.from = 2, .to = 0}, kAll);  // message 0
  script.send({.from = 3, .to = 1}, kAll);  // message 1
  script.next_round();
  script.send({.from = 0, .to = 1}, kAll);  // message 2
  script.send({.from = 1, .to = 0}, kAll);  // message 3
  script.next_round();
  script.send({.from = 2, .to = 3}, kAll);  // message 4
  script.send({.from = 0, .to = 2}, kAll);  // message 5
  const Steps steps = script.take();
  EXPECT_TRUE(awaited(steps, 0).empty());
  EXPECT_EQ(awaited(steps, 2), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(awaited(steps, 3), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(awaited(steps, 4), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(awaited(steps, 5), (std::vector<std::uint32_t>{0, 2, 3}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
