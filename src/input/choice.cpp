#include "titer/input/choice.hpp"

#include <string>

#include "titer/input/reader.hpp"
#include "titer/units/listed.hpp"

namespace titer {

InputError no_choice(std::string_view option,
                     std::string_view word,
                     std::span<const std::string_view> names) {
  return InputError(std::string(option) + ": " + std::string(word) + ": expected " + listed(names) +
                    suggestion(word, names));
}

}  // namespace titer
