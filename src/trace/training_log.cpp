#include "titer/trace/training_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <numeric>

#include "titer/input/reader.hpp"
#include "titer/units/text.hpp"
#include "trace_file.hpp"

namespace titer {
namespace {

constexpr std::size_t kLargestLog = std::size_t{256} << 20U;

enum class Says : std::uint8_t { time, tokens_per_s, flops, memory };

/// A value follows the words; they and the line are in small letters.
struct LogWords {
  std::string_view words;
  Says what;
  double factor;                 // to SI units
  std::string_view program;      // that writes them so; "" when several do
  std::string_view beside = "";  // in the line too
};
constexpr std::array kLogWords = std::to_array<LogWords>({
    {"elapsed time per iteration (ms):", Says::time, 1e-3, "Megatron-LM"},
    {"throughput per gpu (tflop/s/gpu):", Says::flops, 1e12, ""},
    {"tokens per gpu per second (tgs):", Says::tokens_per_s, 1, ""},
    {"seconds:", Says::time, 1, "MaxText", "completed step:"},
    {"tflop/s/device:", Says::flops, 1e12, ""},
    {"tokens/s/device:", Says::tokens_per_s, 1, ""},
    {"tps:", Says::tokens_per_s, 1, "torchtitan", "step:"},
    {"tflops:", Says::flops, 1e12, "", "step:"},
    {"memory:", Says::memory, 1, "", "step:"},
    {"iter time (s):", Says::time, 1, "DeepSpeed"},
    {"train_step_timing in s:", Says::time, 1, "NeMo"},
    {"train_step_timing in s=", Says::time, 1, "NeMo"},
});

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
}

/// In small letters, without the sequences that colour a terminal.
std::string plain(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1B' && i + 1 < line.size() && line[i + 1] == '[') {
      i = std::min(line.find('m', i), line.size() - 1);
      continue;
    }
    const char c = line[i];
    text.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return text;
}

/// What follows the words, where they are words of their own.
std::optional<std::string_view> after(std::string_view line, std::string_view words) {
  for (std::size_t at = line.find(words); at != line.npos; at = line.find(words, at + 1)) {
    if (at > 0 && is_word(line[at - 1])) {
      continue;
    }
    const std::string_view rest = line.substr(at + words.size());
    const std::size_t from = rest.find_first_not_of(' ');
    return from == rest.npos ? std::string_view() : rest.substr(from);
  }
  return std::nullopt;
}

/// "4,376" is 4376; what follows the number is left.
std::optional<double> number(std::string_view text, std::string_view& rest) {
  std::string digits;
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool separates =
        text[at] == ',' && at + 1 < text.size() && text[at + 1] >= '0' && text[at + 1] <= '9';
    const bool belongs = (text[at] >= '0' && text[at] <= '9') || text[at] == '.' ||
                         text[at] == '-' || text[at] == '+' || text[at] == 'e';
    if (!belongs && !separates) {
      break;
    }
    if (belongs) {
      digits.push_back(text[at]);
    }
  }
  rest = text.substr(at);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value)
                                                                      : std::nullopt;
}

/// "48.87gib(51.44%)"
std::optional<Bytes> memory(double value, std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 4> units = {
      {{"gib", 1024.0 * 1024 * 1024}, {"mib", 1024.0 * 1024}, {"gb", 1e9}, {"mb", 1e6}}};
  for (const auto& [name, bytes] : units) {
    if (unit.starts_with(name)) {
      return Bytes::from_si(value * bytes);
    }
  }
  return std::nullopt;
}

class LogReader {
 public:
  explicit LogReader(TrainingLog& log) : log_(log) {}

  void read(std::string_view text) {
    int line = 0;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line;
      read_line(plain(text.substr(0, end)), line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    keep_one_form();
  }

 private:
  void read_line(const std::string& line, int number_of_line) {
    LoggedStep step{.line = number_of_line};
    std::string_view program;
    for (const LogWords& words : kLogWords) {
      const auto rest = after(line, words.words);
      if (rest && line.find(words.beside) != line.npos && set(step, words, *rest) &&
          program.empty()) {
        program = words.program;
      }
    }
    const bool speed =
        (step.time && *step.time > Seconds{}) || (step.tokens_per_s && *step.tokens_per_s > 0);
    if (!speed) {
      return;
    }
    log_.steps.push_back(step);
    programs_.push_back(program);
  }

  /// A program above another prints every iteration once more, in its own form: the form that most
  /// lines have is kept, of equally many that which stands first in the table.
  void keep_one_form() {
    std::ptrdiff_t most = 0;
    for (const LogWords& words : kLogWords) {
      const auto lines = std::count(programs_.begin(), programs_.end(), words.program);
      if (!words.program.empty() && lines > most) {
        most = lines;
        log_.program = words.program;
      }
    }
    std::vector<LoggedStep> kept;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      if (programs_[i].empty() || programs_[i] == log_.program) {
        kept.push_back(log_.steps[i]);
      }
    }
    log_.steps = std::move(kept);
  }

  /// Whether a value was there.
  static bool set(LoggedStep& step, const LogWords& words, std::string_view text) {
    std::string_view rest;
    const auto value = number(text, rest);
    if (!value || !(*value > 0)) {
      return false;
    }
    const double si = *value * words.factor;
    switch (words.what) {
      case Says::time:
        step.time = Seconds::from_si(si);
        break;
      case Says::tokens_per_s:
        step.tokens_per_s = si;
        break;
      case Says::flops:
        step.flops = FlopsPerSecond::from_si(si);
        break;
      case Says::memory:
        step.memory = memory(si, rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
        break;
    }
    return true;
  }

  TrainingLog& log_;
  std::vector<std::string_view> programs_;  // that wrote each step's line
};

std::optional<LogSpread> spread(std::vector<double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::sort(values.begin(), values.end());
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

void summarise(TrainingLog& log) {
  std::vector<double> times;
  std::vector<double> rates;
  std::vector<double> flops;
  for (auto step = log.steps.begin() + log.warm_up; step != log.steps.end(); ++step) {
    if (step->time) {
      times.push_back(step->time->si());
    }
    if (step->tokens_per_s) {
      rates.push_back(*step->tokens_per_s);
    }
    if (step->flops) {
      flops.push_back(step->flops->si());
    }
    if (step->memory) {
      log.memory = std::max(log.memory.value_or(Bytes{}), *step->memory);
    }
  }
  log.time = spread(std::move(times));
  log.tokens_per_s = spread(std::move(rates));
  log.flops = spread(std::move(flops));
}

}  // namespace

TrainingLog parse_training_log(std::string_view text,
                               std::string source_name,
                               std::optional<int> warm_up) {
  TrainingLog log;
  log.source = std::move(source_name);
  LogReader(log).read(text);
  if (log.steps.empty()) {
    throw InputError(
        log.source +
        ": no line tells how long an iteration took: expected lines such as \"elapsed time per "
        "iteration (ms): 812.5\" (Megatron-LM), \"tps: 4,376\" (torchtitan) or \"completed step: "
        "4, seconds: 11.6\" (MaxText)");
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

}  // namespace titer
