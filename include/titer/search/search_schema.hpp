#pragma once

#include "titer/input/schema.hpp"

namespace titer {

/// What a search's file may hold.
[[nodiscard]] Value search_schema();

}  // namespace titer
