#pragma once
// Named alternatives, and the one that a word names.

#include <span>
#include <string_view>
#include <vector>

#include "titer/input/input_error.hpp"

namespace titer {

/// A named alternative of a closed choice.
template <class E>
struct Choice {
  std::string_view name;
  E value;
};

/// That a word is none of those names, with the closest of them.
[[nodiscard]] InputError no_choice(std::string_view option,
                                   std::string_view word,
                                   std::span<const std::string_view> names);

/// The choice called `word`; otherwise an InputError that names the option and the choices.
template <class Choices>
[[nodiscard]] auto chosen(std::string_view option, std::string_view word, const Choices& choices) {
  std::vector<std::string_view> names;
  for (const auto& choice : choices) {
    if (choice.name == word) {
      return choice.value;
    }
    names.push_back(choice.name);
  }
  throw no_choice(option, word, names);
}

}  // namespace titer
