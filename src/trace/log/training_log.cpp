#include "titer/trace/training_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <span>

#include "log_reader.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/text.hpp"
#include "trace/trace_file.hpp"

namespace titer {
namespace {

constexpr std::size_t kLargestLog = std::size_t{256} << 20U;

std::optional<LogSpread> spread(std::vector<double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return LogSpread{
      .mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n),
      .median = 0.5 * (values[(n - 1) / 2] + values[n / 2]),
      .least = values.front(),
      .most = values.back(),
      .lines = static_cast<int>(n)};
}

int usual_warm_up(std::size_t lines) {
  if (lines < 3) {
    return 0;
  }
  const auto tenth = static_cast<int>((lines + 9) / 10);
  return std::max(tenth, lines < 5 ? 1 : 2);
}

// Of that many lines or more, those far above the middle are checkpoints, evaluations or stalls.
constexpr int kLeastToTellSlow = 8;
constexpr double kSlow = 1.5;
// Of JAX a step returns before the devices have done it.  [JAX, Asynchronous dispatch]
constexpr std::string_view kHandsOver = "MaxText";

std::optional<LogSpread> spread_of_times(std::span<const LoggedStep> steps) {
  std::vector<double> times;
  for (const LoggedStep& step : steps) {
    if (step.time) {
      times.push_back(step.time->si());
    }
  }
  return spread(std::move(times));
}

/// The step, had it taken so long.
LoggedStep taking(double seconds, LoggedStep step) {
  const double factor = step.time ? step.time->si() / seconds : 1;
  step.time = Seconds::from_si(seconds);
  if (step.tokens_per_s) {
    *step.tokens_per_s *= factor;
  }
  if (step.flops) {
    *step.flops = factor * *step.flops;
  }
  return step;
}

/// Where lines far above the middle have most of the time, steps were handed to the devices without
/// waiting for them, and those lines waited for all since the one before. Then each step between
/// two of them takes the mean; nothing where it is not so.
std::vector<LoggedStep> awaited_steps(std::span<const LoggedStep> steps, TrainingLog& log) {
  const LogSpread all = *spread_of_times(steps);
  constexpr std::size_t least_waits = 3;
  std::vector<std::size_t> waits;
  double waited = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].time && steps[i].time->si() > kSlow * all.median) {
      waits.push_back(i);
      waited += steps[i].time->si();
    }
  }
  if (waits.size() < least_waits || waited < 0.5 * all.mean * all.lines) {
    return {};
  }
  std::vector<LoggedStep> even;
  for (std::size_t wait = 1; wait < waits.size(); ++wait) {
    const auto between = steps.subspan(waits[wait - 1] + 1, waits[wait] - waits[wait - 1]);
    const double mean = spread_of_times(between)->mean;
    for (const LoggedStep& step : between) {
      even.push_back(taking(mean, step));
    }
  }
  log.remarks.push_back(fmt::format(
      "lines tell from {} to {}, as steps are handed to the devices: {} of them waited for all "
      "since the one before, between which every step takes the mean",
      format(Seconds::from_si(all.least)),
      format(Seconds::from_si(all.most)),
      waits.size()));
  return even;
}

/// Leaves out the steps that took far longer than the middle one, and says so.
std::vector<LoggedStep> steady(TrainingLog& log) {
  std::vector<LoggedStep> steps(log.steps.begin() + log.warm_up, log.steps.end());
  auto all = spread_of_times(steps);
  if (!all || all->lines < kLeastToTellSlow) {
    return steps;
  }
  if (log.program == kHandsOver) {
    if (auto even = awaited_steps(steps, log); !even.empty()) {
      steps = std::move(even);
      all = spread_of_times(steps);
    }
  }
  const auto is_slow = [&](const LoggedStep& step) {
    return step.time && step.time->si() > kSlow * all->median;
  };
  const auto first = std::ranges::find_if(steps, is_slow);
  if (first == steps.end()) {
    return steps;
  }
  const int line = first->line;
  log.slow = static_cast<int>(std::erase_if(steps, is_slow));
  log.remarks.push_back("left out: " + std::to_string(log.slow) + " of " +
                        std::to_string(log.used()) + " lines, the first of them " +
                        std::to_string(line) + ", with more than 1.5 times the median, up to " +
                        format(Seconds::from_si(all->most)) +
                        ": checkpoints, evaluations or stalls");
  return steps;
}

