// Questions as JSON: the same answers as the library's requests, and nothing read from files that a
// question names.

#include "titer/web/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "paths.hpp"
#include "titer/ask/run.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/web/page.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr const char* kScenario =
    R"({"model":"llama3-70b","cluster":{"name":"dgx-h100","nodes":8},)"
    R"("plan":{"pipeline":4,"tensor":8,"sequence_parallel":true,"sharding":"zero1"},)"
    R"("training":{"global_batch":128,"sequence":8192,"precision":"bf16"}})";

std::string about(const std::string& question, const std::string& scenario) {
  return R"({"question":")" + question + R"(","scenario":)" + scenario;
}

Value answer_of(const std::string& question, const WebLimits& limits = {}) {
  return web_answer(question, "question", limits);
}

/// The only error of the answer.
std::string error_of(const std::string& question) {
  const Value answer = answer_of(question);
  const Value* errors = answer.find("errors");
  if (errors == nullptr || errors->items.size() != 1) {
    ADD_FAILURE() << to_json(answer);
    return "";
  }
  return errors->items.front().text;
}

TEST(WebAnswer, OfARunHasItsFiguresAndElements) {
  const Value answer = answer_of(about("run", kScenario) + "}");
  const Answer asked = ask(RunRequest{.scenario = {.what = std::string("llama3-70b-64xh100")}});
  ASSERT_NE(answer.find("figures"), nullptr) << to_json(answer);
  EXPECT_EQ(to_json(*answer.find("figures")), to_json(asked.view.as_json()));
  EXPECT_TRUE(answer.find("good")->boolean);
  const std::string& html = answer.find("html")->text;
  EXPECT_NE(html.find("<dl class=\"cards\">"), html.npos);
  EXPECT_NE(html.find("svg"), html.npos);
  EXPECT_EQ(html.find("<html"), html.npos);  // no page of its own
}

TEST(WebAnswer, SaysWhereAPlanDoesNotFit) {
  std::string scenario = kScenario;
  scenario.replace(scenario.find("\"tensor\":8"), 10, "\"tensor\":1");
  scenario.replace(scenario.find("\"sequence_parallel\":true,"), 25, "");
  const Value answer = answer_of(about("run", scenario) + "}");
  ASSERT_NE(answer.find("good"), nullptr) << to_json(answer);
  EXPECT_FALSE(answer.find("good")->boolean);
}

TEST(WebAnswer, OfAReportIsAPage) {
  const Value answer = answer_of(about("run", kScenario) + R"(,"report":true})");
  ASSERT_NE(answer.find("text"), nullptr) << to_json(answer);
  EXPECT_TRUE(answer.find("text")->text.starts_with("<!DOCTYPE html>"));
}

TEST(WebAnswer, OfATableIsCsv) {
  const Value answer = answer_of(about("run", kScenario) + R"(,"csv":true})");
  ASSERT_NE(answer.find("text"), nullptr) << to_json(answer);
  const std::string& csv = answer.find("text")->text;
  EXPECT_TRUE(csv.starts_with("asked,model,")) << csv.substr(0, 100);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 2) << csv;
}

TEST(WebAnswer, OfASearchHasPlansToTakeOver) {
  const Value answer =
      answer_of(R"({"question":"search","top":2,"best_of":"plan","search":{"scenario":)" +
                std::string(kScenario) + R"(,"space":{"pipeline":[4]}}})");
  ASSERT_NE(answer.at("figures.plans"), nullptr) << to_json(answer);
  EXPECT_EQ(answer.at("figures.plans")->items.size(), 2U);
  EXPECT_EQ(answer.at("figures.plans.0.plan.pipeline")->integer, 4);
}

TEST(WebAnswer, OfASearchThatIsLateIsWhatWasFound) {
  const Value answer =
      answer_of(R"({"question":"search","search":{"scenario":)" + std::string(kScenario) + "}}",
                {.is_late = [] { return true; }});
  ASSERT_NE(answer.at("figures.complete"), nullptr) << to_json(answer);
  EXPECT_FALSE(answer.at("figures.complete")->boolean);
}

