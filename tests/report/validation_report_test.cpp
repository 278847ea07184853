#include "titer/report/evidence/validation_report.hpp"

#include <gtest/gtest.h>

#include "titer/input/document.hpp"
#include "titer/report/picture/validation_plot.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Two runs compared, one of them with an interval and its memory, and one skipped.
std::vector<Comparison> some_rows() {
  Comparison first{.case_id = "a-1",
                   .family = "vtrain",
                   .chip = "a100",
                   .stack = "megatron-lm",
                   .grade = "A",
                   .sweep = "s"};
  Comparison second = first;
  Comparison skipped = first;
  first.measured = 2.0;
  first.predicted = 2.5;
  first.interval = Interval{.low = 1.5, .high = 3.0};
  first.memory_measured = 8e9;
  first.memory_predicted = 6e9;
  second.case_id = "b, \"quoted\"";
  second.family = "libai";
  second.measured = 4.0;
  second.predicted = 3.0;
  skipped.case_id = "c-1";
  skipped.skip_reason = "recompute not stated";
  return {first, second, skipped};
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

bool contains(const std::string& text, std::string_view part) { return count(text, part) > 0; }

struct Views {
  std::vector<Comparison> rows = some_rows();
  std::vector<GroupStatistics> groups = group_statistics(rows, GroupBy::family);
  ValidationView view = {.rows = rows, .groups = groups};
};

TEST(ValidationText, HasGroupsWorstRowsAndReasons) {
  const Views views;
  const std::string text = validation_text(views.view).write();
  EXPECT_TRUE(text.starts_with("3 rows: 2 compared, 1 skipped\n")) << text;
  for (const std::string_view part :
       {"\n  all ", "\n  libai ", "\n  vtrain ", "\nmemory\n", "+25.0"}) {
    EXPECT_TRUE(contains(text, part)) << part;
  }
  EXPECT_TRUE(contains(text, "farthest off: 2 rows"));
  EXPECT_TRUE(contains(text, "skipped: 1 row\n  1  recompute not stated"));
  EXPECT_FALSE(contains(text, "c-1")) << "rows are not all listed";
  EXPECT_FALSE(contains(text, "rank corr.")) << "nor columns without a figure";
}

TEST(ValidationText, ListsEveryRowIfAsked) {
  Views views;
  views.view.every_row = true;
  views.view.worst = 0;
  const std::string text = validation_text(views.view).write();
  EXPECT_TRUE(contains(text, "c-1"));
  EXPECT_TRUE(contains(text, "7.451 GiB  5.588 GiB\n")) << text;
  EXPECT_FALSE(contains(text, "farthest off"));
}

TEST(ValidationText, OfNoRowsSaysSo) {
  const auto groups = group_statistics({}, GroupBy::all);
  const std::string text = validation_text({.rows = {}, .groups = groups}).write();
  EXPECT_TRUE(text.starts_with("0 rows: 0 compared, 0 skipped\n")) << text;
}

TEST(ValidationCsv, HasALinePerRow) {
  const auto table = parse_csv(validation_csv(some_rows()));
  ASSERT_EQ(table.size(), 1u + 3u);
  const std::vector<std::string> columns = {"case_id",
                                            "family",
                                            "chip",
                                            "stack",
                                            "grade",
                                            "sweep",
                                            "measured_s",
                                            "predicted_s",
                                            "error_pct",
                                            "ape_pct",
                                            "low_s",
                                            "high_s",
                                            "memory_measured_bytes",
                                            "memory_predicted_bytes",
                                            "memory_error_pct",
                                            "peak_bytes",
                                            "fits",
                                            "skip_reason"};
  EXPECT_EQ(table[0], columns);
  EXPECT_EQ(table[1],
            (std::vector<std::string>{"a-1",
                                      "vtrain",
                                      "a100",
                                      "megatron-lm",
                                      "A",
                                      "s",
                                      "2",
                                      "2.5",
                                      "25",
                                      "25",
                                      "1.5",
                                      "3",
                                      "8000000000",
                                      "6000000000",
                                      "-25",
                                      "",
                                      "",
                                      ""}));
  EXPECT_EQ(table[2][0], "b, \"quoted\"");
  EXPECT_EQ(table[2][8], "-25");
  EXPECT_EQ(table[2][9], "25");
  EXPECT_EQ(table[3][7], "") << "a skipped row has no figure, not a zero";
  EXPECT_EQ(table[3].back(), "recompute not stated");
}

TEST(ValidationJson, HasTheContractsNames) {
  const Views views;
  const Document json = parse_json(validation_json(views.view), "json");
  EXPECT_EQ(json.at("format_version")->integer, 1);
  ASSERT_EQ(json.at("groups")->items.size(), 3u);
  ASSERT_EQ(json.at("rows")->items.size(), 3u);
  EXPECT_EQ(json.at("groups.0.group")->text, "all");
  EXPECT_EQ(json.at("groups.2.group")->text, "vtrain");
  EXPECT_EQ(json.at("groups.0.n")->integer, 2);
  EXPECT_EQ(json.at("groups.0.skipped")->integer, 1);
  EXPECT_EQ(json.at("groups.0.bias_pct")->number, (25.0 - 25.0) / 2);
  for (const std::string figure : {"mape_pct", "median_ape_pct", "p90_ape_pct", "max_ape_pct"}) {
    EXPECT_EQ(json.at("groups.0." + figure)->number, 25) << figure;
  }
  EXPECT_EQ(json.at("groups.0.coverage80")->number, 1);
  EXPECT_EQ(json.at("groups.0.skip_reasons")->members.front().second.integer, 1);
  EXPECT_EQ(json.at("groups.0.memory.n")->integer, 1);
  EXPECT_EQ(json.at("groups.0.memory.bias_pct")->number, -25);
  for (const std::string absent : {"groups.0.spearman",
                                   "groups.0.regret_pct",
                                   "groups.1.coverage80",
                                   "groups.1.memory.mape_pct",
                                   "rows.1.low_s",
                                   "rows.2.predicted_s",
                                   "rows.2.ape_pct"}) {
    ASSERT_NE(json.at(absent), nullptr) << absent;
    EXPECT_EQ(json.at(absent)->kind, Value::Kind::null) << absent;
  }
  EXPECT_EQ(json.at("rows.0.measured_s")->number, 2);
  EXPECT_EQ(json.at("rows.1.case_id")->text, "b, \"quoted\"");
  EXPECT_EQ(json.at("rows.1.ape_pct")->number, 25);
  EXPECT_EQ(json.at("rows.0.skip_reason")->text, "");
}

/// Tags that close as they opened, attributes in quotes, and no other < or & in the text.
void expect_xml(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = text.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    EXPECT_EQ(count(tag, "\"") % 2, 0u) << tag;
    EXPECT_EQ(count(tag, "=\""), count(tag, "\"") / 2) << tag;
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ("/" + open.back(), name);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(count(text, "&"), count(text, "&amp;") + count(text, "&lt;") + count(text, "&gt;"));
  EXPECT_TRUE(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  EXPECT_TRUE(text.ends_with("</svg>\n"));
  EXPECT_FALSE(contains(text, "nan") || contains(text, "inf"));
}

TEST(ValidationScatter, HasAPointForEachRowThatWasCompared) {
  const std::vector<Comparison> rows = some_rows();
  const std::string svg =
      validation_scatter_svg({.rows = rows, .by = GroupBy::family, .title = "a < b & c"});
  expect_xml(svg);
  EXPECT_EQ(count(svg, "h.01"), 2u + 2u) << "rows, and groups in the legend";
  EXPECT_TRUE(contains(svg, ">vtrain (1)<"));
  EXPECT_TRUE(contains(svg, ">libai (1)<"));
  EXPECT_TRUE(contains(svg, ">within 10 %<"));
  EXPECT_TRUE(contains(svg, ">a &lt; b &amp; c<"));
  EXPECT_LT(svg.size(), 8'000u);
}

TEST(ValidationScatter, DrawsPointsOnEachOtherOnce) {
  const std::vector<Comparison> rows(5000, some_rows().front());
  const std::string svg = validation_scatter_svg({.rows = rows});
  expect_xml(svg);
  EXPECT_EQ(count(svg, "h.01"), 1u + 1u);
  EXPECT_TRUE(contains(svg, ">all (5000)<"));
}

TEST(ValidationScatter, PutsTheSmallestOfManyGroupsTogether) {
  std::vector<Comparison> rows;
  for (int i = 0; i < 40; ++i) {
    rows.push_back(some_rows().front());
    rows.back().family = "family " + std::to_string(i);
  }
  const std::string svg = validation_scatter_svg({.rows = rows, .by = GroupBy::family});
  expect_xml(svg);
  EXPECT_TRUE(contains(svg, ">others (12)<")) << "28 groups with a look of their own";
}

TEST(ValidationResiduals, HasAPointForEachError) {
  std::vector<Comparison> rows = some_rows();
  rows[1].predicted = 100 * *rows[1].measured;
  const std::string svg = validation_residuals_svg({.rows = rows, .by = GroupBy::family});
  expect_xml(svg);
  EXPECT_EQ(count(svg, "h.01"), 2u + 2u) << "rows, and groups in the legend";
  EXPECT_TRUE(contains(svg, "; 1 farther off than 200 % at the edge<"));
  EXPECT_TRUE(contains(svg, ">+200<"));
}

TEST(ValidationPictures, AreTheSameInAnyOrderOfTheRows) {
  const auto lines = [](const std::string& svg) {
    std::istringstream text(svg);
    std::vector<std::string> found;
    for (std::string line; std::getline(text, line);) {
      found.push_back(line);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const std::vector<Comparison> rows = some_rows();
  const std::vector<Comparison> reversed(rows.rbegin(), rows.rend());
  for (auto* const draw :
       {validation_scatter_svg, validation_residuals_svg, validation_histogram_svg}) {
    EXPECT_EQ(lines(draw({.rows = rows, .by = GroupBy::family})),
              lines(draw({.rows = reversed, .by = GroupBy::family})));
  }
}

TEST(ValidationHistogram, CountsEveryRowOnce) {
  const std::vector<Comparison> rows = some_rows();
  const std::string svg = validation_histogram_svg({.rows = rows, .title = "t"});
  expect_xml(svg);
  EXPECT_TRUE(contains(svg, ">2 rows<"));
  EXPECT_TRUE(contains(svg, ">bias (mean) +0.0 %<"));
  EXPECT_TRUE(contains(svg, ">+50<")) << "errors of 25 % in a range of 50 %";
  EXPECT_EQ(count(svg, "zM"), 1u) << "two bars";
}

TEST(ValidationHistogram, SaysHowManyLieBeyond) {
  std::vector<Comparison> rows(3, some_rows().front());
  rows[0].predicted = 100;  // 50 times what was measured
  const std::string svg = validation_histogram_svg({.rows = rows});
  expect_xml(svg);
  EXPECT_TRUE(contains(svg, ">3 rows; 1 farther off than 200 % in the outermost bars<"));
}

TEST(ValidationPictures, OfNothingAreEmptyPaper) {
  const std::vector<Comparison> rows = {some_rows().back()};
  for (const std::string& svg : {validation_scatter_svg({.rows = rows}),
                                 validation_residuals_svg({.rows = rows}),
                                 validation_histogram_svg({.rows = rows})}) {
    expect_xml(svg);
    EXPECT_EQ(count(svg, "h.01") + count(svg, "zM"), 0u);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
