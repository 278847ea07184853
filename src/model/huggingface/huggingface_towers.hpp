#pragma once
// Towers in front of HuggingFace's language models.

#include <string_view>

#include "huggingface_decoder.hpp"
#include "titer/model/transformer/tower.hpp"

namespace titer::huggingface {

/// Whether models of this type have a tower that can be read. `plain_type`: small letters and
/// figures only.
[[nodiscard]] bool has_known_tower(std::string_view plain_type);
/// Puts a tower in front of a language model that has been read. REQUIRES a known one.
void read_vision(Reader& in, Reader& vision, std::string_view plain_type, Transformer& model);

}  // namespace titer::huggingface
