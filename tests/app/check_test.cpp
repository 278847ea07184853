// titer check, from the outside: 0 sound and fits, 1 does not fit, 2 not sound.

#include <gtest/gtest.h>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kRun = "gpt3-175b-64xa100";

TEST(AppCheck, OfAPlanThatFitsIsZero) {
  const std::string text = data_of(titer({"check", kRun}));
  EXPECT_TRUE(text.starts_with("fits: stage 0 needs ")) << text;
  EXPECT_TRUE(contains(text, " of 80 GiB: optimizer "));
}

TEST(AppCheck, OfAPlanThatDoesNotFitIsOne) {
  const testing::Outcome outcome =
      titer({"check", kRun, "--set", "cluster.chip.memory.capacity=40 GiB"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(outcome.out.starts_with("does not fit: stage 0 needs ")) << outcome.out;
}

TEST(AppCheck, OfAnUnsoundPlanIsTwoWithEveryReason) {
  const testing::Outcome outcome =
      titer({"check", kRun, "--set", "plan.tensor=5", "--set", "training.global_batch=7"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(contains(outcome.err, "--set plan.tensor=5: plan.tensor: 5: expected a divisor of"));
  EXPECT_TRUE(contains(outcome.err,
                       "cluster.nodes: 8: expected pipeline x tensor x data = 8 x 5 x "
                       "1 = 40 to be the 64 devices of 8 nodes"));
  EXPECT_TRUE(contains(outcome.err, "7 micro-batches"));
  for (const std::string& line : outcome.errors()) {
    EXPECT_TRUE(contains(line, ": expected "));
  }
}

TEST(AppCheck, KnowsTheFormula) {
  EXPECT_EQ(titer({"check", kRun, "--formula", "e7"}).code, 2);
  EXPECT_EQ(titer({"check", kRun, "--formula", "e7", "--set", "formula.utilization=0.5"}).code, 0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
