// A defect of the program in the middle of a study, from the outside: titer_faulty meets one
// wherever the micro-batch is 3, and others that planted_defect.cpp tells of.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/input/document.hpp"
#include "titer/units/shell_word.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Table = std::vector<std::vector<std::string>>;

/// What a shell makes of a command line that begins with a program's name.
Outcome shell(const std::string& command) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string err = (folder.path() / "err").string();
  const int status = std::system(
      ("TITER_DATA=" + shell_word(root().string()) + " " + command + " >" + out + " 2>" + err)
          .c_str());
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = file_text(out),
          .err = file_text(err)};
}

Outcome faulty(const Arguments& arguments) {
  std::string command = shell_word(faulty_program());
  for (const std::string& argument : arguments) {
    command += " " + shell_word(argument);
  }
  return shell(command);
}

constexpr const char* kAxes = R"({
  "scenario": "gpt3-175b-64xa100",
  "axes": {"cluster.node.nic_bandwidth": ["200 Gbps", "400 Gbps"], "plan.micro_batch": [1, 2, 3, 4],
           "plan.recompute": ["selective", "full"]},
  "derived": {"training.global_batch": "48 * plan.micro_batch / 2"}})";
constexpr std::size_t kPoints = 2 * 4 * 2;
constexpr std::size_t kDefects = 2 * 2;

class AppDefect : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(std::string_view name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] std::string line_of_defects(std::size_t rows, std::size_t defects) const {
    return std::to_string(defects) + " of " + std::to_string(rows) +
           " rows have no result for a defect of the program, please report it; the first again: "
           "titer run gpt3-175b-64xa100 --set 'cluster.node.nic_bandwidth=200 Gbps' --set "
           "plan.micro_batch=3 --set plan.recompute=selective --set training.global_batch=72\n";
  }

  TemporaryFolder folder_;
  std::string sweep_ = folder_.file("sweep.json", kAxes);
};

TEST_F(AppDefect, IsARowAndTheSweepGoesOn) {
  const Table sound = parse_points(data_of(titer({"sweep", sweep_})));
  for (const char* jobs : {"1", "3"}) {
    const Outcome outcome = faulty({"sweep", sweep_, "--jobs", jobs});
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.err, line_of_defects(kPoints, kDefects));
    const Table rows = parse_points(outcome.out);
    ASSERT_EQ(rows.size(), 1 + kPoints);
    EXPECT_EQ(rows[0], sound[0]);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      if (sound[i][1] != "3") {
        EXPECT_EQ(rows[i], sound[i]);
        continue;
      }
      EXPECT_EQ(Arguments(rows[i].begin(), rows[i].begin() + 4),
                Arguments(sound[i].begin(), sound[i].begin() + 4));
      EXPECT_EQ(rows[i][4], "defect");
      EXPECT_EQ(Arguments(rows[i].begin() + 5, rows[i].end() - 1), Arguments(rows[i].size() - 6));
      EXPECT_TRUE(contains(rows[i].back(), "a defect of the program: planted_defect.cpp:"));
      EXPECT_TRUE(contains(rows[i].back(), ": nobody counts to 3"));
    }
  }
}

TEST_F(AppDefect, IsRepeatedByTheCommandThatIsNamed) {
  const std::string err = faulty({"sweep", sweep_}).err;
  std::string command = err.substr(err.find("titer run ") + 6);
  command.pop_back();
  auto run = only_row(data_of(shell(shell_word(program()) + " " + command + " --format csv")));
  const Table sound = parse_points(data_of(titer({"sweep", sweep_})));
  ASSERT_EQ(sound[5][1], "3");
  for (std::size_t c = 5; c + 1 < sound[0].size(); ++c) {
    EXPECT_EQ(sound[5][c], run[sound[0][c]]) << sound[0][c];
  }
}

TEST_F(AppDefect, KeepsItsRowWhateverConstraintsSayOfResults) {
  const std::string file = folder_.file("fits.json", R"({
    "scenario": "gpt3-175b-64xa100", "axes": {"plan.micro_batch": [1, 3]}, "where": "mfu < 0"})");
  const Outcome outcome = faulty({"sweep", file});
  EXPECT_EQ(outcome.code, 3);
  const Table rows = parse_points(outcome.out);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1][1], "defect");
}

TEST_F(AppDefect, IsInTheFileAndInItsShards) {
  const std::string rows = path("rows.csv");
  const Outcome alone = faulty({"sweep", sweep_, "--out", rows});
  EXPECT_EQ(alone.code, 3);
  EXPECT_EQ(alone.err, line_of_defects(kPoints, kDefects));
  const std::string table = file_text(rows);
  EXPECT_EQ(table, faulty({"sweep", sweep_}).out);
  fs::remove(rows);
  for (const char* shard : {"1/2", "2/2"}) {
    EXPECT_EQ(faulty({"sweep", sweep_, "--out", rows, "--shard", shard}).code, 3);
  }
  const Outcome merged = faulty({"merge", rows});
  EXPECT_EQ(merged.code, 3);
  EXPECT_EQ(merged.err,
            rows +
                ": 4 rows have no result for a defect of the program; the shards' sweeps name "
                "them\n");
  EXPECT_EQ(file_text(rows), table);
}

