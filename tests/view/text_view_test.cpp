#include "titer/view/text_view.hpp"

#include <gtest/gtest.h>

#include "titer/units/quantity.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr TextStyle kNarrow = {.width = 40};
constexpr TextStyle kColour = {.in_colour = true};

FigureRows some_rows() {
  return {{{"name", "a", "name"}, {"t_s", 2_s, "time"}, {"", "x", kNoHeading}, {"hidden", 1}},
          {{"name", "bcd", "name"}, {"t_s", 12_ms, "time"}, {"", "y", kNoHeading}, {"hidden", 2}}};
}

TEST(TextView, HasATableOfWhatHasLabels) {
  EXPECT_EQ(TextView("title\n").table(some_rows(), "lrl").add("end\n").write(),
            "title\n"
            "  name   time\n"
            "  a       2 s  x\n"
            "  bcd   12 ms  y\n"
            "end\n");
  EXPECT_EQ(TextView().table({}).write(), "");
  EXPECT_TRUE(TextView().empty());
  EXPECT_TRUE(TextView("").empty());
}

TEST(TextView, HasAColumnThatMayBeLeftOutWhereSomeRowHasIt) {
  const auto row = [](const Datum& datum) {
    return Figures{{"a", 1, "a"}, if_any({"b", datum, "b"})};
  };
  EXPECT_EQ(TextView().table({row({}), row({})}, "l", "").write(), "a\n1\n1\n");
  EXPECT_EQ(TextView().table({row({}), row(2)}, "l", "").write(), "a  b\n1  -\n1  2\n");
  EXPECT_EQ(TextView().table({{if_known({"b", {}, "b"})}}, "l", "").write(), "b\n-\n");
}

TEST(TextView, HasNoHeadingWhereNoColumnHasOne) {
  EXPECT_EQ(TextView().table({{{"", 1, kNoHeading}, {"", 2, kNoHeading}}}).write(), "  1  2\n");
}

TEST(TextView, HasALineForEachPair) {
  EXPECT_EQ(TextView()
                .pairs({{"a", 1, "one"}, {"b", {}, "none"}, {"c", 3}, {"d", "x", "longer"}})
                .write(),
            "  one     1\n  longer  x\n");
  EXPECT_EQ(TextView().lines({{"a", "b"}, {"cc", "d"}}, "rl", "").write(), " a  b\ncc  d\n");
}

TEST(TextView, GoesOnInTheSameLine) {
  EXPECT_EQ(TextView("a").add("b").append(TextView("c\n")).write(), "abc\n");
  EXPECT_EQ(TextView("one two three four five six seven").add(" eight nine ten\n").write(kNarrow),
            "one two three four five six seven eight\n"
            "    nine ten\n");
}

TEST(TextView, FoldsNothingOfAFile) {
  const std::string line(500, 'x');
  EXPECT_EQ(TextView(line + " y\n").write(), line + " y\n");
}

TEST(TextView, FoldsLinesBelowWhatTheyTellOf) {
  EXPECT_EQ(TextView("  every word of this long line is still there, in order\nshort\n\nend\n")
                .write(kNarrow),
            "  every word of this long line is still\n"
            "      there, in order\n"
            "short\n"
            "\n"
            "end\n");
}

TEST(TextView, KeepsAWordThatIsLongerThanALine) {
  const std::string word(60, 'x');
  EXPECT_EQ(TextView("a " + word + " b c\n").write(kNarrow), "a\n    " + word + "\n    b c\n");
  EXPECT_EQ(TextView("  " + word + "\n").write(kNarrow), "  " + word + "\n");
}

TEST(TextView, FoldsTheLastColumnOfATableBelowItself) {
  EXPECT_EQ(TextView()
                .pairs({{"", "a short one", "first"},
                        {"", "one that is longer than a line has room for", "second"}})
                .write(kNarrow),
            "  first   a short one\n"
            "  second  one that is longer than a line\n"
            "          has room for\n");
}

