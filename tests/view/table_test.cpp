#include "titer/view/table.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(TextTable, AlignsTheFirstColumnLeftAndTheOthersRight) {
  EXPECT_EQ(text_table({{"part", "time"}, {"forward", "3 s"}, {"x", "12.5 s"}}),
            "  part       time\n"
            "  forward     3 s\n"
            "  x        12.5 s\n");
}

TEST(TextTable, AlignsAsAsked) {
  EXPECT_EQ(text_table({{"a", "b", "c"}, {"long", "long", "long"}}, "rl", ""),
            "   a  b        c\n"
            "long  long  long\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
  // The micro sign takes two bytes, the full-width bracket three, in one column each.
  EXPECT_EQ(text_table({{"\u00b5s", "1"}, {"abc", "2"}, {"\uff3b", "3"}}, "l", ""),
            "\u00b5s   1\n"
            "abc  2\n"
            "\uff3b    3\n");
}

TEST(TextTable, ShowsWhatWouldDoSomethingToATerminal) {
  EXPECT_EQ(text_table({{"\x1b[2Jgone\n", "1"}}, "l", ""), "\\u001b[2Jgone\\u000a  1\n");
}

TEST(TextTable, LeavesNoBlanksAtTheEndOfALine) {
  const std::string text = text_table({{"a", "longest"}, {"b", ""}, {"c", "x"}}, "ll");
  EXPECT_EQ(text, "  a  longest\n  b\n  c  x\n");
}

TEST(TextTable, TakesRowsOfDifferentLengths) {
  EXPECT_EQ(text_table({{"a"}, {"b", "1", "2"}, {}}, "l", ""), "a\nb  1  2\n\n");
  EXPECT_EQ(text_table({}), "");
}

TEST(CsvLine, LeavesPlainCellsBare) {
  EXPECT_EQ(csv_line({"a", "1.5", "", "with blank", "\u00b5s"}), "a,1.5,,with blank,\u00b5s\n");
  EXPECT_EQ(csv_line({"a"}), "a\n");
  EXPECT_EQ(csv_line({"", ""}), ",\n");
}

TEST(CsvLine, QuotesWhatRfc4180AsksFor) {
  EXPECT_EQ(csv_line({"a,b"}), "\"a,b\"\n");
  EXPECT_EQ(csv_line({"say \"x\""}), "\"say \"\"x\"\"\"\n");
  EXPECT_EQ(csv_line({"two\nlines"}), "\"two\nlines\"\n");
  EXPECT_EQ(csv_line({"return\r"}), "\"return\r\"\n");
  EXPECT_EQ(csv_line({"\""}), "\"\"\"\"\n");
}

TEST(CsvLine, ReadsBackAsTheSameCells) {
  std::mt19937 random(7);
  constexpr std::string_view letters = "ab ,\"\n\r;\t1";
  for (int round = 0; round < 500; ++round) {
    Row row(1 + random() % 6);
    for (std::string& cell : row) {
      for (std::size_t n = random() % 8; n > 0; --n) {
        cell += letters[random() % letters.size()];
      }
    }
    EXPECT_EQ(parse_csv(csv_line(row)), CsvRows{row}) << csv_line(row);
  }
}

double read_back(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  EXPECT_EQ(error, std::errc()) << text;
  EXPECT_EQ(end, text.data() + text.size()) << text;
  return value;
}

TEST(NumberText, IsTheShortestThatReadsBack) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(1.0 / 4.0), "0.25");
  EXPECT_EQ(number_text(12.0), "12");
  EXPECT_EQ(number_text(0.1 + 0.2), "0.30000000000000004");
}

TEST(NumberText, ReadsBackAsTheSameDouble) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> mantissa(-1.0, 1.0);
  for (int i = 0; i < 2000; ++i) {
    const double value = std::ldexp(mantissa(random), static_cast<int>(random() % 600) - 300);
    EXPECT_EQ(read_back(number_text(value)), value);
  }
  for (const double value : {std::numeric_limits<double>::max(),
                             std::numeric_limits<double>::min(),
                             std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(read_back(number_text(value)), value);
  }
}

TEST(BarText, IsAsLongAsTheShare) {
  EXPECT_EQ(bar_text(0.5), std::string(20, '#'));
  EXPECT_EQ(bar_text(1.5, '+'), std::string(40, '+'));
  EXPECT_EQ(bar_text(0.012) + bar_text(0.013), "#") << "half a mark is one";
  EXPECT_EQ(bar_text(-0.5), "");
}

TEST(GroupedDigits, AreInThrees) {
  EXPECT_EQ(grouped_digits(0), "0");
  EXPECT_EQ(grouped_digits(999), "999");
  EXPECT_EQ(grouped_digits(1000), "1,000");
  EXPECT_EQ(grouped_digits(8'030'261'248), "8,030,261,248");
}

TEST(PlainText, HasTextsAsTheyAre) {
  EXPECT_EQ(bare_text(Value("a \"b\"")), "a \"b\"");
  EXPECT_EQ(bare_text(Value(4.0)), "4.0");
  EXPECT_EQ(bare_text(Value()), "null");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
