#pragma once

#include "titer/input/schema.hpp"

namespace titer {

/// What a question of capacity, a course, a record of failures, a list of prices and a grid may
/// hold.
[[nodiscard]] Value capacity_schema();
[[nodiscard]] Value course_schema();
[[nodiscard]] Value reliability_schema();
[[nodiscard]] Value price_schema();
[[nodiscard]] Value grid_schema();

}  // namespace titer
