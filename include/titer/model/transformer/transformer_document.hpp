#pragma once
// A transformer written in this program's own keys.

#include "titer/input/document.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer {

/// What read_transformer() reads back to an equal model. Keys that have their default are left out.
[[nodiscard]] Value transformer_document(const Transformer& model);
/// What a transformer's file may hold.
[[nodiscard]] Value transformer_schema();

}  // namespace titer
