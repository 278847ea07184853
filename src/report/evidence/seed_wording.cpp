#include "seed_wording.hpp"

#include <fmt/format.h>

#include "titer/units/blanks.hpp"

namespace titer {
namespace {

constexpr std::size_t kTextWidth = 96;

/// "0.172", "60 to 100", "6 or more".
std::string printed_text(const CheckResult& result) {
  if (!result.printed_to) {
    return shown(*result.printed_from) + " or more";
  }
  if (!result.printed_from) {
    return shown(*result.printed_to) + " or less";
  }
  const std::string from = shown(*result.printed_from);
  const std::string to = shown(*result.printed_to);
  return from == to ? from : from + " to " + to;
}

/// "within 5 %", "12 % too low", "2.3 times too high".
std::string deviation_text(const CheckResult& result) {
  if (result.status == CheckStatus::open) {
    return "open";
  }
  if (result.deviation() == 0) {
    return "as printed";
  }
  for (const double band : kFigureBands) {
    if (band <= kMet && result.deviation() <= band) {
      return fmt::format("within {:.0f} %", 100 * band);
    }
  }
  const std::string_view way = result.ratio > 1 ? "high" : "low";
  const double times = result.ratio > 1 ? result.ratio : 1 / result.ratio;
  return times < 2 ? fmt::format("{:.0f} % too {}", 100 * result.deviation(), way)
                   : fmt::format("{:.3g} times too {}", times, way);
}

}  // namespace

std::string wrapped(std::string_view text, std::string_view indent) {
  std::string lines;
  std::string line;
  for (const std::string_view word : divided(text, " ")) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kTextWidth) {
      lines += fmt::format("{}{}\n", indent, line);
      line.clear();
    }
    line += (line.empty() ? "" : " ") + std::string(word);
  }
  return line.empty() ? lines : lines + fmt::format("{}{}\n", indent, line);
}

std::string shown(double value) { return fmt::format("{:.6g}", value); }

std::string reading_of(const SeedCheck& check) {
  return check.reading ? std::string(kReadings[static_cast<std::size_t>(*check.reading)].name) : "";
}

std::string_view kind_of(const SeedCheck& check) {
  return kCheckKinds[static_cast<std::size_t>(check.kind)].name;
}

std::string what_of(const CheckResult& result) {
  const std::string reading = reading_of(*result.check);
  return result.check->what + (result.row.empty() ? "" : " [" + result.row + "]") +
         (reading.empty() ? "" : " (" + reading + " reading)");
}

std::string figure_line(const CheckResult& result) {
  std::string predicted = shown(result.value);
  if (!result.check->over.empty()) {
    predicted += fmt::format(
        " ({} to {} by what the document leaves open)", shown(result.least), shown(result.most));
  }
  return fmt::format(
      "predicted {} for {} printed: {}", predicted, printed_text(result), deviation_text(result));
}

}  // namespace titer