TEST_F(AppDefect, OfReadingAnAxisIsInTheRowsOfItsValue) {
  const std::string file = folder_.file("sharding.json", R"({
    "scenario": "gpt3-175b-64xa100", "axes": {"plan.sharding": ["zero1", "zero2", "none"],
                                              "plan.micro_batch": [1, 2]}})");
  const Table sound = parse_points(data_of(titer({"sweep", file})));
  const Outcome outcome = faulty({"sweep", file});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err,
            "2 of 6 rows have no result for a defect of the program, please report it; the first "
            "again: titer run gpt3-175b-64xa100 --set plan.sharding=zero2 --set "
            "plan.micro_batch=1\n");
  const Table rows = parse_points(outcome.out);
  ASSERT_EQ(rows.size(), sound.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i][0] != "zero2") {
      EXPECT_EQ(rows[i], sound[i]);
      continue;
    }
    EXPECT_EQ(rows[i][2], "defect");
    EXPECT_TRUE(contains(rows[i].back(), ": nobody shards by 2"));
  }
}

TEST_F(AppDefect, IsSaidAgainWhereNothingIsLeftToResume) {
  for (const char* format : {"csv", "jsonl"}) {
    const std::string rows = path(std::string("rows.") + format);
    const Arguments arguments = {"sweep", sweep_, "--out", rows, "--format", format, "--resume"};
    EXPECT_EQ(faulty(arguments).err, line_of_defects(kPoints, kDefects));
    const Outcome again = faulty(arguments);
    EXPECT_EQ(again.code, 3);
    const std::string said =
        rows + ": is complete; there is nothing to resume\n" + rows +
        ": 4 of 16 rows have no result for a defect of the program, please report it; the first, "
        "row 5: a defect of the program: planted_defect.cpp:";
    EXPECT_TRUE(again.err.starts_with(said)) << again.err;
    EXPECT_TRUE(again.err.ends_with(": nobody counts to 3\n"));
  }
  const Arguments shard = {
      "sweep", sweep_, "--out", path("rows.csv"), "--shard", "1/2", "--resume"};
  const std::string first = faulty(shard).err;
  const Outcome again = faulty(shard);
  EXPECT_EQ(again.code, 3);
  EXPECT_EQ(again.err,
            path("rows.csv.shard-1-of-2") + ": is complete; there is nothing to resume\n" + first);
}

TEST_F(AppDefect, LeavesPlansOutOfASearch) {
  const auto search = [&](std::string_view micro_batches) {
    return folder_.file("search-" + std::to_string(micro_batches.size()) + ".json",
                        R"({"scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
                             "training": {"global_batch": 48, "sequence": 2048, "precision": "bf16"}},
                            "devices": 8, "top": 5,
                            "space": {"schedule": "1f1b", "rank_order": "tp-dp-pp",
                                      "micro_batch": )" +
                            std::string(micro_batches) + "}}");
  };
  const std::string without = data_of(titer({"search", search("[1, 2]"), "--format", "csv"}));
  for (const bool exhaustive : {false, true}) {
    Arguments arguments = {"search", search("[1, 2, 3]"), "--format", "csv"};
    arguments.resize(exhaustive ? 5 : 4, "--exhaustive");
    const Outcome outcome = faulty(arguments);
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(parse_answer(outcome.out, "rank"), parse_answer(without, "rank"));
    EXPECT_TRUE(contains(outcome.err, " plans are left out for a defect of the program, please "));
    EXPECT_TRUE(contains(outcome.err, ": nobody counts to 3; with --set plan.data="));
    EXPECT_TRUE(contains(outcome.err, " --set plan.micro_batch=3 "));
    arguments[3] = "text";
    const std::string text = faulty(arguments).out;
    EXPECT_TRUE(contains(text.substr(0, text.find("best:")), " left out for a defect\n"));
    EXPECT_TRUE(contains(text, "\n  a defect of the program, please report it: "));
    arguments[3] = "json";
    const Value counts = *parse_json(faulty(arguments).out, "out").at("counts");
    double sum = 0;
    for (const auto& [name, count] : counts.members) {
      sum += name == "plans" || name == "beyond_software" ? 0 : count.number;  // not among plans
    }
    EXPECT_EQ(sum, counts.find("plans")->number);
    EXPECT_GT(counts.find("defects")->number, 0);
  }
}

TEST_F(AppDefect, LeavesPlansWithoutARefinedTime) {
  const std::string file = folder_.file("refined.json", R"({
    "scenario": {"model": "megatron-1.7b", "cluster": "dgx-a100-80gb",
                 "training": {"global_batch": 48, "sequence": 2048, "precision": "bf16"}},
    "devices": 8, "top": 4, "best_of": "plan",
    "space": {"schedule": "1f1b", "rank_order": "tp-dp-pp", "pipeline": 1, "recompute": "none",
              "sharding": "zero1", "tensor": [1, 2], "micro_batch": [1, 2]}})");
  const Arguments arguments = {"search", file, "--refine", "event", "--format", "json"};
  const Outcome outcome = faulty(arguments);
  EXPECT_EQ(outcome.code, 3);
  const Value plans = *parse_json(outcome.out, "out").at("plans");
  const Value sound = *parse_json(data_of(titer(arguments)), "out").at("plans");
  ASSERT_EQ(plans.items.size(), sound.items.size());
  std::size_t without = 0;
  for (const Value& found : plans.items) {
    const bool is_defect = found.find("plan")->find("micro_batch")->integer == 2;
    without += is_defect ? 1 : 0;
    EXPECT_EQ(found.find("refined_iteration_time_s") == nullptr, is_defect);
  }
  EXPECT_GT(without, 0u);
  EXPECT_LT(without, plans.items.size());
  EXPECT_EQ(parse_json(outcome.out, "out").at("notes")->items.size(), without);
  EXPECT_TRUE(outcome.err.starts_with(
      std::to_string(without) +
      " plans have no refined time for a defect of the program, please report it: "));
  EXPECT_TRUE(contains(outcome.err, ": nobody follows 2; with --set plan.data="));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
