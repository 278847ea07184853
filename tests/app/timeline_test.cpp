// titer timeline, from the outside.

#include <gtest/gtest.h>

#include <filesystem>

#include "paths.hpp"
#include "titer/input/document.hpp"
#include "titer/plan/schedule/schedule.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

/// titer timeline --schedule 1f1b of 4 ranks and 8 micro-batches, and more.
Outcome drawn(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {
      "timeline", "--schedule", "1f1b", "--pipeline", "4", "--micro-batches", "8"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return titer(arguments);
}

TEST(AppTimeline, DrawsAScheduleByItself) {
  const std::string text = data_of(drawn());
  EXPECT_TRUE(contains(text, "stage 3  .........F0 B0--- F1 B1---"));
  EXPECT_TRUE(contains(text, "(p - 1) (F + B + W) / v"));
  EXPECT_TRUE(contains(data_of(drawn({"--width", "40"})), "stage 3  ...FBBFBB"));
}

TEST(AppTimeline, TakesDurationsAndChunks) {
  const Document json = parse_json(data_of(drawn({"--virtual-stages",
                                                  "2",
                                                  "--forward",
                                                  "1",
                                                  "--input-gradient",
                                                  "1.5",
                                                  "--weight-gradient",
                                                  "0.5",
                                                  "--format",
                                                  "json"})),
                                   "out");
  EXPECT_DOUBLE_EQ(json.at("bubble")->number, 3 * (1 + 1.5 + 0.5) / 2);
  EXPECT_EQ(json.at("spans")->items.size(), 2u * 2 * 4 * 8);
}

TEST(AppTimeline, GroupsMicroBatchesAsAsked) {
  const Document json = parse_json(
      data_of(drawn({"--virtual-stages", "2", "--micro-batch-group", "8", "--format", "json"})),
      "out");
  // 2 (p - 1) + (v - 1) g + 1 chunks are alive on the first rank.
  EXPECT_EQ(json.at("peak_chunks.0")->integer, 2 * 3 + 8 + 1);
}

TEST(AppTimeline, WritesATableAndATrace) {
  const auto rows = parse_csv(data_of(drawn({"--format", "csv"})));
  ASSERT_EQ(rows.size(), 1u + 2 * 4 * 8);
  EXPECT_EQ(rows[1][7], "0");
  const Document trace = parse_json(data_of(drawn({"--format", "trace"})), "out");
  EXPECT_TRUE(trace.at("otherData.program")->text.starts_with("titer "));
  EXPECT_EQ(trace.at("otherData.program")->text + "\n", data_of(titer({"--version"})));
}

TEST(AppTimeline, DrawsAScenarioInRealTime) {
  const std::string text = data_of(titer({"timeline", "gpt3-175b-64xa100"}));
  EXPECT_TRUE(contains(text, "stage 0"));
  EXPECT_TRUE(contains(text, "one iteration of "));
  const std::string other = data_of(titer({"timeline",
                                           "gpt3-175b-64xa100",
                                           "--set",
                                           "stack.abilities=null",
                                           "--set",
                                           "plan.schedule=gpipe",
                                           "--set",
                                           "plan.virtual_stages=1",
                                           "--format",
                                           "svg"}));
  EXPECT_TRUE(contains(other, "80 GB: gpipe<"));
  EXPECT_TRUE(contains(other, "time, s"));
}

TEST(AppTimeline, DrawsEveryDeviceOnRequest) {
  const std::vector<std::string> small = {
      "timeline", "gpt3-175b-64xa100", "--set", "training.global_batch=8", "--format", "json"};
  std::vector<std::string> every = small;
  every.emplace_back("--every-rank");
  const Document folded = parse_json(data_of(titer(small)), "out");
  const Document all = parse_json(data_of(titer(every)), "out");
  EXPECT_EQ(folded.at("ranks")->items.size(), 8u);
  EXPECT_EQ(all.at("ranks")->items.size(), 8u * 8);
  EXPECT_EQ(all.at("spans")->items.size(), 8 * folded.at("spans")->items.size());
  EXPECT_EQ(all.at("makespan_s")->number, folded.at("makespan_s")->number);
  EXPECT_TRUE(contains(
      data_of(titer(
          {"timeline", "gpt3-175b-64xa100", "--set", "training.global_batch=8", "--every-rank"})),
      "stage 7, tensor 7, data 0"));
}

/// A picture of a schedule: what it computes when, without its name and figures.
std::vector<std::vector<std::string>> computed(const std::string& schedule) {
  return parse_csv(data_of(titer({"timeline",
                                  "--schedule",
                                  schedule,
                                  "--pipeline",
                                  "4",
                                  "--micro-batches",
                                  "8",
                                  "--format",
                                  "csv"})));
}

TEST(AppTimeline, DrawsWhatItsListsOfActionsSay) {
  const TemporaryFolder folder;
  std::size_t drawn_again = 0;
  for (const auto& row : parse_csv(data_of(titer({"list", "schedules", "--format", "csv"})))) {
    if (row.front() == "schedule" || row.front() == "FILE.csv") {
      continue;
    }
    const std::string actions = data_of(titer({"timeline",
                                               "--schedule",
                                               row.front(),
                                               "--pipeline",
                                               "4",
                                               "--micro-batches",
                                               "8",
                                               "--format",
                                               "actions"}));
    const std::string file = folder.file(row.front() + ".csv", actions);
    EXPECT_EQ(computed(file), computed(row.front())) << row.front();
    ++drawn_again;
  }
  EXPECT_EQ(drawn_again, schedule_entries().size());
}

TEST(AppTimeline, WritesAFileWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "picture.svg").string();
  const Outcome outcome = drawn({"--format", "svg", "--out", path});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(file_text(path), data_of(drawn({"--format", "svg"})));
  const std::string nowhere = (folder.path() / "no" / "trace.json").string();
  EXPECT_EQ(refusal_of(drawn({"--format", "trace", "--out", nowhere})),
            nowhere + ": cannot be written; expected a path in a folder that exists");
  const std::string refused = (folder.path() / "other.svg").string();
  refusal_of(drawn({"--virtual-stages", "3", "--micro-batches", "7", "--out", refused}));
  EXPECT_FALSE(std::filesystem::exists(refused));
}

