// verl's trainer for supervised fine-tuning over FSDP: what a command changes of its own
// configuration (verl/trainer/config/sft_trainer.yaml), whose values are taken for the rest.

#include "hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"

namespace titer {
namespace {

constexpr std::int64_t kUsualBatch = 256;
constexpr std::int64_t kUsualMicroBatch = 4;
constexpr std::int64_t kUsualLength = 1024;

/// False in sft_trainer.yaml until it had model.strategy, and true since.
bool recomputes(const ImportTask& task) {
  constexpr std::string_view key = "model.enable_gradient_checkpointing";
  if (task.in.has(key)) {
    return task.in.is_on(key);
  }
  const bool is_new = task.in.has("model.strategy");
  assume(task,
         key,
         is_new ? "taken as true, as sft_trainer.yaml with model.strategy has it"
                : "taken as false, as sft_trainer.yaml without model.strategy has it; true since");
  return is_new;
}

void put_verl_plan(const ImportTask& task, std::int64_t context) {
  Settings& in = task.in;
  Value& plan = task.into.plan;
  if (context > 1) {
    plan.add("context", Value(context));
    plan.add("context_method", Value("ulysses"));
  }
  const std::string strategy = in.word("model.strategy").value_or("fsdp");
  if (strategy != "fsdp" && strategy != "fsdp2") {
    in.fail("model.strategy", "expected fsdp or fsdp2");
  }
  plan.add("sharding", Value("zero3"));
  plan.add("recompute", Value(recomputes(task) ? "full" : "none"));
  if (in.is_on("model.fsdp_config.cpu_offload")) {
    plan.add("offload", state_on_host());
    static_cast<void>(in.flag("model.fsdp_config.offload_params"));
  }
}

/// Of releases before micro_batch_size_per_gpu a micro-batch is one of all ranks.
/// [verl/trainer/fsdp_sft_trainer.py, _normalize_config_bsz]
std::optional<std::int64_t> share_of_micro_batch(const ImportTask& task,
                                                 std::optional<std::int64_t> data) {
  constexpr std::string_view key = "data.micro_batch_size";
  const auto share = share_of_batch(task, key, task.in.integer(key, 1), data);
  if (share) {
    assume(task, key, "is of all ranks, as before there was micro_batch_size_per_gpu");
  }
  return share;
}

/// The batch of all ranks is told, and what a device has of it at a time.
void put_verl_batches(const ImportTask& task, std::optional<std::int64_t> data) {
  Settings& in = task.in;
  constexpr std::string_view batch = "data.train_batch_size";
  constexpr std::string_view micro = "data.micro_batch_size_per_gpu";
  const auto told = in.integer(batch, 1);
  const auto each = in.has(micro) ? in.integer(micro, 1) : share_of_micro_batch(task, data);
  if (!told) {
    assume(task, batch, "taken as 256, as sft_trainer.yaml has it");
  }
  if (!each) {
    assume(task, micro, "taken as 4, as sft_trainer.yaml has it");
  }
  put_rank_batches(task,
                   batch,
                   {.micro = each.value_or(kUsualMicroBatch),
                    .accumulation = std::nullopt,
                    .global = told.value_or(kUsualBatch)},
                   data);
  const auto length = in.integer("data.max_length", 1, kMostTokens);
  task.into.training.add("sequence", Value(length.value_or(kUsualLength)));
  assume(task, "data.max_length", "every sequence is taken as long as the longest");
}

}  // namespace

void import_verl_sft(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "fsdp";
  put_named_model(task, "model.partial_pretrain");
  const std::int64_t context =
      in.integer("ulysses_sequence_parallel_size", 1, kMostDegree).value_or(1);
  const auto data =
      ranks_beside(task, "ulysses_sequence_parallel_size", launched_devices(task), context);
  if (!in.is_sound()) {
    return;
  }
  put(task.into.plan, "data", data);
  put_verl_plan(task, context);
  put_verl_batches(task, data);
  task.into.training.add("precision", Value("bf16"));
  const std::string kept = in.word("model.fsdp_config.model_dtype").value_or("fp32");
  if (kept == "bf16" || kept == "bfloat16") {
    put_all_bf16(task);
  } else if (kept != "fp32" && kept != "float32") {
    in.fail("model.fsdp_config.model_dtype", "expected fp32 or bf16");
  }
  if (in.integer("model.lora_rank", 0).value_or(0) > 0) {
    put_adapters(task,
                 {.rank = "model.lora_rank",
                  .targets = "model.target_modules",
                  .usual_rank = 32,
                  .usual_targets = "all-linear"},
                 {});
  } else {
    in.skip(kSwitchedOff, "model.target_modules");
  }
  in.skip_known("verl");
}

}  // namespace titer
