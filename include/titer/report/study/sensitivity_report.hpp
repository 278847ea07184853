#pragma once
// What a scenario is sensitive to, as it is read.

#include <optional>
#include <vector>

#include "titer/view/view.hpp"
#include "titer/whatif/break_even.hpp"
#include "titer/whatif/sensitivity.hpp"

namespace titer {

struct SensitivityReport {
  const ScenarioProbe* probe = nullptr;
  Sensitivity sensitivity;
  std::optional<std::vector<BreakEven>> break_even{};  // nothing where it was not looked for
  std::optional<ReachTable> reach{};
};

/// A row for each figure, whole number, resource, break-even point and reach.
[[nodiscard]] View sensitivity_view(const SensitivityReport& report);

}  // namespace titer
