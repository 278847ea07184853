#include <gtest/gtest.h>

#include "titer/input/input_error.hpp"
#include "titer/measured/measured_runs.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<MeasuredRun> runs_of(const std::string& text) {
  return read_named_runs(CsvTable::parse(text, "runs.csv"), {});
}

TEST(NamedRuns, TakeWhatTheirColumnsSay) {
  const std::vector<MeasuredRun> runs = runs_of(
      "run,iter_time_s,stack,plan.micro_batch,cluster,notes,family\n"
      "gpt3-175b-64xa100,14,,,,as it is,a\n"
      "gpt3-175b-64xa100,15,nemo,2,,another,a\n"
      "llama3-70b-64xh100,9,,,dgx-h200,,b\n");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].scenario.stack.name, "megatron-lm");
  EXPECT_EQ(runs[0].scenario.plan.micro_batch, 1);
  EXPECT_EQ(runs[1].scenario.stack.name, "nemo");
  EXPECT_EQ(runs[1].scenario.plan.micro_batch, 2);
  EXPECT_EQ(runs[2].scenario.cluster.name, "dgx-h200");
  EXPECT_EQ(runs[2].group, "b");
  EXPECT_EQ(runs[1].source->document().at("stack.name")->text, "nemo");
}

TEST(NamedRuns, RefuseWhatNoRunHas) {
  for (const std::string column : {"plan.micro_batsch", "plan.micro_batch", "stack"}) {
    try {
      static_cast<void>(runs_of("run,iter_time_s," + column + "\ngpt3-175b-64xa100,14,seven\n"));
      ADD_FAILURE() << column;
    } catch (const InputError& error) {
      EXPECT_TRUE(error.lines.front().starts_with("runs.csv:2:")) << error.lines.front();
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
