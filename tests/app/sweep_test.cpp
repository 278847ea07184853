// titer sweep, from the outside.

#include <gtest/gtest.h>

#include <filesystem>

#include "app/program.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/sweep/sweep.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kSweep = "gpt3-175b-plans";

/// Files of a folder.
std::vector<std::string> entries(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(AppSweep, WritesOneRowPerPointWithAxesStatusResultAndReason) {
  const auto rows = parse_points(data_of(titer({"sweep", kSweep})));
  const Sweep sweep = load_sweep(kSweep);
  ASSERT_EQ(rows.size(), 1 + sweep.points());
  for (const auto& row : rows) {
    EXPECT_EQ(row.size(), sweep.axes.size() + 1 + result_columns().size() + 1);
  }
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    EXPECT_EQ(rows[0][i], sweep.axes[i].path);
  }
  EXPECT_EQ(rows[0][sweep.axes.size()], "status");
  EXPECT_EQ(rows[0].back(), "reason");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const bool ok = rows[i][sweep.axes.size()] == "ok";
    EXPECT_EQ(rows[i].back().empty(), ok) << rows[i].back();
  }
}

TEST(AppSweep, ContainsTheRunOfItsPoint) {
  const TemporaryFolder folder;
  const std::string path = folder.file(
      "sweep.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {"plan.micro_batch": [1, 2]}})");
  const auto rows = parse_points(data_of(titer({"sweep", path})));
  auto run = only_row(data_of(
      titer({"run", "gpt3-175b-64xa100", "--set", "plan.micro_batch=2", "--format", "csv"})));
  ASSERT_EQ(rows.size(), 3u);
  for (std::size_t c = 2; c + 1 < rows[0].size(); ++c) {
    EXPECT_EQ(rows[2][c], run[rows[0][c]]) << rows[0][c];
  }
}

/// One row that keeps all limits is enough, and names are looked at before any work.
TEST(AppSweep, GivesOneWhereNoRowKeepsALimit) {
  const TemporaryFolder folder;
  const auto asked = [&](const std::string& limits, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"sweep", kSweep, "--fail-on", limits};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return titer(arguments);
  };
  const std::string rows = data_of(titer({"sweep", kSweep}));
  const Outcome kept = asked("mfu<10%,out-of-memory");
  EXPECT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(kept.out, rows);
  const Outcome none = asked("mfu<99%");
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.out, rows);
  EXPECT_TRUE(contains(none.err, "--fail-on mfu<99%: mfu is 0.")) << none.err;
  const std::string file = (folder.path() / "rows.csv").string();
  EXPECT_EQ(asked("time>1us", {"--out", file}).code, 1);
  EXPECT_EQ(asked("time>1us", {"--out", file, "--resume"}).code, 1) << "nothing is left to compute";
  const Outcome unknown = asked("mfo<99%");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_TRUE(contains(unknown.err, "did you mean \"mfu\"?"));
  EXPECT_TRUE(contains(asked("mfu<99%", {"--format", "jsonl"}).err, "expected all rows in one"));
}

TEST(AppSweep, WritesTheSameBytesOnAnyNumberOfThreads) {
  const std::string alone = data_of(titer({"sweep", kSweep, "--jobs", "1"}));
  EXPECT_EQ(data_of(titer({"sweep", kSweep, "--jobs", "4"})), alone);
  EXPECT_EQ(data_of(titer({"sweep", kSweep})), alone);
}

TEST(AppSweep, TakesTheEventEngine) {
  const TemporaryFolder folder;
  const std::string path = folder.file(
      "sweep.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {"plan.micro_batch": [1, 2]}})");
  const auto closed = parse_points(data_of(titer({"sweep", path})));
  const auto event = parse_points(data_of(titer({"sweep", path, "--fidelity", "event"})));
  ASSERT_EQ(closed.size(), event.size());
  for (std::size_t i = 0; i < closed.size(); ++i) {
    EXPECT_EQ(closed[i][2], event[i][2]) << "iteration_time_s";
  }
}

