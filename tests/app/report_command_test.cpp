// titer report, from the outside: several answers in one page of HTML.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "view/html.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kTwo = R"({"title": "Two questions", "answers": [
  {"question": "How long?", "command": "titer run gpt3-175b-64xa100"},
  {"command": "titer check 'gpt3-175b-64xa100' --set plan.recompute=none --set plan.micro_batch=4"}
]})";

TEST(AppReportCommand, HasEveryAnswerAsItsOwnReportHasIt) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "all.html").string();
  const Outcome outcome = titer({"report", folder.file("two.json", kTwo), "--out", path});
  EXPECT_EQ(outcome.code, 1) << "the second does not fit: " << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  const Report report(file_text(path));
  EXPECT_EQ(report.count("//article"), 2u);
  EXPECT_EQ(report.words("//nav//li[2]/p[@class='no']"), "The answer is no.");

  const std::string alone = (folder.path() / "one.html").string();
  data_of(titer({"run", "gpt3-175b-64xa100", "--report", alone}));
  const Report one(file_text(alone));
  EXPECT_EQ(report.words("//article[1]//section[@class='answer']"),
            one.words("//section[@class='answer']"));
  EXPECT_EQ(report.words("//article[1]//section[@class='pictures']"),
            one.words("//section[@class='pictures']"));
  EXPECT_EQ(report.count("//article[1]//details"), one.count("//details"));
}

TEST(AppReportCommand, IsTheSameAgainAndOnStandardOutput) {
  const TemporaryFolder folder;
  const std::string file = folder.file("two.json", kTwo);
  const Outcome first = titer({"report", file});
  EXPECT_TRUE(first.out.starts_with("<!DOCTYPE html>")) << "and nothing that its commands print";
  EXPECT_EQ(first.out, titer({"report", file}).out);
  const std::string again =
      folder.file("again.json", Report(first.out).words("//main/details/pre"));
  EXPECT_EQ(Report(titer({"report", again}).out).words("//main/article[1]"),
            Report(first.out).words("//main/article[1]"))
      << "it holds its questions";
}

TEST(AppReportCommand, SaysAllThatIsWrongWithItsFileAtOnce) {
  const TemporaryFolder folder;
  const std::string file = folder.file("a.json", R"({"answers": [
{"command": "run gpt3-175b-64xa100"},
{"command": "titer run gpt3-175b-64xa100 | less"},
{"command": "titer rum gpt3-175b-64xa100"},
{"command": "titer list models"},
{"command": "titer run gpt3-175b-64xa100 --report a.html"},
{"command": "titer --version"},
{"question": "?"}
]})");
  const Outcome outcome = titer({"report", file});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  const std::vector<std::string> errors = outcome.errors();
  ASSERT_EQ(errors.size(), 8u) << outcome.err;
  const auto expect_error = [&](const std::string& begin, std::string_view part) {
    const bool found = std::any_of(errors.begin(), errors.end(), [&](const std::string& line) {
      return line.starts_with(file + begin) && line.find(part) != std::string::npos;
    });
    EXPECT_TRUE(found) << begin << " … " << part << "\n" << outcome.err;
  };
  expect_error(":1:", "title: missing");
  expect_error(":2:13: answers.0.command: ", "expected a command as it is typed");
  expect_error(":3:13: answers.1.command: ", "no shell reads it");
  expect_error(":4:13: answers.2.command: ", "did you mean \"run\"?");
  expect_error(":5:13: answers.3.command: ", "list has no report; expected one of calibrate, ");
  expect_error(":6:13: answers.4.command: ", "expected neither --report nor --plot");
  expect_error(":7:13: answers.5.command: ", "expected a command that answers a question");
  expect_error(":8:", "answers.6.command: missing");
}

TEST(AppReportCommand, SaysWhatIsWrongWithQuestionsAndWritesNothing) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "all.html").string();
  const std::string file = folder.file("a.json", R"({"title": "a", "answers": [
{"command": "titer run no-such-run"},
{"command": "titer run gpt3-175b-64xa100 --set plan.tensor=3"}]})");
  const Outcome outcome = titer({"report", file, "--out", path});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.err, file + ":2:13: answers.0.command: no-such-run: "));
  EXPECT_TRUE(contains(outcome.err, file + ":3:13: answers.1.command: "));
  EXPECT_FALSE(std::filesystem::exists(path)) << "whole or not at all";
  EXPECT_TRUE(
      contains(refusal_of(titer({"report", file, "--out", "/no/such/a.html"})), "/no/such"));
  EXPECT_TRUE(contains(
      refusal_of(titer({"report", folder.file("b.json", R"({"title": "a", "answers": []})")})),
      "expected a question or more"));
  EXPECT_TRUE(
      contains(refusal_of(titer({"report", "llama3-70b-10t-token"})), "llama3-70b-10t-tokens"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
