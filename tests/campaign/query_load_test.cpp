#include "titer/campaign/query_load.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

// [seed 004, L5444-5477: four queries on four devices, one on one]
TEST(QueryLoad, HasADeviceForEveryQuery) {
  const QueryFleetResult result = follow(QueryLoad{
      .devices_per_query = 1, .intervals = {{"busy", 4, 3600_s}, {"quiet", 1, 3 * 3600_s}}});
  EXPECT_EQ(result.intervals[0].devices, 4);
  EXPECT_EQ(result.intervals[1].devices, 1);
  EXPECT_EQ(result.most_devices, 4);
  EXPECT_EQ(result.device_time, (4 * 1 + 1 * 3) * 3600_s);
  EXPECT_EQ(result.fixed_device_time(), 4 * 4 * 3600_s);
  EXPECT_EQ(result.saved_share(), 1 - 7.0 / 16);
  EXPECT_EQ(result.average_devices(), 7.0 / 4);
}

TEST(QueryLoad, TakesWholeDevices) {
  EXPECT_EQ((QueryLoad{.devices_per_query = 0.25, .intervals = {}}).devices(5), 2);
  EXPECT_EQ((QueryLoad{.devices_per_query = 0.1, .intervals = {}}).devices(10), 1);
  EXPECT_EQ((QueryLoad{.devices_per_query = 0.1, .intervals = {}}).devices(30), 3);
  EXPECT_EQ((QueryLoad{.devices_per_query = 8, .intervals = {}}).devices(3), 24);
  EXPECT_EQ((QueryLoad{.devices_per_query = 8, .intervals = {}}).devices(0), 0);
}

TEST(QueryLoad, OfNoQueriesNeedsNothing) {
  const QueryFleetResult result = follow(QueryLoad{.intervals = {{"idle", 0, 60_s}}});
  EXPECT_EQ(result.most_devices, 0);
  EXPECT_EQ(result.saved_share(), 0);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
