#pragma once
// A transformer's operations on one tensor-parallel rank. [Shoeybi 2019; Korthikanti 2022]
//
// Saved bytes follow Korthikanti 2022 table 2: for a GPT layer with dropout they add up to
// s b h (34 + 5 a s / h) bytes at 16 bit, divided as tensor and sequence parallelism divide them.

#include "titer/hardware/data_type.hpp"
#include "titer/model/layer.hpp"
#include "titer/model/transformer.hpp"

namespace titer {

/// What of a model one rank works on at a time.
struct Slice {
  std::int64_t micro_batch = 1;  // sequences
  std::int64_t sequence = 0;     // tokens each
  std::int64_t tensor = 1;       // t
  bool sequence_parallel = false;
  DataType type = DataType::bf16;
  AttentionKernel attention = AttentionKernel::flash;
};

/// One layer: norm, attention, norm, MLP.
[[nodiscard]] OperationList transformer_layer(const Transformer& model, const Slice& slice);
/// Before the first layer: token and position look-up.
[[nodiscard]] OperationList embedding(const Transformer& model, const Slice& slice);
/// After the last layer: final norm, logits, cross-entropy in fp32.
[[nodiscard]] OperationList output_head(const Transformer& model, const Slice& slice);

/// All of a model's operations on a rank. A list is some kilobytes: who needs them again and again
/// keeps one of these and fills it anew.
struct ModelOperations {
  OperationList layer;
  OperationList embedding;
  OperationList head;
};
void list_operations(const Transformer& model, const Slice& slice, ModelOperations& into);

/// Sum of the saved bytes; `with_core_attention` false: as if core attention were recomputed.
[[nodiscard]] Bytes saved_bytes(const OperationList& operations, bool with_core_attention);
/// What the weight gradients need once the input gradients are done: A - A_b + G, where of the
/// saved bytes A those A_b serve input gradients alone (inputs of norms, whose own gradients come
/// with the input's, of activation functions and of core attention; dropout masks; logits), and G
/// are the gradients of the outputs of all operations with weights.  [Qi et al. 2024, section 2.1]
/// For a GPT layer with dropout on one rank: A_b = s b h (20 + 5 a s / h), G = 18 s b h.
[[nodiscard]] Bytes weight_gradient_bytes(const OperationList& operations);
/// The input of a layer, which is all that full recomputation keeps of it: 2 s b h at 16 bit.
[[nodiscard]] Bytes layer_input_bytes(const Transformer& model, const Slice& slice);

}  // namespace titer
