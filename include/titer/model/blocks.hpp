#pragma once
// A model as the rest of the program sees it: a few kinds of blocks, each the operations of one
// rank for one micro-batch, and how many of which kind follow one another. Its cost does not grow
// with the number of layers.

#include <cstdint>
#include <span>
#include <vector>

#include "titer/hardware/data_type.hpp"
#include "titer/model/layer.hpp"
#include "titer/model/parameter_count.hpp"

namespace titer {

/// A layer, what comes before the first one, or what comes after the last.
struct Block {
  std::string_view name;
  OperationList operations;
  ParameterCount parameters;
  Bytes input;   // on one rank: all that full recomputation keeps
  Bytes output;  // what the next block needs for a micro-batch, whole: on all tensor-parallel ranks
  bool frozen = false;   // its parameters are not trained
  bool backward = true;  // gradients pass through it
  // Its weight gradients are of some rows and update these at once: no whole gradient is kept,
  // synchronised or given to the optimizer.
  bool in_place = false;

  ParameterCount adapters{};  // of `parameters`, what is trained though the block is frozen

  [[nodiscard]] bool has_gradients() const { return !frozen && !in_place; }
  [[nodiscard]] ParameterCount trained() const { return has_gradients() ? parameters : adapters; }
  [[nodiscard]] bool trains() const { return has_gradients() || adapters.total() > 0; }
};

/// Equal layers in a row.
struct LayerRun {
  int kind = 0;
  std::int64_t count = 0;

  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

struct ModelBlocks {
  std::vector<Block> kinds;  // of layers
  // Of the layers, those of a tower in front of them first; as many as their counts add up to.
  std::vector<LayerRun> order;
  std::int64_t front = 0;       // of a tower: the first stage has them beside its share of the rest
  Block embedding;              // of the first stage; may be empty
  Block head;                   // of the last stage; may be empty
  std::int64_t tied_table = 0;  // parameters of `embedding` (split) that the last stage uses too
};

/// How many layers of each kind are among layers first .. first + count - 1.
void count_kinds(std::span<const LayerRun> order,
                 std::int64_t first,
                 std::int64_t count,
                 std::span<double> of_kinds);

/// Of all layers and heads.
[[nodiscard]] std::int64_t adapter_parameters(const ModelBlocks& blocks);

/// The kind of layer number `layer`.
[[nodiscard]] int kind_of(std::span<const LayerRun> order, std::int64_t layer);

/// Bytes kept of a block's forward pass when these modules are recomputed.
[[nodiscard]] Bytes saved_bytes(const OperationList& operations, Modules recomputed = 0);
/// The same when what is no result of a kept operation is recomputed, without the block's input.
[[nodiscard]] Bytes result_bytes(const OperationList& operations);
/// What the weight gradients need once the input gradients are done: A - A_b + G, where of the
/// saved bytes A those A_b serve input gradients alone (inputs of norms, whose own gradients come
/// with the input's, of activation functions and of core attention; dropout masks; logits), and G
/// are the gradients of the outputs of all operations with weights.  [Qi et al. 2024, section 2.1]
/// For a GPT layer with dropout on one rank: A_b = s b h (20 + 5 a s / h), G = 18 s b h.
[[nodiscard]] Bytes weight_gradient_bytes(const OperationList& operations);

}  // namespace titer
