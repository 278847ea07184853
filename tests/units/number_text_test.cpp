#include "titer/units/number_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace titer {
namespace TITER_TEST_FILE {

TEST(NumberOfText, IsTheWholeTextOrNothing) {
  EXPECT_EQ(number_of_text<int>("12"), 12);
  EXPECT_EQ(number_of_text<int>("-3"), -3);
  EXPECT_EQ(number_of_text<double>("2.5e3"), 2500.0);
  for (const std::string_view text : {"", " 1", "1 ", "1x", "+1", "one", "1,2"}) {
    EXPECT_EQ(number_of_text<int>(text), std::nullopt) << text;
    EXPECT_EQ(number_of_text<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_of_text<int>("1.5"), std::nullopt);
}

TEST(NumberOfText, IsNothingWhereTheTypeHasNoPlaceForIt) {
  EXPECT_EQ(number_of_text<std::int8_t>("127"), 127);
  EXPECT_EQ(number_of_text<std::int8_t>("128"), std::nullopt);
  EXPECT_EQ(number_of_text<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(number_of_text<double>("1e999"), std::nullopt);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
