#include "titer/input/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "titer/input/reader.hpp"

namespace titer {
namespace {

const NamedNumbers kNames = {{"far.comm_s", 3.0}, {"near.comm_s", 1.5}, {"n", 8.0}};

double value_of(const std::string& text) { return evaluate_expression(text, kNames, "here"); }

std::string problem_of(const std::string& text) {
  try {
    static_cast<void>(value_of(text));
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

TEST(Expression, IsArithmeticOverNames) {
  EXPECT_EQ(value_of("far.comm_s / near.comm_s"), 2.0);
  EXPECT_EQ(value_of("2 * (n - 1) / n * far.comm_s"), 2.0 * 7 / 8 * 3.0);
  EXPECT_EQ(value_of("2 ^ 10 + 1e3"), 2024.0);
  EXPECT_EQ(value_of("sqrt(n / 2) + log2(n) + ln(1)"), 2.0 + 3.0);
  EXPECT_EQ(value_of("max(1, 5, 3) - min(4, 2) + ceil(0.2) + floor(0.9)"), 5.0 - 2 + 1);
}

TEST(Expression, ComparesToOneOrZero) {
  EXPECT_EQ(value_of("far.comm_s > near.comm_s && n == 8"), 1.0);
  EXPECT_EQ(value_of("far.comm_s < near.comm_s || n != 8"), 0.0);
  EXPECT_EQ(value_of("n > 4 ? 10 : 20"), 10.0);
}

TEST(Expression, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(problem_of("far.com_s / 2"),
            "here: far.com_s / 2: expected known names, found far.com_s; did you mean "
            "\"far.comm_s\"?");
  EXPECT_TRUE(problem_of("1 +").starts_with("here: 1 +: expected an expression; "));
  EXPECT_TRUE(problem_of("").starts_with("here: : expected an expression; "));
  EXPECT_EQ(problem_of("1 / 0"), "here: 1 / 0: expected a finite value");
}

TEST(ExpressionName, HasNoCharactersThatAnExpressionWouldTakeOtherwise) {
  EXPECT_EQ(expression_name("MoE(2048E, 36L)"), "MoE_2048E__36L_");
  EXPECT_EQ(expression_name("all-to-all"), "all_to_all");
  EXPECT_EQ(expression_name("t4.comm_s"), "t4.comm_s");
}

}  // namespace
}  // namespace titer
