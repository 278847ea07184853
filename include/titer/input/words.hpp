#pragma once
// Words as they are compared, whoever wrote them.

#include <string>
#include <string_view>

namespace titer {

/// With small letters for the capital ones of ASCII.
[[nodiscard]] std::string lower(std::string_view text);

}  // namespace titer
