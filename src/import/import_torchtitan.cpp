// TOML of torchtitan: models by the names that its code has for them.

#include <algorithm>

#include "import/hf/hf_parts.hpp"
#include "import_parts.hpp"
#include "titer/import/foreign_words.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

constexpr DegreeKeys kTorchtitanKeys = {.tensor = "parallelism.tensor_parallel_degree",
                                        .pipeline = "parallelism.pipeline_parallel_degree",
                                        .context = "parallelism.context_parallel_degree",
                                        .expert = "parallelism.expert_parallel_degree",
                                        .devices = "parallelism.data_parallel_shard_degree",
                                        .micro_batch = "training.local_batch_size",
                                        .global_batch = "training.global_batch_size"};

/// "17b-16e" of 17bx16e.
std::string without_letter_x(const std::string& flavor) {
  const std::size_t sign = flavor.find('x');
  return sign == std::string::npos ? flavor
                                   : flavor.substr(0, sign) + "-" + flavor.substr(sign + 1);
}

/// What is published under these names.
std::string hub_name(const std::string& model, const std::string& flavor) {
  if (flavor.empty()) {
    return {};
  }
  if (model == "deepseek_v3" && flavor == "16B") {
    return "deepseek-v2-lite";
  }
  return model == "llama4" ? "llama-4-" + without_letter_x(flavor) : model + "-" + flavor;
}

void read_model(const ImportTask& task) {
  Settings& in = task.in;
  const bool is_named = in.has("model.name");
  const std::string model = in.word("model.name").value_or("llama3");
  const std::string flavor = in.text("model.flavor").value_or("");
  if (model == "flux") {
    read_torchtitan_flux(task, flavor);
    return;
  }
  const auto* found = std::find_if(
      kTorchtitanFlavors.begin(), kTorchtitanFlavors.end(), [&](const TorchtitanFlavor& known) {
        return known.model == model && known.flavor == flavor;
      });
  if (found == kTorchtitanFlavors.end()) {
    if (const std::string name = hub_name(model, flavor);
        !task.options.base && hub_model(name).has_value()) {
      put_hub_model(task, "model.flavor", name);
    } else if (!task.options.base) {
      in.fail("model.flavor",
              "expected a model of llama3, llama4, qwen3, gpt_oss or deepseek_v3 in a size that "
              "is published: the shapes of the others are in torchtitan's code, not in the file; "
              "--model tells which it is");
    }
    return;
  }
  if (!is_named) {
    assume(task, "model.name", "taken as llama3");
  }
  task.into.shipped = std::string(found->shipped);
}

/// How the data-parallel ranks are split: copies of groups that shard. Fills what is known.
void read_data_parallelism(const ImportTask& task, Degrees& degrees) {
  Settings& in = task.in;
  const std::int64_t copies =
      in.integer("parallelism.data_parallel_replicate_degree", 1, kMostDegree).value_or(1);
  const std::int64_t written =
      in.integer("parallelism.data_parallel_shard_degree", -1, kMostDegree).value_or(-1);
  if (written == 0) {
    in.fail("parallelism.data_parallel_shard_degree", "expected a degree, or -1 for the rest");
    return;
  }
  if (written > 0) {
    degrees.data = copies * written;
  }
  check_degrees(task, degrees, kTorchtitanKeys);
  if (degrees.data && *degrees.data % copies != 0) {
    in.fail("parallelism.data_parallel_replicate_degree",
            "expected a divisor of the data-parallel degree " + std::to_string(*degrees.data));
    return;
  }
  Value& plan = task.into.plan;
  put(plan, "data", degrees.data);
  plan.add("sharding", Value(written == 1 ? "none" : "zero3"));
  if (written == 1) {
    return;
  }
  if (copies > 1 && degrees.data) {
    plan.add("shard", Value(*degrees.data / copies));
  }
  // By default a pipeline keeps what was gathered, since its next pass comes soon.
  const std::string reshard = in.word("parallelism.fsdp_reshard_after_forward").value_or("default");
  const bool by_default = reshard == "default" && degrees.pipeline == 1;
  plan.add("reshard_after_forward", Value(by_default || reshard == "always"));
}

/// Groups that TorchFT keeps alike, each of the devices that are launched together.
void read_replica_groups(const ImportTask& task) {
  Settings& in = task.in;
  if (in.is_on("fault_tolerance.enable") &&
      in.integer("fault_tolerance.group_size", 0).value_or(0) != 1) {
    in.leave_out("fault_tolerance.enable", "groups of replicas that come and go are not modelled");
  }
}

