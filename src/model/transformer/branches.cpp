#include "titer/model/transformer/branches.hpp"

#include <vector>

#include "titer/units/lists.hpp"

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

std::string branch_letters(const LayerKind& kind) {
  std::string letters;
  if (kind.tokens != TokenMixing::none) {
    letters += kind.tokens == TokenMixing::mixer ? 'M' : '*';
  }
  if (kind.mlp) {
    letters += kind.experts ? 'E' : '-';
  }
  const std::vector<LayerKind> branches =
      each_of(letters, [&](const char letter) { return *branch_layer(letter); });
  return joined(branches) == kind ? letters : "";  // whose attention has no window, and so on
}

}  // namespace titer
