// Tables of several questions can stand below one another: each row says which it belongs to.

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "app/program.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using Arguments = std::vector<std::string>;

CsvRows table_of(Arguments question) {
  question.insert(question.end(), {"--format", "csv"});
  const Outcome outcome = titer(question);
  EXPECT_LE(outcome.code, 1) << outcome.err;
  CsvRows rows = parse_csv(outcome.out);
  EXPECT_GT(rows.size(), 1u) << question.front();
  return rows;
}

/// What stands in a column, which every row has.
std::set<std::string> column(const CsvRows& rows, const std::string& name) {
  const auto at = std::ranges::find(rows.front(), name);
  std::set<std::string> cells;
  if (at == rows.front().end()) {
    ADD_FAILURE() << "no column " << name;
    return cells;
  }
  for (std::size_t row = 1; row < rows.size(); ++row) {
    EXPECT_EQ(rows[row].size(), rows.front().size());
    cells.insert(rows[row][static_cast<std::size_t>(at - rows.front().begin())]);
  }
  return cells;
}

struct Pair {
  Arguments first;
  Arguments second;
  std::string by = "asked";  // the column that tells them apart
  std::vector<std::string> has = {"model", "cluster"};
};

void expect_stacked(const Pair& pair) {
  const std::string what = pair.first.front();
  const CsvRows first = table_of(pair.first);
  const CsvRows second = table_of(pair.second);
  EXPECT_EQ(first.front(), second.front()) << what;
  EXPECT_EQ(std::set(first.front().begin(), first.front().end()).size(), first.front().size())
      << what << ": a column twice";
  const std::set<std::string> a = column(first, pair.by);
  const std::set<std::string> b = column(second, pair.by);
  EXPECT_EQ(a.size(), 1u) << what;
  EXPECT_EQ(b.size(), 1u) << what;
  EXPECT_NE(a, b) << what;
  EXPECT_FALSE(a.contains("")) << what;
  for (const std::string& name : pair.has) {
    EXPECT_FALSE(column(first, name).contains("")) << what << ": " << name;
  }
}

constexpr const char* kLlama = "llama3-70b-64xh100";
constexpr const char* kGpt = "gpt3-175b-64xa100";

TEST(StackedTables, OfRunsSayWhatWasAsked) {
  for (const std::string command : {"run", "check", "explain", "sensitivity", "tune"}) {
    expect_stacked({{command, kLlama}, {command, kGpt}});
  }
  expect_stacked({{"run", kLlama}, {"run", kLlama, "--set", "plan.micro_batch=2"}});
  const CsvRows rows = table_of({"run", kLlama, "--set", "plan.micro_batch=2"});
  EXPECT_EQ(column(rows, "asked"),
            std::set<std::string>{std::string(kLlama) + " --set plan.micro_batch=2"});
}

TEST(StackedTables, OfTwoRunsSayBoth) {
  const Pair pair{
      {"diff", kLlama, kGpt}, {"diff", kGpt, kLlama}, "a_asked", {"a_model", "b_model"}};
  expect_stacked(pair);
  EXPECT_EQ(column(table_of(pair.first), "b_asked"), std::set<std::string>{kGpt});
}

TEST(StackedTables, OfSearchesAndCampaignsSayWhatWasAsked) {
  expect_stacked({{"search", kLlama, "--top", "2"}, {"search", kGpt, "--top", "2"}});
  const Arguments devices = {"--tokens", "10B", "--devices", "64"};
  const auto asking = [&](Arguments question) {
    question.insert(question.end(), devices.begin(), devices.end());
    return question;
  };
  expect_stacked({asking({"capacity", kLlama}), asking({"capacity", kGpt})});
  expect_stacked({asking({"compare", kLlama}), asking({"compare", kGpt})});
  expect_stacked({{"compare", kLlama, "--topology", "fat-tree-2-level-1024"},
                  {"compare", kGpt, "--topology", "fat-tree-2-level-1024"}});
  expect_stacked({{"course", "elastic-2-then-6"},
                  {"course", "elastic-2-then-6", "--set", "phases.1.time=2 h"},
                  "asked",
                  {"course"}});
}

// The axes of two sweeps are columns of their own: they may differ, what all rows have does not.
TEST(StackedTables, OfSweepsSayWhichAndOfWhat) {
  const TemporaryFolder folder;
  const auto sweep = [&](const std::string& name, const std::string& axes) {
    const std::string path = (folder.path() / (name + ".json")).string();
    std::ofstream(path) << R"({"scenario": "llama3-70b-64xh100", "axes": )" << axes << "}";
    return path;
  };
  const std::string batches = R"({"plan.micro_batch": [1, 2]})";
  expect_stacked({{"sweep", sweep("one", batches)},
                  {"sweep", sweep("two", batches)},
                  "sweep",
                  {"model", "cluster", "stack"}});
  const CsvRows models =
      table_of({"sweep", sweep("three", R"({"model": ["llama3-70b", "llama3-8b"]})")});
  EXPECT_EQ(column(models, "model"), (std::set<std::string>{"llama3-70b", "llama3-8b"}));
  EXPECT_EQ(std::ranges::count(models.front(), "model"), 1);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
