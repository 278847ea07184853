#pragma once

#include "titer/input/schema.hpp"

namespace titer {

/// What a chip may hold.
[[nodiscard]] Value chip_schema();

}  // namespace titer
