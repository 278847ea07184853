#pragma once

#include "titer/input/schema.hpp"

namespace titer {

/// What a stack, the abilities in it, a cluster and a network may hold.
[[nodiscard]] Value stack_schema();
[[nodiscard]] Value abilities_schema();
[[nodiscard]] Value cluster_schema();
[[nodiscard]] Value network_schema();

}  // namespace titer
