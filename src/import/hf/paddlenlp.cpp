// PaddleNLP's trainer: the words of HuggingFace's, and degrees of its own.
// [paddlenlp/trainer/training_args.py]

#include <algorithm>
#include <array>
#include <string>

#include "hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"

namespace titer {
namespace {

constexpr DegreeKeys kPaddleKeys = {.tensor = "tensor_parallel_degree",
                                    .pipeline = "pipeline_parallel_degree",
                                    .context = "context_parallel_degree",
                                    .expert = "",
                                    .devices = "sharding_parallel_degree",
                                    .micro_batch = "per_device_train_batch_size",
                                    .global_batch = "gradient_accumulation_steps"};

/// -1 stands for what is not used.
std::int64_t paddle_degree(Settings& in, std::string_view key) {
  return std::max<std::int64_t>(1, in.integer(key, -1, kMostDegree).value_or(1));
}

void put_paddle_sharding(const ImportTask& task, const Degrees& degrees) {
  constexpr std::array<std::array<std::string_view, 2>, 3> stages = {
      {{"stage1", "zero1"}, {"stage2", "zero2"}, {"stage3", "zero3"}}};
  Settings& in = task.in;
  Value& plan = task.into.plan;
  const std::string told = in.word("sharding").value_or("");
  const auto* const stage = std::ranges::find_if(
      stages, [&](const auto& known) { return told.find(known[0]) != std::string::npos; });
  const std::int64_t shard = in.integer("sharding_parallel_degree", -1).value_or(-1);
  const bool is_shared = stage != stages.end() && shard != 1;
  plan.add("sharding", Value(is_shared ? (*stage)[1] : "none"));
  if (is_shared && shard > 0 && degrees.data && shard < *degrees.data) {
    plan.add("shard", Value(shard));
  }
  if (told.find("offload") != std::string::npos) {
    plan.add("offload", state_on_host());
  }
}

void put_paddle_recompute(const ImportTask& task) {
  Settings& in = task.in;
  const std::string granularity = in.word("recompute_granularity").value_or("full");
  const bool is_on = in.is_on("recompute");
  const bool is_full = granularity == "full";
  task.into.plan.add("recompute", Value(!is_on ? "none" : (is_full ? "full" : "selective")));
  if (is_on && granularity == "full_attn") {
    assume(task, "recompute_granularity", "of the attention its core alone is taken");
  }
}

/// With O2 weights are of 16 bits beside wide ones that are updated, gradients too unless told.
void put_paddle_precision(const ImportTask& task) {
  Settings& in = task.in;
  const bool bf16 = in.is_on("bf16");
  const bool fp16 = in.is_on("fp16");
  task.into.training.add("precision", Value(bf16 ? "bf16" : (fp16 ? "fp16" : "fp32")));
  if (bf16 || fp16) {
    const bool is_wide = in.is_on("amp_master_grad");
    task.into.training.add("gradient_precision",
                           Value(is_wide ? "fp32" : (bf16 ? "bf16" : "fp16")));
  }
}

}  // namespace

void import_paddlenlp(const ImportTask& task) {
  constexpr std::int64_t usual_micro = 8;
  Settings& in = task.in;
  Value& plan = task.into.plan;
  stand_in(task, "megatron-core", "PaddleNLP");
  put_named_model(task, "model_name_or_path");
  Degrees degrees;
  degrees.tensor = paddle_degree(in, kPaddleKeys.tensor);
  degrees.pipeline = paddle_degree(in, kPaddleKeys.pipeline);
  degrees.context = paddle_degree(in, kPaddleKeys.context);
  degrees.devices = launched_devices(task);
  check_degrees(task, degrees, kPaddleKeys);
  put(plan, "tensor", degrees.tensor);
  put(plan, "pipeline", degrees.pipeline);
  put(plan, "context", degrees.context);
  put(plan, "data", degrees.data);
  const bool splits_sequences = in.is_on("sequence_parallel");
  plan.add("sequence_parallel", Value(*degrees.tensor > 1 && splits_sequences));
  const std::int64_t chunks = paddle_degree(in, "virtual_pp_degree");
  if (*degrees.pipeline > 1 && chunks > 1) {
    plan.add("virtual_stages", Value(chunks));
  }
  put_paddle_sharding(task, degrees);
  put_paddle_recompute(task);
  const bool flash = in.is_on("use_flash_attention");
  plan.add("attention", Value(flash ? "flash" : "materialised"));
  put_rank_batches(task,
                   kPaddleKeys.micro_batch,
                   {.micro = count_or_default(task, kPaddleKeys.micro_batch, usual_micro),
                    .accumulation = in.integer(kAccumulation, 1).value_or(1),
                    .global = std::nullopt},
                   degrees.data);
  put_paddle_precision(task);
  put_optimizer(task, "optim");
  const std::string length = in.first_given("max_seq_length max_length max_seq_len");
  put(task.into.training, "sequence", in.integer(length, 1, kMostTokens));
  // Of Llama, Qwen2, Mistral, GPT, OPT and BLOOM all products of the layers.
  // [llm/utils/utils.py, get_lora_target_modules; paddlenlp/peft/lora/lora_config.py]
  if (in.is_on("lora")) {
    put_adapters(task,
                 {.rank = "lora_rank",
                  .targets = "lora_target_modules",
                  .usual_rank = 8,
                  .usual_targets = "all-linear"},
                 {});
  }
  in.skip_known("paddlenlp");
  in.skip_known("hf-trainer");
}

}  // namespace titer
