// titer sweep interrupted, resumed and in shards, and titer merge, from the outside.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "app/on_terminal.hpp"
#include "app/program.hpp"
#include "paths.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr const char* kSweep = "gpt3-175b-plans";

std::uintmax_t bytes_of(const fs::path& path) {
  std::error_code missing;
  const std::uintmax_t bytes = fs::file_size(path, missing);
  return missing ? 0 : bytes;
}

/// The program with at most so many KiB in any file: a write beyond them ends it by a signal, or,
/// where the signal is ignored, fails as on a full disk.
int limited_to(int kibibytes, bool ignored, const std::string& arguments) {
  const std::string command = std::string(ignored ? R"(trap "" XFSZ; )" : "") + "ulimit -c 0 -f " +
                              std::to_string(kibibytes) +
                              "; exec env TITER_DATA=" + root().string() + " " + program() + " " +
                              arguments;
  const int status = std::system(("exec bash -c '" + command + "'").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class AppSweepResume : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(std::string_view name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] static std::string alone() { return data_of(titer({"sweep", kSweep})); }

  TemporaryFolder folder_;
};

TEST_F(AppSweepResume, LosesAndRepeatsNothingWhereverItIsKilled) {
  const std::string expected = alone();
  for (const int kibibytes : {1, 4, 20}) {
    const std::string rows = path("rows.csv");
    EXPECT_EQ(limited_to(kibibytes, false, std::string("sweep ") + kSweep + " --out " + rows),
              128 + SIGXFSZ);
    EXPECT_EQ(bytes_of(rows + ".partial"), static_cast<std::uintmax_t>(kibibytes) << 10U);
    const Outcome resumed = titer({"sweep", kSweep, "--out", rows, "--resume"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(resumed.err, "");
    EXPECT_EQ(file_text(rows), expected);
    EXPECT_EQ(names_in(folder_.path()), Arguments{"rows.csv"});
    fs::remove(rows);
  }
}

TEST_F(AppSweepResume, ComputesDamagedRowsAgainAndSaysSo) {
  const std::string rows = path("rows.csv");
  const std::string shard = rows + ".shard-1-of-2";
  EXPECT_EQ(titer({"sweep", kSweep, "--out", rows, "--shard", "1/2"}).code, 0);
  const std::string whole = file_text(shard);
  std::string text = whole;
  const std::size_t at = text.find(",ok,", text.size() / 2);
  text[at + 1] = 'a';
  std::ofstream(shard + ".partial", std::ios::binary) << text;
  fs::remove(shard);
  const Outcome resumed = titer({"sweep", kSweep, "--out", rows, "--shard", "1/2", "--resume"});
  EXPECT_EQ(resumed.code, 0);
  EXPECT_TRUE(resumed.err.starts_with(shard + ".partial: chunk ")) << resumed.err;
  EXPECT_TRUE(resumed.err.ends_with(" points are kept, the others computed again\n"));
  EXPECT_EQ(resumed.errors().size(), 1u);
  EXPECT_EQ(file_text(shard), whole);
}

TEST_F(AppSweepResume, GoesOnAfterAFullDisk) {
  const std::string rows = path("rows.csv");
  EXPECT_EQ(
      limited_to(8, true, std::string("sweep ") + kSweep + " --out " + rows + " 2>" + path("err")),
      2);
  EXPECT_EQ(file_text(path("err")),
            rows +
                ".partial: cannot be written any further; is the disk full? What is there is "
                "kept for --resume\n");
  EXPECT_EQ(titer({"sweep", kSweep, "--out", rows, "--resume"}).code, 0);
  EXPECT_EQ(file_text(rows), alone());
}

TEST_F(AppSweepResume, SaysSoWhenThereIsNothingLeftToDo) {
  const std::string rows = path("rows.csv");
  EXPECT_EQ(titer({"sweep", kSweep, "--out", rows, "--resume"}).code, 0) << "begins";
  const Outcome again = titer({"sweep", kSweep, "--out", rows, "--resume"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.err, rows + ": is complete; there is nothing to resume\n");
  EXPECT_EQ(file_text(rows), alone());
}

TEST_F(AppSweepResume, RefusesATableOfAnotherSweep) {
  const std::string rows = path("rows.csv");
  const std::string one = folder_.file(
      "one.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {"plan.micro_batch": [1, 2]}})");
  const std::string other = folder_.file(
      "other.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {"plan.micro_batch": [1, 4]}})");
  EXPECT_EQ(titer({"sweep", one, "--out", rows}).code, 0);
  const std::string before = file_text(rows);
  EXPECT_EQ(refusal_of(titer({"sweep", other, "--out", rows, "--resume"})),
            rows +
                ": has other rows than this sweep; expected its own, or no --resume to replace "
                "it");
  EXPECT_TRUE(contains(refusal_of(titer({"sweep", kSweep, "--out", rows, "--resume"})),
                       rows + ": is no table of this sweep"));
  EXPECT_EQ(file_text(rows), before);
}

TEST_F(AppSweepResume, RefusesAnInterruptedRunOfAnotherSweep) {
  const std::string rows = path("rows.csv");
  const std::string one = folder_.file(
      "one.json", R"({"scenario": "gpt3-175b-64xa100", "axes": {"plan.micro_batch": [1, 2]}})");
  limited_to(8, false, std::string("sweep ") + kSweep + " --out " + rows);
  const std::string before = file_text(rows + ".partial");
  EXPECT_EQ(refusal_of(titer({"sweep", one, "--out", rows, "--resume"})),
            rows +
                ".partial: is of another sweep, or its files have changed since; expected the "
                "same as now, or --restart to begin again without it");
  EXPECT_TRUE(contains(refusal_of(titer({"sweep", kSweep, "--out", rows})),
                       "an interrupted run left this; expected --resume"));
  EXPECT_EQ(file_text(rows + ".partial"), before);
  EXPECT_EQ(titer({"sweep", one, "--out", rows, "--restart"}).code, 0);
  EXPECT_EQ(names_in(folder_.path()), (Arguments{"one.json", "rows.csv"}));
}

TEST_F(AppSweepResume, NeedsAFile) {
  for (const Arguments& with : {Arguments{}, Arguments{"--out", "/dev/null"}}) {
    for (const Arguments& option :
         {Arguments{"--resume"}, Arguments{"--restart"}, Arguments{"--shard", "1/2"}}) {
      Arguments arguments = {"sweep", kSweep};
      arguments.insert(arguments.end(), with.begin(), with.end());
      arguments.insert(arguments.end(), option.begin(), option.end());
      EXPECT_TRUE(contains(refusal_of(titer(arguments)), option[0]));
    }
  }
}

/// The first two numbers of every row in order: they tell which point it is.
void expect_points_in_order(const std::string& partial) {
  const std::string text = file_text(partial);
  std::size_t rows = 0;
  for (std::size_t at = text.find('\n') + 1; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string expected =
        "," + std::to_string(8 * (rows / 4 + 1)) + "," + std::to_string(1U << (rows % 4)) + ",";
    const std::string row = text.substr(at, text.find('\n', at) - at);
    ASSERT_NE(row.find(expected), std::string::npos) << "row " << rows << ": " << row;
    ++rows;
  }
  EXPECT_GT(rows, 0u);
}

TEST_F(AppSweepResume, SaysHowToGoOnWithAllThatWasAsked) {
  const std::string sweep = folder_.file("long.json", R"({
    "scenario": "gpt3-175b-64xa100",
    "axes": {"training.global_batch": {"from": 8, "to": 2000000, "step": 8},
             "plan.micro_batch": [1, 2, 4, 8]}})");
  const std::string rows = path("rows.jsonl");
  const std::string asked = "sweep " + sweep +
                            " --fidelity closed --columns beyond_software --limit 1000001 --out " +
                            rows + " --format jsonl --shard 2/3 --jobs 2";
  std::istringstream words(asked);
  const Arguments arguments{std::istream_iterator<std::string>(words),
                            std::istream_iterator<std::string>()};
  OnATerminal run(arguments);
  EXPECT_TRUE(run.saw(" left")) << run.seen;
  run.send(SIGINT);
  EXPECT_TRUE(run.saw("go on with: titer " + asked + " --resume")) << run.seen;
  EXPECT_EQ(run.code(), 130);
}

TEST_F(AppSweepResume, StopsAtCtrlCWithAllThatIsDone) {
  const std::string sweep = folder_.file("long.json", R"({
    "scenario": "gpt3-175b-64xa100",
    "axes": {"training.global_batch": {"from": 8, "to": 2000000, "step": 8},
             "plan.micro_batch": [1, 2, 4, 8]}})");
  const std::string rows = path("long rows.csv");
  Arguments arguments = {"sweep", sweep, "--jobs", "2", "--out", rows};
  const std::string resume =
      "go on with: titer sweep " + sweep + " --out '" + rows + "' --jobs 2 --resume";
  std::uintmax_t before = 0;
  for (const int signal : {SIGINT, SIGTERM}) {
    OnATerminal run(arguments);
    EXPECT_TRUE(run.saw(" left")) << run.seen;
    run.send(signal);
    EXPECT_TRUE(run.saw(resume)) << run.seen;
    EXPECT_EQ(run.code(), 130);
    EXPECT_TRUE(contains(run.seen, " of 1000000 points"));
    EXPECT_EQ(run.seen.find(" before), ") != std::string::npos, before > 0) << run.seen;
    EXPECT_GT(bytes_of(rows + ".partial"), before);
    before = bytes_of(rows + ".partial");
    arguments.back() = rows;
    if (signal == SIGINT) {
      arguments.emplace_back("--resume");
    }
  }
  expect_points_in_order(rows + ".partial");
  EXPECT_FALSE(fs::exists(rows));
}

TEST_F(AppSweepResume, InShardsMakesTheSameTable) {
  const std::string rows = path("rows.csv");
  for (const char* shard : {"2/3", "1/3"}) {
    const Outcome outcome = titer({"sweep", kSweep, "--out", rows, "--shard", shard});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_EQ(refusal_of(titer({"merge", rows})),
            rows + ": shard 3 of 3 is missing; run the sweep with --shard 3/3");
  const std::string third = std::string("sweep ") + kSweep + " --shard 3/3 --out " + rows;
  EXPECT_EQ(limited_to(5, false, third), 128 + SIGXFSZ);
  EXPECT_TRUE(contains(refusal_of(titer({"merge", rows})), "--shard 3/3 --resume"));
  EXPECT_FALSE(fs::exists(rows));
  EXPECT_EQ(titer({"sweep", kSweep, "--out", rows, "--shard", "3/3", "--resume"}).code, 0);
  EXPECT_TRUE(contains(titer({"sweep", kSweep, "--out", rows, "--shard", "3/3", "--resume"}).err,
                       "is complete"));
  EXPECT_TRUE(contains(data_of(titer({"merge", rows})), " of 3 shards each exactly once\n"));
  EXPECT_EQ(file_text(rows), alone());
}

TEST_F(AppSweepResume, ShardsAreMergedByNameToo) {
  const std::string rows = path("rows.jsonl");
  Arguments merge = {"merge"};
  for (const std::string shard : {"1", "2"}) {
    EXPECT_EQ(
        titer({"sweep", kSweep, "--out", rows, "--format", "jsonl", "--shard", shard + "/2"}).code,
        0);
    merge.push_back(rows + ".shard-" + shard + "-of-2");
  }
  EXPECT_EQ(refusal_of(titer(merge)), "2 files: expected --out FILE beside shards given by name");
  Arguments as_csv = merge;
  as_csv.insert(as_csv.end(), {"--out", path("merged.csv")});
  EXPECT_EQ(
      refusal_of(titer(as_csv)),
      "--out: " + path("merged.csv") +
          ": expected a name that ends in .json or .jsonl or .txt, as what is written is that");
  EXPECT_FALSE(fs::exists(path("merged.csv")));
  merge.insert(merge.end(), {"--out", path("merged")});
  EXPECT_EQ(titer(merge).code, 0);
  EXPECT_EQ(file_text(path("merged")), data_of(titer({"sweep", kSweep, "--format", "jsonl"})));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
