// titer tune and titer export for launchers, from the outside.

#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/input/document.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(AppTune, SaysTheBestChangeFirst) {
  const std::string text = data_of(titer({"tune", "gpt3-175b-64xa100", "--measured", "13.75s"}));
  const std::string first = text.substr(0, text.find('\n'));
  for (const char* part : {" -> ", "%", "to spare"}) {
    EXPECT_TRUE(contains(first, part)) << first;
  }
  EXPECT_TRUE(contains(text, "measured 13.75 s: the prediction of"));
  EXPECT_TRUE(contains(text, "settings of Megatron-LM"));
  EXPECT_TRUE(contains(text, "beyond megatron-lm"));
  const Document json =
      parse_json(data_of(titer({"tune", "gpt3-175b-64xa100", "--format", "json"})), "tune");
  EXPECT_GT(json.at("tried.faster")->number, 0);
  EXPECT_LT(json.at("best.iteration_time_s")->number, json.at("run.iteration_time_s")->number);
}

TEST(AppTune, RefusesATimeThatIsNone) {
  const Outcome outcome = titer({"tune", "gpt3-175b-64xa100", "--measured", "soon"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err,
            "--measured: soon: expected the time of an iteration, such as 16.5s or 850ms\n");
}

TEST(AppExportLaunch, RefusesWhatTheSoftwareCannotSay) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "run.toml").string();
  const Outcome refused =
      titer({"export", "llama3-70b-64xh100", "--format", "torchtitan", "--out", path});
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "plan.sharding: zero1: would be none"));
  EXPECT_FALSE(std::filesystem::exists(path)) << "a file is written whole or not at all";
  const Outcome accepted = titer(
      {"export", "llama3-70b-64xh100", "--format", "torchtitan", "--out", path, "--accept-loss"});
  EXPECT_EQ(accepted.code, 0);
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
