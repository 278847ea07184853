// titer run, from the outside.

#include <gtest/gtest.h>

#include <cmath>

#include "app/program.hpp"
#include "report/csv.hpp"
#include "titer/input/document.hpp"

namespace titer {
namespace {

using testing::contains;
using testing::data_of;
using testing::only_row;
using testing::refusal_of;
using testing::titer;

constexpr const char* kRun = "gpt3-175b-64xa100";

double number(const std::string& text) {
  std::size_t read = 0;
  const double value = std::stod(text, &read);
  EXPECT_EQ(read, text.size()) << text;
  return value;
}

TEST(AppRun, WritesTextByDefault) {
  const std::string text = data_of(titer({"run", kRun}));
  EXPECT_TRUE(contains(text, "iteration time"));
  EXPECT_TRUE(contains(text, "GPT-3 175B on 64 x NVIDIA A100"));
  EXPECT_EQ(text, data_of(titer({"run", kRun, "--format", "text"})));
}

TEST(AppRun, WritesCsvWithAHeaderAndOneRow) {
  auto cells = only_row(data_of(titer({"run", kRun, "--format", "csv"})));
  EXPECT_EQ(cells["model"], "gpt3-175b");
  EXPECT_EQ(cells["devices"], std::to_string(8 * 8 * 1));
  EXPECT_GT(number(cells["iteration_time_s"]), 0.0);
}

TEST(AppRun, WritesJsonWithTheSameIterationTime) {
  const Document json = parse_json(data_of(titer({"run", kRun, "--format", "json"})), "out");
  auto cells = only_row(data_of(titer({"run", kRun, "--format", "csv"})));
  ASSERT_NE(json.at("iteration_time_s"), nullptr);
  EXPECT_EQ(json.at("iteration_time_s")->number, number(cells["iteration_time_s"]));
  EXPECT_EQ(json.at("format_version")->integer, 1);
}

TEST(AppRun, WritesTheSameBytesTwice) {
  for (const char* format : {"text", "csv", "json"}) {
    EXPECT_EQ(titer({"run", kRun, "--format", format}).out,
              titer({"run", kRun, "--format", format}).out);
  }
}

TEST(AppRun, TakesSetsAnywhereAndMoreThanOnce) {
  const auto changed = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "run");
    arguments.insert(arguments.end(), {"--format", "csv"});
    return data_of(titer(std::move(arguments)));
  };
  const std::string after =
      changed({kRun, "--set", "plan.micro_batch=2", "--set", "plan.recompute=full"});
  EXPECT_EQ(after, changed({"--set", "plan.micro_batch=2", "--set", "plan.recompute=full", kRun}));
  EXPECT_EQ(after, changed({"--set", "plan.micro_batch=2", kRun, "--set=plan.recompute=full"}));
  auto cells = only_row(after);
  EXPECT_EQ(cells["micro_batch"], "2");
  EXPECT_EQ(cells["micro_batches"], std::to_string(64 / 2));
  EXPECT_EQ(cells["recompute"], "full");
}

TEST(AppRun, LetsTheLastSetOfAPathWin) {
  auto cells = only_row(data_of(titer({"run",
                                       kRun,
                                       "--format=csv",
                                       "--set",
                                       "plan.micro_batch=2",
                                       "--set",
                                       "plan.micro_batch=4"})));
  EXPECT_EQ(cells["micro_batch"], "4");
}

// Both fidelities take every duration from the same functions; nothing overlaps here.
TEST(AppRun, GivesTheSameTimeByTheEventEngine) {
  auto closed = only_row(data_of(titer({"run", kRun, "--format", "csv"})));
  auto event = only_row(data_of(titer({"run", kRun, "--format", "csv", "--fidelity", "event"})));
  EXPECT_EQ(closed["iteration_time_s"], event["iteration_time_s"]);
  ASSERT_EQ(closed.size(), event.size());
  for (const auto& [column, cell] : closed) {
    if (column.ends_with("_s")) {  // sums of thousands of ticks, in another order
      EXPECT_NEAR(number(event[column]), number(cell), 1e-9) << column;
    }
  }
  EXPECT_EQ(closed["memory_peak_bytes"], event["memory_peak_bytes"]);
}

