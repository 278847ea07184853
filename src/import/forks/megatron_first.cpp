// Megatron-LM's first releases (megatron/arguments.py of 1.1.5), DeepSpeed's examples over them,
// and what later ones of before 2024 have of them.

#include <algorithm>
#include <array>

#include "import/import_parts.hpp"

namespace titer {

void name_as_later_releases(Settings& in) {
  if (!in.has("batch_size") || in.has("micro_batch_size")) {
    return;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> names = {
      {{"batch_size", "micro_batch_size"},
       {"model_parallel_size", "tensor_model_parallel_size"},
       {"pipe_parallel_size", "pipeline_model_parallel_size"}}};
  for (const auto& [theirs, ours] : names) {
    in.rename(theirs, ours);
  }
}

/// By what releases had until 2023 and have no more.  [megatron/arguments.py of 2.x and 23.05:
/// --use-flash-attn, --transformer-impl local]
bool is_before_fused_attention(const Settings& in) {
  constexpr std::array<std::string_view, 7> gone = {"batch_size",
                                                    "DDP_impl",
                                                    "data_impl",
                                                    "checkpoint_activations",
                                                    "checkpoint_num_layers",
                                                    "distribute_checkpointed_activations",
                                                    "activations_checkpoint_method"};
  return std::any_of(gone.begin(), gone.end(), [&](std::string_view key) { return in.has(key); });
}

void put_accumulation(const ImportTask& task) {
  const auto steps = task.in.integer("gas", 1);
  Value* const batch = task.into.training.find("global_batch");
  const bool is_told = task.in.has("global_batch_size");
  if (steps && batch != nullptr && batch->kind == Value::Kind::number && !is_told) {
    *batch = Value(batch->integer * *steps);
  }
}

}  // namespace titer
