#pragma once

#include "titer/input/schema.hpp"

namespace titer {

/// What a sweep's file may hold.
[[nodiscard]] Value sweep_schema();

}  // namespace titer
