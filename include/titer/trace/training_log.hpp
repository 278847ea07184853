#pragma once
// What training programs print while they run: how long an iteration took, and how fast that is.

#include <cstdint>
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
  std::optional<FlopsPerSecond> flops{};  // of a device, as the program counts them
  std::optional<Bytes> memory{};          // of a device
};

/// Of the lines after the warm-up.
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
  std::optional<LogSpread> time{};  // seconds
  std::optional<LogSpread> tokens_per_s{};
  std::optional<LogSpread> flops{};  // FLOP/s
  std::optional<Bytes> memory{};     // the most

  [[nodiscard]] int used() const { return static_cast<int>(steps.size()) - warm_up; }
};

/// Lines of Megatron-LM (and Megatron-DeepSpeed), torchtitan, MaxText, DeepSpeed and NeMo; all
/// others are passed over. Warm-up are the first `warm_up` lines; when that is not given, the first
/// tenth, and at least two of five or more and one of three or four. Throws InputError when no line
/// tells a time or tokens per second, or all are warm-up.
[[nodiscard]] TrainingLog parse_training_log(std::string_view text,
                                             std::string source_name,
                                             std::optional<int> warm_up = {});
/// A file of at most 256 MiB, be it compressed with gzip.
[[nodiscard]] TrainingLog load_training_log(const std::filesystem::path& path,
                                            std::optional<int> warm_up = {});

}  // namespace titer
