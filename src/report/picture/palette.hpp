#pragma once
// The colours of timelines.

#include <string>

#include "timeline_picture.hpp"
#include "titer/report/step/timeline_report.hpp"

namespace titer {

inline constexpr std::string_view kIdleColour = "#eceff3";

/// Of a pass; chunks of a rank from dark, the first, to light.
[[nodiscard]] std::string pass_colour(Palette palette, Paint paint, int chunk, int chunks);
/// Of what goes on beside the computing.
[[nodiscard]] std::string lane_colour(Palette palette, DeviceLane lane);
[[nodiscard]] std::string memory_colour(Palette palette);

/// White or nearly black, whichever can be read on `colour`.
[[nodiscard]] std::string ink_on(std::string_view colour);

}  // namespace titer
