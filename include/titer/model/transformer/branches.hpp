#pragma once
// Layers of one branch each, by which hybrids of mixers and attention are told.
// [Nemotron-H 2025; Megatron-Core, hybrid_layer_allocation.py]

#include <optional>
#include <span>
#include <string>

#include "titer/model/transformer/transformer_parts.hpp"

namespace titer {

/// M: a mixer; *: attention; -: an MLP; E: experts.
[[nodiscard]] std::optional<LayerKind> branch_layer(char letter);
/// The letters of a layer that is one of these, or one that joined() makes of two; "" of another.
[[nodiscard]] std::string branch_letters(const LayerKind& kind);

/// The layer that has one of these, or one that mixes tokens and the MLP or experts behind it.
[[nodiscard]] std::optional<LayerKind> joined(std::span<const LayerKind> branches);

}  // namespace titer
