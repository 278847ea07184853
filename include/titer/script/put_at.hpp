#pragma once
// Values put at paths of what a text is read as.

#include <string_view>

#include "titer/input/document.hpp"

namespace titer {

/// Puts a value at a path, over what is there.
void put_at(Value& root, std::string_view path, Value value, Origin at);

}  // namespace titer
