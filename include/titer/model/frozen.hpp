#pragma once
// Layers whose parameters are not trained.

#include <cstdint>
#include <vector>

#include "titer/model/blocks.hpp"

namespace titer {

/// The first layers with all that comes before them, or some by number.
struct FrozenLayers {
  std::int64_t first = 0;
  std::vector<std::int64_t> others{};  // from 0, in order

  [[nodiscard]] bool any() const { return first > 0 || !others.empty(); }
  [[nodiscard]] bool has(std::int64_t layer) const;
  friend bool operator==(const FrozenLayers&, const FrozenLayers&) = default;
};

/// Makes kinds of their own of them. A frozen layer has no weight gradients, and keeps nothing for
/// them. Gradients still pass through it to trained layers before it; where there are none, it has
/// no backward pass at all and keeps nothing.  [trap T24: skipping the backward pass of a layer in
/// the middle, as the seed has it, would stop the training of those before]
/// The first trained layer's input gradient is still made.
/// Layers are those of the language model, not of a tower in front of it.
void freeze(ModelBlocks& blocks, const FrozenLayers& frozen);

/// Freezes the tower in front of a language model, all but its projector.
void freeze_tower(ModelBlocks& blocks);

/// Freezes all but adapters: what comes before the layers has no backward pass, a tower none
/// either, and the rest passes gradients on.
void freeze_base(ModelBlocks& blocks);

}  // namespace titer
