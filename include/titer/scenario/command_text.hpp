#pragma once
// Commands that repeat what was asked, to be copied into a shell.

#include <string>
#include <vector>

#include "titer/scenario/source.hpp"

namespace titer {

/// " --set plan.tensor=4" for each, as the shell takes it and parse_assignment() reads it.
[[nodiscard]] std::string set_options(const std::vector<Assignment>& assignments);

}  // namespace titer