TEST(WebAnswer, OfALauncherIsItsFile) {
  const Value answer = answer_of(about("export", kScenario) + R"(,"format":"megatron"})");
  ASSERT_NE(answer.at("figures.text"), nullptr) << to_json(answer);
  EXPECT_NE(answer.at("figures.text")->text.find("--tensor-model-parallel-size 8"),
            std::string::npos);
  EXPECT_NE(answer.at("figures.elsewhere"), nullptr);
  EXPECT_TRUE(answer.at("figures.lost")->items.empty());
  EXPECT_NE(error_of(about("export", kScenario) + "}").find("format: missing"), std::string::npos);
}

TEST(WebAnswer, OfALauncherSaysWhatIsLostWhereThatIsAccepted) {
  const std::string lossy = about("export", kScenario) + R"(,"format":"torchtitan")";
  EXPECT_NE(to_json(answer_of(lossy + "}")).find("--accept-loss writes the rest"),
            std::string::npos);
  const Value answer = answer_of(lossy + R"(,"accept_loss":true})");
  ASSERT_NE(answer.at("figures.lost"), nullptr) << to_json(answer);
  EXPECT_FALSE(answer.at("figures.lost")->items.empty());
}

TEST(WebAnswer, OfChoicesIsAllThatIsShipped) {
  const Value answer = answer_of(R"({"question":"choices"})");
  for (const std::string kind : {"models", "clusters", "stacks", "runs"}) {
    EXPECT_EQ(answer.find(kind)->items.size(), shipped(kind).size()) << kind;
  }
  EXPECT_NE(answer.at("plan.properties.schedule"), nullptr);
  EXPECT_NE(answer.at("training.properties.global_batch"), nullptr);
}

TEST(WebAnswer, SaysWhatIsWrongWithAQuestion) {
  EXPECT_NE(error_of("{").find("question:1:"), std::string::npos);
  EXPECT_NE(error_of("[]").find("expected an object"), std::string::npos);
  EXPECT_NE(error_of(R"({"question":"rum"})").find("did you mean \"run\"?"), std::string::npos);
  EXPECT_NE(error_of(R"({"question":"run"})").find("scenario: "), std::string::npos);
  EXPECT_NE(error_of(about("run", kScenario) + R"(,"colour":1})").find("colour"),
            std::string::npos);
  const std::string deep(100000, '[');
  EXPECT_NE(error_of(deep).find("deep"), std::string::npos);
}

/// The scenario with its model in place of the name.
std::string with_model(const std::string& model) {
  std::string scenario = kScenario;
  scenario.replace(scenario.find("\"llama3-70b\""), 12, model);
  return about("run", scenario) + "}";
}

TEST(WebAnswer, ReadsNoFiles) {
  const std::string refusal = "no file is read here";
  for (const std::string model : {"\"/etc/passwd\"",
                                  "\"../models/llama3-70b\"",
                                  "\"x.json\"",
                                  "\"5 /etc\"",
                                  "\"5 a/b/c\"",
                                  R"({"name":"llama3-70b","layers":"./8"})",
                                  R"({"name":"llama3-70b","fabric":{"file":"topo"}})"}) {
    EXPECT_NE(error_of(with_model(model)).find(refusal), std::string::npos) << model;
  }
  const std::string file = root().string() + "/models/llama3-70b.json";
  const Value read = answer_of(with_model("\"" + file + "\""), WebLimits{.may_read_files = true});
  EXPECT_NE(read.find("figures"), nullptr) << to_json(read);
}

TEST(WebAnswer, TakesRatesAndWordsForPeople) {
  std::string scenario = kScenario;
  scenario.insert(1, R"("title":"of a/b.json","notes":["see http://x.org/y.csv"],)");
  scenario.replace(
      scenario.find("\"nodes\":8"), 9, R"("nodes":8,"node":{"nic_bandwidth":"50 GB/s"})");
  const Value answer = answer_of(about("run", scenario) + "}");
  EXPECT_NE(answer.find("figures"), nullptr) << to_json(answer);
}

TEST(WebPage, IsOneFileThatAsksWhoeverAnswers) {
  const std::string page = web_page();
  for (const std::string mark : {"@policy@", "@style@", "@script@", "@asker@"}) {
    EXPECT_EQ(page.find(mark), page.npos) << mark;
  }
  EXPECT_EQ(page.find("<script src"), page.npos);
  EXPECT_EQ(page.find("http://"), page.npos);
  const std::string other = web_page("window.titerAsk=1;");
  EXPECT_LT(other.find("window.titerAsk=1;"), other.find("window.titerAsk ||"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