void read_schedule(const ImportTask& task, std::int64_t pipeline) {
  Settings& in = task.in;
  const std::string_view key = "parallelism.pipeline_parallel_schedule";
  const std::string name = in.word(key).value_or("1f1b");
  const auto layers = in.integer("parallelism.pipeline_parallel_layers_per_stage", 1);
  if (pipeline == 1) {
    return;
  }
  const auto* found = std::ranges::find_if(
      kTorchtitanSchedules, [&](const auto& known) { return lower(known.theirs) == name; });
  if (found == kTorchtitanSchedules.end()) {
    in.fail(key, "expected 1F1B, GPipe, Interleaved1F1B, LoopedBFS, ZBVZeroBubble or DualPipeV");
    return;
  }
  task.into.plan.add("schedule", Value(found->ours));
  if (found->has_chunks) {
    if (layers) {
      in.leave_out("parallelism.pipeline_parallel_layers_per_stage", "two stages per rank taken");
    }
    task.into.plan.add("virtual_stages", Value(2));
  }
}

/// A pipeline takes a rank's batch in parts, of one sequence each unless it is told otherwise; the
/// first releases told how many parts, as many as stages by themselves.
std::int64_t part_of_batch(const ImportTask& task, std::int64_t batch, std::int64_t early_parts) {
  constexpr std::string_view size = "parallelism.pipeline_parallel_microbatch_size";
  constexpr std::string_view count = "experimental.pipeline_parallel_microbatches";
  Settings& in = task.in;
  const auto told = in.integer(size, 1);
  const std::int64_t parts = in.integer(count, 1).value_or(early_parts);
  const std::int64_t part = parts > 0 ? batch / parts : told.value_or(1);
  if (part < 1 || batch % part != 0 || (parts > 0 && batch % parts != 0)) {
    in.fail(parts > 0 ? count : size,
            "expected a divisor of training.local_batch_size, " + std::to_string(batch));
    return 1;
  }
  if (!told && parts == 0 && batch > 1) {
    assume(task, size, "taken as 1, its default");
  }
  return part;
}

void read_batches(const ImportTask& task, const Degrees& degrees, std::int64_t early_parts) {
  Settings& in = task.in;
  const auto batch = in.integer(kTorchtitanKeys.micro_batch, 1);
  const auto written = in.integer(kTorchtitanKeys.global_batch, -1);
  const auto global = written && *written > 0 ? written : std::nullopt;  // -1: what follows
  const bool has_parts = degrees.pipeline != 1 && batch;
  put_degree(task,
             "micro_batch",
             kTorchtitanKeys.micro_batch,
             has_parts ? std::optional(part_of_batch(task, *batch, early_parts)) : batch);
  in.skip(kSwitchedOff, "parallelism.pipeline_parallel_microbatch_size");
  if (!batch || !degrees.data) {
    put(task.into.training, "global_batch", global);
    return;
  }
  const std::int64_t together = *batch * *degrees.data;
  if (global && *global % together != 0) {
    in.fail(kTorchtitanKeys.global_batch,
            "expected a multiple of training.local_batch_size x data-parallel degree, " +
                std::to_string(*batch) + " x " + std::to_string(*degrees.data));
  } else if (!global) {
    assume(task, kTorchtitanKeys.global_batch, "taken as micro-batch x data-parallel degree");
  } else if (has_parts && *global > together) {
    assume(task,
           kTorchtitanKeys.global_batch,
           "the pipeline is taken not to run empty between the batches that are added up");
  }
  task.into.training.add("global_batch", Value(global.value_or(together)));
}

void read_recompute(const ImportTask& task) {
  Settings& in = task.in;
  const std::string mode = in.word("activation_checkpoint.mode").value_or("selective");
  if (mode != "none" && mode != "selective" && mode != "full") {
    in.fail("activation_checkpoint.mode", "expected none, selective or full");
    return;
  }
  const auto option = in.word("activation_checkpoint.selective_ac_option");
  const bool by_operation = mode == "selective" && option == "op";
  task.into.plan.add("recompute", Value(by_operation ? "operations" : mode));
  if (mode == "selective" && !by_operation) {
    assume(task,
           "activation_checkpoint.selective_ac_option",
           "no plan here chooses every n-th layer; taken as core attention");
  }
}

