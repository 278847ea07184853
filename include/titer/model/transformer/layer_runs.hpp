#pragma once
// A transformer's layers, of what each of them is.

#include <cstdint>
#include <vector>

#include "titer/model/transformer/transformer.hpp"

namespace titer {

/// Equal layers in a row, their kind spelt out.
struct KindRun {
  LayerKind kind;
  std::int64_t count = 1;
};
/// Finds the distinct kinds, in the order they come, and joins equal neighbours.
void set_layers(Transformer& model, const std::vector<KindRun>& runs);
void set_layers(Transformer& model, const std::vector<LayerKind>& layers);

}  // namespace titer
