// titer run, from the outside.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "app/program.hpp"
#include "paths.hpp"
#include "titer/input/document.hpp"
#include "titer/units/text.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

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

TEST(AppRun, SaysWhereEventsSayAnotherTime) {
  const std::vector<std::string> asked = {"run",
                                          kRun,
                                          "--set",
                                          "stack=nemo",
                                          "--set",
                                          "cluster={\"name\": \"polaris\"}",
                                          "--set",
                                          "model=llama2-13b",
                                          "--set",
                                          "stack.overlap_slowdown=1.9",
                                          "--set",
                                          "plan={\"pipeline\": 8, \"tensor\": 1, \"data\": 4, "
                                          "\"virtual_stages\": 5}",
                                          "--set",
                                          "training={\"global_batch\": 32, \"sequence\": 1024}",
                                          "--format"};
  const auto in = [&](std::vector<std::string> more) {
    more.insert(more.begin(), asked.begin(), asked.end());
    return data_of(titer(std::move(more)));
  };
  auto closed = only_row(in({"csv"}));
  auto event = only_row(in({"csv", "--fidelity", "event"}));
  EXPECT_EQ(closed["event_iteration_time_s"], event["iteration_time_s"]);
  EXPECT_EQ(event.count("event_iteration_time_s"), 0U);
  const double time = number(event["iteration_time_s"]);
  const Document json = parse_json(in({"json"}), "out");
  EXPECT_EQ(json.at("event_iteration_time_s")->number, time);
  const bool outside =
      time < json.at("error_bar.low_s")->number || time > json.at("error_bar.high_s")->number;
  const double more = 100 * (time / number(closed["iteration_time_s"]) - 1);
  std::array<char, 32> percent{};
  std::snprintf(percent.data(), percent.size(), "%+.1f %%", more);
  const std::string line =
      "\nevents: " + format(Seconds::from_si(time)) + ", " + percent.data() +
      (outside ? ", outside the range above" : "") +
      ": what runs beside compute slows it down, which the closed form follows in part (--fidelity "
      "event)\n";
  EXPECT_TRUE(contains(in({"text"}), line)) << in({"text"});
  // Not where events were asked for, and not where nothing is slowed down.
  EXPECT_FALSE(contains(in({"text", "--fidelity", "event"}), "\nevents: "));
  const std::vector<std::string> free = {"--set", "stack.overlap_slowdown=1"};
  EXPECT_FALSE(contains(in({"text", free[0], free[1]}), "\nevents: "));
  EXPECT_EQ(only_row(in({"csv", free[0], free[1]})).count("event_iteration_time_s"), 0U);
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

TEST(AppRun, CountsSamplesWhereThereAreNoTokens) {
  const std::string text = data_of(titer({"run", "resnet-50-8xa100"}));
  EXPECT_TRUE(contains(text, "\n  samples per second        1")) << text;
  EXPECT_TRUE(contains(text, "\n  MFU                       ")) << text;
  EXPECT_FALSE(contains(text, "tokens")) << text;
  EXPECT_FALSE(contains(text, "causal")) << text;
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
  EXPECT_TRUE(contains(outcome.out, "; stack megatron-lm\ndoes not fit in memory (see below): "))
      << "before any figure";
  EXPECT_EQ(outcome.out, titer(kTooSmall).out);
}

TEST(AppRunFailOn, GivesZeroWhenThePlanFits) {
  EXPECT_EQ(titer({"run", kRun, "--fail-on", "out-of-memory"}).code, 0);
}

/// What was computed is not lost by a name that is none.
TEST(AppRunFailOn, RefusesAnUnknownCondition) {
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--fail-on", "out-of-memry"})),
            "--fail-on: out-of-memry: expected out-of-memory, or a figure and its limit, such as "
            "\"time>12s\" or \"mfu<40%\"; did you mean \"out-of-memory\"?");
  const auto error_of = [](const std::string& limit) {
    const testing::Outcome outcome = titer({"run", kRun, "--fail-on", limit});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, titer({"run", kRun}).out);
    EXPECT_EQ(outcome.errors().size(), 1U);
    return outcome.errors().front();
  };
  EXPECT_EQ(error_of("mfo<40%"),
            "--fail-on: mfo<40%: no number of this answer is called mfo; did you mean \"mfu\"?");
  EXPECT_TRUE(contains(error_of("speed<40%"),
                       "is called speed; expected one of its columns: devices, pipeline, "));
  EXPECT_EQ(error_of("time>12"),
            "--fail-on: time>12: 12: expected a value of iteration_time_s, such as 12s");
}

