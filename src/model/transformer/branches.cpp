#include "titer/model/transformer/branches.hpp"

#include <array>
#include <string_view>

namespace titer {

std::optional<LayerKind> branch_layer(char letter) {
  switch (letter) {
    case 'M':
      return LayerKind{.tokens = TokenMixing::mixer, .mlp = false};
    case '*':
      return LayerKind{.mlp = false};
    case '-':
      return LayerKind{.tokens = TokenMixing::none};
    case 'E':
      return LayerKind{.experts = true, .tokens = TokenMixing::none};
    default:
      return std::nullopt;
  }
}

std::string branch_letters(const LayerKind& kind) {
  constexpr std::string_view letters = "M*-E";
  for (const char letter : letters) {
    if (branch_layer(letter) == kind) {
      return {letter};
    }
  }
  for (const char first : letters) {
    for (const char second : letters) {
      const std::array both = {*branch_layer(first), *branch_layer(second)};
      if (joined(both) == kind) {
        return {first, second};
      }
    }
  }
  return "";
}

std::optional<LayerKind> joined(std::span<const LayerKind> branches) {
  if (branches.size() == 1) {
    return branches.front();
  }
  const bool two = branches.size() == 2 && !branches[0].mlp && branches[1].mlp &&
                   branches[1].tokens == TokenMixing::none;
  if (!two) {
    return std::nullopt;
  }
  LayerKind both = branches[1];
  both.tokens = branches[0].tokens;
  return both;
}

}  // namespace titer