TEST(AppRun, ComputesTheSeedsFormula) {
  auto cells = only_row(data_of(titer(
      {"run", kRun, "--formula", "e7", "--set", "formula.utilization=0.4", "--format", "csv"})));
  EXPECT_EQ(cells["formula"], "e7");
  // E8: one replica, so that the ratio is exact.
  EXPECT_NEAR(number(cells["bubble_ratio"]), (8.0 - 1) / (64.0 + 8 - 1), 1e-12);
  EXPECT_EQ(number(cells["data_comm_s"]), 0.0);
}

TEST(AppRun, RefusesTheSeedsFormulaWithoutUtilization) {
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--formula", "e7"})),
            "--formula e7: formula.utilization: missing: expected the GPU utilization u that the "
            "formula e7 takes as given, such as 0.4");
}

TEST(AppRun, RefusesTheSeedsFormulaOnTheEventEngine) {
  const std::string line = refusal_of(titer(
      {"run", kRun, "--formula", "e7", "--set", "formula.utilization=0.4", "--fidelity", "event"}));
  EXPECT_TRUE(contains(line, "expected the fidelity closed"));
}

const std::vector<std::string> kTooSmall = {
    "run", kRun, "--set", "cluster.chip.memory.capacity=40 GiB"};

TEST(AppRunFailOn, GivesOneWhenThePlanDoesNotFit) {
  std::vector<std::string> arguments = kTooSmall;
  EXPECT_EQ(titer(arguments).code, 0) << "nobody asked";
  arguments.insert(arguments.end(), {"--fail-on", "out-of-memory"});
  const testing::Outcome outcome = titer(arguments);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(contains(outcome.out, "does not fit: stage 0 needs "));
  EXPECT_EQ(outcome.out, titer(kTooSmall).out);
}

TEST(AppRunFailOn, GivesZeroWhenThePlanFits) {
  EXPECT_EQ(titer({"run", kRun, "--fail-on", "out-of-memory"}).code, 0);
}

TEST(AppRunFailOn, RefusesAnUnknownCondition) {
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--fail-on", "out-of-memry"})),
            "--fail-on: out-of-memry: expected out-of-memory; did you mean \"out-of-memory\"?");
}

TEST(AppRun, ReportsEveryMistakeOfAFileAtOnce) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("run.json", R"({
  "model": "gpt3-175b",
  "cluster": "dgx-a100-80gb",
  "plan": {"tensr": 8},
  "training": {"global_batch": 0, "precision": "bf61"}
})");
  const testing::Outcome outcome = titer({"run", path});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  const std::vector<std::string> lines = outcome.errors();
  ASSERT_EQ(lines.size(), 3u) << outcome.err;
  EXPECT_EQ(lines[0], path + ":4:12: plan.tensr: unknown key; did you mean \"tensor\"?");
  EXPECT_TRUE(lines[1].starts_with(path + ":5:32: training.global_batch: 0: expected an integer"))
      << lines[1];
  EXPECT_TRUE(contains(lines[2], "training.precision: \"bf61\": expected one of: "));
  EXPECT_TRUE(contains(lines[2], "did you mean \"bf16\"?"));
}

TEST(AppRun, FindsDataBesideTheRunFile) {
  const testing::TemporaryFolder folder;
  const std::string model =
      testing::file_text(std::string(TITER_ROOT) + "/models/llama3.2-1b.json");
  static_cast<void>(folder.file("my-model.json", model));
  const std::string path =
      folder.file("run.json",
                  R"({"model": "my-model.json", "cluster": "dgx-h100", "plan": {},
          "training": {"global_batch": 1, "sequence": 2048}})");
  auto cells = only_row(data_of(titer({"run", path, "--format", "csv"})));
  EXPECT_EQ(cells["model"], "llama3.2-1b");
  EXPECT_EQ(cells["devices"], "1");
}

TEST(AppRun, SaysWhenStandardOutputIsFull) {
  const testing::Outcome outcome = titer({"run", kRun}, {.output = "/dev/full"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err, "standard output cannot be written\n");
}

}  // namespace
}  // namespace titer
