#pragma once
// A capacity plan, as it is read.

#include "titer/campaign/capacity.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// A row for every number of devices.
[[nodiscard]] View capacity_view(const CapacityQuestion& question, const CapacityResult& result);

}  // namespace titer
