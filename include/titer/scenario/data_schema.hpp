#pragma once
// What files of data may hold that may start from others and follow them.

#include "titer/input/document.hpp"

namespace titer {

/// A file of chips: what a chip holds, or a base and what is otherwise.
[[nodiscard]] Value chip_file_schema();

}  // namespace titer
