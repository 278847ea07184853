#pragma once
// What a calibration found, for people, and the data file that it makes.

#include <string>

#include "titer/calibrate/calibration.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// The data, the figures with their standard errors and bounds, pairs that go together, and the
/// errors of the fit, of groups left out and of the data sheet side by side.
[[nodiscard]] View calibration_view(const Calibration& calibration, const CalibrationData& data);

/// Why a fit is rejected, and what becomes of it. REQUIRES one that is not sound.
[[nodiscard]] std::string rejection_text(const Calibration& calibration, bool is_written);

/// A data file's text, laid out as the shipped ones: what is flat and fits goes on one line.
[[nodiscard]] std::string profile_text(const Value& profile);

}  // namespace titer
