#pragma once
// What a scenario is sensitive to, as text, CSV and JSON.

#include <optional>
#include <string>
#include <vector>

#include "titer/whatif/break_even.hpp"
#include "titer/whatif/sensitivity.hpp"

namespace titer {

struct SensitivityReport {
  const ScenarioProbe* probe = nullptr;
  Sensitivity sensitivity;
  std::optional<std::vector<BreakEven>> break_even{};  // nothing where it was not looked for
  std::optional<ReachTable> reach{};
};

[[nodiscard]] std::string sensitivity_text(const SensitivityReport& report);
/// One table: a row for each figure, whole number, resource, break-even point and reach.
[[nodiscard]] std::string sensitivity_csv(const SensitivityReport& report);
[[nodiscard]] Value sensitivity_json(const SensitivityReport& report);

}  // namespace titer
