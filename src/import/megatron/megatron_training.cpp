// Training in Megatron's names: batches, sequences, precisions, the optimizer.

#include <algorithm>
#include <array>

#include "import/import_parts.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

class MegatronTraining {
 public:
  explicit MegatronTraining(const ImportTask& task)
      : task_(task), in_(task.in), plan_(task.into.plan), training_(task.into.training) {}

  void read(const Degrees& degrees, const DegreeKeys& keys) {
    if (in_.has("step_batch_size_schedule")) {
      put(plan_, "micro_batch", in_.integer("micro_batch_size", 1));
      last_batch();
    } else {
      put_batches(task_, degrees, keys);
    }
    put(training_, "sequence", in_.integer("seq_length", 1));
    training_.add("precision", Value(precision()));
    read_narrow_parts();
    put_optimizer(task_, in_.has("optim.name") ? "optim.name" : "optimizer");
    read_fsdp_types();
    const auto in_fp32 = in_.flag("grad_reduce_in_fp32");  // of Megatron-Bridge
    if (training_.find("gradient_precision") != nullptr) {
      static_cast<void>(in_.flag("grad_reduce_in_bf16"));
    } else if (in_fp32) {
      training_.add("gradient_precision", Value(*in_fp32 ? "fp32" : "bf16"));
    } else if (in_.is_on("grad_reduce_in_bf16")) {
      training_.add("gradient_precision", Value("bf16"));
    } else if (in_.is_on("accumulate_allreduce_grads_in_fp32")) {
      training_.add("gradient_precision", Value("fp32"));
    }
    if (training_.find("gradient_precision") == nullptr) {
      put_type("optim.grad_sync_dtype", "gradient_precision");
    }
    if (training_.find("gradient_precision") == nullptr && is_reduced_wide()) {
      training_.add("gradient_precision", Value("fp32"));
    }
    read_states();
  }

 private:
  /// "0:384 200B:768": from so many tokens on so many sequences.
  void last_batch() {
    const std::string text = in_.text("step_batch_size_schedule").value_or("");
    const std::size_t colon = std::min(text.rfind(':'), text.size() - 1);
    const auto batch = number_of_text<std::int64_t>(std::string_view(text).substr(colon + 1));
    if (!batch || *batch < 1) {
      in_.fail("step_batch_size_schedule", "expected batches such as 0:384 200B:768");
      return;
    }
    assume(task_, "step_batch_size_schedule", "the last batch of the schedule is taken");
    training_.add("global_batch", Value(*batch));
  }

  /// What is narrow besides the products of layers.
  void read_narrow_parts() {
    if (in_.is_on("fp8_output_proj")) {
      training_.add("narrow_logits", Value(true));
    }
    for (const std::string_view key :
         {"activation_func_fp8_input_store", "fp8_activation_input_store"}) {
      if (in_.is_on(key)) {
        training_.add("fp8_activation_inputs", Value(true));
      }
    }
  }

  /// Precisions by name reduce in fp32, but for those over fp16.
  /// [nemo/collections/llm/recipes/precision/mixed_precision.py, bf16_mixed;
  /// megatron/bridge/training/mixed_precision.py]
  bool is_reduced_wide() {
    const std::string_view key =
        in_.has("precision_recipe") ? "precision_recipe" : "mixed_precision";
    const std::string name = in_.word(key).value_or("");
    const bool is_recipe = in_.has("recipe") || task_.into.stack == "megatron-bridge";
    return name.empty() ? is_recipe : name.find("fp16") == std::string::npos;
  }

  std::string_view precision() {
    const std::string trainer = in_.word("trainer.precision").value_or("");
    const std::string mixed =
        in_.word(in_.has("precision_recipe") ? "precision_recipe" : "mixed_precision").value_or("");
    const auto says = [&](std::string_view what) {
      return trainer.find(what) != std::string::npos || mixed.find(what) != std::string::npos;
    };
    const bool bf16 = in_.is_on("bf16");
    const bool fp16 = in_.is_on("fp16");
    const std::string fp8 = in_.word("fp8").value_or("false");
    const bool has_format = in_.word("fp8_format").has_value();
    const bool fp4 = in_.word("fp4_format").has_value();
    if (fp4 || in_.word("fp4").value_or("false") != "false" || says("nvfp4")) {
      take_only(task_, "fp4_recipe", {"nvfp4"});
      in_.skip(kSwitchedOff, "fp8*");
      return "fp4";
    }
    if (has_format || (fp8 != "false" && fp8 != "null") || says("fp8")) {
      read_fp8();
      return "fp8";
    }
    in_.skip(kSwitchedOff,
             "fp8* no_fp8_* reduce_amax use_te_* first_last_layers_bf16 num_layers_at_*");
    if (bf16 || says("bf16") || says("bfloat16")) {
      return "bf16";
    }
    const bool half =
        fp16 || says("fp16") || trainer == "16" || trainer == "16-mixed" || trainer == "16-true";
    const bool is_recipe = task_.options.base || in_.has("hf_model") || in_.has("recipe");
    if (!half && is_recipe && !in_.has("trainer.precision") && !in_.has("fp16")) {
      assume(task_, "mixed_precision", "taken as bf16, as recipes train");
      return "bf16";
    }
    return half ? "fp16" : "fp32";
  }

