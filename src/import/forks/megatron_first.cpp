// Megatron-LM's first releases (megatron/arguments.py of 1.1.5), DeepSpeed's examples over them,
// and what later ones of before 2024 have of them.

#include <algorithm>

#include "import/import_parts.hpp"
#include "titer/input/known_settings.hpp"

namespace titer {

void name_as_later_releases(Settings& in) {
  if (!in.has("batch_size") || in.has("micro_batch_size")) {
    return;
  }
  in.rename_known("megatron-first");
}

bool has_one_of(const Settings& in, std::string_view list) {
  const Value keys = known_settings("megatron", list);
  return std::ranges::any_of(keys.items, [&](const Value& key) { return in.has(key.text); });
}

/// By what releases had until 2023 and have no more.  [megatron/arguments.py of 2.x and 23.05:
/// --use-flash-attn, --transformer-impl local]
bool is_before_fused_attention(const Settings& in) { return has_one_of(in, "until_2023"); }

void put_accumulation(const ImportTask& task) {
  const auto steps = task.in.integer("gas", 1);
  Value* const batch = task.into.training.find("global_batch");
  const bool is_told = task.in.has("global_batch_size");
  if (steps && batch != nullptr && batch->kind == Value::Kind::number && !is_told) {
    *batch = Value(batch->integer * *steps);
  }
}

}  // namespace titer