TEST(TextView, FoldsTheLinesOfATableWithoutRoom) {
  const std::string text =
      TextView().lines({{std::string(30, 'a'), "one two three four"}}, "ll").write(kNarrow);
  EXPECT_EQ(text, "  " + std::string(30, 'a') + "  one\n      two three four\n");
}

TEST(TextView, PutsColumnsWithoutRoomBelowTheOthers) {
  const auto row = [](int rank) {
    Figures figures = {{"", rank, "rank"}};
    for (const char* label : {"the first figure", "the second figure", "the third figure"}) {
      figures.push_back({"", 10 * rank + static_cast<int>(figures.size()), label});
    }
    return figures;
  };
  EXPECT_EQ(TextView().table({row(1), row(2)}, "r").write({.width = 43}),
            "  rank  the first figure  the second figure\n"
            "     1                11                 12\n"
            "     2                21                 22\n"
            "\n"
            "  rank  the third figure\n"
            "     1                13\n"
            "     2                23\n");
}

TEST(TextView, CountsCharactersWhereItFolds) {
  const std::string word =
      "\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5\u00b5";  // 9 of 18 bytes
  EXPECT_EQ(TextView(word + " " + word + " " + word + " " + word + "\n").write(kNarrow),
            word + " " + word + " " + word + " " + word + "\n");
}

TEST(TextView, FoldsToNoLongerLinesAndLosesNoWord) {
  const std::string all =
      TextView("where the time goes, and what is to be done about it\n").table(some_rows()).write();
  for (std::size_t width = 30; width < 80; ++width) {
    const std::string folded = TextView("where the time goes, and what is to be done about it\n")
                                   .table(some_rows())
                                   .write({.width = width});
    const auto words = [](const std::string& text) {
      std::string letters;
      for (const char c : text) {
        letters += c == ' ' || c == '\n' ? "" : std::string(1, c);
      }
      return letters;
    };
    EXPECT_EQ(words(folded), words(all));
    for (std::size_t at = 0; at < folded.size();) {
      const std::size_t end = folded.find('\n', at);
      EXPECT_LE(end - at, width) << folded;
      at = end + 1;
    }
  }
}

TEST(TextView, ColoursHeadingsOnly) {
  EXPECT_EQ(
      TextView("title\n").table({{{"", 1, "a"}}}, "l", "").pairs({{"", 1, "b"}}).write(kColour),
      "title\n\x1b[1ma\x1b[0m\n1\n  b  1\n");
}

TEST(TextView, ShowsWhatWouldDoSomethingToATerminal) {
  EXPECT_EQ(TextView().table({{{"", "\x1b[2J", "a"}}}, "l", "").write(), "a\n\\u001b[2J\n");
}

TEST(Terminal, IsAsWideAsItIsUnlessColumnsSaysOtherwise) {
  EXPECT_EQ(style_of({.width = 120}).width, 120u);
  EXPECT_EQ(style_of({.width = 120, .columns = "80"}).width, 80u);
  EXPECT_EQ(style_of({.columns = "80"}).width, 80u);
  EXPECT_EQ(style_of({.width = 120, .columns = "many"}).width, 120u);
  EXPECT_EQ(style_of({.width = 120, .columns = "80x"}).width, 120u);
  EXPECT_EQ(style_of({}).width, 0u) << "of no known width: nothing is folded";
  EXPECT_EQ(style_of({.width = 10}).width, 0u);
}

TEST(Terminal, ShowsColoursUnlessToldNotTo) {
  EXPECT_TRUE(style_of({.width = 80, .kind = "xterm"}).in_colour);
  EXPECT_FALSE(style_of({.width = 80, .no_colour = "1", .kind = "xterm"}).in_colour);
  EXPECT_FALSE(style_of({.width = 80, .kind = "dumb"}).in_colour);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
