// Programs that tell line by line how long an iteration took, or how fast it was.

#include <algorithm>
#include <array>

#include "log_reader.hpp"

#include "titer/units/number_text.hpp"

namespace titer {
namespace {

enum class Says : std::uint8_t {
  time,
  rate,  // iterations per second
  tokens_per_s,
  samples_per_s,
  flops,
  memory,
  batch
};

constexpr double kMebibyte = 1024.0 * 1024;
constexpr double kGibibyte = 1024 * kMebibyte;

/// A value follows the words; they and the line are in small letters.
struct LogWords {
  std::string_view words;
  Says what;
  double factor;                 // to SI units; of memory 0 where its unit follows it
  std::string_view program;      // that writes them so; "" when several do
  std::string_view beside = "";  // in the line too
  bool before = false;           // the value stands before the words
};
constexpr std::string_view kComposer = "Composer";
constexpr std::array kLogWords = std::to_array<LogWords>({
    {"elapsed time per iteration (ms):", Says::time, 1e-3, "Megatron-LM"},
    {"global batch size:", Says::batch, 1, "", "elapsed time per iteration (ms):"},
    {"throughput per gpu (tflop/s/gpu):", Says::flops, 1e12, ""},
    {"tokens per gpu per second (tgs):", Says::tokens_per_s, 1, ""},
    {"max allocated:", Says::memory, kMebibyte, "", "memory (mb)"},
    {"seconds:", Says::time, 1, "MaxText", "completed step:"},
    {"tflop/s/device:", Says::flops, 1e12, ""},
    {"tokens/s/device:", Says::tokens_per_s, 1, ""},
    {"tps:", Says::tokens_per_s, 1, "torchtitan", "step:"},
    {"tflops:", Says::flops, 1e12, "", "step:"},
    {"memory:", Says::memory, 0, "", "step:"},
    {"iter time (s):", Says::time, 1, "DeepSpeed"},
    {"train_step_timing in s:", Says::time, 1, "NeMo"},
    {"train_step_timing in s=", Says::time, 1, "NeMo"},
    {"train_step_timing", Says::time, 1, "NeMo", " timestamp:"},
    {"throughput/batches_per_sec:", Says::rate, 1, kComposer},
    {"throughput/device/tokens_per_sec:", Says::tokens_per_s, 1, kComposer},
    {"throughput/device/flops_per_sec:", Says::flops, 1, kComposer},
    {"memory/peak_reserved_mem:", Says::memory, 1e9, kComposer},
    // DeepSpeed's timer; its GB are GiB, and its samples those of all devices.
    {"currsamplespersec=", Says::samples_per_s, 1, "DeepSpeed's timer"},
    {"maxmemallocated=", Says::memory, kGibibyte, "", "currsamplespersec="},
    // The mean since the last such line.  [facebookresearch/dlrm, dlrm_s_pytorch.py]
    {" ms/it,", Says::time, 1e-3, "DLRM", "finished training it ", true},
});

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
}

/// "48.87gib(51.44%)"
std::optional<Bytes> sized(double value, std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 4> units = {
      {{"gib", kGibibyte}, {"mib", kMebibyte}, {"gb", 1e9}, {"mb", 1e6}}};
  for (const auto& [name, bytes] : units) {
    if (unit.starts_with(name)) {
      return Bytes::from_si(value * bytes);
    }
  }
  return std::nullopt;
}

class SpeedLines {
 public:
  explicit SpeedLines(TrainingLog& log) : log_(log) {}

  bool read(std::string_view text) {
    each_logged_line(text, [&](std::string_view line, int number) { read_line(line, number); });
    keep_one_form();
    return !log_.steps.empty();
  }