/// The iteration takes 14.78 s, MFU is 47.8 %.
TEST(AppRunFailOn, GivesOneWhereAFigureIsBeyondItsLimit) {
  const auto asked = [](const std::string& limits) {
    return titer({"run", kRun, "--fail-on", limits});
  };
  EXPECT_EQ(asked("time>20s,mfu<40%,memory > 70 GiB").code, 0);
  EXPECT_EQ(asked("tokens_per_s<9k").code, 1);
  const testing::Outcome slow = asked("mfu<0.4,iteration_time>12s");
  EXPECT_EQ(slow.code, 1);
  EXPECT_TRUE(slow.err.starts_with("--fail-on iteration_time>12s: iteration_time_s is 14."))
      << slow.err;
  EXPECT_EQ(slow.errors().size(), 1u);
  EXPECT_EQ(slow.out, titer({"run", kRun}).out);
}

/// One row that keeps all limits is enough.
TEST(AppRunFailOn, OfATableAsksForARowThatKeepsAllLimits) {
  const auto asked = [](const std::string& limits) {
    return titer({"search", kRun, "--top", "3", "--fail-on", limits});
  };
  EXPECT_EQ(asked("mfu<10%,out-of-memory").code, 0);
  const testing::Outcome none = asked("mfu<99%");
  EXPECT_EQ(none.code, 1);
  EXPECT_TRUE(contains(none.err, ", the best of 3 rows\n")) << none.err;
  EXPECT_EQ(titer({"collective",
                   "--cluster=dgx-h100",
                   "--op=all_reduce",
                   "--bytes=64MiB",
                   "--ranks=0-15",
                   "--fail-on=time>1us"})
                .code,
            1);
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

TEST(AppRun, SaysWhatTakesAFileOfAnotherKind) {
  const testing::TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    const testing::Outcome outcome = titer({"run", folder.file("other.json", text)});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.errors().size(), 1u) << outcome.err;
    return outcome.err;
  };
  EXPECT_TRUE(contains(refusal(R"({"scenario": "gpt3-175b-64xa100", "axes": []})"),
                       "other.json:1:43: axes: this is a sweep, no scenario: `titer sweep "));
  EXPECT_TRUE(contains(refusal(R"({"scenario": "gpt3-175b-64xa100", "phases": []})"),
                       "phases: this is a course, no scenario: `titer course "));
  EXPECT_TRUE(contains(refusal(R"({"name": "own", "layers": 2, "hidden": 64})"),
                       "layers: this is a model, no scenario: `titer new --model "));
}

/// What changes the question is said, in every format; of a run that says all, nothing.
TEST(AppRun, SaysWhatItAssumedAndWhatTheSoftwareDoesNotHave) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("run.json", R"({
  "model": "gpt3-175b", "cluster": "dgx-a100-80gb",
  "plan": {"pipeline": 8, "tensor": 8, "schedule": "dualpipe", "recompute": "full"},
  "training": {"global_batch": 64, "precision": "fp8"}
})");
  const std::string assumed =
      "training.sequence is not given: 2048 tokens, the longest of the model";
  const std::string beyond = "beyond what megatron-lm can do: schedule dualpipe, precision fp8";
  const std::vector<std::string> run = {"run", path, "--set=cluster=dgx-h100"};
  const std::string text = data_of(titer(run));
  EXPECT_TRUE(contains(text, "note: " + assumed + "\nnote: " + beyond + "\n"));
  const Document json =
      parse_json(data_of(titer({run[0], run[1], run[2], "--format=json"})), "out");
  ASSERT_NE(json.at("notes.1"), nullptr);
  EXPECT_EQ(json.at("notes.0")->text, assumed);
  EXPECT_EQ(json.at("notes.1")->text, beyond);
  const std::string csv = data_of(titer({run[0], run[1], run[2], "--format=csv"}));
  EXPECT_TRUE(contains(csv, ",notes\n"));
  EXPECT_TRUE(contains(csv, assumed + "; " + beyond));
  EXPECT_EQ(data_of(titer({"run", kRun})).find("note"), std::string::npos);
}

TEST(AppRun, FindsDataBesideTheRunFile) {
  const testing::TemporaryFolder folder;
  const std::string model = file_text(root().string() + "/models/llama3.2-1b.json");
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

TEST(AppRun, SimulatesEveryRankOnRequestWithTheSameAnswer) {
  const std::vector<std::string> folded = {"run", kRun, "--fidelity", "event", "--format", "json"};
  std::vector<std::string> every = folded;
  every.emplace_back("--every-rank");
  const std::string json = data_of(titer(folded));
  EXPECT_EQ(data_of(titer(every)), json);
  EXPECT_TRUE(contains(json, "memory_peak_operation"));
}

TEST(AppRun, FollowsEveryRankByEventsUnlessToldOtherwise) {
  const std::string event = data_of(titer({"run", kRun, "--fidelity", "event"}));
  EXPECT_EQ(data_of(titer({"run", kRun, "--every-rank"})), event);
  EXPECT_TRUE(contains(event, "what each pipeline stage does"));
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--every-rank", "--fidelity", "closed"})),
            "--every-rank: expected --fidelity event: the closed form follows no single rank");
}

