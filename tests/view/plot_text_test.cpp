// Charts of characters: where their marks stand, and how wide they are.

#include <gtest/gtest.h>

#include <algorithm>

#include "titer/view/plot.hpp"
#include "titer/view/table.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<std::string> lines_of(const Plot& plot, std::size_t width) {
  const std::string text = plot_text({&plot, 1}, width);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + what.size())) {
    ++found;
  }
  return found;
}

/// In which character of the line it begins.
std::size_t column_of(const std::string& line, std::string_view what) {
  return width_of(std::string_view(line).substr(0, line.find(what)));
}

Plot bars(std::vector<double> first, std::vector<double> second) {
  return {.title = "memory",
          .note = "",
          .chart = PlotBars{.axis = {.label = "GiB"},
                            .parts = {{"weights"}, {"activations"}},
                            .bars = {{.name = "stage 0", .values = std::move(first), .words = "40"},
                                     {.name = "stage 1", .values = std::move(second)}},
                            .limits = {{80, "capacity"}}}};
}

TEST(PlotText, DrawsPartsOfBarsInProportion) {
  const auto lines = lines_of(bars({30, 10}, {20, 0}), 80);
  ASSERT_EQ(lines.size(), 7U);  // title, limit, two bars, marks, label, legend
  EXPECT_EQ(lines[0], "memory");
  const auto weights = static_cast<double>(count(lines[2], "█"));
  EXPECT_NEAR(weights, 3.0 * static_cast<double>(count(lines[2], "▒")), 2);
  EXPECT_NEAR(weights, 1.5 * static_cast<double>(count(lines[3], "█")), 2);
  EXPECT_EQ(count(lines[3], "▒"), 0U);
  EXPECT_TRUE(lines[2].ends_with(" 40"));
  // The bar of 40 ends half way to the limit of 80.
  const std::size_t begin = column_of(lines[2], "█");
  EXPECT_NEAR(static_cast<double>(column_of(lines[2], "╎") - begin),
              2 * (weights + static_cast<double>(count(lines[2], "▒"))),
              2);
  EXPECT_EQ(lines[6], "  █ weights   ▒ activations");
}

TEST(PlotText, DrawsWhatIsBelowZeroToTheLeft) {
  const auto lines = lines_of(bars({-40, 0}, {0, 40}), 80);
  EXPECT_NEAR(static_cast<double>(column_of(lines[2], "█") + count(lines[2], "█")),
              static_cast<double>(column_of(lines[3], "▒")),
              1);
}

Plot rising() {
  PlotSeries line{.name = "predicted"};
  for (const double x : {0.0, 5.0, 10.0}) {
    line.points.push_back({.x = x, .y = x, .label = x == 5 ? "half" : ""});
  }
  return {.title = "rates",
          .note = "of one",
          .chart = PlotPlane{.x = {.label = "size"},
                             .y = {.label = "rate"},
                             .series = {line, {.name = "measured", .look = PlotLook::points}},
                             .y_limits = {{10, "limit"}}}};
}

TEST(PlotText, DrawsPointsWhereTheyAre) {
  const auto lines = lines_of(rising(), 60);
  ASSERT_EQ(lines.size(), 23U);  // title, note, label, 16 rows, axis, marks, label, legend
  EXPECT_EQ(lines[0], "rates");
  EXPECT_EQ(lines[1], "  of one");
  std::vector<std::pair<std::size_t, std::size_t>> marks;  // row and column
  for (std::size_t row = 3; row < 19; ++row) {
    if (lines[row].find("●") != std::string::npos) {
      marks.emplace_back(row, column_of(lines[row], "●"));
    }
  }
  ASSERT_EQ(marks.size(), 3U);
  EXPECT_EQ(marks[0].first, 3U);
  EXPECT_EQ(marks[2].first, 18U);
  EXPECT_GT(marks[0].second, marks[1].second);
  EXPECT_NEAR(static_cast<double>(marks[0].second + marks[2].second),
              2.0 * static_cast<double>(marks[1].second),
              1);
  EXPECT_NE(lines[marks[1].first].find("●half"), std::string::npos);
  // Between them there are dots in every row.
  for (std::size_t row = 4; row < 18; ++row) {
    EXPECT_TRUE(lines[row].find("\xE2\xA0") != std::string::npos ||
                lines[row].find("\xE2\xA1") != std::string::npos ||
                lines[row].find("\xE2\xA2") != std::string::npos ||
                lines[row].find("\xE2\xA3") != std::string::npos ||
                lines[row].find("●") != std::string::npos)
        << lines[row];
  }
}

TEST(PlotText, IsNoWiderThanIsAsked) {
  for (const std::size_t width : {40U, 60U, 80U}) {
    for (const Plot& plot : {rising(), bars({30, 10}, {20, 5})}) {
      for (const std::string& line : lines_of(plot, width)) {
        EXPECT_LE(width_of(line), width) << line;
      }
    }
  }
}

TEST(PlotText, DrawsAPlaneWithoutPoints) {
  const Plot empty{.title = "none", .note = "", .chart = PlotPlane{.x = {}, .y = {}, .series = {}}};
  EXPECT_EQ(lines_of(empty, 80).size(), 21U);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
