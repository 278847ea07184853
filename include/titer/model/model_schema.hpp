#pragma once
// What a model's file may hold.

#include "titer/input/document.hpp"

namespace titer {

/// A transformer, layers of operations, or a recommendation model.
[[nodiscard]] Value model_schema();

}  // namespace titer
