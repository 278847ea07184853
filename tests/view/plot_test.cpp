#include "titer/view/plot.hpp"

#include <gtest/gtest.h>

#include "titer/view/plot_axes.hpp"
#include "titer/view/svg.hpp"
#include "view/html.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

Plot bars() {
  return {.title = "memory",
          .note = "",
          .chart = PlotBars{.axis = memory_axis("memory"),
                            .parts = {{"weights"}, {"runtime", kGreyTone + 2}},
                            .bars = {{.name = "stage 0",
                                      .values = {30.0 * (1 << 30), 10.0 * (1 << 30)},
                                      .words = "40 GiB",
                                      .range = PlotRange{35.0 * (1 << 30), 45.0 * (1 << 30)}}},
                            .limits = {{80.0 * (1 << 30), "capacity"}}}};
}

Plot plane() {
  PlotSeries line{.name = "predicted"};
  for (const double x : {1e3, 1e6, 1e9}) {
    line.points.push_back({.x = x, .y = x / 1e9, .range = PlotRange{0, 2 * x / 1e9}, .words = "p"});
  }
  return {.title = "rates",
          .note = "",
          .chart = PlotPlane{.x = {.label = "size", .logarithmic = true},
                             .y = {.label = "rate", .from_zero = true},
                             .series = {line, {.name = "measured", .look = PlotLook::points}},
                             .y_limits = {{1.5, "limit"}}}};
}

std::string svg_of(const Plot& plot) { return plot_svg({&plot, 1}); }

TEST(Plot, DrawsPartsOfABarInProportion) {
  const Report report(svg_of(bars()));
  pugi::xml_document tree;
  tree.load_string(svg_of(bars()).c_str());
  const auto parts = tree.select_nodes("//g[@class='mark']/rect[1]");
  ASSERT_EQ(parts.size(), 2u);
  const double weights = parts[0].node().attribute("width").as_double();
  const double runtime = parts[1].node().attribute("width").as_double();
  EXPECT_NEAR(weights, 3 * runtime, 0.3);
  EXPECT_NEAR(parts[1].node().attribute("x").as_double(),
              parts[0].node().attribute("x").as_double() + weights,
              0.2);
  EXPECT_EQ(report.count("//rect[@fill='url(#hatched)']"), 2u) << "in the bar and in the legend";
  EXPECT_EQ(report.count("//path[@class='range']"), 1u);
  EXPECT_EQ(report.count("//path[@class='limit']"), 1u);
}

/// Words that a limit would go through stand behind it, and within the picture.
TEST(Plot, KeepsWordsBehindBarsOffLimits) {
  constexpr double gib = 1 << 30;
  for (const double full : {60.0, 70.0, 75.0, 79.0, 85.0}) {
    Plot plot = bars();
    auto& chart = std::get<PlotBars>(plot.chart);
    chart.bars = {{.name = "stage 0", .values = {full * gib, 0}, .words = "00.00 GiB"},
                  {.name = "stage 1", .values = {20.0 * gib, 0}, .words = "20.00 GiB"}};
    pugi::xml_document tree;
    tree.load_string(svg_of(plot).c_str());
    const std::string limit =
        tree.select_node("//path[@class='limit']").node().attribute("d").value();
    const double at = std::stod(limit.substr(1));
    const double begin =
        tree.select_node("//text[text()='00.00 GiB']").node().attribute("x").as_double();
    const double end = begin + 55;
    EXPECT_TRUE(end < at || begin > at) << full << ": " << begin << " to " << end << ", " << at;
    EXPECT_LT(end, 480) << full;
  }
}

TEST(Plot, KeepsWordsOfLimitsOffPoints) {
  const auto begins_at_left = [](double last) {
    Plot plot = plane();
    auto& chart = std::get<PlotPlane>(plot.chart);
    chart.x.logarithmic = false;
    chart.series = {{.name = "a", .points = {{.x = 1, .y = 3}, {.x = 4, .y = last}}}};
    pugi::xml_document tree;
    tree.load_string(svg_of(plot).c_str());
    return tree.select_node("//text[text()='limit']").node().attribute("x").as_double() < 240;
  };
  EXPECT_TRUE(begins_at_left(1.6)) << "a point stands where the words would";
  EXPECT_FALSE(begins_at_left(3));
}

