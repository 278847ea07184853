// Logs of programs that print no line with the time of an iteration, and what is left out.

#include "titer/trace/training_log.hpp"

#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/input/reader.hpp"
#include "titer/trace/trace.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr double kGiB = 1024.0 * 1024 * 1024;

TEST(LogForms, DeepSpeedsTimerTellsSamplesOfAllDevices) {
  const TrainingLog log = parse_training_log(
      "[2026-01-05 10:00:00,1] [INFO] [timer.py:260:stop] epoch=0/micro_step=10/global_step=10, "
      "RunningAvgSamplesPerSec=40.5, CurrSamplesPerSec=64.0, MemAllocated=4.32GB, "
      "MaxMemAllocated=38.5GB\n",
      "a.log");
  EXPECT_EQ(log.program, "DeepSpeed's timer");
  EXPECT_EQ(log.samples_per_s->median, 64.0);
  EXPECT_FALSE(log.time);
  EXPECT_EQ(log.memory->si(), 38.5 * kGiB);
  EXPECT_EQ(iteration_time(log, 256, 0)->si(), 256 / 64.0);
}

TEST(LogForms, ALineWithATimeCountsBeforeOneWithSamples) {
  std::string text;
  for (int step = 0; step < 4; ++step) {
    text += "micro_step=1, CurrSamplesPerSec=64.0, MaxMemAllocated=2GB\n";
  }
  text += "elapsed time per iteration (ms): 4000 |\n";
  const TrainingLog log = parse_training_log(text, "a.log", 0);
  EXPECT_EQ(log.program, "Megatron-LM");
  EXPECT_EQ(log.time->median, 4.0);
  EXPECT_EQ(log.memory->si(), 2 * kGiB);
}

TEST(LogForms, MegatronsMemoryStandsInLinesOfItsOwn) {
  const TrainingLog log = parse_training_log(
      "elapsed time per iteration (ms): 4000 |\n"
      "[Rank 0] (after 2 iterations) memory (MB) | allocated: 100.5 | max allocated: 2048.0 | "
      "reserved: 3000.0 | max reserved: 3100.0\n",
      "a.log");
  EXPECT_EQ(log.memory->si(), 2048.0 * 1024 * 1024);
}

TEST(LogForms, ComposersLinesBelongToTheirBatch) {
  std::string text;
  for (const char* rate : {"0.5", "0.25", "0.25"}) {
    text += std::string("[batch=1/40]:\n\t Train memory/peak_reserved_mem: 21.5\n") +
            "\t Train throughput/batches_per_sec: " + rate +
            "\n\t Train throughput/device/batches_per_sec: 0.03\n" +
            "\t Train throughput/tokens_per_sec: 9000.0\n" +
            "\t Train throughput/device/tokens_per_sec: 1125.0\n";
  }
  const TrainingLog log = parse_training_log(text, "a.log", 1);
  EXPECT_EQ(log.program, "Composer");
  ASSERT_EQ(log.steps.size(), 3U);
  EXPECT_EQ(log.time->median, 4.0);
  EXPECT_EQ(log.tokens_per_s->median, 1125.0);
  EXPECT_EQ(log.memory->si(), 21.5e9);
}

// Without --print-time it writes -1; tests and inference are not training.
TEST(LogForms, DlrmTellsTheMeanSinceItsLastLine) {
  const TrainingLog log = parse_training_log(
      "Finished training it 1024/306969 of epoch 0, 25.00 ms/it, loss 0.150000 (10:20)\n"
      "Finished testing it 1024/3274330 of epoch 0, 9.00 ms/it, loss 0.130000, accuracy 96.0 %\n"
      "Finished training it 2048/306969 of epoch 0, 12.50 ms/it,  loss 0.140000, accuracy 96.6 %\n"
      "Finished training it 3072/306969 of epoch 0, 12.50 ms/it, loss 0.130000\n"
      "Finished training it 4096/306969 of epoch 0, -1.00 ms/it, loss 0.130000\n",
      "dlrm.log",
      1);
  EXPECT_EQ(log.program, "DLRM");
  ASSERT_EQ(log.steps.size(), 3U);
  EXPECT_EQ(log.time->median, 12.5e-3);
}

