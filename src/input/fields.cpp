#include "titer/input/fields.hpp"

namespace titer::fields {

std::optional<std::int64_t> read_integer(std::string_view key,
                                         Range range,
                                         bool required,
                                         Reader& in) {
  constexpr double two_to_63 = 9223372036854775808.0;
  const auto least = static_cast<std::int64_t>(range.least);
  const auto most = range.most < two_to_63 ? static_cast<std::int64_t>(range.most)
                                           : std::numeric_limits<std::int64_t>::max();
  return required ? std::optional(in.integer(key, least, most))
                  : in.maybe_integer(key, least, most);
}

}  // namespace titer::fields
