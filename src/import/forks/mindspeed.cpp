// Arguments of MindSpeed and MindSpeed-LLM, which have Megatron-LM train on Ascend's devices:
// Megatron-LM's, with settings and defaults of their own (mindspeed_llm/training/arguments.py).

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "import/hf/hf_parts.hpp"
#include "import/import_parts.hpp"
#include "titer/import/foreign_words.hpp"
#include "titer/input/known_settings.hpp"

namespace titer {
namespace {

class MindSpeed {
 public:
  explicit MindSpeed(const ImportTask& task) : task_(task), in_(task.in) {}

  void read() {
    const bool swaps = in_.is_on("swap_optimizer");
    in_.rename_known("mindspeed");
    take_stage();
    read_layers();
    read_experts();
    read_expert_ranks();
    read_context();
    read_window();
    if (!in_.is_sound()) {
      return;
    }
    ImportTask with_defaults = task_;
    with_defaults.defaults.is_local = true;
    import_megatron(with_defaults);
    if (!in_.is_sound() || !task_.into.model) {
      return;
    }
    stand_in(task_, "megatron-core", "MindSpeed");
    read_style(*task_.into.model);
    read_memory();
    read_adapters();
    if (Value* offload = task_.into.plan.find("offload"); offload != nullptr && swaps) {
      offload->erase("update");  // states come to the device, which updates
    }
    const Value otherwise = known_settings("mindspeed", "taken_otherwise");
    for (const auto& [key, how] : otherwise.members) {
      if (in_.is_on(key)) {
        assume(task_, key, how.text);
      }
    }
    in_.skip_known("mindspeed");
  }

 private:
  /// Steps of preferences, rewards and policies have more passes than one.
  void take_stage() {
    const std::string stage = in_.word("stage").value_or("sft");
    if (stage != "sft" && stage != "pt") {
      in_.fail("stage", "expected sft: steps of others have more passes, which are not modelled");
    }
  }

  /// Layers that do nothing fill up the stages of a pipeline; the others keep their places.
  void read_layers() {
    const std::int64_t places = in_.integer("num_layers", 1, kMostLayers).value_or(0);
    is_layer_.assign(static_cast<std::size_t>(places), true);
    if (!in_.has("noop_layers")) {
      return;
    }
    for (const std::string& word : listed_words(task_, "noop_layers")) {
      const bool is_place =
          word.size() < 7 && word.find_first_not_of("0123456789") == std::string::npos;
      const auto place = is_place ? std::stoul(word) : is_layer_.size();
      if (place >= is_layer_.size()) {
        in_.fail("noop_layers", "expected numbers of layers, from 0 on");
        return;
      }
      is_layer_[place] = false;
    }
    const std::int64_t layers = std::ranges::count(is_layer_, true);
    const std::int64_t stages = count_stages();
    if (layers == 0 || places % stages != 0) {
      in_.fail("num_layers",
               "expected pipeline x virtual stages, " + std::to_string(stages) +
                   ", to divide the layers, with those that do nothing");
      return;
    }
    put_stages(static_cast<std::size_t>(places / stages));
    assume(task_,
           "noop_layers",
           "they do nothing: the model has the other " + std::to_string(layers) + " layers");
    in_.replace("num_layers", Value(layers));
  }

  /// Stages of the model, of which a rank has several.
  [[nodiscard]] std::int64_t count_stages() {
    const std::int64_t ranks =
        in_.integer("pipeline_model_parallel_size", 1, kMostDegree).value_or(1);
    if (in_.word("schedules_method") == "dualpipev") {
      return 2 * ranks;
    }
    const auto of_chunk = in_.integer("num_layers_per_virtual_pipeline_stage", 1, kMostLayers);
    const auto places = static_cast<std::int64_t>(is_layer_.size());
    if (!of_chunk || places % (ranks * *of_chunk) != 0) {
      return ranks;
    }
    in_.suppose("num_virtual_stages_per_pipeline_rank", Value(places / (ranks * *of_chunk)));
    return places / *of_chunk;
  }

  void put_stages(std::size_t of_stage) {
    Value list = Value::make_array();
    for (auto place = is_layer_.begin(); place != is_layer_.end();
         place += static_cast<std::ptrdiff_t>(of_stage)) {
      const auto end = place + static_cast<std::ptrdiff_t>(of_stage);
      list.push(Value(std::to_string(std::count(place, end, true))));
    }
    if (list.items.size() > 1) {
      in_.suppose("num_layer_list", std::move(list));
    }
  }

  /// The first layers are dense, of the others every so manieth has experts; -1 stands for all.
  void read_experts() {
    constexpr std::string_view first = "first_k_dense_replace";
    constexpr std::string_view every = "moe_layer_freq";
    if (!in_.has(first)) {
      return;
    }
    const std::int64_t dense = in_.integer(first, -1, kMostLayers).value_or(-1);
    const std::int64_t interval = in_.integer(every, -1, kMostLayers).value_or(1);
    std::string list;
    for (std::size_t i = 0; i < is_layer_.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i);
      const bool has_experts = place >= dense && (interval < 1 || place % interval == 0);
      if (is_layer_[i]) {
        list.append(list.empty() ? "[" : ",").append(has_experts ? "1" : "0");
      }
    }
    in_.replace(every, Value(list + "]"));
  }

