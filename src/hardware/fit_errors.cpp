#include "titer/hardware/fit_errors.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "titer/hardware/noted_fields.hpp"

namespace titer {

FitErrors FitErrors::wider(const FitErrors& other) const {
  return {.low = std::min(low, other.low), .high = std::max(high, other.high)};
}

namespace {

constexpr std::array kFitErrorFields = {
    fields::figure<&FitErrors::low>("low", {0.01, 1}, "of a predicted time"),
    fields::figure<&FitErrors::high>("high", {1, 100}, "likewise")};

}  // namespace

Value fit_errors_schema() { return schema_of<FitErrors>(kFitErrorFields); }

FitErrors read_fit_errors(Reader& file, std::string_view part, EvidenceList& evidence) {
  FitErrors errors;
  if (auto in = file.maybe_object("error_bars")) {
    const std::string path = std::string(part) + "error_bars.";
    read_noted<FitErrors>(kFitErrorFields, *in, path, evidence, errors);
  }
  return errors;
}

}  // namespace titer
