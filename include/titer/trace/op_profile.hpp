#pragma once
// op_profile of TensorBoard's profiler and of xprof: how the time of all cores was shared out over
// categories and operations, without when.

#include <filesystem>

#include "titer/trace/trace_breakdown.hpp"

namespace titer {

/// JSON or JSON.gz, of 2022 ("time" as a share, "rawTime") and of 2026 ("rawTime", "occurrences").
/// A category whose name says enough counts as a whole; of others their operations do, each with
/// what is not in operations of its own, and the rest as other compute. Throws InputError with the
/// place of what is not as it should be.
[[nodiscard]] StepBreakdown load_op_profile(const std::filesystem::path& path);

}  // namespace titer