TEST(Plot, SaysInWordsWhatItShows) {
  EXPECT_EQ(plot_words(bars()),
            "1 bars, memory, GiB. stage 0: 40 GiB: weights 30, runtime 10. capacity.");
  EXPECT_EQ(plot_words(plane()),
            "rate over size. predicted: 3 points. p. p. p. measured: 0 points. limit.");
  const Report report(svg_of(plane()));
  EXPECT_EQ(report.words("/svg/title"), "rates");
  EXPECT_EQ(report.words("/svg/desc"), plot_words(plane()));
}

TEST(Plot, StandsBelowTheOneBefore) {
  const std::vector<Plot> both = {bars(), plane()};
  const Report report(plot_svg(both));
  EXPECT_EQ(report.count("/svg/g"), 2u);
  EXPECT_EQ(report.words("/svg/title"), "memory; rates");
  pugi::xml_document tree;
  const auto height_of = [&](const std::string& svg) {
    tree.load_string(svg.c_str());
    return tree.child("svg").attribute("height").as_double();
  };
  EXPECT_NEAR(
      height_of(plot_svg(both)), height_of(svg_of(bars())) + height_of(svg_of(plane())) - 8, 1)
      << "but for the edge above";
}

TEST(Plot, StandsEqualFactorsEquallyFarApartOnALogarithmicAxis) {
  pugi::xml_document tree;
  tree.load_string(svg_of(plane()).c_str());
  const auto marks = tree.select_nodes("//g[@class='mark']/path");
  ASSERT_EQ(marks.size(), 3u);
  std::vector<double> x;
  for (const auto& mark : marks) {
    x.push_back(std::stod(std::string(mark.node().attribute("d").value()).substr(1)));
  }
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.2);
  EXPECT_EQ(tree.select_nodes("//path[starts-with(@class, 'band')]").size(), 1u);
}

/// Where only some numbers have a meaning these stand at the axis, each at its place.
TEST(Plot, MarksTheNumbersThatItIsTold) {
  PlotPlane chosen;
  chosen.x = {.label = "micro-batch", .marks = {2, 4, 8}};
  chosen.y = {.label = "time"};
  chosen.series = {{.name = "a", .points = {{.x = 2, .y = 3}, {.x = 4, .y = 2}, {.x = 8, .y = 1}}}};
  pugi::xml_document tree;
  tree.load_string(svg_of({.title = "t", .chart = chosen}).c_str());
  std::vector<std::string> words;
  for (const auto& node : tree.select_nodes("//text[@class='small mid']")) {
    words.emplace_back(node.node().child_value());
  }
  EXPECT_EQ(words, (std::vector<std::string>{"2", "4", "8", "micro-batch"}));
}

TEST(Plot, CountsInTheUnitThatSuits) {
  EXPECT_EQ(time_axis("t", 12_s).label, "t, s");
  EXPECT_EQ(time_axis("t", 1_s).label, "t, ms");
  EXPECT_DOUBLE_EQ(time_axis("t", 1_s).scale, 1000);
  EXPECT_EQ(time_axis("t", Seconds::from_si(10 * 86400)).label, "t, days");
  EXPECT_EQ(count_axis("dollars", 3e6).label, "dollars, millions");
  EXPECT_EQ(count_axis("dollars", 3e3).label, "dollars");
  EXPECT_DOUBLE_EQ(percent_axis("p").scale, 100);
}

TEST(Svg, EscapesWhatMeansSomethingElseThere) {
  EXPECT_EQ(escaped("<a b='c'>&\""), "&lt;a b=&#39;c&#39;&gt;&amp;&quot;");
  EXPECT_EQ(escaped("\xE2\x82\xAC \xF0\x9F\x98\x80"), "\xE2\x82\xAC \xF0\x9F\x98\x80");
  for (const char* broken : {"\xC3", "\x80", "\xC0\xAF", "\xED\xA0\x80", "\xFF"}) {
    EXPECT_NE(escaped(broken).find("\xEF\xBF\xBD"), std::string::npos);
    EXPECT_EQ(escaped(broken).find(broken), std::string::npos);
  }
  EXPECT_EQ(escaped("a\x01"), "a\\u0001");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
