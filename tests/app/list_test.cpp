// titer list, from the outside.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "paths.hpp"
#include "titer/collectives/catalogue.hpp"
#include "titer/input/document.hpp"
#include "titer/plan/schedule/schedule.hpp"
#include "titer/scenario/source.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// The names of a listing, by its CSV's first column.
std::vector<std::string> names(const std::string& what) {
  std::vector<std::string> list;
  for (const auto& row : parse_csv(data_of(titer({"list", what, "--format", "csv"})))) {
    list.push_back(row.front());
  }
  return list;
}

std::size_t files(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root() / folder)) {
    count += entry.path().extension() == ".json" ? 1 : 0;
  }
  return count;
}

TEST(AppList, ShowsEveryShippedFile) {
  const std::map<std::string, std::string> folders = {{"models", "models"},
                                                      {"chips", "configs/chips"},
                                                      {"clusters", "configs/clusters"},
                                                      {"stacks", "configs/stacks"},
                                                      {"topologies", "topologies"},
                                                      {"runs", "configs/runs"},
                                                      {"sweeps", "configs/sweeps"},
                                                      {"searches", "configs/searches"},
                                                      {"courses", "configs/courses"}};
  for (const auto& [what, folder] : folders) {
    const std::vector<std::string> listed = names(what);
    EXPECT_EQ(listed.size(), 1 + files(folder)) << what;
    EXPECT_TRUE(std::is_sorted(listed.begin() + 1, listed.end())) << what;
    for (std::size_t i = 1; i < listed.size(); ++i) {
      const auto path = root() / folder / (listed[i] + ".json");
      EXPECT_TRUE(std::filesystem::exists(path)) << path;
    }
  }
}

TEST(AppList, ShowsTheHardwareThatIsShipped) {
  EXPECT_GE(names("chips").size(), 1u + 37u);
  EXPECT_GE(names("clusters").size(), 1u + 10u);
}

TEST(AppList, ShowsEveryAlgorithmScheduleAndFormula) {
  EXPECT_EQ(names("algorithms").size(), 1 + algorithm_catalogue().size());
  EXPECT_EQ(names("schedules").size(), 2 + schedule_entries().size());
  EXPECT_EQ(names("formulas"), (std::vector<std::string>{"formula", "titer", "e7"}));
}

TEST(AppList, KnowsWhatTheRunsUse) {
  const std::string models = data_of(titer({"list", "models"}));
  EXPECT_TRUE(contains(models, "gpt3-175b"));
  const auto rows = parse_csv(data_of(titer({"list", "models", "--format", "csv"})));
  for (const auto& row : rows) {
    if (row[0] == "gpt3-175b") {
      const std::int64_t h = 12288;
      const std::int64_t expected = 96 * (12 * h * h + 13 * h) + (50257 + 2048) * h + 2 * h;
      EXPECT_EQ(row[2], std::to_string(expected));
    }
  }
}

TEST(AppList, SaysTheSameInEveryFormat) {
  for (const char* what : {"models",
                           "chips",
                           "clusters",
                           "stacks",
                           "topologies",
                           "algorithms",
                           "schedules",
                           "formulas",
                           "runs",
                           "sweeps",
                           "searches",
                           "courses"}) {
    const auto rows = parse_csv(data_of(titer({"list", what, "--format", "csv"})));
    const Document json = parse_json(data_of(titer({"list", what, "--format", "json"})), "out");
    const std::string text = data_of(titer({"list", what}));
    ASSERT_EQ(json.root.items.size(), rows.size() - 1) << what;
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), rows.size());
    for (std::size_t i = 1; i < rows.size(); ++i) {
      ASSERT_EQ(rows[i].size(), rows[0].size()) << what;
      for (std::size_t c = 0; c < rows[i].size(); ++c) {
        EXPECT_EQ(json.root.items[i - 1].find(rows[0][c])->text, rows[i][c]);
        EXPECT_TRUE(contains(text, rows[i][c]));
      }
    }
  }
}

TEST(AppList, CountsWhatThereIsOfEachKind) {
  const auto outcome = titer({"list", "--format", "csv"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(contains(outcome.out, "kind,entries\n"));
  const auto line = [](std::string_view kind, const DataKind& of) {
    return std::string(kind) + "," + std::to_string(shipped_names(of).size()) + "\n";
  };
  EXPECT_TRUE(contains(outcome.out, line("chips", kChipData)));
  EXPECT_TRUE(contains(outcome.out, line("clusters", kClusterData)));
}

TEST(AppList, RefusesAnUnknownKindWithASuggestion) {
  EXPECT_EQ(refusal_of(titer({"list", "chip"})),
            "list: chip: expected models, chips, clusters, networks, stacks, topologies, families, "
            "algorithms, schedules, formulas, runs, sweeps, searches, courses, capacities, "
            "reports, prices, grids, "
            "reliabilities; "
            "did you mean \"chips\"?");
  EXPECT_TRUE(contains(refusal_of(titer({"list", "planets"})), "list: planets: expected models, "));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
