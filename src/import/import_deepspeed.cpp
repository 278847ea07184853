// DeepSpeed's JSON: how the optimizer's state is split and where it is, and batches.

#include <algorithm>
#include <array>

#include "import_parts.hpp"

namespace titer {
namespace {

constexpr std::array<std::string_view, 4> kStages = {"none", "zero1", "zero2", "zero3"};

void read_offload(const ImportTask& task) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> parts = {
      {{"zero_optimization.offload_optimizer", "optimizer"},
       {"zero_optimization.offload_param", "weights"}}};
  Value offload = Value::make_object();
  for (const auto& [section, part] : parts) {
    const std::string key = std::string(section) + ".device";
    const std::string device = task.in.word(key).value_or("none");
    const std::string ratio = std::string(section) + ".ratio";
    if (task.in.number(ratio).value_or(1.0) < 1.0) {
      task.in.leave_out(ratio, "all of it is offloaded here");
    }
    if (device == "cpu" || device == "nvme") {
      offload.add(std::string(part), Value(device == "cpu" ? "host" : "nvme"));
    } else if (device != "none") {
      task.in.fail(key, "expected cpu, nvme or none");
    }
  }
  if (task.in.is_on("zero_optimization.cpu_offload")) {
    offload.add("optimizer", Value("host"));
  }
  put_host_work(task, offload);
  if (task.in.is_on("zero_optimization.cpu_offload_params")) {
    offload.add("weights", Value("host"));
  }
  if (task.in.is_on("activation_checkpointing.cpu_checkpointing")) {
    offload.add("activations", Value("host"));
  }
  if (!offload.members.empty()) {
    task.into.plan.add("offload", std::move(offload));
  }
}

void read_gradient_precision(const ImportTask& task) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> types = {
      {{"fp32", "fp32"},
       {"bf16", "bf16"},
       {"fp16", "fp16"},
       {"bfp16", "bf16"},
       {"float32", "fp32"},
       {"bfloat16", "bf16"}}};
  const std::string type = task.in.word("data_types.grad_accum_dtype").value_or("");
  for (const auto& [theirs, ours] : types) {
    if (type == theirs) {
      task.into.training.add("gradient_precision", Value(ours));
    }
  }
  constexpr std::string_view sent = "communication_data_type";
  const std::string other = task.in.word(sent).value_or("auto");
  const Value* const kept = task.into.training.find("gradient_precision");
  if (other != "auto" && other != type && (kept == nullptr || kept->text != other)) {
    task.in.leave_out(sent, "gradients are taken to be sent as they are kept");
  }
}

void read_precision(const ImportTask& task) {
  Settings& in = task.in;
  const bool tells = in.has("bf16.enabled") || in.has("fp16.enabled") || in.has("bfloat16.enabled");
  const bool bf16 = in.any_on({"bf16.enabled", "bfloat16.enabled"});
  const bool fp16 = in.is_on("fp16.enabled");
  if (bf16 && fp16) {
    in.fail("fp16.enabled", "expected bf16 or fp16, not both");
  }
  const bool is_known = task.into.training.find("precision") != nullptr;
  const bool is_open = in.has("bf16.enabled") && !in.flag("bf16.enabled");
  if (!is_known && !is_open && (tells || in.has("zero_optimization.stage"))) {
    task.into.training.add("precision", Value(bf16 ? "bf16" : (fp16 ? "fp16" : "fp32")));
  } else if (!is_known && is_open) {  // "auto", which a trainer's settings tell
    task.into.training.add("precision", Value(kLeftOpen));
  }
}

/// The data-parallel degree that the batches and what makes them up leave, if they tell.
std::optional<std::int64_t> data_degree(const ImportTask& task,
                                        std::int64_t micro,
                                        std::int64_t global,
                                        std::optional<std::int64_t> steps,
                                        std::optional<std::int64_t> data) {
  if (!steps && !data) {
    return std::nullopt;
  }
  const std::int64_t together = micro * (steps ? *steps : *data);
  if (global % together != 0) {
    task.in.fail("train_batch_size",
                 std::string("expected a multiple of train_micro_batch_size_per_gpu x ") +
                     (steps ? "gradient_accumulation_steps, " : "devices, ") +
                     std::to_string(together));
  } else if (steps && data && global / together != *data) {
    task.in.fail("train_batch_size",
                 "expected micro-batch x gradient accumulation steps x data-parallel ranks, " +
                     std::to_string(together * *data));
  }
  return data ? data : global / together;
}

}  // namespace

void put_host_work(const ImportTask& task, Value& offload) {
  const Value* optimizer = offload.find("optimizer");
  if (optimizer == nullptr || optimizer->text != "host") {
    return;
  }
  const Value* sharding = task.into.plan.find("sharding");
  if (sharding != nullptr && (sharding->text == "zero2" || sharding->text == "zero3")) {
    offload.add("gradients", Value("host"));
  }
  offload.add("update", Value("host"));
}

void deepspeed_settings(const ImportTask& task) {
  Settings& in = task.in;
  if (const auto stage = in.integer("zero_optimization.stage", 0, 3)) {
    task.into.plan.add("sharding", Value(kStages[static_cast<std::size_t>(*stage)]));
    if (*stage != 3 && in.has("zero_optimization.offload_param.device") &&
        in.word("zero_optimization.offload_param.device") != "none") {
      in.fail("zero_optimization.offload_param.device",
              "expected stage 3, which alone can offload weights");
    }
  }
  if (const auto overlap = in.flag("zero_optimization.overlap_comm")) {
    task.into.plan.add("overlap_grad_reduce", Value(*overlap));
  }
  read_offload(task);
  read_precision(task);
  read_gradient_precision(task);
  put_optimizer(task, "optimizer.type");
  if (in.is_on("data_efficiency.enabled")) {
    in.leave_out("data_efficiency.enabled", "every step has all tokens of all layers here");
  }
  if (in.integer("zero_optimization.zero_hpz_partition_size", 1, kMostDegree).value_or(1) > 1) {
    in.leave_out("zero_optimization.zero_hpz_partition_size",
                 "weights are gathered from all ranks that split them here");
  }
  in.skip_what_is_off("enabled");
  in.skip_known("deepspeed");
}

void import_deepspeed(const ImportTask& task) {
  Settings& in = task.in;
  task.into.stack = "deepspeed";
  deepspeed_settings(task);
  const std::int64_t tensor = std::max<std::int64_t>(
      1, in.integer("tensor_parallel.autotp_size", 0, kMostDegree).value_or(1));
  const auto ranks =
      ranks_beside(task, "tensor_parallel.autotp_size", task.options.devices, tensor);
  if (tensor > 1) {
    task.into.plan.add("tensor", Value(tensor));
  }
  const auto micro = in.integer("train_micro_batch_size_per_gpu", 1);
  const auto global = in.integer("train_batch_size", 1);
  const auto steps = in.integer("gradient_accumulation_steps", 1);
  put(task.into.plan, "micro_batch", micro);
  const std::optional<std::int64_t> data =
      micro && global ? data_degree(task, *micro, *global, steps, ranks) : ranks;
  put(task.into.plan, "data", data);
  if (global) {
    task.into.training.add("global_batch", Value(*global));
  } else if (micro && data) {
    task.into.training.add("global_batch", Value(*micro * *data * steps.value_or(1)));
  }
}

}  // namespace titer
