#pragma once
// What training programs print while they run: how long an iteration took, and how fast that is.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/units/quantity.hpp"

namespace titer {

/// A line of a log, as far as it says something of speed.
struct LoggedStep {
  int line = 0;
  std::optional<Seconds> time{};          // of an iteration
  std::optional<double> tokens_per_s{};   // of a device
  std::optional<double> samples_per_s{};  // of all devices
  std::optional<FlopsPerSecond> flops{};  // of a device, as the program counts them
  std::optional<Bytes> memory{};          // of a device
  std::optional<double> batch{};          // samples of an iteration, on all devices
};

/// Of the lines after the warm-up that are not slow.
struct LogSpread {
  double mean = 0;
  double median = 0;
  double least = 0;
  double most = 0;
  int lines = 0;
};

struct TrainingLog {
  std::string source;
  std::string program;  // "Megatron-LM"
  std::vector<LoggedStep> steps;
  int warm_up = 0;                  // of them, the first
  int slow = 0;                     // of the others, left out
  std::optional<LogSpread> time{};  // seconds
  std::optional<LogSpread> tokens_per_s{};
  std::optional<LogSpread> samples_per_s{};
  std::optional<LogSpread> flops{};    // FLOP/s
  std::optional<Bytes> memory{};       // the most
  std::optional<double> batch{};       // of the last line that names one
  std::vector<std::string> remarks{};  // how it was counted, what was left out

  [[nodiscard]] int used() const { return static_cast<int>(steps.size()) - warm_up; }
};

/// Lines of Megatron-LM (and Megatron-DeepSpeed), torchtitan, MaxText, DeepSpeed, NeMo and Composer
/// (llm-foundry), MLPerf's records, and the bar of progress and the summary (trainer_state.json,
/// too) of HuggingFace's Trainer; all other lines are passed over. Warm-up are the first `warm_up`
/// lines; when that is not given, the first tenth, and at least two of five or more and one of
/// three or four. Of eight lines or more those that took over 1.5 times the median are slow:
/// checkpoints, evaluations, stalls. Throws InputError when no line tells a time, samples or tokens
/// per second, or all are warm-up.
[[nodiscard]] TrainingLog parse_training_log(std::string_view text,
                                             std::string source_name,
                                             std::optional<int> warm_up = {});
/// A file of at most 256 MiB, be it compressed with gzip.
[[nodiscard]] TrainingLog load_training_log(const std::filesystem::path& path,
                                            std::optional<int> warm_up = {});

/// In words, where the log is of a run with another batch than so many samples and tokens of a
/// device an iteration: as lines name it, or as times and rates that differ by 5 % or more make it.
/// "" where nothing tells.
[[nodiscard]] std::string other_batch(const TrainingLog& log,
                                      double samples,
                                      double tokens_per_device);

/// The middle time of an iteration: as it is told, or of so many samples, or so many tokens of a
/// device, at the rate that is told.
[[nodiscard]] std::optional<Seconds> iteration_time(const TrainingLog& log,
                                                    double samples,
                                                    double tokens_per_device);

}  // namespace titer
