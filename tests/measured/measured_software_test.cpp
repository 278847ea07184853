// What was measured was run: the plans of measured runs are within what their software can do.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "paths.hpp"
#include "titer/measured/run_scenario.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Abilities abilities_of(const std::string& stack) {
  ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
  source.assign({"stack", Value(stack), "test"});
  return software_abilities(source);
}

/// Of a plan's key in a family: how many rows have what the stack that stands for it has not.
std::map<std::string, int> rows_beyond(const std::string& name) {
  const CsvTable table = CsvTable::load(testing::root().string() + "/tests/data/measured/" + name);
  std::map<std::string, Abilities> stacks;
  std::map<std::string, int> beyond;
  RunReader reader;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const RunRow row(table, i);
    const RunReadings readings = reader.read(row);
    if (readings.readings.empty()) {
      continue;
    }
    if (!stacks.contains(readings.stack)) {
      stacks[readings.stack] = abilities_of(readings.stack);
    }
    const Scenario& scenario = readings.readings.front().scenarios.front();
    for (const std::string& missing : beyond_software(stacks.at(readings.stack), scenario)) {
      ++beyond[row.text("family") + ", " + readings.stack + ": " + missing];
    }
  }
  return beyond;
}

// Alpa's compiler schedules stages as 1F1B: Paxml, whose figures stand for it, does not.
// Zero-bubble schedules are of a fork of Megatron-LM, fp8 and sequence parallelism on Gaudi of
// Habana's fork of Megatron-DeepSpeed, and TF32 is PyTorch's.
TEST(MeasuredSoftware, CanRunWhatWasMeasured) {
  EXPECT_EQ(rows_beyond("training.csv"),
            (std::map<std::string, int>{{"alpa, paxml: schedule 1f1b", 1}}));
  EXPECT_EQ(rows_beyond("training_vtrain_single.csv"), (std::map<std::string, int>{}));
  EXPECT_EQ(rows_beyond("training_2.csv"),
            (std::map<std::string, int>{
                {"megatron_deepspeed_mlperf_gpt3_v40_gaudi, deepspeed: precision fp8", 1},
                {"megatron_deepspeed_mlperf_gpt3_v40_gaudi, deepspeed: sequence_parallel", 1},
                {"sailor_gh200, megatron-lm: precision tf32", 11},
                {"zero_bubble_pp, megatron-lm: schedule zb-h1", 3},
                {"zero_bubble_pp, megatron-lm: schedule zb-h2", 3}}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
