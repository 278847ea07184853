#pragma once
// One measured run of a table: what it was read as, and every term of what is predicted of it.

#include <span>
#include <string>

#include "titer/view/view.hpp"

namespace titer {

/// Of the first run of that name in the tables; others are not looked at. Throws InputError where
/// there is none, or its row was skipped.
[[nodiscard]] View explained_run(std::span<const std::string> datasets, const std::string& name);

}  // namespace titer
