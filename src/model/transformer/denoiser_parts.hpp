#pragma once
// The operations that only a denoiser has.

#include "model/layer_builder.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer {

/// The vectors of a layer, one of each kind for a sequence, from what conditions it.
void add_modulation(LayerBuilder& layer, const LayerKind& kind, const Denoiser& denoiser);
/// What a branch reads is scaled and shifted, what it returns is weighed.
void add_shift(LayerBuilder& layer);
void add_branch_gate(LayerBuilder& layer);

/// Patches, texts and what conditions to hidden states; hidden states to patches, and the loss.
void add_denoiser_input(LayerBuilder& layer, const Denoiser& denoiser);
void add_denoiser_output(LayerBuilder& layer, const Denoiser& denoiser);

}  // namespace titer
