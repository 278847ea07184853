#include "titer/view/html.hpp"
#include "titer/view/table.hpp"

#include <gtest/gtest.h>

#include "view/html.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

const ReportOrigin kOrigin = {.command = "titer run a.json", .version = "1.2"};

View some_view() {
  View view{.text = TextView("the title\nplan: of two stages\n\n"),
            .figures = {{"time_s", 1.5}, {"parts", FigureRows{{{"name", "a"}}, {{"name", "b"}}}}},
            .rows = {},
            .columns = {},
            .headline = {{"", "1.5 s (of 2 s)", "time"}, {"", Datum(), "nothing"}}};
  view.text.pairs({{"", "1.5 s (of 2 s)", "time"}});
  view.text.add("\nwhere it goes (all of it)\n").lines({{"forward", "1 s", bar_text(0.5)}}, "lrb");
  view.text.add("\nbasis: fitted\n  one\n    of it\n  two\n");
  return view;
}

TEST(Html, SaysWhatTheViewSays) {
  const Report report(html_of(some_view(), kOrigin));
  EXPECT_EQ(report.words("//h1"), "The title");
  EXPECT_EQ(report.words("//head/title"), "The title");
  EXPECT_EQ(report.words("//div[@class='lead']/p"), "plan: of two stages");
  EXPECT_EQ(report.words("//dl/div/dt"), "time");
  EXPECT_EQ(report.words("//dl/div/dd"), "1.5 sof 2 s") << "what is in brackets stands below";
  EXPECT_EQ(report.count("//dl/div"), 1u) << "nothing of what there is not";
  EXPECT_EQ(report.words("//section[@class='answer']/h2"), "Where it goes");
  EXPECT_EQ(report.words("//section[@class='answer']/p[@class='of']"), "all of it");
  EXPECT_EQ(report.words("//footer/pre"), "titer run a.json");
  EXPECT_TRUE(report.words("//footer/p").find("titer 1.2") != std::string::npos);
}

TEST(Html, LeavesOutOfTheAnswerWhatItsHeadlineSays) {
  EXPECT_EQ(Report(html_of(some_view(), kOrigin)).count("//section[@class='answer']//table"), 1u);
  View view = some_view();
  view.headline.clear();
  EXPECT_EQ(Report(html_of(view, kOrigin)).count("//section[@class='answer']//table"), 2u);
}

TEST(Html, HasTablesWithHeadingsAndBars) {
  const Report report(html_of(some_view(), kOrigin));
  EXPECT_EQ(report.words("//section[@class='answer']//th[@scope='row']"), "forward");
  EXPECT_EQ(report.words("//section[@class='answer']//td[@class='n']"), "1 s");
  EXPECT_EQ(report.count("//td[@class='bar']/i[@style='width:50%']"), 1u);
  EXPECT_EQ(report.words("//details//th[@scope='col']"), "name") << "a list of the tree";
  EXPECT_EQ(report.words("//details//th[@scope='row']"), "time_s");
}

TEST(Html, PutsLinesThatAreFartherInBelowTheirHeading) {
  const Report report(html_of(some_view(), kOrigin));
  EXPECT_EQ(report.count("//ul[@class='lines']/li"), 2u);
  EXPECT_EQ(report.words("//ul[@class='lines']/li[1]/span"), "of it");
  EXPECT_EQ(report.words("//ul[@class='lines']/li[2]"), "two");
}

TEST(Html, ListsNotesFirst) {
  View view = some_view();
  add_notes({"a was assumed"}, view);
  const Report report(html_of(view, kOrigin));
  EXPECT_EQ(report.words("//aside//li"), "a was assumed");
  EXPECT_EQ(report.words("//h1"), "The title");
}

TEST(Html, KeepsHostileTextText) {
  const std::string hostile =
      "<script>alert('x')</script> & \"quotes\" \x1b[31m \xC3\xA4 \xFF ]]> </style>";
  View view{.text = TextView(hostile + "\nnote: " + hostile + "\n\n" + hostile + "\n"),
            .figures = {{hostile, hostile}},
            .rows = {},
            .columns = {},
            .headline = {{"", hostile, hostile}}};
  view.text.table({{{"", hostile, hostile}}});
  view.plots = {{.title = hostile,
                 .note = hostile,
                 .chart = PlotBars{.axis = {.label = hostile},
                                   .parts = {{hostile}},
                                   .bars = {{.name = hostile, .values = {1}, .words = hostile}},
                                   .limits = {{2, hostile}}}}};
  view.drawings = {{.title = hostile, .svg = "<svg></svg>", .note = hostile}};
  view.appendices = {{.title = hostile, .text = hostile + "\n", .file = hostile + "\n" + hostile}};
  const Report report(html_of(view, {.command = hostile, .version = hostile}));
  EXPECT_EQ(report.count("//script"), 1u) << "the report's own";
  EXPECT_EQ(report.count("//style"), 1u);
  EXPECT_EQ(report.words("//dl/div/dt"),
            "<script>alert('x')</script> & \"quotes\" \\u001b[31m \xC3\xA4 \xEF\xBF\xBD ]]> "
            "</style>");
}

TEST(Html, AsksNothingOfANetwork) {
  const std::string html = html_of(some_view(), kOrigin);
  const Report report(html);
  EXPECT_EQ(report.count("//@src | //@href | //link | //img | //iframe"), 0u);
  EXPECT_EQ(html.find("@import"), html.npos);
  EXPECT_EQ(html.find("fetch("), html.npos);
  EXPECT_EQ(report.count("//meta[contains(@content, \"default-src 'none'\")]"), 1u);
}

TEST(Html, IsTheSameAgain) {
  EXPECT_EQ(html_of(some_view(), kOrigin), html_of(some_view(), kOrigin));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