 private:
  void read_line(std::string_view text, int number) {
    const std::string line = plain_line(text);
    LoggedStep step{.line = number};
    std::string_view program;
    for (const LogWords& words : kLogWords) {
      const auto rest =
          words.before ? before_words(line, words.words) : after_words(line, words.words);
      if (rest && line.find(words.beside) != line.npos && set(step, words, *rest) &&
          program.empty()) {
        program = words.program;
      }
    }
    if (step.memory) {
      log_.memory = std::max(log_.memory.value_or(Bytes{}), *step.memory);
    }
    if (program == kComposer && goes_on(step, line)) {
      return;
    }
    if (step.time || step.tokens_per_s || step.samples_per_s) {
      log_.steps.push_back(step);
      programs_.push_back(program);
    }
  }

  /// The word that ends where these begin.
  static std::optional<std::string_view> before_words(std::string_view line,
                                                      std::string_view words) {
    const std::size_t at = line.find(words);
    if (at == line.npos) {
      return std::nullopt;
    }
    const std::string_view before = line.substr(0, at);
    return before.substr(before.rfind(' ') + 1);  // npos + 1 is 0
  }

  /// Composer writes a line for each figure of a step; the step begins with "[batch=7/40]:".
  /// Whether the line belongs to the step before it.
  bool goes_on(const LoggedStep& step, const std::string& line) {
    const bool begins =
        line.find("[batch=") != line.npos || programs_.empty() || programs_.back() != kComposer;
    if (begins) {
      return false;
    }
    LoggedStep& last = log_.steps.back();
    if ((step.time && last.time) || (step.tokens_per_s && last.tokens_per_s)) {
      return false;
    }
    last.time = step.time ? step.time : last.time;
    last.tokens_per_s = step.tokens_per_s ? step.tokens_per_s : last.tokens_per_s;
    last.flops = step.flops ? step.flops : last.flops;
    last.memory = step.memory ? step.memory : last.memory;
    return true;
  }

  /// Of a program's form; where `timed`, those that tell a time.
  [[nodiscard]] std::ptrdiff_t lines_of(std::string_view program, bool timed) const {
    std::ptrdiff_t lines = 0;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      lines += programs_[i] == program && (log_.steps[i].time || !timed) ? 1 : 0;
    }
    return lines;
  }

  /// The program whose form most lines have, of equally many that which stands first in the table;
  /// "" where no line is of a program.
  [[nodiscard]] std::string_view program_of_most(bool timed) const {
    std::ptrdiff_t most = 0;
    std::string_view program;
    for (const LogWords& words : kLogWords) {
      const std::ptrdiff_t lines = words.program.empty() ? 0 : lines_of(words.program, timed);
      if (lines > most) {
        most = lines;
        program = words.program;
      }
    }
    return program;
  }

  /// A program above another prints every iteration once more, in its own form: the form that most
  /// lines have is kept, one that tells a time before others.
  void keep_one_form() {
    const std::string_view timed = program_of_most(true);
    const std::string_view program = timed.empty() ? program_of_most(false) : timed;
    if (!program.empty()) {
      log_.program = program;
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
    const auto value = logged_number(text, rest);
    if (!value || !(*value > 0)) {
      return false;
    }
    const double si = *value * words.factor;
    switch (words.what) {
      case Says::time:
        step.time = Seconds::from_si(si);
        break;
      case Says::rate:
        step.time = Seconds::from_si(1 / si);
        break;
      case Says::tokens_per_s:
        step.tokens_per_s = si;
        break;
      case Says::samples_per_s:
        step.samples_per_s = si;
        break;
      case Says::flops:
        step.flops = FlopsPerSecond::from_si(si);
        break;
      case Says::memory:
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        step.memory = words.factor > 0 ? std::optional(Bytes::from_si(si)) : sized(*value, rest);
        break;
      case Says::batch:
        step.batch = si;
        break;
    }
    return true;
  }

  TrainingLog& log_;
  std::vector<std::string_view> programs_;  // that wrote each step's line
};

}  // namespace

std::string plain_line(std::string_view line) {
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

std::optional<std::string_view> after_words(std::string_view line, std::string_view words) {
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

std::optional<double> logged_number(std::string_view text, std::string_view& rest) {
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
  return number_of_text<double>(digits);
}

bool read_speed_lines(std::string_view text, TrainingLog& log) {
  return SpeedLines(log).read(text);
}

}  // namespace titer
