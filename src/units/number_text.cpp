#include "titer/units/number_text.hpp"

#include <fmt/format.h>

namespace titer {

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string counted_text(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace titer
