#pragma once
// Collectives by the names that files and options give them.

#include <array>

#include "titer/collectives/collective.hpp"
#include "titer/input/choice.hpp"

namespace titer {

inline constexpr auto kCollectiveChoices = [] {
  std::array<Choice<Collective>, kCollectives.size()> choices{};
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices[i] = {name_of(kCollectives[i]), kCollectives[i]};
  }
  return choices;
}();

}  // namespace titer
