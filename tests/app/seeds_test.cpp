// titer seeds, from the outside.

#include <gtest/gtest.h>

#include <cmath>

#include "app/program.hpp"
#include "repetitions.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(SeedsCommand, ShowsWhatIsSaidAndWhatIsComputed) {
  const std::string text = data_of(titer({"seeds", "E13"}));
  for (const std::string part : {"the document says",
                                 "what is computed",
                                 "holds  push",
                                 "at home in\n  include/titer/scenario/parameter_server.hpp",
                                 "to play with\n  titer collective --cluster dgx1-v100"}) {
    EXPECT_TRUE(contains(text, part)) << part;
  }
}

TEST(SeedsCommand, WritesACheckPerRow) {
  const auto rows = parse_csv(data_of(titer({"seeds", "E13", "E16", "--format", "csv"})));
  ASSERT_GT(rows.size(), 4U);
  EXPECT_EQ(rows[0][0], "id");
  EXPECT_EQ(rows[1][0], "E13");
  EXPECT_EQ(rows[1][1], "transcription");
  EXPECT_EQ(rows.back()[0], "E16");
  EXPECT_EQ(rows.back()[1], "structure");
  for (std::size_t row = 1; row < rows.size(); ++row) {
    EXPECT_EQ(rows[row].size(), rows[0].size());
    EXPECT_EQ(rows[row][2], "holds");
  }
}

TEST(SeedsCommand, SortsTheUnmetByTheirFactor) {
  const Outcome outcome = titer({"seeds", "D6", "F51", "S35", "--format", "json"});
  EXPECT_EQ(outcome.code, 0);
  const Document document = parse_json(outcome.out, "seeds");
  const Value* unmet = document.at("unmet");
  ASSERT_NE(unmet, nullptr);
  ASSERT_GE(unmet->items.size(), 5U);
  double before = 1e300;
  for (const Value& item : unmet->items) {
    const double factor = std::abs(std::log(item.find("ratio")->number));
    EXPECT_LE(factor, before);
    before = factor;
  }
  EXPECT_EQ(static_cast<std::size_t>(document.at("totals.figures.unmet")->number),
            unmet->items.size());
}

TEST(SeedsCommand, WritesJson) {
  const Document document =
      parse_json(data_of(titer({"seeds", "E13", "--format", "json"})), "seeds");
  ASSERT_NE(document.at("seeds.0.checks.0.status"), nullptr);
  EXPECT_EQ(document.at("seeds.0.checks.0.status")->text, "holds");
  EXPECT_EQ(document.at("seeds.0.checks.0.kind")->text, "transcription");
  EXPECT_EQ(document.at("seeds.0.status")->text, "holds");
  EXPECT_NE(document.at("totals.structure.hold"), nullptr);
}

TEST(SeedsCommand, AnswersNoWhereAStatementDoesNotHold) {
  const testing::TemporaryFolder folder;
  const std::string file = folder.file("own.json", R"({"id": "X1", "title": "own",
      "document": "here", "says": "two is three", "questions": {},
      "checks": [{"what": "both", "value": 2, "expected": 3}]})");
  const Outcome outcome = titer({"seeds", file});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_TRUE(contains(outcome.out, "FAILS  both\n         2; expected 3"));
}

TEST(SeedsCommand, ShowsOneReadingOfWhatIsWrong) {
  const std::string literal = data_of(titer({"seeds", "T11", "--reading", "literal"}));
  EXPECT_TRUE(contains(literal, "(literal reading)"));
  EXPECT_FALSE(contains(literal, "(right reading)"));
  const std::string right = data_of(titer({"seeds", "T11", "--reading", "right"}));
  EXPECT_FALSE(contains(right, "(literal reading)"));
  EXPECT_TRUE(contains(right, "(right reading)"));
  EXPECT_EQ(refusal_of(titer({"seeds", "T11", "--reading", "wrong"})),
            "--reading: wrong: expected right, literal");
}

TEST(SeedsCommand, SuggestsAnId) {
  EXPECT_EQ(refusal_of(titer({"seeds", "F-33"})),
            "F-33: expected a statement of the seeds, such as F33; did you mean \"F33\"?");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
