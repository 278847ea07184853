// MaxText's YAML: what a file changes of configs/base.yml, whose values are taken for the rest.

#include <algorithm>
#include <cmath>

#include "import/hf/hf_parts.hpp"
#include "import/recipes/recipe_parts.hpp"
#include "maxtext_parts.hpp"

namespace titer {
namespace {

constexpr double kBaseBatch = 12;
constexpr std::int64_t kBaseSequence = 2048;

class MaxText {
 public:
  explicit MaxText(const ImportTask& task)
      : task_(task), in_(task.in), plan_(task.into.plan), training_(task.into.training) {}

  void read() {
    const bool on_gpus = in_.word("hardware").value_or("").starts_with("gpu");
    task_.into.stack = on_gpus ? "maxtext-gpu" : "maxtext";
    static_cast<void>(in_.text("config_file"));  // asked for where something is missing
    put_maxtext_model(task_);
    if (!in_.is_sound()) {
      return;
    }
    read_degrees();
    put_degrees();
    if (pipeline_ == 1) {
      in_.skip(kSwitchedOff,
               "num_layers_per_pipeline_stage num_pipeline_microbatches "
               "num_pipeline_repeats pipeline_*");
    }
    put_batches();
    put_recompute();
    take_capacity();
    put_precision();
    put_optimizer(task_, "opt_type");
    in_.skip_known("maxtext");
    in_.skip_usual("maxtext");
  }

 private:
  /// Of an axis within a slice times that between slices; -1 is what the others leave.
  std::int64_t axis(std::string_view name, std::int64_t usual) {
    std::int64_t product = 1;
    for (const std::string_view level : {"ici_", "dcn_"}) {
      const std::string key = std::string(level).append(name).append("_parallelism");
      const bool is_inner = level == "ici_";
      const auto written = in_.integer(key, -1, kMostDegree);
      is_open_ = is_open_ || (in_.has(key) && !written);
      const bool is_rest = is_inner && usual == 1 && written == -1;
      const std::int64_t size =
          is_rest ? rest_of_node(key) : written.value_or(is_inner ? usual : 1);
      product = size == -1 || product == -1 ? -1 : product * std::max<std::int64_t>(1, size);
    }
    return product;
  }

  /// What the other axes leave of a node's devices.
  std::int64_t rest_of_node(const std::string& key) {
    constexpr std::int64_t node = 8;
    std::int64_t others = 1;
    for (const std::string& name : in_.keys()) {
      if (name.starts_with("ici_") && name != key) {
        others *= std::max<std::int64_t>(1, in_.integer(name, -1, kMostDegree).value_or(1));
      }
    }
    if (node % others != 0) {
      in_.fail(key, "expected the other axes within a slice to divide the 8 devices of a node");
      return 1;
    }
    assume(task_, key, "taken as " + std::to_string(node / others) + ", of 8 devices of a node");
    return node / others;
  }

  void read_degrees() {
    tensor_ = axis("tensor", 1) * axis("tensor_sequence", 1) * axis("tensor_transpose", 1);
    context_ = axis("sequence", 1) * axis("context", 1);
    pipeline_ = axis("pipeline", 1);
    expert_ = axis("expert", 1);
    fsdp_ = axis("fsdp", -1);
    fsdp_ = fsdp_ == -1 ? -1 : fsdp_ * axis("fsdp_transpose", 1);
    copies_ = axis("data", 1);
    if (tensor_ < 1 || context_ < 1 || pipeline_ < 1 || expert_ < 1) {
      in_.fail("", "expected -1 of the axes data and fsdp alone");
      return;
    }
    devices_ = launched_devices(task_);
    const std::int64_t others = tensor_ * context_ * pipeline_;
    if (!devices_ && fsdp_ > 0 && copies_ > 0) {
      devices_ = others * expert_ * fsdp_ * copies_;
    }
    if (devices_ && *devices_ % others != 0) {
      in_.fail("",
               "expected the " + std::to_string(*devices_) +
                   " devices to be a multiple of tensor x context x pipeline, " +
                   std::to_string(others));
      return;
    }
    data_ = devices_ && !is_open_ ? std::optional(*devices_ / others) : std::nullopt;
  }

  void put_degrees() {
    plan_.add("pipeline", Value(pipeline_));
    plan_.add("tensor", Value(tensor_));
    plan_.add("context", Value(context_));
    if (expert_ > 1) {
      plan_.add("expert", Value(expert_));
    }
    if (is_open_) {
      plan_.add("data", Value(kLeftOpen));
    }
    put(plan_, "data", data_);
    plan_.add("sequence_parallel", Value(tensor_ > 1));
    const std::int64_t copies = copies_ * expert_;
    if (fsdp_ == -1 && data_ && *data_ % copies == 0) {
      fsdp_ = *data_ / copies;
    }
    plan_.add("sharding", Value(fsdp_ == 1 ? "none" : "zero3"));
    if (fsdp_ > 1 && data_ && fsdp_ < *data_) {
      plan_.add("shard", Value(fsdp_));
    }
  }

