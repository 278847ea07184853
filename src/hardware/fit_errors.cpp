#include "titer/hardware/fit_errors.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "titer/input/reader.hpp"

namespace titer {
namespace {

constexpr std::string_view kErrorBars = "error_bars";
constexpr std::string_view kLow = ".low";
constexpr std::string_view kHigh = ".high";

double number_of(const std::string& text) {
  double share = 1;
  static_cast<void>(std::from_chars(text.data(), text.data() + text.size(), share));
  return share;
}

}  // namespace

FitErrors FitErrors::wider(const FitErrors& other) const {
  return {.low = std::min(low, other.low), .high = std::max(high, other.high)};
}

void note_fit_errors(Reader& file, std::string_view part, EvidenceList& evidence) {
  constexpr double least = 0.01;
  constexpr double most = 100;
  auto errors = file.maybe_object(kErrorBars);
  if (!errors) {
    return;
  }
  const std::string path = std::string(part) + std::string(kErrorBars);
  if (errors->maybe_number("low", least, 1)) {
    evidence.note(*errors, "low", path + std::string(kLow));
  }
  if (errors->maybe_number("high", 1, most)) {
    evidence.note(*errors, "high", path + std::string(kHigh));
  }
  errors->finish();
}

// Every estimate asks: nothing is allocated, and hardly a key looked at that is not one of these.
FitErrors fit_errors(const EvidenceList& evidence, std::string_view part) {
  FitErrors errors;
  const std::size_t before = part.size() + kErrorBars.size();
  for (const Evidence& figure : evidence.figures()) {
    std::string_view key = figure.key;
    if (key.size() != before + kLow.size() && key.size() != before + kHigh.size()) {
      continue;
    }
    if (!key.starts_with(part) || !key.substr(part.size()).starts_with(kErrorBars)) {
      continue;
    }
    key.remove_prefix(before);
    if (key == kLow) {
      errors.low = number_of(figure.value);
    } else if (key == kHigh) {
      errors.high = number_of(figure.value);
    }
  }
  return errors;
}

}  // namespace titer
