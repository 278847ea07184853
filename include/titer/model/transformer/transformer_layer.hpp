#pragma once
// A transformer's operations on one rank. [Shoeybi 2019; Korthikanti 2022]
//
// Saved bytes follow Korthikanti 2022 table 2: for a GPT layer with dropout they add up to
// s b h (34 + 5 a s / h) bytes at 16 bit, divided as tensor and sequence parallelism divide them.

#include "titer/model/blocks.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer {

/// All of a model's blocks, with their parameters. Who needs them again and again keeps them and
/// fills them anew.
void list_blocks(const Transformer& model, const Slice& slice, ModelBlocks& into);

/// The input of a layer, which is all that full recomputation keeps of it: 2 s b h at 16 bit.
[[nodiscard]] Bytes layer_input_bytes(const Transformer& model, const Slice& slice);

}  // namespace titer