  /// A batch is told for a device, as a fraction where several have one sequence.
  void put_batches() {
    constexpr std::string_view key = "per_device_batch_size";
    put_length();
    const auto steps = in_.integer("gradient_accumulation_steps", 1).value_or(1);
    if (!in_.has(key) && is_elsewhere(key)) {
      plan_.add("micro_batch", Value(kLeftOpen));
      return;
    }
    const double each = in_.number(key).value_or(kBaseBatch);
    if (!in_.has(key)) {
      assume(task_, key, "taken as 12, as configs/base.yml has it");
    }
    const std::int64_t together = tensor_ * context_ * pipeline_;
    const double of_a_rank = each * static_cast<double>(together);
    if (of_a_rank != std::floor(of_a_rank) || of_a_rank < 1) {
      in_.fail(key,
               "expected whole sequences for the " + std::to_string(together) +
                   " devices of a data-parallel rank");
      return;
    }
    put_rank_batches(task_,
                     key,
                     {.micro = static_cast<std::int64_t>(of_a_rank),
                      .accumulation = steps,
                      .global = std::nullopt},
                     data_);
  }

  /// Of experts that work on as many tokens each, so many times their share.
  void take_capacity() {
    constexpr std::string_view key = "capacity_factor";
    const double factor = in_.number(key).value_or(-1);
    if (factor > 1) {
      in_.leave_out(key, "experts work on their share of the tokens here, without padding");
    } else if (factor > 0) {
      assume(task_, key, "experts are taken to get their share of the tokens");
    }
  }

  void put_length() {
    constexpr std::string_view key = "max_target_length";
    const auto sequence = in_.integer(key, 1, kMostTokens);
    if (!sequence && is_elsewhere(key)) {
      return;
    }
    training_.add("sequence", Value(sequence.value_or(kBaseSequence)));
    if (!sequence) {
      assume(task_, key, "taken as 2048, as configs/base.yml has it");
    }
  }

  /// Whether a file that the command names, and that is not at hand, may tell it; says so.
  bool is_elsewhere(std::string_view key) {
    const std::string file = in_.text("config_file").value_or("");
    if (!file.empty()) {
      task_.into.open.push_back(std::string(key) + ": is what " + file +
                                " has; --with gives that file");
    }
    return !file.empty();
  }

  void put_recompute() {
    if (!in_.has("remat_policy") && is_elsewhere("remat_policy")) {
      plan_.add("recompute", Value(kLeftOpen));
      return;
    }
    put_remat_policy(task_);
    const std::string attention = in_.word("attention").value_or("autoselected");
    plan_.add("attention", Value(attention == "dot_product" ? "materialised" : "flash"));
  }

  void put_precision() {
    const std::string quantised = in_.word("quantization").value_or("");
    const bool fp8 = quantised.find("fp8") != std::string::npos;
    const bool int8 = quantised.find("int8") != std::string::npos;
    const bool fp32 = in_.word("dtype").value_or("bfloat16") == "float32";
    if (!quantised.empty() && !fp8 && !int8) {
      in_.fail("quantization", "expected int8 or fp8: others are not modelled");
    }
    training_.add("precision", Value(fp8 ? "fp8" : (int8 ? "int8" : (fp32 ? "fp32" : "bf16"))));
    if (in_.word("weight_dtype").value_or("float32") == "bfloat16") {
      // Gradients and the optimizer's states are of their weights' type.
      put_all_bf16(task_);
      take_only(task_, "mu_dtype", {"bfloat16", ""});
    } else {
      take_only(task_, "weight_dtype", {"float32"});
      take_only(task_, "mu_dtype", {"float32", ""});
    }
    take_only(task_, "grad_dtype", {"float32"});
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  Value& training_;
  std::int64_t tensor_ = 1;
  std::int64_t context_ = 1;
  std::int64_t pipeline_ = 1;
  std::int64_t expert_ = 1;
  std::int64_t fsdp_ = -1;
  std::int64_t copies_ = 1;
  bool is_open_ = false;  // an axis that the file gives, and leaves open
  std::optional<std::int64_t> devices_;
  std::optional<std::int64_t> data_;
};

}  // namespace

void import_maxtext(const ImportTask& task) { MaxText(task).read(); }

}  // namespace titer
