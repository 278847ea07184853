#pragma once
// What the configurations of models with mixers have in common.

#include "huggingface_keys.hpp"

namespace titer::huggingface {

[[nodiscard]] std::int64_t width_or(Reader& in, std::string_view key, std::int64_t otherwise);
/// A number, or what follows from other keys where the file says "auto" or nothing.
[[nodiscard]] std::int64_t width_or_auto(Reader& in, std::string_view key, std::int64_t otherwise);
/// Which layers have the mixer, by a list that calls them that or "linear_attention".
void mark_listed(Reader& in, std::string_view key, std::string_view mixer, LayerKinds& kinds);
/// The layers of these numbers mix tokens so.
void mark_numbered(Reader& in, std::string_view key, TokenMixing tokens, LayerKinds& kinds);
/// Gives a model its mixer, unless it cannot be.
void set_mixer(Reader& in, std::string_view key, const Mixer& mixer, Transformer& model);

}  // namespace titer::huggingface