TEST(AppTimeline, DrawsThePicturesOfTheReadme) {
  const std::string folder = root().string() + "/.pictures/";
  EXPECT_EQ(data_of(titer({"timeline",
                           "--schedule=1f1b,interleaved,zb-h1,zb-v,dualpipev",
                           "--pipeline=4",
                           "--micro-batches=8",
                           "--memory",
                           "--format=svg"})),
            file_text(folder + "schedules.svg"));
  EXPECT_EQ(data_of(titer({"timeline",
                           "--schedule",
                           "zb-v",
                           "--pipeline",
                           "4",
                           "--micro-batches",
                           "8",
                           "--format",
                           "svg"})),
            file_text(folder + "zb-v.svg"));
}

TEST(AppTimeline, DrawsSeveralSchedulesOnOneAxis) {
  const auto drawn = [](const std::string& format) {
    return titer({"timeline",
                  "--schedule=1f1b,interleaved,zb-h1",
                  "--pipeline=4",
                  "--micro-batches=8",
                  "--format=" + format});
  };
  const std::string text = data_of(drawn("text"));
  // Chunks are half as long as passes of a rank, in all pictures.
  EXPECT_TRUE(contains(text, "\nstage 3  ............F0- B0----- F1- "));
  EXPECT_TRUE(contains(text, "\nstage 3  ......F0F1F2F3F0B0--F1B1--"));
  EXPECT_TRUE(contains(text, "\n  1f1b           2      28.5        4.5        15.8 %    18.8 % "));
  const auto rows = parse_csv(data_of(drawn("csv")));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0][0], "schedule");
  EXPECT_EQ(rows[3][0], "zb-h1");
  EXPECT_EQ(rows[3][4], "27");
  const Document json = parse_json(data_of(drawn("json")), "out");
  EXPECT_EQ(json.at("schedules")->items.size(), 3u);
  EXPECT_EQ(json.at("schedules.1.virtual_stages")->integer, 2);
  EXPECT_TRUE(contains(refusal_of(drawn("trace")), "--format: \"trace\": expected one schedule"));
}

TEST(AppTimeline, DrawsForPapersAndSaysWhatHasNoPlaceInAFormat) {
  EXPECT_TRUE(data_of(drawn({"--format", "pdf", "--memory"})).starts_with("%PDF-1.4\n"));
  EXPECT_TRUE(
      contains(data_of(drawn({"--format", "tikz", "--palette", "grey"})), "\\begin{tikzpicture}"));
  const std::string text = data_of(drawn({"--memory"}));
  EXPECT_TRUE(contains(text, "  4\nstage 1  ")) << text;
  EXPECT_TRUE(contains(data_of(titer({"timeline", "gpt3-175b-64xa100", "--memory"})),
                       "memory in use, GiB, of 80; "));
  EXPECT_EQ(refusal_of(drawn({"--memory", "--format", "csv"})),
            "--memory: expected --format text, svg, png, pdf or tikz, got csv");
  EXPECT_EQ(refusal_of(drawn({"--palette", "grey"})),
            "--palette: expected --format svg, png, pdf or tikz, got text");
  EXPECT_TRUE(contains(refusal_of(drawn({"--palette", "gray", "--format", "svg"})), "grey"));
}

