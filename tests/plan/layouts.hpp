#pragma once
// A small GPT laid out over devices, and what its stages hold.

#include <vector>

#include "titer/model/transformer/transformer_layer.hpp"
#include "titer/plan/memory/memory.hpp"

namespace titer::layouts {

/// A GPT with round numbers, 16-bit, as Korthikanti et al. 2022 count it.
inline Transformer small_gpt() {
  return {.name = "small",
          .title = "small",
          .source = "test",
          .layers = 24,
          .hidden = 1024,
          .heads = 16,
          .kv_heads = 16,
          .head_dim = 64,
          .ffn = 4096,
          .gated = false,
          .norm = Norm::layernorm,
          .biases = {.qkv = true, .output = true, .mlp = true},
          .dropout = true,
          .positions = Positions::learned,
          .tied_embeddings = true,
          .vocabulary = 51200,
          .vocabulary_multiple = 128,
          .max_sequence = 2048,
          .position_rows = 2048,
          .attention = AttentionKernel::materialised,
          .causal = true};
}

inline std::vector<StageMemory> stage_memory(const Plan& plan, const MemoryNeeds& needs) {
  std::vector<StageMemory> stages;
  MemoryFinder().find(plan, needs, stages);
  return stages;
}

struct Layout {
  Transformer model = small_gpt();
  Plan plan;
  int micro_batches = 8;
  std::int64_t sequence = 2048;
  ParameterBytes parameter =
      parameter_bytes(kAdam, {.weight = DataType::bf16, .gradient = DataType::fp32});
  Bytes runtime = 1_GiB;

  [[nodiscard]] Slice slice() const {
    return {.micro_batch = plan.micro_batch,
            .sequence = sequence,
            .tensor = plan.tensor,
            .sequence_parallel = plan.sequence_parallel,
            .type = DataType::bf16,
            .attention = model.attention};
  }
  [[nodiscard]] PipelineShape shape() const {
    return {.stages = static_cast<int>(plan.pipeline),
            .micro_batches = micro_batches,
            .virtual_stages = static_cast<int>(plan.virtual_stages),
            .group = plan.micro_batch_group};
  }
  [[nodiscard]] ModelBlocks blocks() const {
    ModelBlocks blocks;
    list_blocks(model, slice(), blocks);
    return blocks;
  }
  [[nodiscard]] MemoryNeeds needs(const ModelBlocks& blocks) const {
    return {.blocks = &blocks, .shape = shape(), .parameter = parameter, .runtime = runtime};
  }
  [[nodiscard]] std::vector<StageMemory> stages() const {
    const ModelBlocks list = blocks();
    return stage_memory(plan, needs(list));
  }
  [[nodiscard]] std::vector<StageActivations> activations() const {
    const ModelBlocks list = blocks();
    return stage_activations(plan, needs(list));
  }
  /// s b h, the unit of Korthikanti's table 2.
  [[nodiscard]] double sbh() const {
    return static_cast<double>(sequence * plan.micro_batch * model.hidden);
  }
  /// 5 a s / h: the attention scores, softmax and dropout in that unit.
  [[nodiscard]] double scores() const {
    return 5.0 * static_cast<double>(model.heads * sequence) / static_cast<double>(model.hidden);
  }
  [[nodiscard]] double layers_per_stage() const {
    return static_cast<double>(model.layers) / static_cast<double>(plan.pipeline);
  }
};

}  // namespace titer::layouts
