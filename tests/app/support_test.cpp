// titer support, from the outside.

#include <gtest/gtest.h>

#include "paths.hpp"
#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(AppSupport, ShipsWhatThePublicRunsComeToToday) {
  const auto table = [](const std::string& file) {
    return (root() / "tests/data/measured" / file).string();
  };
  const std::string now = data_of(titer({"support",
                                         table("training.csv"),
                                         table("training_2.csv"),
                                         table("training_vtrain_single.csv"),
                                         "--format",
                                         "csv"}));
  EXPECT_EQ(now, file_text(root() / "configs/support.csv")) << "scripts/update_support.sh";
  EXPECT_EQ(now, data_of(titer({"support", "--format", "csv"})));
}

TEST(AppSupport, SaysFirstWhatIsKnownOfAScenario) {
  const std::string text = data_of(titer({"support", "--scenario", "gpt3-175b-64xa100"}));
  EXPECT_TRUE(text.starts_with("dense by megatron-lm on a100-sxm4-80gb in fp16\n")) << text;
  const Document json = parse_json(
      data_of(titer({"support", "--scenario", "gpt3-175b-64xa100", "--format", "json"})), "out");
  std::int64_t before = 0;  // what is less like it includes what is more
  for (const char* at : {"like_scenario.0", "like_scenario.1", "like_scenario.2"}) {
    const std::int64_t runs = json.at(std::string(at) + ".runs")->integer;
    EXPECT_GT(runs, 0) << at;
    EXPECT_GE(runs, before) << at;
    before = runs;
  }
}

TEST(AppSupport, SaysWhereNothingIsKnown) {
  const Document json = parse_json(
      data_of(titer({"support", "--scenario", "resnet-50-8xa100", "--format", "json"})), "out");
  EXPECT_EQ(json.at("like_scenario.0.runs")->integer, 0);
  EXPECT_EQ(json.at("like_scenario.0.mean_error_pct")->kind, Value::Kind::null);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
