#include "titer/model/einsums.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

/// A table of how often each multiply-add of an einsum happens: all combinations of its letters.
double combinations(std::initializer_list<std::int64_t> letters) {
  double product = 1;
  for (const std::int64_t letter : letters) {
    product *= static_cast<double>(letter);
  }
  return product;
}

TEST(E4_ExpertEinsums, TakeTwoFlopsForEveryCombinationOfTheirLetters) {
  const std::int64_t g = 3;
  const std::int64_t s = 5;
  const std::int64_t e = 7;
  const std::int64_t c = 11;
  const std::int64_t m = 13;
  const std::int64_t h = 17;
  const ExpertEinsums layer{g, s, e, c, m, h};
  EXPECT_EQ(layer.gate().si(), 2 * combinations({g, s, m, e}));
  EXPECT_EQ(layer.dispatch().si(), 2 * combinations({g, s, e, c, m}));
  EXPECT_EQ(layer.wi().si(), 2 * combinations({e, g, c, m, h}));
  EXPECT_EQ(layer.wo().si(), 2 * combinations({e, g, c, h, m}));
  EXPECT_EQ(layer.combine().si(), 2 * combinations({g, s, e, c, m}));
  EXPECT_EQ(layer.all_to_all(2_B).si(), 2 * combinations({e, g, c, m}));
}

TEST(E5_DispatchProfile, Is2ToThe42) {
  const ExpertEinsums profiled{16, 1024, 128, 256, 4096, 8 * 4096};
  EXPECT_EQ(profiled.dispatch().si(), 4398046511104.0);
  EXPECT_EQ(profiled.dispatch().si(), static_cast<double>(1LL << 42));
}

TEST(E4_ExpertEinsums, ChooseExpertsAtTheCostOfAShareOfTheirWork) {
  // Dispatch over wi: S / H, whatever the number of experts and their capacity.
  for (const std::int64_t experts : {8, 128, 2048}) {
    const ExpertEinsums layer{16, 1024, experts, 2048 / experts + 1, 1024, 8192};
    EXPECT_DOUBLE_EQ(layer.dispatch() / layer.wi(), 1024.0 / 8192.0);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
