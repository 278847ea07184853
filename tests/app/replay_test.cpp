// titer replay, from the outside.

#include <gtest/gtest.h>

#include "paths.hpp"
#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::string workload_file(const std::string& name) {
  return (root() / "tests/data/workloads" / name).string();
}

TEST(AppReplay, SaysTheSameInTextAndJson) {
  const std::vector<std::string> asked = {
      "replay", workload_file("pipeline.goal"), "--cluster", "dgx-h100"};
  const std::string text = data_of(titer(asked));
  EXPECT_TRUE(contains(text, "GOAL, 2 ranks, 14 nodes, 0 collectives, 4 messages"));
  EXPECT_TRUE(contains(text, "; compute as the files say, communication as ")) << text;
  std::vector<std::string> as_json = asked;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Document json = parse_json(data_of(titer(as_json)), "out");
  // Two steps of the second rank between the first pass of the first and its last.
  const double makespan = json.at("makespan_s")->number;
  EXPECT_GT(makespan, 1e-3 + 2 * 3e-3 + 2e-3);
  EXPECT_LT(makespan, 1e-3 + 2 * 3e-3 + 2e-3 + 1e-3);
  EXPECT_EQ(json.at("ranks")->items.size(), 2U);
  as_json.insert(as_json.end(), {"--compute-scale", "2"});
  const Document slower = parse_json(data_of(titer(as_json)), "out");
  EXPECT_NEAR(slower.at("makespan_s")->number - makespan, 1e-3 + 2 * 3e-3 + 2e-3, 1e-9);
}

TEST(AppReplay, SlowerLinksTakeLonger) {
  const auto makespan = [](const std::string& cluster) {
    return parse_json(data_of(titer({"replay",
                                     workload_file("pipeline.goal"),
                                     "--cluster",
                                     cluster,
                                     "--format",
                                     "json"})),
                      "out")
        .at("makespan_s")
        ->number;
  };
  EXPECT_GT(makespan("dgx1-v100"), makespan("dgx-h100"));
}

TEST(AppReplay, RefusesWhatIsNoWorkload) {
  const std::string log = (root() / "tests/data/traces/megatron.log").string();
  EXPECT_FALSE(refusal_of(titer({"replay", log, "--cluster", "dgx-h100"})).empty());
  EXPECT_TRUE(contains(refusal_of(titer({"replay", workload_file("pipeline.goal")})), "--cluster"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
