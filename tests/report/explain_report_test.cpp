#include "titer/report/step/explain_report.hpp"

#include <gtest/gtest.h>

#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<Section> sections() {
  return {
      {.title = "first, with comma",
       .terms = {{"t", "a + b", "1 s + 2 s", "3 s", "a \"source\""}, {"bare", "", "", "4 s", ""}}},
      {.title = "second", .terms = {{"sum", "t", "", "3 s", ""}, {"fig", "", "", "5", "[x] y"}}}};
}

TEST(ExplainText, ShowsEachTermWithWhatItComesFrom) {
  EXPECT_EQ(explain_view(sections()).as_text(),
            "first, with comma\n"
            "  t = 3 s\n"
            "      a + b  =  1 s + 2 s   <- a \"source\"\n"
            "  bare = 4 s\n"
            "\n"
            "second\n"
            "  sum = 3 s\n"
            "      t\n"
            "  fig = 5\n"
            "      <- [x] y\n");
}

TEST(ExplainCsv, HasOneRowPerTerm) {
  const auto rows = parse_csv(explain_view(sections()).as_csv());
  ASSERT_EQ(rows.size(), 1u + 2u + 2u);
  EXPECT_EQ(rows[0], (Row{"section", "term", "formula", "numbers", "value", "source"}));
  EXPECT_EQ(rows[1], (Row{"first, with comma", "t", "a + b", "1 s + 2 s", "3 s", "a \"source\""}));
  EXPECT_EQ(rows[4], (Row{"second", "fig", "", "", "5", "[x] y"}));
}

TEST(ExplainJson, HoldsTheSameTerms) {
  const Document json = parse_json(to_json(explain_view(sections()).as_json()), "json");
  EXPECT_EQ(json.at("format_version")->integer, kFormatVersion);
  ASSERT_EQ(json.at("sections")->items.size(), 2u);
  EXPECT_EQ(json.at("sections.0.title")->text, "first, with comma");
  ASSERT_EQ(json.at("sections.0.terms")->items.size(), 2u);
  EXPECT_EQ(json.at("sections.0.terms.0.name")->text, "t");
  EXPECT_EQ(json.at("sections.0.terms.0.formula")->text, "a + b");
  EXPECT_EQ(json.at("sections.0.terms.0.numbers")->text, "1 s + 2 s");
  EXPECT_EQ(json.at("sections.0.terms.0.value")->text, "3 s");
  EXPECT_EQ(json.at("sections.0.terms.0.source")->text, "a \"source\"");
  EXPECT_EQ(json.at("sections.1.terms.1.value")->text, "5");
}

TEST(ExplainViews, OfNothingAreEmpty) {
  EXPECT_EQ(explain_view({}).as_text(), "");
  EXPECT_EQ(parse_csv(explain_view({}).as_csv()).size(), 1u);
  EXPECT_EQ(parse_json(to_json(explain_view({}).as_json()), "json").at("sections")->items.size(),
            0u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
