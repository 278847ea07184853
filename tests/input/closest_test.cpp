#include <gtest/gtest.h>

#include <array>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::array<std::string_view, 5> kKeys = {
    "pipeline", "tensor", "data", "virtual_stages", "micro_batch"};

TEST(Closest, FindsOneWrongLetter) {
  EXPECT_EQ(closest("tensr", kKeys), "tensor") << "a letter left out";
  EXPECT_EQ(closest("tennsor", kKeys), "tensor") << "a letter too many";
  EXPECT_EQ(closest("tenzor", kKeys), "tensor") << "a wrong letter";
  EXPECT_EQ(closest("tensor", kKeys), "tensor");
}

TEST(Closest, CountsASwapOfNeighboursAsOneEdit) {
  EXPECT_EQ(closest("dtaa", kKeys), "data");
  EXPECT_EQ(closest("etnsro", kKeys), "tensor") << "two swaps";
  EXPECT_EQ(closest("etnsrox", kKeys), "") << "two swaps and one letter";
}

TEST(Closest, IgnoresCase) {
  EXPECT_EQ(closest("TENSOR", kKeys), "tensor");
  EXPECT_EQ(closest("Micro-Batch", kKeys), "micro_batch");
}

TEST(Closest, AllowsAThirdOfALongWord) {
  EXPECT_EQ(closest("virtulstags", kKeys), "virtual_stages") << "three of eleven letters";
  EXPECT_EQ(closest("virtul_sgs", kKeys), "")
      << "four letters missing, and a third of ten is three";
}

TEST(Closest, PrefersTheNearestAndThenTheFirst) {
  constexpr std::array<std::string_view, 3> near = {"zero11", "zero1", "zero2"};
  EXPECT_EQ(closest("zero1", near), "zero1");
  EXPECT_EQ(closest("zero3", near), "zero1") << "zero1 and zero2 are equally near";
}

TEST(Closest, PrefersAmongTheNearestAWordAsLong) {
  constexpr std::array<std::string_view, 2> near = {"node", "nodes"};
  EXPECT_EQ(closest("nodez", near), "nodes") << "a wrong letter, rather than one too many";
}

TEST(Closest, FindsNothingInCommonWithShortWords) {
  constexpr std::array<std::string_view, 2> shorts = {"a", "pp"};
  EXPECT_EQ(closest("b", shorts), "");
  EXPECT_EQ(closest("dq", shorts), "");
  EXPECT_EQ(closest("dp", shorts), "pp");
  EXPECT_EQ(closest("", shorts), "");
}

TEST(Closest, FindsNothingInCommonWithTheFirstWordOfTheSameLastOne) {
  constexpr std::array<std::string_view, 2> keys = {"node_bandwidth", "network_bandwidth"};
  EXPECT_EQ(closest("nic_bandwidth", keys), "") << "three edits of three letters";
  EXPECT_EQ(closest("nodes_bandwidth", keys), "node_bandwidth");
  EXPECT_EQ(closest("netwrk_bandwidth", keys), "network_bandwidth");
  EXPECT_EQ(closest("node_bandwith", keys), "node_bandwidth") << "another last word";
}

TEST(Closest, FindsNothingAmongNothing) {
  EXPECT_EQ(closest("tensor", {}), "");
  EXPECT_EQ(closest("schedule", kKeys), "");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
