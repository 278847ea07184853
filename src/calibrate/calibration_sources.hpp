#pragma once
// The document that a calibration writes: its members, and what its figures name as their sources.

#include <string_view>
#include <vector>

#include "titer/calibrate/calibration.hpp"

namespace titer {

/// The value at a path that was read there before.
[[nodiscard]] Value& value_at(Value& root, std::string_view path);

/// Replaces a member in its place, or appends it.
void set_member(Value& object, std::string_view key, Value value);

/// An earlier fit's source under another name, for the figures that are not fitted again: what is
/// written of this fit is not said of them.
void keep_earlier(Value& root, std::string_view source, const std::vector<FittedFigure>& figures);

}  // namespace titer
