#pragma once
// How far off a calibration leaves the times of what it fitted: the "error_bars" that it writes
// into a chip, network or cluster.

#include <string_view>

#include "titer/hardware/evidence.hpp"

namespace titer {

/// Shares of a predicted time between which four of five measured ones lie.
struct FitErrors {
  double low = 1;
  double high = 1;

  [[nodiscard]] FitErrors wider(const FitErrors& other) const;
};

/// The file's "error_bars", 1 and 1 where it has none; noted as figures of a `part` of the
/// evidence, as in "network.".
[[nodiscard]] FitErrors read_fit_errors(Reader& file,
                                        std::string_view part,
                                        EvidenceList& evidence);

}  // namespace titer
