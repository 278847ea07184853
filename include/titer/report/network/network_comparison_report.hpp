#pragma once
// One run on several networks, as it is read.

#include <vector>

#include "titer/view/view.hpp"
#include "titer/whatif/network_comparison.hpp"

namespace titer {

/// A row for each network; the first is what others are compared with. REQUIRES one.
[[nodiscard]] View network_comparison_view(const Scenario& scenario,
                                           const std::vector<NetworkStep>& steps);

}  // namespace titer
