#pragma once
// The operations of a model's blocks.

#include "titer/model/transformer/transformer_layer.hpp"

namespace titer {

inline ModelBlocks blocks_of(const Transformer& model, const Slice& slice) {
  ModelBlocks blocks;
  list_blocks(model, slice, blocks);
  return blocks;
}
/// A layer of its first kind: norm, attention, norm, MLP or experts.
inline OperationList transformer_layer(const Transformer& model, const Slice& slice) {
  return blocks_of(model, slice).kinds.front().operations;
}
/// Before the first layer: token and position look-up.
inline OperationList embedding(const Transformer& model, const Slice& slice) {
  return blocks_of(model, slice).embedding.operations;
}
/// After the last layer: final norm, logits, cross-entropy in fp32.
inline OperationList output_head(const Transformer& model, const Slice& slice) {
  return blocks_of(model, slice).head.operations;
}

}  // namespace titer