  /// How scales are taken, as NeMo's and Megatron-Bridge's names of precisions have it.
  std::string recipe_of_name() {
    const std::string name =
        in_.word(in_.has("precision_recipe") ? "precision_recipe" : "mixed_precision").value_or("");
    const auto says = [&](std::string_view what) { return name.find(what) != std::string::npos; };
    if (says("mxfp8")) {
      return "mxfp8";
    }
    return says("subchannel") || says("blockwise") ? "blockwise"
                                                   : (says("current") ? "tensorwise" : "delayed");
  }

  /// Of products in FP8, what is more than which of its formats.
  void read_fp8() {
    static_cast<void>(in_.flag("fp8_e4m3"));
    static_cast<void>(in_.flag("fp8_hybrid"));
    if (!in_.flag("fp8_wgrad").value_or(true) || in_.is_on("no_fp8_wgrad")) {
      in_.leave_out(in_.has("no_fp8_wgrad") ? "no_fp8_wgrad" : "fp8_wgrad",
                    "all three products of a layer are in FP8 here");
    }
    const std::string recipe = in_.word("fp8_recipe").value_or(recipe_of_name());
    const bool transposes = in_.is_on("no_fp8_weight_transpose_cache");  // of Primus
    if (transposes && recipe != "mxfp8") {
      training_.add("transposes_narrow_weights", Value(true));
    }
    if (recipe == "mxfp8") {
      training_.add("narrow_scaling", Value("block"));
    } else if (recipe == "blockwise") {
      assume(task_, "fp8_recipe", "scales of 128 numbers are taken as one for a tensor");
    } else {
      take_only(task_, "fp8_recipe", {"delayed", "tensorwise"});
    }
    if (in_.is_on("fp8_dot_product_attention") || in_.is_on("fp8_multi_head_attention")) {
      training_.add("fp8_attention", Value(true));
    }
    for (const std::string_view key : {"fp8_param_gather", "fp8_param", "fp8_params"}) {
      if (in_.is_on(key) && training_.find("narrow_weights") == nullptr) {
        training_.add("narrow_weights", Value("instead"));
      }
    }
  }

  /// Of Megatron-FSDP, where they are told; "auto" is as without them.
  void read_fsdp_types() {
    if (!in_.is_on("use_megatron_fsdp")) {
      in_.skip(kSwitchedOff, "megatron_fsdp_*_dtype");
      return;
    }
    const auto told = [this](std::string_view key) {
      return in_.word(key) == "auto" ? std::nullopt : type_of(key);
    };
    const auto kept = told("megatron_fsdp_main_grads_dtype");
    put(training_, "gradient_precision", kept);
    put(training_, "master_precision", told("megatron_fsdp_main_params_dtype"));
    if (told("megatron_fsdp_grad_comm_dtype").value_or(kept.value_or("")) != kept.value_or("")) {
      in_.leave_out("megatron_fsdp_grad_comm_dtype",
                    "gradients are taken to be reduced in the format that they are kept in");
    }
  }

  /// Number formats of what the precision-aware optimizer keeps.
  void read_states() {
    if (!in_.is_on("use_precision_aware_optimizer")) {
      in_.skip(kSwitchedOff,
               "main_grads_dtype main_params_dtype exp_avg_dtype exp_avg_sq_dtype "
               "use_precision_aware_optimizer");
      return;
    }
    if (training_.find("master_precision") == nullptr) {
      put_type("main_params_dtype", "master_precision");
    }
    const auto first = type_of("exp_avg_dtype");
    const auto second = type_of("exp_avg_sq_dtype");
    put(training_, "state_precision", first ? first : second);
    if (first.value_or("fp32") != second.value_or("fp32")) {
      in_.leave_out("exp_avg_sq_dtype", "both moments are taken in the format of exp_avg_dtype");
    }
    if (training_.find("gradient_precision") == nullptr) {
      put_type("main_grads_dtype", "gradient_precision");
    }
  }

  void put_type(std::string_view key, std::string_view ours) { put(training_, ours, type_of(key)); }

  std::optional<std::string_view> type_of(std::string_view key) {
    constexpr std::array<std::string_view, 4> types = {"fp32", "bf16", "fp16", "fp8"};
    const auto word = in_.word(key);
    if (!word) {
      return std::nullopt;
    }
    const auto* known = std::ranges::find(types, *word);
    if (known == types.end()) {
      in_.fail(key, "expected fp32, bf16, fp16 or fp8");
      return std::nullopt;
    }
    return *known;
  }

  const ImportTask& task_;
  Settings& in_;
  Value& plan_;
  Value& training_;
};

}  // namespace

void put_megatron_training(const ImportTask& task, const Degrees& degrees, const DegreeKeys& keys) {
  MegatronTraining(task).read(degrees, keys);
}

}  // namespace titer