  /// Tensor ranks may hold experts of their own instead of parts of all.
  void read_expert_ranks() {
    if (in_.is_on("moe_tp_extend_ep")) {
      const auto tensor = in_.integer("tensor_model_parallel_size", 1, kMostDegree).value_or(1);
      const auto expert = in_.integer("expert_model_parallel_size", 1, kMostDegree).value_or(1);
      in_.replace("expert_model_parallel_size", Value(tensor * expert));
      in_.replace("expert_tensor_parallel_size", Value(std::int64_t{1}));
    }
  }

  void read_context() {
    constexpr std::string_view key = "context_parallel_algo";
    constexpr std::array<ForeignWord, 3> methods = {
        {{"ulysses_cp_algo", "a2a"}, {"megatron_cp_algo", "p2p"}, {"hybrid_cp_algo", "a2a+p2p"}}};
    const std::string method = in_.word(key).value_or("ulysses_cp_algo");
    if (in_.integer("context_parallel_size", 1, kMostDegree) == 1) {
      in_.skip(kSwitchedOff, "cp_window_size *_mask_type");
    }
    const auto known = our_word(methods, method);
    if (!known) {
      in_.leave_out(key, "sequences that are split by their masks are not modelled");
    }
    in_.suppose("cp_comm_type", Value(known.value_or("p2p")));
    in_.rename("ulysses_degree_in_cp", "hierarchical_context_parallel_sizes");
    take_only(task_, "cp_attention_mask_type", {"causal"});
    take_only(task_, "attention_mask_type", {"causal"});
  }

  /// Of Gemma 2 every second layer sees a window, the first of two.
  void read_window() {
    const auto in_turn = in_.integer("interleave_sliding_window", 1, kMostTokens);
    const auto of_all = in_.integer("sliding_window", 1, kMostTokens);
    if (const auto window = in_turn ? in_turn : of_all) {
      in_.suppose("window_size", Value(std::to_string(*window - 1) + ",0"));
    }
    if (in_turn) {
      in_.suppose("window_attn_skip_freq", Value("2"));
    }
  }

  void read_style(Transformer& model) {
    model.biases.output = model.biases.output || in_.is_on("add_dense_bias");
    model.biases.head = in_.is_on("add_output_layer_bias");
    if (in_.is_on("post_norm")) {
      model.norms = 4;
    }
  }

  void read_memory() {
    Value& training = task_.into.training;
    if (in_.is_on("reuse_fp32_param")) {
      training.add("master_precision", Value("bf16"));
      assume(task_,
             "reuse_fp32_param",
             "of the weights that are updated, 16 bits are those that layers use, and 16 bits "
             "stand beside them");
    }
    if (in_.is_on("o2_optimizer")) {
      training.add("state_precision", Value("bf16"));
    }
    if (in_.is_on("o2_gradient") && training.find("gradient_precision") == nullptr) {
      training.add("gradient_precision", Value("bf16"));
    }
    read_recompute();
  }

  /// Parts of layers, unless layers are recomputed as a whole.
  void read_recompute() {
    constexpr std::array<ForeignWord, 2> parts = {
        {{"recompute_activation_function", "mlp_activation"}, {"recompute_norm", "layer_norm"}}};
    Value* const there = task_.into.plan.find("recompute");
    Value list = Value::make_array();
    for (const auto& [key, part] : parts) {
      if (!in_.is_on(key)) {
        continue;
      }
      if (there == nullptr || there->text != "none") {
        in_.leave_out(key, "parts of layers are not recomputed beside whole ones here");
        continue;
      }
      const bool has_experts = part == "mlp_activation" && task_.into.model->experts;
      list.push(Value(has_experts ? std::string_view("activation") : part));
    }
    if (!list.items.empty()) {
      *there = std::move(list);
    }
    if (in_.word("moe_zero_memory").value_or("disable") != "disable") {
      in_.leave_out("moe_zero_memory", "what experts keep is taken as without it");
    }
    if (in_.is_on("enable_recompute_layers_per_pp_rank")) {
      in_.leave_out("enable_recompute_layers_per_pp_rank",
                    "layers that are recomputed are counted for each virtual stage here");
    }
  }

  void read_adapters() {
    if (!in_.has("lora_target_modules")) {
      in_.skip(kSwitchedOff, "lora_*");
      return;
    }
    const bool quantises = in_.is_on("qlora");
    put_adapters(task_,
                 {.rank = "lora_r",
                  .targets = "lora_target_modules",
                  .usual_rank = 16,
                  .usual_targets = "all"},
                 quantises ? BaseBits{4, "qlora"} : BaseBits{});
    in_.skip("how the adapters are scaled and stored",
             "lora_alpha lora_modules_to_save lora_register_forward_hook "
             "qlora_save_dequantize");
  }

  const ImportTask& task_;
  Settings& in_;
  std::vector<bool> is_layer_;  // of the places that --num-layers counts
};

}  // namespace

void import_mindspeed(const ImportTask& task) { MindSpeed(task).read(); }

}  // namespace titer
