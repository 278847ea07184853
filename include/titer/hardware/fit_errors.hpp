#pragma once
// How far off a calibration leaves the times of what it fitted: the "error_bars" that it writes
// into a chip, network or cluster. They are kept as figures of the evidence.

#include <string_view>

#include "titer/hardware/evidence.hpp"

namespace titer {

/// Shares of a predicted time between which four of five measured ones lie.
struct FitErrors {
  double low = 1;
  double high = 1;

  [[nodiscard]] FitErrors wider(const FitErrors& other) const;
};

/// Notes the file's "error_bars", if it has any; `part` of the evidence they are, as in "network.".
void note_fit_errors(Reader& file, std::string_view part, EvidenceList& evidence);

/// As noted; 1 and 1 where none were.
[[nodiscard]] FitErrors fit_errors(const EvidenceList& evidence, std::string_view part);

}  // namespace titer