std::string record(int time_ms,
                   const std::string& key,
                   const std::string& value,
                   const std::string& metadata) {
  return "0: :::MLLOG {\"namespace\": \"\", \"time_ms\": " + std::to_string(time_ms) +
         ", \"event_type\": \"POINT_IN_TIME\", \"key\": \"" + key + "\", \"value\": " + value +
         ", \"metadata\": {\"file\": \"a.py\", \"lineno\": 1" + metadata + "}}\n";
}

TEST(LogForms, MlperfTellsSamplesBetweenRecords) {
  std::string text = record(0, "global_batch_size", "32", "");
  for (int step = 0; step < 4; ++step) {
    text += record(
        2000 * step, "train_loss", "8.5", ", \"samples_count\": " + std::to_string(32 * step));
  }
  text += record(20000, "eval_start", "null", "");
  text += record(90000, "train_loss", "8.4", ", \"samples_count\": 128");
  const TrainingLog log = parse_training_log(text, "a.log", 0);
  EXPECT_EQ(log.program, "MLPerf");
  ASSERT_EQ(log.steps.size(), 3U);  // the evaluation is no step's
  EXPECT_EQ(log.time->median, 2.0);
  EXPECT_EQ(log.samples_per_s->median, 16.0);
}

TEST(LogForms, WhatASubmitterTracksCountsFirst) {
  std::string text = record(0, "global_batch_size", "32", "");
  text += record(10, "tracked_stats", "{\"throughput\": 12.5}", ", \"step\": 1");
  text += record(20, "tracked_stats", "{\"train_step_time\": 2.5, \"throughput\": 12.8}", "");
  text += record(30, "train_loss", "1", ", \"samples_count\": 0");
  text += record(40, "train_loss", "1", ", \"samples_count\": 32");
  const TrainingLog log = parse_training_log(text, "a.log", 0);
  EXPECT_EQ(log.steps.size(), 2U);
  EXPECT_EQ(log.samples_per_s->median, 12.5);
  EXPECT_EQ(log.time->median, 2.5);
}

TEST(LogForms, ABarOfProgressIsThatWhichGoesOnLongest) {
  const std::string text =
      "{'loss': 2.1, 'epoch': 0.1}\n"
      "  1%|1         | 1/100 [00:09<15:00,  9.00s/it]\r"
      "  2%|2         | 2/100 [00:13<10:00,  5.00s/it]\r"
      "  3%|3         | 3/100 [00:17<08:00,  4.00s/it]\n"
      "100%|##########| 50/50 [00:05<00:00, 10.00it/s]\n"
      "  4%|4         | 4/100 [00:26<08:00,  4.20s/it]\n";
  const TrainingLog log = parse_training_log(text, "a.log", 1);
  EXPECT_EQ(log.program, "HuggingFace Trainer");
  ASSERT_EQ(log.steps.size(), 4U);
  EXPECT_EQ(log.time->median, 4.2);
  EXPECT_EQ(log.steps[0].line, 2);
  EXPECT_EQ(log.steps[3].line, 4);
}

