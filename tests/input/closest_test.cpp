#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

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

/// Letter by letter from the ends, without a table.
std::size_t edits(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) {
    return a.size() + b.size();
  }
  const std::string_view less_a = a.substr(1);
  const std::string_view less_b = b.substr(1);
  std::size_t least = std::min(
      {edits(less_a, b) + 1, edits(a, less_b) + 1, edits(less_a, less_b) + (a[0] == b[0] ? 0 : 1)});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0]) {
    least = std::min(least, edits(a.substr(2), b.substr(2)) + 1);
  }
  return least;
}

TEST(Closest, IsTheOneOfFewestEditsWhateverItsPlaceAmongOthers) {
  std::mt19937 random(7);
  const auto word = [&] {
    std::string text(3 + random() % 5, 'a');
    std::ranges::generate(text, [&] { return static_cast<char>('a' + random() % 3); });
    return text;
  };
  for (int i = 0; i < 100; ++i) {
    const std::string asked = word();
    const std::array<std::string, 4> words = {word(), word(), word(), word()};
    const std::vector<std::string_view> known(words.begin(), words.end());
    std::pair<std::size_t, std::size_t> least{3, 0};  // more than any may be, of so short a word
    std::string_view best;
    for (const std::string_view one : known) {
      const std::size_t count = edits(asked, one);
      const std::size_t shorter = std::min(asked.size(), one.size());
      const std::pair found{count, std::max(asked.size(), one.size()) - shorter};
      if (found < least && count < shorter) {
        least = found;
        best = one;
      }
    }
    EXPECT_EQ(closest(asked, known), best)
        << asked << " of " << fmt::format("{}", fmt::join(known, " "));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
