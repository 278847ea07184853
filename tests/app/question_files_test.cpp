// Questions whose answers are pictures and files, asked on the command line and as documents.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "titer/ask/question.hpp"
#include "titer/ask/run.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kRun = "gpt3-175b-64xa100";

Answer answer_to(const std::string& question, const AnswerLimits& limits = {}) {
  return ask(parse_json(question, "question.json"), limits);
}

std::string refused(const std::string& question, const AnswerLimits& limits = {}) {
  try {
    static_cast<void>(answer_to(question, limits));
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "answered";
}

void expect_views(const Answer& answer, std::vector<std::string> words) {
  words.insert(words.end(), {"--format", "text"});
  EXPECT_EQ(answer.view.as_text(), data_of(titer(words)));
  words.back() = "csv";
  EXPECT_EQ(answer.view.as_csv(), data_of(titer(words)));
  words.back() = "json";
  EXPECT_EQ(answer.view.json_text(), data_of(titer(words)));
}

TEST(FileQuestions, OfSchedulesAreAnsweredAlike) {
  expect_views(answer_to(R"({"question": "timeline", "schedule": "1f1b", "pipeline": 4,
                             "micro_batches": 8, "virtual_stages": 2, "weight_gradient": 0.5,
                             "memory": false})"),
               {"timeline",
                "--schedule=1f1b",
                "--pipeline=4",
                "--micro-batches=8",
                "--virtual-stages=2",
                "--weight-gradient=0.5"});
  expect_views(answer_to(R"({"question": "timeline", "schedule": ["1f1b", "zb-h1"], "pipeline": 4,
                             "micro_batches": 8})"),
               {"timeline", "--schedule=1f1b,zb-h1", "--pipeline=4", "--micro-batches=8"});
}

TEST(FileQuestions, OfAScenariosTimelineAreAnsweredAlike) {
  expect_views(answer_to(R"({"question": "timeline", "scenario": "gpt3-175b-64xa100",
                             "set": {"training.global_batch": 16}, "width": 100})"),
               {"timeline", kRun, "--set=training.global_batch=16", "--width=100"});
}

TEST(FileQuestions, OfTimelinesSayWhatIsMissing) {
  const std::string either = "timeline: expected either a scenario, or --schedule";
  EXPECT_TRUE(refused(R"({"question": "timeline"})").starts_with(either));
  EXPECT_TRUE(refused(R"({"question": "timeline", "schedule": "1f1b", "pipeline": 4,
                          "micro_batches": 8, "scenario": "gpt3-175b-64xa100"})")
                  .starts_with(either));
  EXPECT_NE(refused(R"({"question": "timeline", "pipeline": 4})").find("only beside schedule"),
            std::string::npos);
}

// A list of actions is a file, also where it stands before or behind names.
TEST(FileQuestions, OfTimelinesReadNoFilesWhereNoneMayBeRead) {
  for (const std::string_view schedule :
       {R"("mine.csv")", R"("mine.csv,1f1b")", R"(["1f1b", "a,b"])"}) {
    const std::string question = R"({"question": "timeline", "pipeline": 4, "micro_batches": 8,
                                     "schedule": )" +
                                 std::string(schedule) + "}";
    EXPECT_NE(refused(question, {.may_read_files = false}).find("no file is read here"),
              std::string::npos)
        << schedule;
  }
  EXPECT_EQ(refused(R"({"question": "timeline", "pipeline": 4, "micro_batches": 8,
                        "schedule": "1f1b,interleaved"})",
                    {.may_read_files = false}),
            "answered");
}

TEST(FileQuestions, OfTimelinesFitTheirColumns) {
  TimelineRequest request{.schedules = {"1f1b"}, .pipeline = 4, .micro_batches = 8, .columns = 80};
  const std::string text = ask(request).view.as_text();
  EXPECT_LE(text.find('\n', text.find("stage 0")) - text.find("stage 0"), 80U);
  request.width = 120;
  EXPECT_GT(ask(request).view.as_text().size(), text.size());
}

TEST(FileQuestions, HandTimelinesToWhoWantsThemAlone) {
  std::string called;
  const TimelineRequest request{
      .schedules = {"1f1b"},
      .pipeline = 2,
      .micro_batches = 3,
      .record = [&](const StepTimeline& timeline, const std::string& title) {
        EXPECT_EQ(timeline.spans.size(), 2U * 2 * 3);
        called = title;
      }};
  EXPECT_TRUE(ask(request).view.as_text().empty());
  EXPECT_EQ(called, "1f1b: 2 stages, 3 micro-batches");
}

TEST(FileQuestions, OfLaunchersAreTheFile) {
  const Answer answer = answer_to(R"({"question": "export", "format": "megatron",
                                      "scenario": "gpt3-175b-64xa100"})");
  EXPECT_EQ(answer.view.as_text(), titer({"export", kRun, "--format", "megatron"}).out);
  EXPECT_EQ(answer.view.as_json().find("text")->text, answer.view.as_text());
}

TEST(FileQuestions, OfStepsAreTheGoalSchedule) {
  const Answer answer = answer_to(R"({"question": "export", "format": "goal", "detail": "pass",
                                      "scenario": "gpt3-175b-64xa100",
                                      "set": {"training.global_batch": 8}})");
  EXPECT_EQ(
      answer.view.as_json().find("text")->text,
      data_of(titer(
          {"export", kRun, "--format=goal", "--detail=pass", "--set=training.global_batch=8"})));
}

TEST(FileQuestions, HoldNoFilesThatAreLargeOrBinary) {
  EXPECT_NE(refused(R"({"question": "export", "format": "goal", "detail": "operation",
                        "scenario": "gpt3-175b-64xa100"})")
                .find("export: more than 64 MiB"),
            std::string::npos);
  const std::string chakra =
      refused(R"({"question": "export", "format": "chakra", "scenario": "gpt3-175b-64xa100"})");
  EXPECT_TRUE(chakra.find("expected titer export") != std::string::npos ||
              chakra.find("built without protobuf") != std::string::npos)
      << chakra;
}

TEST(FileQuestions, HandFilesToWhoWritesThem) {
  std::string text;
  std::size_t told = 0;
  const ExportRequest request{
      .scenario = {.what = kRun,
                   .changes =
                       parse_assignments(std::vector<std::string>{"training.global_batch=8"})},
      .format = "goal",
      .detail = "pass",
      .progress =
          [&](std::size_t done, std::size_t of) {
            EXPECT_EQ(done, ++told);
            EXPECT_EQ(of, 64U);
          },
      .write =
          [&](const std::string& file, std::string_view piece) {
            EXPECT_EQ(file, "");
            text += piece;
          }};
  EXPECT_TRUE(ask(request).view.as_text().empty());
  EXPECT_TRUE(text.starts_with("num_ranks 64\n"));
  EXPECT_EQ(told, 64U);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
