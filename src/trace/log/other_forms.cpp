// What tells of speed by the way: MLPerf's records, bars of progress, and what a trainer says at
// the end.

#include <algorithm>
#include <array>
#include <map>

#include "log_reader.hpp"
#include "titer/input/reader.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr std::string_view kMlperfMark = ":::MLLOG";

std::optional<double> number_at(const Value& object, std::string_view key) {
  const Value* value = object.kind == Value::Kind::object ? object.find(key) : nullptr;
  return value != nullptr && value->kind == Value::Kind::number ? std::optional(value->number)
                                                                : std::nullopt;
}

/// The first of these keys that is there.
template <std::size_t N>
std::optional<double> first_number(const Value& object,
                                   const std::array<std::string_view, N>& keys) {
  for (const std::string_view key : keys) {
    if (const auto value = number_at(object, key)) {
      return value;
    }
  }
  return std::nullopt;
}

/// MLPerf's rules name the keys [mlcommons/logging, mllog/constants.py]; what is tracked besides is
/// each submitter's own.
class MlperfReader {
 public:
  explicit MlperfReader(TrainingLog& log) : log_(log) {}

  bool read(std::string_view text) {
    each_logged_line(text, [&](std::string_view line, int number) {
      const std::size_t mark = line.find(kMlperfMark);
      if (mark != line.npos) {
        record(line.substr(mark + kMlperfMark.size()), number);
      }
    });
    for (auto* form : {&stats_, &losses_, &blocks_}) {
      if (log_.steps.empty() && !form->empty()) {
        log_.steps = std::move(*form);
      }
    }
    log_.program = log_.steps.empty() ? "" : "MLPerf";
    return !log_.steps.empty();
  }

 private:
  void record(std::string_view text, int line) {
    Value root;
    try {
      root = parse_json(text, log_.source).root;
    } catch (const InputError&) {
      return;  // cut off by what another process wrote
    }
    const auto time = number_at(root, "time_ms");
    const Value* key = root.find("key");
    const Value* value = root.find("value");
    if (!time || key == nullptr || value == nullptr) {
      return;
    }
    if (key->text == "global_batch_size" && value->kind == Value::Kind::number) {
      batch_ = value->number;
    } else if (key->text == "tracked_stats") {
      statistics(*value, line);
    } else {
      const Value* metadata = root.find("metadata");
      const std::optional<double> samples =
          metadata == nullptr ? std::nullopt : first_number(*metadata, sample_keys);
      progress(key->text, *time, samples, line);
      if (key->text == "block_stop" && metadata != nullptr && !samples) {
        whole_block(*time, number_at(*metadata, "epoch_count"), line);
      } else if (key->text == "block_start") {
        begun_ = *time;
      }
    }
  }

  /// Benchmarks of language models count epochs in sequences: a block of a batch or more.
  void whole_block(double time, std::optional<double> epochs, int line) {
    if (batch_ <= 0 || epochs.value_or(0) < batch_ || begun_ <= 0 || time <= begun_) {
      return;
    }
    LoggedStep step{.line = line};
    step.samples_per_s = 1000 * *epochs / (time - begun_);
    step.time = Seconds::from_si(batch_ / *step.samples_per_s);
    blocks_.push_back(step);
  }

  void statistics(const Value& value, int line) {
    constexpr std::array<std::string_view, 3> times = {
        "train_step_time", "step_time", "train_step_timing in s"};
    LoggedStep step{.line = line};
    if (const auto time = first_number(value, times); time && *time > 0) {
      step.time = Seconds::from_si(*time);
    } else if (const auto rate = number_at(value, "throughput"); rate && *rate > 0) {
      step.samples_per_s = *rate;
    } else {
      return;
    }
    stats_.push_back(step);
  }

  /// Samples between two records of a kind, over the time between them.
  void progress(const std::string& key, double time, std::optional<double> samples, int line) {
    if (key == "train_loss") {
      between(last_loss_, time, samples, line, losses_);
    } else if (key == "block_start") {
      block_ = {time, samples};
    } else if (key == "block_stop") {
      between(block_, time, samples, line, blocks_);
    } else if (key == "eval_start" || key == "eval_stop") {
      last_loss_ = {};  // the time of an evaluation is no step's
    }
  }

  struct Point {
    double time = 0;
    std::optional<double> samples;
  };
  void between(Point& from,
               double time,
               std::optional<double> samples,
               int line,
               std::vector<LoggedStep>& steps) const {
    if (from.samples && samples && *samples > *from.samples && time > from.time) {
      LoggedStep step{.line = line};
      const double rate = 1000 * (*samples - *from.samples) / (time - from.time);
      step.samples_per_s = rate;
      if (batch_ > 0) {
        step.time = Seconds::from_si(batch_ / rate);
      }
      steps.push_back(step);
    }
    from = {time, samples};
  }

  static constexpr std::array<std::string_view, 2> sample_keys = {"samples_count", "samples"};
  TrainingLog& log_;
  double batch_ = 0;
  double begun_ = 0;  // the block, in ms
  Point last_loss_;
  Point block_;
  std::vector<LoggedStep> stats_;
  std::vector<LoggedStep> losses_;
  std::vector<LoggedStep> blocks_;
};