TEST(AppRunTrace, WritesTheTimelineBesideTheSameResult) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  const std::vector<std::string> run = {"run", kRun, "--fidelity", "event", "--format", "json"};
  std::vector<std::string> traced = run;
  traced.insert(traced.end(), {"--trace", path});
  const std::string json = data_of(titer(run));
  EXPECT_EQ(data_of(titer(traced)), json);
  const std::string trace = file_text(path);
  EXPECT_EQ(trace, data_of(titer({"timeline", kRun, "--format", "trace"})));
  const Document parsed = parse_json(trace, "trace");
  std::size_t stages = 0;
  double end = 0.0;
  for (const Value& event : parsed.at("traceEvents")->items) {
    stages += event.find("name")->text == "process_name" ? 1u : 0u;
    if (event.find("ph")->text == "X") {
      end = std::max(end, event.find("ts")->number + event.find("dur")->number);
    }
  }
  EXPECT_EQ(stages, 8u);
  // Microseconds, written to the nanosecond.
  EXPECT_NEAR(end, parse_json(json, "out").at("iteration_time_s")->number * 1e6, 1e-3);
}

/// What overlaps in a step: data transfers, sends and transfers beside compute.
std::vector<std::string> overlapping(const std::string& trace) {
  std::vector<std::string> arguments = {"run", kRun, "--trace", trace};
  for (const char* set : {"plan.data=2",
                          "cluster.nodes=16",
                          "plan.pipeline_send=overlapped",
                          "plan.overlap_grad_reduce=true",
                          "training.global_batch=48"}) {
    arguments.insert(arguments.end(), {"--set", set});
  }
  return arguments;
}

TEST(AppRunTrace, ShowsEveryLaneOneSpanAfterTheOther) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  data_of(titer(overlapping(path)));
  const Document trace = parse_json(file_text(path), "trace");
  std::map<std::pair<std::int64_t, std::int64_t>, double> busy_until;
  std::set<std::string> parts;
  for (const Value& event : trace.at("traceEvents")->items) {
    if (event.find("name")->text == "thread_name") {
      EXPECT_FALSE(contains(event.find("args")->find("name")->text, "beside"));
    }
    if (event.find("ph")->text == "X") {
      const std::pair lane(event.find("pid")->integer, event.find("tid")->integer);
      double& end = busy_until.try_emplace(lane, 0.0).first->second;
      EXPECT_GE(event.find("ts")->number, end - 1e-6);  // 1e-3 is a nanosecond
      end = event.find("ts")->number + event.find("dur")->number;
      parts.insert(event.find("cat")->text);
    }
  }
  for (const char* part : {"forward", "backward", "optimizer", "tensor comm", "data comm"}) {
    EXPECT_TRUE(parts.contains(part)) << part;
  }
}

TEST(AppRunTrace, LeavesNothingWhereItCannotBeWritten) {
  const testing::TemporaryFolder folder;
  const std::string nowhere = (folder.path() / "no" / "trace.json").string();
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--trace", nowhere})),
            nowhere + ": cannot be written; expected a path in a folder that exists");
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--trace", folder.path().string()})),
            folder.path().string() + ": is a folder; expected a file");
  EXPECT_TRUE(contains(refusal_of(titer({"run", kRun, "--trace", "/dev/full"})),
                       "/dev/full: cannot be written any further"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AppRunTrace, RefusesWhatHasNoTimeline) {
  const testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  EXPECT_EQ(refusal_of(titer({"run", kRun, "--trace", path, "--fidelity", "closed"})),
            "--trace: expected --fidelity event: the closed form follows no single rank");
  EXPECT_TRUE(contains(
      refusal_of(titer(
          {"run", kRun, "--trace", path, "--formula", "e7", "--set", "formula.utilization=0.4"})),
      "expected the fidelity closed"));
  // Every one of 16,384 devices: more than a trace should hold.
  EXPECT_TRUE(contains(
      refusal_of(titer({"run", "llama3-405b-16384xh100", "--every-rank", "--trace", path})),
      "expected at most 20000000 to record"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AppRun, FollowsTransfersOnTheLinksOfTheCluster) {
  const std::string json =
      data_of(titer({"run", kRun, "--fidelity", "network", "--format", "json"}));
  EXPECT_TRUE(contains(json, "\"contention\""));
  EXPECT_TRUE(contains(json, "\"patterns_found\""));
  EXPECT_TRUE(contains(data_of(titer({"run", kRun, "--fidelity", "network"})), "links: "));
  EXPECT_TRUE(contains(refusal_of(titer({"run", kRun, "--fidelity", "network", "--every-rank"})),
                       "--every-rank: expected --fidelity event"));
  EXPECT_FALSE(contains(data_of(titer({"run", kRun, "--fidelity", "event", "--format", "json"})),
                        "\"contention\""));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
