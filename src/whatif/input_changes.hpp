#pragma once
// Which members of two documents can be told apart.

#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"

namespace titer {

/// An object that is no figure with its source.
[[nodiscard]] bool is_branch(const Value* value);
/// The keys of either that mean something.
[[nodiscard]] std::vector<std::string> branch_keys(const Value& a,
                                                   const Value& b,
                                                   std::string_view path);

}  // namespace titer
