#include "titer/input/expression.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

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

// Of "n = 9" the parser makes n 9, of "3, 9" it takes the last.
TEST(Expression, IsNoAssignmentAndNoList) {
  for (const char* text :
       {"n = 9", "n=9", "n === 9", "n =< 9", "(n = 9)", "max(n = 9, 1)", "1 = n"}) {
    EXPECT_EQ(problem_of(text),
              std::string("here: ") + text +
                  ": expected an expression, not an assignment; did you mean \"==\"?");
  }
  for (const char* text : {"n, 9", "(n, 9)", "2 * (1, n)", "max(1, (2, n))", ",", "max(1, 2), n"}) {
    EXPECT_EQ(problem_of(text),
              std::string("here: ") + text +
                  ": expected one expression; a \",\" stands between the arguments of a function "
                  "only");
  }
  EXPECT_EQ(value_of("n >= 8 && n <= 8 && n == 8 && n != 9"), 1.0);
  EXPECT_EQ(value_of("max(1, (n), min(3, (2)))"), 8.0);
  EXPECT_THROW(static_cast<void>(names_in("n = 9", "here")), InputError);
  EXPECT_THROW(Expression("n = 9", {"n"}, "here"), InputError);
}

TEST(Expression, KnowsNoNumbersOfItsOwn) {
  EXPECT_EQ(problem_of("_pi"), "here: _pi: expected known names, found _pi");
  EXPECT_EQ(problem_of("2 * _e"), "here: 2 * _e: expected known names, found _e");
}

TEST(ExpressionCondition, AsksAtItsTop) {
  const auto asks = [](std::string_view text) {
    return is_condition(text, [](std::string_view name) { return name == "fits"; });
  };
  for (const char* text : {"a > 1",
                           "(a == 1)",
                           " ( (a != 1) ) ",
                           "a * 2 <= b + 1",
                           "fits",
                           "(fits)",
                           "fits && a",
                           "mod(a, 2) == 0",
                           "a > 1 ? b > 2 : 1",
                           "a ? 0 : (b < 1 ? fits : a == 2)",
                           "(a > 1) || (b > 1)"}) {
    EXPECT_TRUE(asks(text)) << text;
  }
  for (const char* text : {"a",
                           "",
                           "a + 1",
                           "2 * (a > 1)",
                           "max(a > 1, 0)",
                           "(a > 1) * (b > 1)",
                           "a > 1 ? b : 1",
                           "a > 1 ? 2 : 1",
                           "-fits",
                           "mod(a, 2)"}) {
    EXPECT_FALSE(asks(text)) << text;
  }
}

TEST(Expression, TakesRemaindersThatAreNeverNegative) {
  EXPECT_EQ(value_of("mod(7, 4)"), 3.0);
  EXPECT_EQ(value_of("mod(0 - 1, 4)"), 3.0);
  EXPECT_EQ(value_of("mod(4.5, 1)"), 0.5);
}

TEST(ExpressionNames, AreThoseThatItMentions) {
  EXPECT_EQ(names_in("far.comm_s / max(near.comm_s, far.comm_s) + 2e3", "here"),
            (std::vector<std::string>{"far.comm_s", "near.comm_s"}));
  EXPECT_TRUE(names_in("1 + 2", "here").empty());
  EXPECT_THROW(static_cast<void>(names_in("1 + / 2", "here")), InputError);
}

TEST(ParsedExpression, ComesToWhatItsTextDoes) {
  const std::vector<std::string> names = {"a", "unused", "b"};
  Expression expression("a > 2 ? a * b : b - a", names, "here");
  for (const double a : {-1.0, 2.0, 2.5, 1e9}) {
    for (const double b : {0.0, 3.0}) {
      EXPECT_EQ(
          expression.evaluate(std::array{a, 7.0, b}),
          evaluate_expression("a > 2 ? a * b : b - a", NamedNumbers{{"a", a}, {"b", b}}, "here"));
    }
  }
}

TEST(ParsedExpression, SaysWhatItDoesNotKnowAtOnce) {
  try {
    const Expression expression("far.com_s", {"far.comm_s"}, "here");
    FAIL() << "there is no such name";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.front(),
              "here: far.com_s: expected known names, found far.com_s; did you mean "
              "\"far.comm_s\"?");
  }
}

TEST(ParsedExpression, MayComeToNoNumber) {
  Expression expression("1 / a", {"a"}, "here");
  EXPECT_TRUE(std::isinf(expression.evaluate(std::array{0.0})));
  EXPECT_EQ(expression.evaluate(std::array{4.0}), 0.25);
}

TEST(ExpressionName, HasNoCharactersThatAnExpressionWouldTakeOtherwise) {
  EXPECT_EQ(expression_name("MoE(2048E, 36L)"), "MoE_2048E__36L_");
  EXPECT_EQ(expression_name("all-to-all"), "all_to_all");
  EXPECT_EQ(expression_name("t4.comm_s"), "t4.comm_s");
}

TEST(ExpressionErrors, ShowTheBeginningOfATextOfAnyLength) {
  const std::string deep(20'000, '(');
  for (const std::string& text :
       {deep + "1", "1 = " + deep, std::string(20'000, 'x'), "1 / 0" + std::string(20'000, ' ')}) {
    try {
      static_cast<void>(evaluate_expression(text, {}, "where.0"));
      ADD_FAILURE() << text.substr(0, 20);
    } catch (const InputError& error) {
      EXPECT_LT(error.lines.front().size(), 700U) << error.lines.front();
      EXPECT_NE(error.lines.front().find("…"), std::string::npos) << error.lines.front();
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
