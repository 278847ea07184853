// Megatron-LM's first releases (megatron/arguments.py of 1.1.5), and DeepSpeed's examples over
// them.

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

void put_accumulation(const ImportTask& task) {
  const auto steps = task.in.integer("gas", 1);
  Value* const batch = task.into.training.find("global_batch");
  const bool is_told = task.in.has("global_batch_size");
  if (steps && batch != nullptr && batch->kind == Value::Kind::number && !is_told) {
    *batch = Value(batch->integer * *steps);
  }
}

}  // namespace titer
