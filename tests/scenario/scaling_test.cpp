#include "titer/scenario/scaling.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

constexpr ScalingPoint kFew{.compute = 70_ms, .communication = 30_ms};

TEST(E12_Scaling, IsTheSameFromTimesAndFromRatiosWhereComputeIsFixed) {
  for (const double efficiency : {1.0, 0.89, 0.8, 0.5}) {
    const ScalingPoint many{kFew.compute, kFew.communication / efficiency};
    EXPECT_DOUBLE_EQ(communication_efficiency(kFew, many), efficiency);
    EXPECT_DOUBLE_EQ(iteration_speedup(kFew, many), iteration_speedup(kFew, efficiency));
    EXPECT_DOUBLE_EQ(iteration_speedup(kFew, many), 100.0 / (70 + 30 / efficiency));
  }
}

// Trap T29: at a fixed batch per device the iteration never gets shorter; what is trained does
// grow.
TEST(E12_Scaling, GivesASpeedupOfAtMostOneAndAThroughputOfAtMostAllDevices) {
  const double speedup = iteration_speedup(kFew, 0.89);
  EXPECT_LT(speedup, 1.0);
  EXPECT_DOUBLE_EQ(throughput_speedup(speedup, 8, 512), 64 * speedup);
}

TEST(E12a_ComputeTime, IsLongerByWhatIsNoTransformerKernel) {
  const Flops flops = Flops::from_si(312e12);
  EXPECT_DOUBLE_EQ((compute_time(flops, 312_TFLOPps, 0.83, 1 - 0.265)).si(), 1 / (0.83 * 0.735));
}

TEST(E12b_Zero1, LeavesOutOneOverP) {
  // 4 P bytes, its all-gather half. E11 has (1 - 1/p) of it: at p = 8 the form is 1/0.875 as long.
  const Seconds all_reduce = zero1_all_reduce(1e9, 10_GBps, 0.5);
  EXPECT_DOUBLE_EQ(all_reduce.si(), 4e9 / 5e9);
  EXPECT_DOUBLE_EQ(zero1_all_gather(1e9, 10_GBps, 0.5).si(), 2e9 / 5e9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
