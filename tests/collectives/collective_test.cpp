#include "titer/collectives/collective.hpp"

#include <gtest/gtest.h>

#include <set>

namespace titer {
namespace TITER_TEST_FILE {

TEST(CollectiveName, IsItsOwn) {
  std::set<std::string_view> names;
  for (const Collective collective : kCollectives) {
    names.insert(name_of(collective));
  }
  EXPECT_EQ(names.size(), kCollectives.size());
  EXPECT_EQ(name_of(Collective::all_reduce), "all-reduce");
  EXPECT_EQ(name_of(Collective::all_to_all), "all-to-all");
  EXPECT_EQ(name_of(Collective::reduce), "reduce");
  EXPECT_EQ(name_of(Collective::send_recv), "send-recv");
}

TEST(CollectiveVolume, E6_DataParallelTrafficIsParametersTimesPrecisionTimesTwoOthersShare) {
  const double parameters = 1.3e9;
  const double precision = 2.0;  // bytes per fp16 parameter
  for (const int d : {2, 4, 8, 64}) {
    const Bytes gradients = Bytes::from_si(parameters * precision);
    EXPECT_DOUBLE_EQ(volume(Collective::all_reduce, gradients, d).si(),
                     parameters * precision * 2 * (d - 1) / d);
  }
}

TEST(CollectiveVolume, E11_PerDeviceVolumesOfFp16Parameters) {
  const double parameters = 25e6;
  const Bytes vector = Bytes::from_si(2 * parameters);
  for (const int p : {2, 8, 512}) {
    const double others = 1 - 1.0 / p;
    EXPECT_NEAR(volume(Collective::all_reduce, vector, p).si(), 4 * others * parameters, 1e-6);
    EXPECT_NEAR(volume(Collective::all_gather, vector, p).si(), 2 * others * parameters, 1e-6);
    EXPECT_NEAR(volume(Collective::reduce_scatter, vector, p).si(), 2 * others * parameters, 1e-6);
  }
}

TEST(CollectiveVolume, OfAnAllReduceIsAReduceScatterAndAnAllGather) {
  EXPECT_DOUBLE_EQ(
      volume(Collective::all_reduce, 1_GB, 12).si(),
      (volume(Collective::reduce_scatter, 1_GB, 12) + volume(Collective::all_gather, 1_GB, 12))
          .si());
}

TEST(BusFactor, IsThatOfTheNcclTests) {
  for (const int n : {2, 3, 8, 1000}) {
    const double others = (n - 1.0) / n;
    EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, n), 2 * others);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::all_gather, n), others);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::reduce_scatter, n), others);
    EXPECT_DOUBLE_EQ(bus_factor(Collective::all_to_all, n), others);
    EXPECT_EQ(bus_factor(Collective::broadcast, n), 1.0);
    EXPECT_EQ(bus_factor(Collective::reduce, n), 1.0);
    EXPECT_EQ(bus_factor(Collective::send_recv, n), 1.0);
  }
}

TEST(CollectiveVolume, OfASendIsTheMessage) {
  EXPECT_DOUBLE_EQ(volume(Collective::send_recv, 3_MB, 2).si(), 3e6);
}

TEST(CollectiveVolume, OfOneRankIsNothing) {
  for (const Collective collective : kCollectives) {
    EXPECT_EQ(volume(collective, 1_GB, 1), Bytes{}) << name_of(collective);
  }
}

TEST(BusBandwidth, MatchesTheNcclTableOfEightA100) {
  // 512 MiB in fp16 on 8 A100-SXM4 (NCCL 2.27.3): time, and the bus bandwidth printed beside it.
  EXPECT_NEAR(bus_bandwidth(Collective::all_reduce, 512_MiB, 8, 4226_us).si(), 222e9, 0.5e9);
  EXPECT_NEAR(bus_bandwidth(Collective::all_gather, 512_MiB, 8, 2288_us).si(), 205e9, 0.5e9);
  EXPECT_NEAR(bus_bandwidth(Collective::reduce_scatter, 512_MiB, 8, 2207_us).si(), 213e9, 0.5e9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
