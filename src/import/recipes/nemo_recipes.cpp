// What NeMo's pretraining recipes in Python have of their own, where a program does not change it.

#include <algorithm>
#include <array>
#include <utility>

#include "recipe_parts.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kVirtual = "virtual_pipeline_model_parallel_size";

/// Degrees of a recipe's trainer.  [nemo/collections/llm/recipes/llama3_8b.py, llama31_8b.py,
/// llama3_70b.py, llama31_70b.py of NVIDIA/NeMo; those of 405B change with the release]
struct OwnDegrees {
  std::string_view recipe;
  std::int64_t tensor;
  std::int64_t pipeline;
  std::int64_t chunks;  // 0: none
  std::int64_t context;
  bool sequence;
};
constexpr std::array<OwnDegrees, 4> kOwnDegrees = {{{"llama3_8b", 1, 1, 0, 2, false},
                                                    {"llama31_8b", 1, 1, 0, 2, false},
                                                    {"llama3_70b", 4, 4, 5, 2, true},
                                                    {"llama31_70b", 4, 4, 5, 2, true}}};

/// With its length: "llama3_8b_64k".
std::string named_recipe(std::string_view called) {
  for (const std::string_view kind : {"pretrain", "finetune", "sft", "peft"}) {
    const std::size_t found = called.find(kind);
    if (found != std::string_view::npos && found > 0) {
      const std::string_view before = called.substr(0, found - 1);
      return std::string(before.substr(before.rfind('.') + 1));
    }
  }
  return std::string(called);
}

/// Also as None, which keeps its section.
bool is_given(const Settings& in, std::string_view key) {
  const std::vector<std::string> keys = in.keys();
  const std::string in_section = "." + std::string(key);
  return std::ranges::any_of(
      keys, [&](const std::string& given) { return given == key || given.ends_with(in_section); });
}

void suppose(const ImportTask& task, std::string_view key, const Value& value) {
  if (!is_given(task.in, key)) {
    const std::string shown = value.kind == Value::Kind::boolean
                                  ? (value.boolean ? "true" : "false")
                                  : std::to_string(value.integer);
    assume(task, key, "taken as " + shown + ", as the recipe has it");
    task.in.suppose(key, value);
  }
}

/// [nemo/collections/llm/recipes/llama3_8b.py, llama31_8b.py, llama3_8b_16k.py, llama3_8b_64k.py]
void suppose_data(const ImportTask& task, const std::string& recipe) {
  const bool is_long = recipe.ends_with("_16k");
  const std::int64_t length = recipe.ends_with("_64k") ? 65'536 : (is_long ? 16'384 : 8192);
  suppose(task, "seq_length", Value(length));
  suppose(task, "global_batch_size", Value(std::int64_t{512}));
  suppose(task, "micro_batch_size", Value(std::int64_t{1}));
}

void suppose_degrees(const ImportTask& task, const OwnDegrees& own) {
  suppose(task, "tensor_model_parallel_size", Value(own.tensor));
  suppose(task, "pipeline_model_parallel_size", Value(own.pipeline));
  suppose(task, "context_parallel_size", Value(own.context));
  if (task.in.integer("tensor_model_parallel_size", 1, kMostDegree).value_or(1) > 1) {
    suppose(task, "sequence_parallel", Value(own.sequence));
  }
  if (own.chunks > 0 &&
      task.in.integer("pipeline_model_parallel_size", 1, kMostDegree).value_or(1) > 1) {
    suppose(task, kVirtual, Value(own.chunks));
  }
}

}  // namespace

std::string model_of_recipe(std::string_view called) {
  std::string model = named_recipe(called);
  for (const std::string_view length : {"_16k", "_64k"}) {
    model.resize(model.size() - (model.ends_with(length) ? length.size() : 0));
  }
  return model;
}

void suppose_recipe(const ImportTask& task, std::string_view called) {
  const std::string recipe = named_recipe(called);
  if (!called.ends_with(".pretrain_recipe")) {
    return;
  }
  if (recipe.starts_with("llama3")) {
    suppose_data(task, recipe);
  }
  if (const auto* const own = first_with(kOwnDegrees, recipe, &OwnDegrees::recipe)) {
    suppose_degrees(task, *own);
  }
}

void leave_to_recipe(const ImportTask& task) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> all = {
      {{"tensor_model_parallel_size", "tensor"},
       {"pipeline_model_parallel_size", "pipeline"},
       {"context_parallel_size", "context"},
       {"micro_batch_size", "micro_batch"},
       {"sequence_parallel", "sequence_parallel"},
       {kVirtual, "virtual_stages"}}};
  const auto is_one = [&](std::string_view degree) {
    const Value* const found = task.into.plan.find(degree);
    return found != nullptr && found->kind == Value::Kind::number && found->integer == 1;
  };
  for (const auto& [theirs, ours] : all) {
    const bool has_no_object = (ours == "sequence_parallel" && is_one("tensor")) ||
                               (ours == "virtual_stages" && is_one("pipeline"));
    if (is_given(task.in, theirs) || has_no_object) {
      continue;
    }
    if (Value* const there = task.into.plan.find(ours)) {
      *there = Value(kLeftOpen);
    } else {
      task.into.plan.add(std::string(ours), Value(kLeftOpen));
    }
    task.into.open.push_back("plan." + std::string(ours) + ": is the recipe's own; `" +
                             std::string(theirs) + "` tells it");
  }
}

}  // namespace titer
