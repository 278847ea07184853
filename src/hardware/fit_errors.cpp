#include "titer/hardware/fit_errors.hpp"

#include <algorithm>
#include <string>

#include "titer/input/reader.hpp"

namespace titer {

FitErrors FitErrors::wider(const FitErrors& other) const {
  return {.low = std::min(low, other.low), .high = std::max(high, other.high)};
}

FitErrors read_fit_errors(Reader& file, std::string_view part, EvidenceList& evidence) {
  constexpr double least = 0.01;
  constexpr double most = 100;
  FitErrors errors;
  auto in = file.maybe_object("error_bars");
  if (!in) {
    return errors;
  }
  const std::string path = std::string(part) + "error_bars.";
  if (const auto low = in->maybe_number("low", least, 1)) {
    errors.low = *low;
    evidence.note(*in, "low", path + "low");
  }
  if (const auto high = in->maybe_number("high", 1, most)) {
    errors.high = *high;
    evidence.note(*in, "high", path + "high");
  }
  in->finish();
  return errors;
}

}  // namespace titer