/// Of what is compiled, the blocks are more than the loss.
bool compiles_model(const ImportTask& task) {
  constexpr std::string_view key = "compile.components";
  const Value* const components = task.in.raw(key);
  const bool is_told = components != nullptr && components->kind == Value::Kind::array;
  const bool has_model = !is_told || std::ranges::any_of(components->items, [](const Value& item) {
    return item.text == "model";
  });
  if (!has_model) {
    assume(task, key, "the loss is taken as not compiled, either");
  }
  return has_model;
}

void read_training(const ImportTask& task) {
  Settings& in = task.in;
  put(task.into.training, "sequence", in.integer("training.seq_len", 1));
  const std::string converters = in.word("model.converters").value_or("");
  const bool blocks = converters.find("mx") != std::string::npos;  // scales of 32 numbers
  // The switch of releases before there were converters.
  const bool fp8 = converters.find("float8") != std::string::npos || blocks ||
                   in.is_on("float8.enable_float8_linear");
  const std::string type = in.word("training.mixed_precision_param").value_or("bfloat16");
  const bool fp32 = type == "float32";
  task.into.training.add("precision", Value(fp8 ? "fp8" : (fp32 ? "fp32" : "bf16")));
  const std::string reduce = in.word("training.mixed_precision_reduce").value_or("float32");
  task.into.training.add("gradient_precision", Value(reduce == "bfloat16" ? "bf16" : "fp32"));
  put_optimizer(task, "optimizer.name");
  const std::string kept = in.word("training.dtype").value_or("float32");
  if (kept == "bfloat16") {
    put_all_bf16(task);  // weights, and the optimizer's states that are made like them
  } else if (kept != "float32") {
    in.fail("training.dtype", "expected float32 or bfloat16");
  }
  if (!fp8) {
    in.skip(kSwitchedOff, "float8.* quantize.* mx.*");
    return;
  }
  if (blocks) {
    task.into.training.add("narrow_scaling", Value("block"));
    in.skip("how blocks are scaled and multiplied",
            "mx.* quantize.linear.mx.* quantize.grouped_mm.mx.*");
  }
  in.rename("quantize.linear.", "");
  in.rename("quantize.dense.", "");
  if (in.is_on("float8.enable_fsdp_float8_all_gather")) {
    task.into.training.add("narrow_weights", Value("gathered"));
  }
  if (in.raw("float8.filter_fqns") != nullptr) {
    assume(task, "float8.filter_fqns", "all products with weights are taken to be narrow");
  }
  if (in.word("float8.recipe_name") == "rowwise") {
    task.into.training.add("narrow_scaling", Value("row"));
  }
  take_only(task, "float8.recipe_name", {"tensorwise", "rowwise"});
  in.skip("how scales are made",
          "float8.precompute_float8_dynamic_scale_for_fsdp float8.emulate "
          "float8.scaling_type_* "
          "float8.force_recompute_fp8_weight_in_bwd");
}

}  // namespace

void import_torchtitan(const ImportTask& task) {
  read_model(task);
  torchtitan_plan(task);
}

void torchtitan_plan(const ImportTask& task) {
  Settings& in = task.in;
  const bool compiles = in.is_on("compile.enable") && compiles_model(task);
  task.into.stack = in.is_on("training.compile") ? "torchtitan-compiled-2024"
                    : compiles                   ? "torchtitan-compiled"
                                                 : "torchtitan";
  in.skip("what is compiled", "compile.*");
  const bool is_early = in.has("experimental.pipeline_parallel_degree");
  in.rename_known("torchtitan");
  Degrees degrees = read_degrees(task, kTorchtitanKeys);
  degrees.expert_tensor =
      in.integer("parallelism.expert_tensor_parallel_degree", 1, kMostDegree).value_or(1);
  Value& plan = task.into.plan;
  put_degrees(plan, degrees);
  if (*degrees.expert > 1) {
    put(plan, "expert", degrees.expert);
    put(plan, "expert_tensor", degrees.expert_tensor);
  }
  read_data_parallelism(task, degrees);
  read_schedule(task, *degrees.pipeline);
  plan.add("sequence_parallel", Value(*degrees.tensor > 1));
  if (in.is_on("parallelism.enable_async_tensor_parallel")) {
    plan.add("tensor_overlap", Value("ring"));
  }
  if (in.is_on("training.enable_cpu_offload")) {
    plan.add("offload", state_on_host());
  }
  read_recompute(task);
  read_batches(task, degrees, is_early ? *degrees.pipeline : 0);
  read_training(task);
  in.skip_what_is_off("enable");
  read_replica_groups(task);
  in.skip_known("torchtitan");
  in.skip_usual("torchtitan");
}

}  // namespace titer
