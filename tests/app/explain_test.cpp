// titer explain, from the outside.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "titer/units/text.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// Two replicas: gradients are synchronised too.
std::vector<std::string> command(std::vector<std::string> first, const std::string& format) {
  first.insert(first.end(),
               {"gpt3-175b-64xa100",
                "--set",
                "cluster.nodes=16",
                "--set",
                "plan.data=2",
                "--set",
                "training.global_batch=128",
                "--format",
                format});
  return first;
}

TEST(AppExplain, ShowsEveryPartAndTheIterationTimeInAllFormats) {
  const Document run = parse_json(data_of(titer(command({"run"}, "json"))), "out");
  const std::string text = data_of(titer(command({"explain"}, "text")));
  const std::string csv = data_of(titer(command({"explain"}, "csv")));
  const std::string json = data_of(titer(command({"explain"}, "json")));
  const auto expect_term = [&](const std::string& name, double seconds) {
    const std::string value = format(Seconds::from_si(seconds));
    EXPECT_TRUE(contains(text, "  " + name + " = " + value + "\n"));
    EXPECT_TRUE(contains(csv, "," + name + ","));
    EXPECT_TRUE(contains(csv, "," + value + ","));
    EXPECT_TRUE(contains(json, "\"name\": \"" + name + "\""));
    EXPECT_TRUE(contains(json, "\"value\": \"" + value + "\""));
  };
  int parts = 0;
  for (const auto& [name, part] : run.at("breakdown_s")->members) {
    if (part.number > 0.0) {
      expect_term(name, part.number);
      ++parts;
    }
  }
  EXPECT_EQ(parts, 8) << "all but context_comm, expert_comm and other";
  expect_term("iteration time", run.at("iteration_time_s")->number);
}

TEST(AppExplain, ShowsTheAlgorithmsOnTheLinks) {
  const std::string text = data_of(
      titer({"explain",
             "mixtral-8x7b-64xh100",
             "--fidelity",
             "network",
             "--set",
             "cluster.network.topology={\"family\": \"rails\", \"nodes\": 8, \"rails\": 8, "
             "\"nodes_per_group\": 8, \"spines\": 2, \"oversubscription\": 8, \"bandwidth\": "
             "\"400 Gbps\"}"}));
  EXPECT_TRUE(contains(text, "\nalgorithms on the links of the network\n")) << text;
  const std::string wide =
      data_of(titer({"explain", "mixtral-8x7b-64xh100", "--fidelity", "network"}));
  EXPECT_TRUE(contains(wide, "  algorithms = those of the closed form\n"));
  EXPECT_EQ(titer({"explain", "mixtral-8x7b-64xh100", "--fidelity", "event"}).code, 2);
}

TEST(AppExplain, WritesOneTableInCsv) {
  const auto rows = parse_answer(data_of(titer(command({"explain"}, "csv"))), "section");
  ASSERT_GT(rows.size(), 50u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.size(), 6u);
  }
}

TEST(AppExplain, WritesTheSameTermsInEveryFormat) {
  const auto rows = parse_answer(data_of(titer(command({"explain"}, "csv"))), "section");
  const Document json = parse_json(data_of(titer(command({"explain"}, "json"))), "out");
  const std::string text = data_of(titer(command({"explain"}, "text")));
  std::size_t row = 1;
  for (const Value& section : json.at("sections")->items) {
    EXPECT_TRUE(contains(text, section.find("title")->text + "\n"));
    for (const Value& term : section.find("terms")->items) {
      ASSERT_LT(row, rows.size());
      EXPECT_EQ(rows[row][0], section.find("title")->text);
      EXPECT_EQ(rows[row][1], term.find("name")->text);
      EXPECT_EQ(rows[row][4], term.find("value")->text);
      ++row;
    }
  }
  EXPECT_EQ(row, rows.size());
}

TEST(AppExplain, ShowsTheSeedsFormula) {
  const std::string text = data_of(titer(
      {"explain", "gpt3-175b-64xa100", "--formula", "e7", "--set", "formula.utilization=0.4"}));
  for (const char* term :
       {"T_comp = ", "T_TP = ", "T_PP = ", "T_DP = ", "T_bubble = ", "T_iter = "}) {
    EXPECT_TRUE(contains(text, term));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
