// The traffic matrix on the command line.

#include <gtest/gtest.h>

#include <string>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<std::string> traffic_of(std::vector<std::string> more,
                                    const std::string& run = "gpt3-175b-64xa100") {
  std::vector<std::string> arguments = {"traffic", run};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(TrafficCommand, ShowsVolumesStatisticsAndAMatrix) {
  const std::string text = data_of(titer(traffic_of({})));
  EXPECT_TRUE(contains(text, "p = 8, t = 8, d = 1; ranks tp-dp-pp; collectives around rings"));
  EXPECT_TRUE(contains(text, "192 of 4032 pairs communicate"));  // 64 + 2 7 8 + 2 8
  EXPECT_TRUE(contains(text, "embedding"));
  const std::string small = data_of(titer(traffic_of({"--set",
                                                      "plan.pipeline=2",
                                                      "--set",
                                                      "plan.tensor=4",
                                                      "--set",
                                                      "plan.virtual_stages=1",
                                                      "--set",
                                                      "cluster.nodes=1"})));
  EXPECT_TRUE(contains(small, "       0  . t . . p . . .\n")) << small;
}

TEST(TrafficCommand, WritesWhatTopologyReads) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "traffic.csv").string();
  EXPECT_EQ(titer(traffic_of({"--format", "csv", "--out", path})).code, 0);
  EXPECT_TRUE(
      file_text(path).starts_with("asked,from,to,kind,bytes\ngpt3-175b-64xa100,0,1,tensor,"));
  const std::string loads =
      data_of(titer({"topology", "fat-tree-2-level-1024", "--traffic", path}));
  // Sixteen pairs of the pipeline's ends share a token table and, as it is interleaved, messages.
  EXPECT_TRUE(contains(loads, "the 208 demands of "));
}

TEST(TrafficCommand, TakesOneKindAndAnotherSpread) {
  const std::string ring = data_of(titer(traffic_of({"--kind", "tensor", "--format", "csv"})));
  const std::string direct =
      data_of(titer(traffic_of({"--kind", "tensor", "--spread", "direct", "--format", "csv"})));
  EXPECT_EQ(std::count(ring.begin(), ring.end(), '\n'), 1 + 64);
  EXPECT_EQ(std::count(direct.begin(), direct.end(), '\n'), 1 + 64 * 7);
  EXPECT_EQ(direct.find("pipeline"), std::string::npos);
}

TEST(TrafficCommand, DrawsAHeatMap) {
  const std::string svg = data_of(titer(traffic_of({"--format", "svg"})));
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(contains(svg, "from device"));
  EXPECT_EQ(svg, data_of(titer(traffic_of({"--format", "svg"}))));
}

TEST(TrafficCommand, FollowsExpertsOverIterations) {
  const std::string run = "mixtral-8x7b-64xh100";
  const std::string csv = data_of(titer(
      traffic_of({"--iterations", "3", "--routing-exponent", "1.0:0.5", "--format", "csv"}, run)));
  EXPECT_TRUE(contains(csv, ",0,1,"));
  EXPECT_TRUE(contains(csv, ",1,0.75,"));
  EXPECT_TRUE(contains(csv, ",2,0.5,"));
  const auto drawn = [&](const std::string& seed) {
    return data_of(titer(traffic_of({"--kind", "expert", "--seed", seed, "--format", "csv"}, run)));
  };
  EXPECT_EQ(drawn("5"), drawn("5"));
  EXPECT_NE(drawn("5"), drawn("6"));
}

TEST(TrafficCommand, RefusesWhatItCannotShow) {
  EXPECT_TRUE(
      contains(refusal_of(titer(traffic_of({"--kind", "tensr"}))), "did you mean \"tensor\"?"));
  EXPECT_TRUE(contains(refusal_of(titer(traffic_of({"--iterations", "3"}))), "plan.expert: 1: "));
  EXPECT_TRUE(contains(
      refusal_of(titer(traffic_of({"--formula", "e7", "--set", "formula.utilization=0.5"}))),
      "formula.name: e7"));
  const std::string run = "mixtral-8x7b-64xh100";
  EXPECT_TRUE(contains(refusal_of(titer(traffic_of({"--iterations", "0"}, run))),
                       "--iterations: 0: expected 1 to"));
  EXPECT_TRUE(contains(
      refusal_of(titer(traffic_of({"--iterations", "2", "--routing-exponent", "1:x"}, run))),
      "--routing-exponent: 1:x: expected"));
  EXPECT_TRUE(contains(refusal_of(titer(traffic_of({"--iterations", "2", "--format", "svg"}, run))),
                       "--format: svg: expected text, csv or json with --iterations"));
  EXPECT_TRUE(contains(refusal_of(titer(traffic_of({"--iterations", "2", "--kind", "data"}, run))),
                       "--kind: data: expected expert"));
  EXPECT_TRUE(contains(refusal_of(titer(traffic_of({"--routing-exponent", "1.0:0.1"}, run))),
                       "--routing-exponent: 1.0:0.1: expected one exponent"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