TEST(AppTimeline, KnowsInterleavedSchedulesByThatName) {
  const auto drawn = [](const std::string& schedule, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "timeline", "--schedule", schedule, "--pipeline", "4", "--micro-batches", "8"};
    words.insert(words.end(), more.begin(), more.end());
    return titer(words);
  };
  EXPECT_EQ(data_of(drawn("interleaved", {})), data_of(drawn("1f1b", {"--virtual-stages", "2"})));
  EXPECT_EQ(data_of(drawn("interleaved", {"--virtual-stages", "4"})),
            data_of(drawn("1f1b", {"--virtual-stages", "4"})));
  EXPECT_TRUE(contains(refusal_of(drawn("interleaved", {"--virtual-stages", "1"})),
                       "--virtual-stages: 1: expected 2 to "));
}

TEST(AppTimeline, SaysWhatAScheduleCannotHave) {
  EXPECT_TRUE(
      contains(refusal_of(titer({"timeline",
                                 "--schedule",
                                 "1f1b",
                                 "--pipeline",
                                 "4",
                                 "--micro-batches",
                                 "7",
                                 "--virtual-stages",
                                 "2"})),
               "--schedule 1f1b: expected the 7 micro-batches to be a multiple of the 4 stages"));
  EXPECT_TRUE(contains(refusal_of(titer({"timeline",
                                         "--schedule",
                                         "gpipe",
                                         "--pipeline",
                                         "4",
                                         "--micro-batches",
                                         "8",
                                         "--virtual-stages",
                                         "2"})),
                       "--virtual-stages: 2: expected 1"));
}

TEST(AppTimeline, RefusesInOneSentence) {
  EXPECT_TRUE(
      contains(refusal_of(titer({"timeline"})), "expected either a scenario, or --schedule"));
  EXPECT_TRUE(contains(refusal_of(titer({"timeline", "--schedule", "1f1b"})), "--pipeline"));
  EXPECT_TRUE(contains(refusal_of(titer({"timeline", "--pipeline", "4"})), "--schedule"));
  EXPECT_TRUE(contains(refusal_of(drawn({"gpt3-175b-64xa100"})), "expected either"));
  EXPECT_TRUE(contains(refusal_of(drawn({"--format", "svgg"})), "did you mean \"svg\"?"));
  EXPECT_TRUE(contains(refusal_of(drawn({"--width", "3"})),
                       "width: 3: expected an integer from 20 to 100000"));
  EXPECT_TRUE(
      contains(refusal_of(drawn({"--forward", "-1"})), "forward: -1: expected a number from 0 to"));
  EXPECT_TRUE(contains(refusal_of(drawn({"--forward", "nan"})), "--forward"));
  EXPECT_TRUE(contains(refusal_of(drawn({"--forward", "x"})), "--forward"));
  EXPECT_TRUE(contains(
      refusal_of(drawn({"--forward", "0", "--input-gradient", "0", "--weight-gradient", "0"})),
      "expected durations whose sum"));
  EXPECT_TRUE(contains(refusal_of(drawn({"--micro-batch-group", "3", "--virtual-stages", "2"})),
                       "expected groups of at least 4"));
  EXPECT_TRUE(contains(
      refusal_of(
          titer({"timeline", "--schedule", "1f1", "--pipeline", "4", "--micro-batches", "8"})),
      "did you mean \"1f1b\"?"));
  EXPECT_TRUE(contains(
      refusal_of(
          titer({"timeline", "--schedule", "1f1b", "--pipeline", "0", "--micro-batches", "8"})),
      "pipeline: 0: expected an integer from 1 to 4096"));
  EXPECT_TRUE(contains(
      refusal_of(titer(
          {"timeline", "--schedule", "1f1b", "--pipeline", "4096", "--micro-batches", "1000000"})),
      "expected at most 4000000 passes"));
}

TEST(AppTimeline, GivesTheSameBytesEveryTime) {
  for (const char* format : {"text", "csv", "json", "svg", "trace"}) {
    EXPECT_EQ(data_of(drawn({"--format", format})), data_of(drawn({"--format", format})));
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