TEST(LogForms, ATrainersSummaryIsAllThatItsStateTells) {
  const TemporaryFolder folder;
  const std::string state = folder.file(
      "trainer_state.json",
      "{\n \"epoch\": 1.0,\n \"log_history\": [\n  {\"loss\": 2.0, \"step\": 10},\n"
      "  {\"train_runtime\": 200.0, \"train_samples_per_second\": 8.0, \"train_steps_per_second\": "
      "0.5}\n ],\n \"max_steps\": 100\n}\n");
  EXPECT_EQ(trace_format(state), TraceFormat::training_log);
  const TrainingLog log = load_training_log(state);
  EXPECT_EQ(log.program, "HuggingFace Trainer");
  EXPECT_EQ(log.time->median, 2.0);
  EXPECT_EQ(log.samples_per_s->median, 8.0);
  ASSERT_EQ(log.remarks.size(), 1U);
  const std::string printed = folder.file(
      "train.log", "{'train_runtime': '100', 'train_steps_per_second': '0.25', 'epoch': '3'}\n");
  EXPECT_EQ(load_training_log(printed).time->median, 4.0);
}

TEST(OtherBatch, IsWhatLinesNameElseWhatTimesAndRatesMake) {
  const TrainingLog named = parse_training_log(
      "iteration 1/ 9 | elapsed time per iteration (ms): 1000.0 | global batch size: 256 |\n", "a");
  EXPECT_EQ(other_batch(named, 256, 1), "");
  EXPECT_NE(other_batch(named, 512, 1).find("name a batch of 256, the run has 512"),
            std::string::npos);
  const TrainingLog rated = parse_training_log("step: 1 loss: 1.0 tps: 4,000\n", "b");
  EXPECT_EQ(other_batch(rated, 256, 1), "") << "no time";
  const TrainingLog both = parse_training_log(
      "completed step: 1, seconds: 2.0, TFLOP/s/device: 100, Tokens/s/device: 4096\n", "c");
  EXPECT_EQ(other_batch(both, 1, 8192), "");
  EXPECT_EQ(other_batch(both, 1, 8400), "") << "as far as they are rounded";
  EXPECT_NE(other_batch(both, 1, 4096).find("make 8192 tokens of a device"), std::string::npos);
}

/// Steps of 2 s, of which the devices are told ten at a time: nine lines of 10 ms, one of 19.91 s.
TEST(LogForms, StepsThatAreHandedOverTakeTheMeanBetweenThoseThatWait) {
  std::string text;
  for (int step = 1; step <= 60; ++step) {
    const bool waits = step % 10 == 0;
    text += "completed step: " + std::to_string(step) + ", seconds: " + (waits ? "19.91" : "0.01") +
            ", Tokens/s/device: " + (waits ? "411.5" : "819200") + "\n";
  }
  const TrainingLog log = parse_training_log(text, "a.log");
  EXPECT_EQ(log.program, "MaxText");
  EXPECT_NEAR(log.time->median, 2.0, 1e-9);
  EXPECT_NEAR(log.time->mean, 2.0, 1e-9);
  EXPECT_NEAR(log.tokens_per_s->median, 4096.0, 1.0);
  EXPECT_EQ(log.time->lines, 50);
  EXPECT_EQ(log.slow, 0);
  ASSERT_EQ(log.remarks.size(), 1U);
  EXPECT_EQ(
      log.remarks[0],
      "lines tell from 10 ms to 19.91 s, as steps are handed to the devices: 6 of them waited "
      "for all since the one before, between which every step takes the mean");
}

TEST(LogForms, CheckpointsAreLeftOutAndSaid) {
  std::string text;
  for (int step = 1; step <= 12; ++step) {
    text +=
        "elapsed time per iteration (ms): " + std::string(step % 5 == 0 ? "9000" : "2000") + "\n";
  }
  const TrainingLog log = parse_training_log(text, "a.log");
  EXPECT_EQ(log.warm_up, 2);
  EXPECT_EQ(log.slow, 2);
  EXPECT_EQ(log.time->lines, 8);
  EXPECT_EQ(log.time->mean, 2.0);
  ASSERT_EQ(log.remarks.size(), 1U);
  EXPECT_EQ(
      log.remarks[0],
      "left out: 2 of 10 lines, the first of them 5, with more than 1.5 times the median, up to "
      "9 s: checkpoints, evaluations or stalls");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
