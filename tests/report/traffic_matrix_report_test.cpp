#include "titer/report/network/traffic_matrix_report.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

/// Four devices on two nodes, two stages.
TrafficMatrixView small_view() {
  return {.title = "four <devices>",
          .note = "note",
          .devices_per_node = 2,
          .nodes = {0, 0, 1, 1},
          .stages = {0, 0, 1, 1},
          .possible = 12,
          .matrix = {4,
                     {{0, 1, TrafficKind::tensor, 1_GiB},
                      {0, 1, TrafficKind::data, 1_MiB},
                      {1, 0, TrafficKind::tensor, 1_GiB},
                      {0, 2, TrafficKind::pipeline, 4_MiB},
                      {3, 0, TrafficKind::embedding, 1_KiB}}}};
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(TrafficMatrixReport, SaysVolumesByKindAndWhoTalksToWhom) {
  const std::string text = traffic_view(small_view()).as_text();
  EXPECT_NE(text.find("tensor         2 GiB     512 MiB      2      1 GiB      1 GiB   100.0 %"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("4 of 12 pairs communicate"), std::string::npos) << text;
  EXPECT_NE(text.find("          0 1 2 3\n"
                      "       0  . t p .\n"
                      "       1  t . . .\n"
                      "       2  . . . .\n"
                      "       3  e . . .\n"),
            std::string::npos)
      << text;
}

TEST(TrafficMatrixReport, HasARowPerPairAndKind) {
  EXPECT_EQ(traffic_view(small_view()).as_csv(),
            "from,to,kind,bytes\n"
            "0,1,tensor,1073741824\n"
            "0,1,data,1048576\n"
            "0,2,pipeline,4194304\n"
            "1,0,tensor,1073741824\n"
            "3,0,embedding,1024\n");
  const std::string json = traffic_view(small_view()).json_text();
  EXPECT_NE(json.find("\"possible_pairs\": 12"), std::string::npos) << json;
  EXPECT_EQ(count(json, "\"kind\": \""), 5u);
}

TEST(TrafficMatrixReport, ColoursACellForEveryPair) {
  const std::string svg = traffic_matrix_svg(small_view());
  EXPECT_EQ(count(svg, "v1h-"), 4u);
  EXPECT_NE(svg.find("M0 1h1v1h-1z"), std::string::npos);  // from 1 to 0: row 1
  EXPECT_NE(svg.find("four &lt;devices&gt;"), std::string::npos);
  EXPECT_NE(svg.find(">1.001 GiB<"), std::string::npos) << svg;
  EXPECT_NE(svg.find(">1 KiB<"), std::string::npos);
  EXPECT_NE(svg.find("a node ends"), std::string::npos);
  EXPECT_NE(svg.find("a pipeline rank ends"), std::string::npos);
}

TEST(TrafficMatrixReport, PutsManyDevicesInACell) {
  TrafficMatrixView view = small_view();
  std::vector<TrafficPair> pairs;
  for (int from = 0; from < 2048; ++from) {
    pairs.push_back({from, (from + 1) % 2048, TrafficKind::data, 1_MiB});
  }
  view.matrix = {2048, pairs};
  view.stages.assign(2048, 0);
  const std::string svg = traffic_matrix_svg(view);
  EXPECT_NE(svg.find("a cell: 4 x 4 devices"), std::string::npos);
  EXPECT_EQ(count(svg, "v1h-"), 512u + 512u);  // of 4 in a cell 3 stay in it, one goes to the next
  EXPECT_EQ(svg.find("a node ends"), std::string::npos);  // 1024 of them
}

TEST(TrafficMatrixReport, OfNothingIsEmptyNotWrong) {
  TrafficMatrixView view = small_view();
  view.matrix = {1, {}};
  view.stages = {0};
  view.possible = 0;
  EXPECT_NE(traffic_view(view).as_text().find("0 of 0 pairs"), std::string::npos);
  EXPECT_EQ(traffic_view(view).as_csv(), "from,to,kind,bytes\n");
  EXPECT_EQ(count(traffic_matrix_svg(view), "v1h-"), 0u);
}

TEST(TrafficMatrixReport, ListsIterations) {
  TrafficStatistics found;
  found.total = 2_GiB;
  found.pairs = 56;
  found.uniformity = 0.5;
  const std::vector<ExpertIteration> list = {
      {.iteration = 0, .exponent = 0.25, .statistics = found},
      {.iteration = 1, .exponent = std::nullopt, .statistics = found}};
  EXPECT_EQ(expert_iterations_view("title", list).as_csv(),
            "iteration,exponent,bytes,pairs,entropy_bits,uniformity,largest_over_mean\n"
            "0,0.25,2147483648,56,0,0.5,0\n"
            "1,,2147483648,56,0,0.5,0\n");
  EXPECT_NE(expert_iterations_view("title", list).as_text().find("50.000 %"), std::string::npos);
  EXPECT_NE(to_json(expert_iterations_view("title", list).as_json()).find("\"exponent\": 0.25"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
