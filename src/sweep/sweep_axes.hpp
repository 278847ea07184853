#pragma once
// The axes of a sweep's file.

#include "titer/sweep/sweep.hpp"

namespace titer {

/// "sweep.json:3:14: axes.plan.tensor": where a value was written, and its path.
[[nodiscard]] std::string place_of(const Document& document,
                                   const Value& value,
                                   std::string_view path);

/// Reads "axes" of `in`, the root of `document`, into the sweep, whose base is there: they may
/// follow from it. Constraints are added for axes whose values are right for some points only.
void read_axes(const Document& document, Reader& in, Problems& problems, Sweep& sweep);

/// Refuses paths of axes and derived fields that no reader of a scenario knows, with any of their
/// values.
void check_paths(const Sweep& sweep, Problems& problems);

/// Refuses axes and derived fields of which one would replace what the other put in: a row would
/// show values that it is not computed with.
void check_overlaps(const Sweep& sweep, Problems& problems);

}  // namespace titer
