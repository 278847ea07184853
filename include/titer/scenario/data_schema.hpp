#pragma once
// What files of data may hold that may start from others and follow them.

#include "titer/input/document.hpp"

namespace titer {

/// What a chip, a cluster, a network or a stack holds, or a base and what is otherwise.
[[nodiscard]] Value chip_file_schema();
[[nodiscard]] Value cluster_file_schema();
[[nodiscard]] Value network_file_schema();
[[nodiscard]] Value stack_file_schema();

}  // namespace titer
