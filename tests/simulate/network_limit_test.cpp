// How much is followed on the links of the network.

#include <gtest/gtest.h>

#include "scenario/plain.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/simulate/network_loads.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string network_refusal(std::int64_t pipeline, std::int64_t data) {
  Plan plan;
  plan.pipeline = pipeline;
  plan.data = data;
  try {
    check_fidelity(plain::scenario(plan), Fidelity::network);
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

TEST(NetworkLimit, IsOfDevicesAndOfRanksInAGroup) {
  EXPECT_EQ(network_refusal(1, kMostRanksOnLinks), "");
  EXPECT_NE(network_refusal(1, 2 * kMostRanksOnLinks).find("at most 4096 on the links"),
            std::string::npos);
  EXPECT_EQ(network_refusal(32, kMostDevicesOnLinks / 32), "");
  EXPECT_NE(network_refusal(64, kMostDevicesOnLinks / 32).find("at most 131072 on the links"),
            std::string::npos);
  EXPECT_NE(network_refusal(1, 1'000'000).find("1000000 devices"), std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
