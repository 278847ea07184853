// Training in Megatron's names: batches, sequences, precisions, the optimizer.

#include <charconv>

#include "import_parts.hpp"

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
    put_optimizer(task_, in_.has("optim.name") ? "optim.name" : "optimizer");
    if (in_.is_on("grad_reduce_in_bf16")) {
      training_.add("gradient_precision", Value("bf16"));
    } else if (in_.is_on("accumulate_allreduce_grads_in_fp32")) {
      training_.add("gradient_precision", Value("fp32"));
    }
  }

 private:
  /// "0:384 200B:768": from so many tokens on so many sequences.
  void last_batch() {
    const std::string text = in_.text("step_batch_size_schedule").value_or("");
    const std::size_t colon = text.rfind(':');
    std::int64_t batch = 0;
    const char* const end = text.data() + text.size();
    const char* const begin = colon == std::string::npos ? end : text.data() + colon + 1;
    const auto [rest, error] = std::from_chars(begin, end, batch);
    if (error != std::errc() || rest != end || batch < 1) {
      in_.fail("step_batch_size_schedule", "expected batches such as 0:384 200B:768");
      return;
    }
    assume(task_, "step_batch_size_schedule", "the last batch of the schedule is taken");
    training_.add("global_batch", Value(batch));
  }

  std::string_view precision() {
    const std::string trainer = in_.word("trainer.precision").value_or("");
    const std::string mixed = in_.word("mixed_precision").value_or("");
    const auto says = [&](std::string_view what) {
      return trainer.find(what) != std::string::npos || mixed.find(what) != std::string::npos;
    };
    const bool bf16 = in_.is_on("bf16");
    const bool fp16 = in_.is_on("fp16");
    const std::string fp8 = in_.word("fp8").value_or("false");
    const bool has_format = in_.word("fp8_format").has_value();
    if (has_format || (fp8 != "false" && fp8 != "null") || says("fp8")) {
      read_fp8();
      return "fp8";
    }
    in_.skip({.what = kSwitchedOff, .patterns = "fp8* reduce_amax use_te_*"});
    if (bf16 || says("bf16") || says("bfloat16")) {
      return "bf16";
    }
    const bool half =
        fp16 || says("fp16") || trainer == "16" || trainer == "16-mixed" || trainer == "16-true";
    if (!half && task_.options.base && !in_.has("trainer.precision") && !in_.has("fp16")) {
      assume(task_, "mixed_precision", "taken as bf16, as recipes train");
      return "bf16";
    }
    return half ? "fp16" : "fp32";
  }

  /// Of products in FP8, what is more than which of its formats.
  void read_fp8() {
    static_cast<void>(in_.flag("fp8_e4m3"));
    static_cast<void>(in_.flag("fp8_hybrid"));
    if (!in_.flag("fp8_wgrad").value_or(true) || in_.is_on("no_fp8_wgrad")) {
      in_.leave_out(in_.has("no_fp8_wgrad") ? "no_fp8_wgrad" : "fp8_wgrad",
                    "all three products of a layer are in FP8 here");
    }
    take_only(task_, "fp8_recipe", {"delayed", "tensorwise"});
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
