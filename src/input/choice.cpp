#include "titer/input/choice.hpp"

#include <string>

#include "titer/input/reader.hpp"
#include "titer/units/listed.hpp"

namespace titer {

InputError no_choice(std::string_view option,
                     std::string_view word,
                     std::span<const std::string_view> names) {
  const std::string message =
      std::string(option) + ": " + std::string(word) + ": expected " + listed(names);
  const std::string_view near = closest(word, names);
  return InputError(near.empty() ? message
                                 : message + "; did you mean \"" + std::string(near) + "\"?");
}

}  // namespace titer
