#include <gtest/gtest.h>

#include "titer/view/html.hpp"
#include "view/html.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

View answer_of(const std::string& title, double value) {
  View view{.text = TextView(title + "\nplan: of two stages\n\nwhere it goes\n  here\n"),
            .figures = {{"time_s", value}},
            .rows = {},
            .columns = {},
            .headline = {{"", value, "first"},
                         {"", value, "second"},
                         {"", value, "third"},
                         {"", value, "fourth"},
                         {"", value, "fifth"}}};
  view.plots = {{.title = "a chart",
                 .chart = PlotBars{.axis = {.label = "time, s"},
                                   .parts = {{.name = "all"}},
                                   .bars = {{.name = "one", .values = {value}}}}}};
  view.drawings = {{.title = "a picture",
                    .svg = R"~(<svg xmlns="http://www.w3.org/2000/svg"><clipPath id="paper"/>)~"
                           R"~(<g id="sheet" clip-path="url(#paper)"/></svg>)~"}};
  return view;
}

Report document_of(std::vector<AnsweredQuestion> answers) {
  return Report(html_of({.title = "Which & why",
                         .text = "First.\nSecond.",
                         .questions = {.title = "The questions", .text = {}, .file = "{}\n"},
                         .answers = std::move(answers)},
                        {.command = "titer report a.json", .version = "1.2"}));
}

std::vector<AnsweredQuestion> two_answers() {
  return {{.question = "How long?",
           .text = "As was thought.",
           .command = "titer run a.json",
           .view = answer_of("the first", 1)},
          {.question = "",
           .text = "",
           .command = "titer run b.json",
           .view = answer_of("the second", 2),
           .is_good = false}};
}

TEST(HtmlDocument, SaysInShortWhatMattersOfEach) {
  const Report report = document_of(two_answers());
  EXPECT_EQ(report.words("//h1"), "Which & why");
  EXPECT_EQ(report.count("/html/body/main/header/p"), 3u) << "whose it is, and a line each";
  EXPECT_EQ(report.words("//nav//li[1]/a"), "How long?");
  EXPECT_EQ(report.words("//nav//li[1]/p"), "As was thought.");
  EXPECT_EQ(report.words("//nav//li[2]/a"), "The second") << "its own title";
  EXPECT_EQ(report.words("//nav//li[2]/p[@class='no']"), "The answer is no.");
  EXPECT_EQ(report.count("//nav//li[1]//div"), 4u) << "of five figures";
  EXPECT_EQ(report.words("//nav//li[2]//dd"), "2");
}

TEST(HtmlDocument, LeadsToEveryAnswer) {
  const Report report = document_of(two_answers());
  EXPECT_EQ(report.count("//nav//a"), 2u);
  EXPECT_EQ(report.count("//nav//a[@href='#answer-1']"), 1u);
  EXPECT_EQ(report.count("//article[@id='answer-2']"), 1u);
  EXPECT_EQ(report.words("//article[1]/header/h2"), "How long?");
  EXPECT_EQ(report.words("//article[1]/header/p[@class='title']"), "The first");
  EXPECT_EQ(report.count("//article[2]/header/p[@class='title']"), 0u) << "it is the heading";
  EXPECT_EQ(report.words("//article[2]/pre"), "titer run b.json");
  EXPECT_EQ(report.words("//footer/pre"), "titer report a.json");
  EXPECT_EQ(report.words("//main/details/pre"), "{}\n") << "the questions";
}

/// The Report itself refuses identifiers that are not unique.
TEST(HtmlDocument, KeepsItsAnswersApart) {
  const Report report = document_of(two_answers());
  EXPECT_EQ(report.count("//article[2]//g[@clip-path='url(#answer-2-paper)']"), 1u);
  EXPECT_EQ(report.count("//article[2]//clipPath[@id='answer-2-paper']"), 1u);
  EXPECT_EQ(report.count("//pattern[@id='hatched']"), 1u) << "once for all charts";
}

TEST(HtmlDocument, HasHeadingsByTheirDepth) {
  const Report report = document_of(two_answers());
  EXPECT_EQ(report.count("//h1"), 1u);
  EXPECT_EQ(report.count("//article//h2"), 2u) << "the questions alone";
  EXPECT_EQ(report.words("//article[1]//section[@class='answer']/h3"), "Where it goes");
  EXPECT_EQ(report.words("//article[1]//figcaption/h3"), "a chart");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
