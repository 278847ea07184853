#include "titer/units/listed.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace titer {
namespace {

using Words = std::vector<std::string>;

TEST(Listed, PutsCommasBetweenWordsAndNoneBesideOne) {
  EXPECT_EQ(listed(Words{}), "");
  EXPECT_EQ(listed(Words{"one"}), "one");
  EXPECT_EQ(listed(Words{"one", "two", "three"}), "one, two, three");
  EXPECT_EQ(listed(Words{"one", "two"}, " + "), "one + two");
}

TEST(Listed, AsksAFunctionOrAMemberForEachWord) {
  const std::vector<std::pair<std::string, int>> counts = {{"a", 1}, {"b", 2}};
  EXPECT_EQ(listed(counts, &std::pair<std::string, int>::first), "a, b");
  const auto words = [](const auto& count) {
    return count.first + " " + std::to_string(count.second);
  };
  EXPECT_EQ(listed(counts, words, "; "), "a 1; b 2");
}

TEST(Listed, GrowsPartByPart) {
  std::string list;
  add_listed(list, "first");
  EXPECT_EQ(list, "first");
  add_listed(list, "second");
  add_listed(list, "third", " or ");
  EXPECT_EQ(list, "first, second or third");
}

TEST(Listed, HasAnotherWordBeforeTheLast) {
  EXPECT_EQ(listed_to_last(Words{}, " or "), "");
  EXPECT_EQ(listed_to_last(Words{"a"}, " or "), "a");
  EXPECT_EQ(listed_to_last(Words{"a", "b"}, " or "), "a or b");
  EXPECT_EQ(listed_to_last(Words{"a", "b", "c"}, " or "), "a, b or c");
}

}  // namespace
}  // namespace titer
