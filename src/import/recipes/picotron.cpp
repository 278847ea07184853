// picotron's JSON: a model of the Hub with other numbers of layers and heads, split in four ways.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "import/hf/hf_parts.hpp"
#include "recipe_parts.hpp"

namespace titer {
namespace {

constexpr DegreeKeys kPicotronKeys = {.tensor = "distributed.tp_size",
                                      .pipeline = "distributed.pp_size",
                                      .context = "distributed.cp_size",
                                      .expert = "",
                                      .devices = "distributed.dp_size",
                                      .micro_batch = "training.micro_batch_size",
                                      .global_batch = "training.gradient_accumulation_steps"};

/// What the file tells otherwise than the model of the Hub has it.
void put_picotron_model(const ImportTask& task) {
  constexpr std::array<std::string_view, 3> numbers = {
      "model.num_hidden_layers", "model.num_attention_heads", "model.num_key_value_heads"};
  Settings& in = task.in;
  put_named_model(task, "model.name");
  if (!task.into.model && task.options.base) {
    task.into.model = task.options.base;
  }
  if (!task.into.model) {
    const auto* told = std::find_if(
        numbers.begin(), numbers.end(), [&](std::string_view key) { return in.has(key); });
    if (told != numbers.end() && in.is_sound()) {
      in.fail(*told, "changes the model; --model " + task.into.shipped + " tells which that is");
    }
    return;
  }
  Transformer& model = *task.into.model;
  if (const auto layers = in.integer(numbers[0], 1, kMostLayers)) {
    if (model.kinds.size() > 1 && *layers != model.layers) {
      in.fail(numbers[0], "expected as many layers as the model has: they are not all alike");
    }
    model.layers = *layers;
    model.order.clear();
  }
  const std::int64_t width = model.heads * model.head_dim;
  model.heads = in.integer(numbers[1], 1, kMostWidth).value_or(model.heads);
  model.kv_heads = in.integer(numbers[2], 1, kMostWidth).value_or(model.kv_heads);
  if (width % model.heads != 0 || model.heads % model.kv_heads != 0) {
    in.fail(numbers[1], "expected a divisor of the width, and a multiple of the heads of keys");
    return;
  }
  model.head_dim = width / model.heads;
}

}  // namespace

void import_picotron(const ImportTask& task) {
  Settings& in = task.in;
  Value& plan = task.into.plan;
  stand_in(task, "megatron-core", "picotron");
  put_picotron_model(task);
  Degrees degrees = read_degrees(task, kPicotronKeys);
  degrees.data = in.integer(kPicotronKeys.devices, 1, kMostDegree).value_or(1);
  check_degrees(task, degrees, kPicotronKeys);
  put_degrees(plan, degrees);
  const std::string engine = in.word("distributed.pp_engine").value_or("1f1b");
  if (degrees.pipeline.value_or(1) > 1) {
    plan.add("schedule", Value(engine == "afab" ? "gpipe" : "1f1b"));
  }
  plan.add("sharding", Value("none")).add("recompute", Value("none"));
  plan.add("overlap_grad_reduce", Value(true));
  const bool flash = in.flag("model.use_flash_attention").value_or(true);
  plan.add("attention", Value(flash ? "flash" : "materialised"));
  put_rank_batches(task,
                   kPicotronKeys.global_batch,
                   {.micro = in.integer(kPicotronKeys.micro_batch, 1),
                    .accumulation = in.integer(kPicotronKeys.global_batch, 1),
                    .global = std::nullopt},
                   degrees.data);
  put(task.into.training, "sequence", in.integer("training.seq_length", 1, kMostTokens));
  // Weights, and what the optimizer keeps, are of the model's own 16 bits; gradients add up in 32.
  task.into.training.add("precision", Value("bf16")).add("gradient_precision", Value("fp32"));
  task.into.training.add("state_precision", Value("bf16")).add("master_precision", Value("bf16"));
  in.skip_known("picotron");
}

}  // namespace titer