void summarise(TrainingLog& log) {
  std::vector<double> times;
  std::vector<double> rates;
  std::vector<double> samples;
  std::vector<double> flops;
  for (const LoggedStep& step : steady(log)) {
    if (step.time) {
      times.push_back(step.time->si());
    }
    if (step.tokens_per_s) {
      rates.push_back(*step.tokens_per_s);
    }
    if (step.samples_per_s) {
      samples.push_back(*step.samples_per_s);
    }
    if (step.flops) {
      flops.push_back(step.flops->si());
    }
    log.batch = step.batch ? step.batch : log.batch;
  }
  log.time = spread(std::move(times));
  log.tokens_per_s = spread(std::move(rates));
  log.samples_per_s = spread(std::move(samples));
  log.flops = spread(std::move(flops));
}

}  // namespace

TrainingLog parse_training_log(std::string_view text,
                               std::string source_name,
                               std::optional<int> warm_up) {
  TrainingLog log;
  log.source = std::move(source_name);
  const bool told = read_speed_lines(text, log) || read_mlperf_records(text, log) ||
                    read_progress_bar(text, log) || read_run_summary(text, log);
  if (!told) {
    throw InputError(
        log.source +
        ": no line tells how long an iteration took: expected what Megatron-LM (\"elapsed time per "
        "iteration (ms): 812.5\"), torchtitan (\"tps: 4,376\"), MaxText, DeepSpeed "
        "(\"CurrSamplesPerSec=51.9\"), NeMo, Composer, DLRM (\"12.5 ms/it\"), MLPerf "
        "(\":::MLLOG\") or HuggingFace's Trainer prints");
  }
  log.warm_up = warm_up.value_or(usual_warm_up(log.steps.size()));
  if (log.warm_up < 0 || log.used() < 1) {
    throw InputError(log.source + ": a warm-up of " + std::to_string(log.warm_up) +
                     " lines: expected 0 to " + std::to_string(log.steps.size() - 1) +
                     ", since it has " + std::to_string(log.steps.size()) + " with a time");
  }
  summarise(log);
  return log;
}

TrainingLog load_training_log(const std::filesystem::path& path, std::optional<int> warm_up) {
  return parse_training_log(read_pieces(path, kLargestLog), path.string(), warm_up);
}

std::string other_batch(const TrainingLog& log, double samples, double tokens_per_device) {
  constexpr double alike = 0.05;
  const auto differs = [&](double told, double asked) {
    return std::abs(told - asked) > alike * asked;
  };
  constexpr std::string_view so = "it is of another run, or of one with another batch";
  if (log.batch) {
    return *log.batch == samples
               ? ""
               : fmt::format("its lines name a batch of {:g}, the run has {:g}: {}",
                             *log.batch,
                             samples,
                             so);
  }
  if (log.time && log.samples_per_s) {
    const double told = log.time->median * log.samples_per_s->median;
    return differs(told, samples)
               ? fmt::format(
                     "its times and rates make {:.4g} samples of an iteration, the run has "
                     "{:g}: {}",
                     told,
                     samples,
                     so)
               : "";
  }
  if (log.time && log.tokens_per_s) {
    const double told = log.time->median * log.tokens_per_s->median;
    return differs(told, tokens_per_device)
               ? fmt::format(
                     "its times and rates make {:.5g} tokens of a device an iteration, the "
                     "run has {:.5g}: {}",
                     told,
                     tokens_per_device,
                     so)
               : "";
  }
  return "";
}

std::optional<Seconds> iteration_time(const TrainingLog& log,
                                      double samples,
                                      double tokens_per_device) {
  if (log.time) {
    return Seconds::from_si(log.time->median);
  }
  if (log.samples_per_s) {
    return Seconds::from_si(samples / log.samples_per_s->median);
  }
  return log.tokens_per_s
             ? std::optional(Seconds::from_si(tokens_per_device / log.tokens_per_s->median))
             : std::nullopt;
}

}  // namespace titer