TEST(AppSweepOut, WritesTheFileWholeAndNothingElse) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "rows.csv").string();
  const testing::Outcome outcome = titer({"sweep", kSweep, "--out", path});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err, "") << "progress is for terminals";
  EXPECT_EQ(file_text(path), titer({"sweep", kSweep}).out);
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"rows.csv"});
}

TEST(AppSweepOut, ReplacesAnOlderFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("rows.csv", std::string(1'000'000, 'x'));
  EXPECT_EQ(titer({"sweep", kSweep, "--out", path}).code, 0);
  EXPECT_EQ(file_text(path), titer({"sweep", kSweep}).out);
}

TEST(AppSweep, SaysThatARunOfTheNameIsNoSweep) {
  EXPECT_TRUE(
      contains(refusal_of(titer({"sweep", "llama3-70b-64xh100"})),
               "llama3-70b-64xh100: no shipped sweep has this name, a run has; expected what asks "
               "of it, such as {\"scenario\": \"llama3-70b-64xh100\", \"axes\": "
               "{\"plan.micro_batch\": [1, 2, 4]}}, as `titer schema sweep` says"));
}

TEST(AppSweep, SaysThatARunsFileIsNoSweep) {
  const TemporaryFolder folder;
  const std::string run =
      folder.file("run.json", file_text(root() / "configs/runs/gpt3-175b-64xa100.json"));
  for (const std::string command : {"sweep", "course"}) {
    const std::string refused = refusal_of(titer({command, run}));
    EXPECT_TRUE(
        contains(refused,
                 "run.json: this is a run; expected what asks of it, such as {\"scenario\": \"" +
                     run + "\", "))
        << refused;
  }
}

TEST(AppSweepOut, RefusesAFolderThatIsNotThere) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "missing" / "rows.csv").string();
  EXPECT_EQ(refusal_of(titer({"sweep", kSweep, "--out", path})),
            path + ": cannot be written; expected a path in a folder that exists");
  EXPECT_TRUE(entries(folder.path()).empty());
}

TEST(AppSweepOut, RefusesAFolderAsTheFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "out.csv");
  const std::string path = (folder.path() / "out.csv").string();
  EXPECT_EQ(refusal_of(titer({"sweep", kSweep, "--out", path})),
            path + ": is a folder; expected a file");
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"out.csv"});
}

TEST(AppSweepOut, LeavesAnOlderFileWhenTheSweepFails) {
  const TemporaryFolder folder;
  const std::string rows = folder.file("rows.csv", "older\n");
  const std::string sweep =
      folder.file("sweep.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {"plans": [1]}})");
  EXPECT_TRUE(contains(refusal_of(titer({"sweep", sweep, "--out", rows})),
                       "axes.plans: [1]: expected a path into model, cluster, "));
  EXPECT_EQ(file_text(rows), "older\n");
  EXPECT_EQ(entries(folder.path()).size(), 2u);
}

// A file in place of a device would be no device any more.
TEST(AppSweepOut, WritesThroughADevice) {
  EXPECT_EQ(titer({"sweep", kSweep, "--out", "/dev/null"}).code, 0);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(AppSweepOut, SaysWhenStandardOutputIsFull) {
  const testing::Outcome outcome = titer({"sweep", kSweep}, {.output = "/dev/full"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "standard output: cannot be written any further; is the disk full?\n");
}

TEST(AppSweep, RefusesAnImpossibleNumberOfThreads) {
  for (const char* jobs : {"0", "-1", "many", "1000000"}) {
    EXPECT_TRUE(contains(refusal_of(titer({"sweep", kSweep, "--jobs", jobs})), "--jobs"));
  }
}

TEST(AppSweep, ReportsEveryMistakeOfAFileAtOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.file(
      "sweep.json", "{\"axes\": {\"plan.data\": [],\n \"plan.tensor\": {\"from\": 1, \"to\": 8}}}");
  const testing::Outcome outcome = titer({"sweep", path});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  ASSERT_EQ(outcome.errors().size(), 3u) << outcome.err;
  for (const std::string& line : outcome.errors()) {
    EXPECT_TRUE(line.starts_with(path + ":")) << line;
    EXPECT_TRUE(contains(line, "expected a "));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
