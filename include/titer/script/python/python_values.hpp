#pragma once
// Expressions of Python that can be told without running them.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "titer/input/document.hpp"

namespace titer {

/// Names with what was assigned to them.
using PythonConstants = std::map<std::string, Value, std::less<>>;

/// What the call of a function comes to; none where it is not followed.
using FollowCall = std::function<std::optional<Value>(std::string_view call)>;

/// A number, text, list, name or product of these; Name(key=value, …) as an object; another
/// expression as "$(…)".
[[nodiscard]] Value value_of(const PythonConstants& constants,
                             std::string_view text,
                             Origin at,
                             const FollowCall& follow = {});

/// "llama38b" of Llama3Config8B and Llama3ModelProvider8B; "" of another expression.
[[nodiscard]] std::string model_of_class(std::string_view text);

/// The expression in a "$(…)"; "" of a value that is known.
[[nodiscard]] std::string_view untold_expression(const Value& value);

}  // namespace titer