/// " 264/1000 [26:15<1:14:03,  5.97s/it]": what a bar says.
struct Bar {
  double done = 0;
  double of = 0;
  double elapsed = 0;        // seconds
  double per_iteration = 0;  // seconds
};

/// "1:02:03" or "02:03", in seconds.
std::optional<double> clock_time(std::string_view text) {
  double seconds = 0;
  for (const std::string_view digits : divided(text, ":")) {
    const auto part = number_of_text<int>(digits);
    if (!part) {
      return std::nullopt;
    }
    seconds = 60 * seconds + *part;
  }
  return seconds;
}

std::optional<Bar> bar_of(std::string_view line) {
  const std::size_t open = line.rfind(" [");
  const std::size_t slash = open == line.npos ? open : line.rfind('/', open);
  const std::size_t less = open == line.npos ? open : line.find('<', open);
  const std::size_t comma = less == line.npos ? less : line.find(',', less);
  if (slash == line.npos || comma == line.npos) {
    return std::nullopt;
  }
  const std::size_t before = line.find_last_not_of("0123456789", slash - (slash > 0 ? 1 : 0));
  const std::size_t begin = before == line.npos ? 0 : before + 1;
  std::string_view rest;
  const auto done = logged_number(line.substr(begin, slash - begin), rest);
  const auto of = logged_number(line.substr(slash + 1, open - slash - 1), rest);
  const auto elapsed = clock_time(line.substr(open + 2, less - open - 2));
  std::string_view rate = line.substr(comma + 1);
  rate.remove_prefix(std::min(rate.find_first_not_of(' '), rate.size()));
  const auto figure = logged_number(rate, rest);
  if (!done || !of || !elapsed || !figure || !(*figure > 0)) {
    return std::nullopt;
  }
  const bool is_time = rest.starts_with("s/it");
  if (!is_time && !rest.starts_with("it/s")) {
    return std::nullopt;
  }
  return Bar{.done = *done,
             .of = *of,
             .elapsed = *elapsed,
             .per_iteration = is_time ? *figure : 1 / *figure};
}

}  // namespace

bool read_mlperf_records(std::string_view text, TrainingLog& log) {
  return text.find(kMlperfMark) != text.npos && MlperfReader(log).read(text);
}

bool read_progress_bar(std::string_view text, TrainingLog& log) {
  struct Progress {
    double elapsed = 0;
    double done = -1;
    std::vector<LoggedStep> steps;
  };
  std::map<double, Progress> bars;  // by how far they go: of training, of each evaluation
  each_logged_line(text, [&](std::string_view line, int number) {
    const auto bar = line.find("it") == line.npos ? std::nullopt : bar_of(plain_line(line));
    if (!bar) {
      return;
    }
    Progress& progress = bars[bar->of];
    if (bar->done > progress.done && bar->done > 0) {
      LoggedStep step{.line = number};
      step.time = Seconds::from_si(bar->per_iteration);
      progress.steps.push_back(step);
      progress.done = bar->done;
    }
    progress.elapsed = std::max(progress.elapsed, bar->elapsed);
  });
  const auto longest = std::ranges::max_element(
      bars, [](const auto& a, const auto& b) { return a.second.elapsed < b.second.elapsed; });
  if (longest == bars.end() || longest->second.steps.empty()) {
    return false;
  }
  log.steps = std::move(longest->second.steps);
  const bool of_trainer =
      text.find("'loss':") != text.npos || text.find("'train_runtime'") != text.npos;
  log.program = of_trainer ? "HuggingFace Trainer" : "a bar of progress";
  log.remarks.emplace_back("times are a bar's of progress, which smooths them");
  return true;
}

bool read_run_summary(std::string_view text, TrainingLog& log) {
  LoggedStep step;
  each_logged_line(text, [&](std::string_view line, int number) {
    const std::string low = plain_line(line);
    const auto figure = [&](std::string_view key) -> std::optional<double> {
      const std::size_t at = low.find(key);
      const std::size_t digits =
          at == low.npos ? at : low.find_first_of("0123456789", at + key.size());
      std::string_view rest;
      return digits == low.npos || digits > at + key.size() + 4
                 ? std::nullopt
                 : logged_number(std::string_view(low).substr(digits), rest);
    };
    if (const auto rate = figure("train_steps_per_second"); rate && *rate > 0) {
      step.line = number;
      step.time = Seconds::from_si(1 / *rate);
    }
    if (const auto rate = figure("train_samples_per_second"); rate && *rate > 0) {
      step.line = number;
      step.samples_per_s = *rate;
    }
  });
  if (step.line == 0) {
    return false;
  }
  log.steps = {step};
  log.program = "HuggingFace Trainer";
  log.remarks.emplace_back(
      "the mean of the whole run is all that is told: its first steps, evaluations and checkpoints "
      "are in it");
  return true;
}

}  // namespace titer
