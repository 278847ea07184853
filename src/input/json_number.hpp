#pragma once
// Where a number ends by JSON's grammar: said once for trees and for streams.

#include <cstddef>
#include <string_view>

namespace titer {

/// Bytes of the number that the text begins with; 0 where it begins with none.
[[nodiscard]] std::size_t json_number_length(std::string_view text);

}  // namespace titer
