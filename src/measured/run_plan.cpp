// The plan and the training of a measured run.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <regex>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// A count of a row that must be stated.
std::int64_t degree(const RunRow& row, std::string_view column) {
  const auto value = row.whole(column);
  if (!value || *value < 1) {
    throw InputError(fmt::format("{} not stated", column));
  }
  return *value;
}

/// Pipeline, tensor, data and context degree, which make the devices.
void read_degrees(const RunRow& row, Plan& plan) {
  plan.pipeline = degree(row, "p");
  plan.tensor = degree(row, "t");
  plan.data = degree(row, "d");
  plan.context = row.whole("cp", 1);
  std::int64_t all = plan.context;
  for (const std::int64_t one : {plan.pipeline, plan.tensor, plan.data}) {
    all = counted_product(all, one);
  }
  if (row.has("n_chips") && row.whole("n_chips") != all) {
    throw InputError(
        fmt::format("p, t, d and cp make {} of {} devices", all, row.whole("n_chips", 0)));
  }
}

/// As stated, or what the batch leaves of every replica's share for each micro-batch.
std::int64_t micro_batch_of(const RunRow& row, std::int64_t replicas) {
  const auto batch = row.whole("global_batch");
  const std::int64_t passes = counted_product(replicas, row.whole("grad_accum", 0));
  if (!row.has("micro_batch") && batch && passes > 0 && *batch % passes == 0) {
    return *batch / passes;
  }
  return degree(row, "micro_batch");
}

/// Layers of stages that are a layer or two short of `each`: the last stage has a module for a
/// further token beside the head, which count as three layers, or as two with the embedding as one.
/// [NVIDIA-NeMo/Megatron-Bridge, deepseek_v3.py: "Et*4|(t*4|)*14tmL", "Et|(tt|)*30mL"]
std::vector<std::int64_t> short_ends(std::size_t stages, std::int64_t each, bool predicts) {
  std::vector<std::int64_t> of_stages(stages, each);
  const std::int64_t front = predicts && each > 2 ? 0 : 1;
  of_stages.front() -= front;
  of_stages.back() -= 3 - front;
  return of_stages;
}

/// Of some layers more than there are, as many on every stage and one more on those behind the
/// first; the last lacks what is not there.  [Oneflow-Inc/libai, utils/distributed.py]
std::vector<std::int64_t> fuller_middle(std::int64_t stages, std::int64_t layers) {
  const std::int64_t slots = layers + std::min(stages - 1, layers / stages);
  std::vector<std::int64_t> of_stages;
  std::int64_t left = layers;
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    const std::int64_t more = stage >= stages - slots % stages ? 1 : 0;
    of_stages.push_back(std::min(left, slots / stages + more));
    left -= of_stages.back();
  }
  return of_stages;
}

/// What is not shared out evenly: embedding and head count as a layer each, the head and a module
/// for further tokens as two, or the first stages have one more.
void read_layers(const RunRow& row, const RunHabits& habits, Plan& plan) {
  const std::int64_t layers = row.whole("layers", 0);
  const bool predicts = habits.predicted_tokens.value_or(noted_predictions(row)) > 0;
  const std::int64_t stages = plan.pipeline * plan.virtual_stages;
  const auto count = static_cast<std::size_t>(stages);
  if (row.says("inferred_fields", "one layer fewer") || row.says("notes", "one layer less") ||
      (layers % stages != 0 && (layers + 2) % stages == 0)) {
    plan.layers = LayerRule::lighter_ends;
    return;
  }
  if (layers % stages == 0) {
    if (habits.fuller_middle && stages >= 4 && layers >= 8) {
      plan.layers = fuller_middle(stages, layers);
    }
    return;
  }
  std::vector<std::int64_t> of_stages(count, layers / stages);
  const std::int64_t each = (layers + 3) / stages;
  if ((layers + 3) % stages == 0 && each > (predicts ? 1 : 2)) {
    of_stages = short_ends(count, each, predicts);
  } else {
    for (std::size_t i = 0; i < static_cast<std::size_t>(layers % stages); ++i) {
      ++of_stages[i];
    }
  }
  plan.layers = of_stages;
}

void read_overlaps(const RunRow& row, const RunHabits& habits, Plan& plan) {
  // Fully sharded layers are gathered and reduced one by one, beside the others.
  if (row.has("dp_overlap") && plan.sharding != Sharding::zero3) {
    plan.overlap_grad_reduce = row.whole("dp_overlap", 0) == 1;
    plan.overlap_param_gather = row.whole("dp_overlap", 0) == 1 && plan.sharding == Sharding::zero1;
  } else if (habits.overlap_grad_reduce) {
    plan.overlap_grad_reduce = habits.overlap_grad_reduce;
  }
  plan.tensor_overlap = habits.tensor_overlap;
  const bool is_noted = row.says("notes", "async TP") || row.says("notes", "TP comm overlap");
  if (row.whole("tp_overlap", is_noted ? 1 : 0) == 1 && plan.tensor > 1) {
    plan.tensor_overlap = TensorOverlap::ring;
  }
  if (plan.expert > 1) {
    plan.expert_dispatch = habits.expert_dispatch;
  }
  const std::string notes = row.plain("notes");
  if (notes.find("deepep") != std::string::npos || notes.find("hybridep") != std::string::npos) {
    plan.expert_dispatch = ExpertDispatch::deduplicated;
  }
  plan.expert_overlap =
      habits.expert_overlap.value_or(notes.find("a2aoverlap") != std::string::npos);
  plan.fused_experts = habits.fused_experts.value_or(false);
  plan.distribute_saved_activations =
      habits.distribute_saved_activations.value_or(false) && plan.tensor > 1;
}

/// Of what comes from other ranks and from the host.
void read_prefetch(const RunHabits& habits, Plan& plan) {
  const bool prefetch = habits.prefetch.value_or(true);
  plan.prefetch = prefetch || plan.sharding != Sharding::zero3;
  plan.offload.prefetch = prefetch;
}

/// Parts of layers that the row's model does not have.
LayerPartSet absent_parts(const RunRow& row, const RunHabits& habits) {
  const LayerContents layers = contents_of(row, habits);
  LayerPartSet absent = 0;
  const auto lack = [&](bool there, LayerPart part) {
    absent = static_cast<LayerPartSet>(absent | (there ? 0U : bit(part)));
  };
  lack(layers.attention, LayerPart::attention);
  lack(layers.mixer, LayerPart::mixer);
  lack(layers.dense, LayerPart::mlp);
  lack(layers.experts, LayerPart::router);
  lack(layers.experts, LayerPart::experts);
  return absent;
}

/// "transformer_engine:['attn', 'moe_router']": who captures, and which parts of layers; "1": all
/// of them, likewise who captures alone.  [Megatron-Core, --cuda-graph-impl, --cuda-graph-scope]
LayerPartSet graph_of(const std::string& stated, LayerPartSet absent) {
  struct ScopeWord {
    std::string_view text;
    LayerPartSet parts;
  };
  constexpr LayerPartSet of_experts = bit(LayerPart::router) | bit(LayerPart::experts);
  constexpr LayerPartSet of_layers =
      bit(LayerPart::attention) | bit(LayerPart::mixer) | bit(LayerPart::mlp) | of_experts;
  constexpr std::array<ScopeWord, 8> words = {{{"attn", bit(LayerPart::attention)},
                                               {"mamba", bit(LayerPart::mixer)},
                                               {"mlp", bit(LayerPart::mlp)},
                                               {"moe_router", bit(LayerPart::router)},
                                               {"'moe'", bit(LayerPart::experts)},
                                               {"full_iteration", kWholeIteration},
                                               {"full iteration", kWholeIteration},
                                               {"1", of_layers}}};
  constexpr std::array<std::string_view, 5> nothing = {"0", "no", "off", "false", "disabled"};
  constexpr std::array<std::string_view, 8> whole_layers = {
      "yes", "true", "on", "enabled", "layer", "per_layer", "transformer_engine", "local"};
  static const std::regex itself("cuda[ -]?graphs?[ :=]*");  // "CUDA graphs: on"
  std::string text = std::regex_replace(stated, itself, "");
  text = text.empty() && !stated.empty() ? "on" : text;
  std::ranges::replace(text, '-', '_');
  if (text.empty() || text.starts_with("none") || text.starts_with("default") ||
      std::ranges::find(nothing, text) != nothing.end()) {
    return 0;
  }
  LayerPartSet graph = std::ranges::find(whole_layers, text) != whole_layers.end() ? of_layers : 0;
  for (const ScopeWord& word : words) {
    if (text.find(word.text) != std::string::npos) {
      graph = static_cast<LayerPartSet>(graph | word.parts);
    }
  }
  if (graph == 0 && text.find(':') == std::string::npos) {
    throw InputError("cuda_graph \"" + text + "\" is not modelled");
  }
  return captures_all(graph) ? graph : static_cast<LayerPartSet>(graph & ~absent);
}

/// Of "nvfp4 (last layers mxfp8)" what is first.
std::string precision_text(const RunRow& row) {
  std::string text = row.plain("precision");
  if (const std::size_t rest = text.find("fp8"); text.find("fp4") < rest) {
    text.resize(std::min(rest, text.size()));
  }
  return text;
}

/// By the first of these that a text has: where it names both of 16 bits, its memory is that of
/// fp16 gradients.
struct PrecisionWord {
  std::string_view text;
  DataType type;
};
constexpr std::array<PrecisionWord, 9> kPrecisionWords = {{{"fp8", DataType::fp8},
                                                           {"e4m3", DataType::fp8},
                                                           {"int8", DataType::int8},
                                                           {"fp4", DataType::fp4},
                                                           {"fp16", DataType::fp16},
                                                           {"half", DataType::fp16},
                                                           {"bf16", DataType::bf16},
                                                           {"tf32", DataType::tf32},
                                                           {"fp32", DataType::fp32}}};

DataType precision_of(const RunRow& row, const RunHabits& habits) {
  const std::string text = precision_text(row);
  if (text.empty()) {
    throw InputError("precision not stated");
  }
  const auto is = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (keeps_four_bits(row)) {  // otherwise products are of bf16
    return is("fp16") ? DataType::fp16 : DataType::bf16;
  }
  const auto known = std::ranges::find_if(kPrecisionWords, is, &PrecisionWord::text);
  if (known != kPrecisionWords.end()) {
    const bool narrows = known->type == DataType::fp32 && habits.tf32.value_or(false);
    return narrows ? DataType::tf32 : known->type;
  }
  if (row.says_word("precision", "amp") || is("mixed")) {  // PyTorch's, if nothing is said of it
    return DataType::fp16;
  }
  throw InputError("precision \"" + row.text("precision") + "\"");
}

/// As torch.optim and optax have states of weights that are in bf16 themselves.
bool keeps_narrow_weights(const RunRow& row, const RunHabits& habits, const Training& training) {
  return (habits.bf16_states.value_or(false) && training.precision != DataType::fp32) ||
         row.says("precision", "bf16 weights") || row.says("precision", "pure bf16") ||
         row.plain("precision").starts_with("bf16true");
}

/// Tokens of a sequence; of BERT's that are not padded as many as there are on average, half of
/// what they are padded to. [Krell et al. 2021]
std::int64_t sequence_of(const RunRow& row, const RunHabits& habits) {
  const std::int64_t most =
      row.has("seq") || !habits.sequence ? degree(row, "seq") : *habits.sequence;
  return row.says("notes", "unpadded") && row.says("model_name", "bert") ? most / 2 : most;
}

/// Scales of blocks are of 32 numbers, or of 128, which are stood for by those: "mxfp8",
/// "fp8 (blockwise)", "fp8_sc", "fp8 (1x128 tiles)"; those of rows: "float8 rowwise".
NarrowScaling scaling_of(const std::string& precision) {
  const auto says = [&](std::string_view word) {
    return precision.find(word) != std::string::npos;
  };
  constexpr std::array<std::string_view, 5> blocks = {
      "mxfp8", "block", "tile", "subchannel", "fp8sc"};
  if (std::ranges::any_of(blocks, says)) {
    return NarrowScaling::block;
  }
  return says("rowwise") || says("row-wise") ? NarrowScaling::row : NarrowScaling::tensor;
}

}  // namespace

Plan run_plan(const RunRow& row, const RunHabits& habits, const OpenPlan& open) {
  Plan plan;
  read_degrees(row, plan);
  plan.expert = open.expert > 0 ? open.expert : row.whole("ep", 1);
  if (row.has("etp") || plan.expert > 1) {
    const std::int64_t ranks = plan.tensor * plan.data * plan.context;
    const bool splits = habits.splits_experts && ranks % (plan.expert * plan.tensor) == 0;
    plan.expert_tensor = row.whole("etp", splits ? plan.tensor : 1);
  }
  plan.micro_batch = micro_batch_of(row, plan.data);
  if (plan.context > 1) {
    plan.context_method = noted_context_method(row).value_or(plan.context_method);
  }
  const bool splits = row.whole("seq_parallel", habits.splits_residual ? 1 : 0) == 1;
  plan.sequence_parallel = plan.tensor > 1 && habits.sequence_parallel.value_or(splits);
  read_sharding(row, habits, open.sharding, plan);
  read_recompute(row, habits, plan);
  read_offload(row, habits, plan);
  read_prefetch(habits, plan);
  read_schedule(row, open.chunks, plan);
  read_layers(row, habits, plan);
  read_overlaps(row, habits, plan);
  const std::string graph =
      row.has("cuda_graph") ? row.text("cuda_graph") : noted_graph(row).value_or(habits.graph);
  plan.cuda_graph = graph_of(lower(graph), absent_parts(row, habits));
  return plan;
}

Training run_training(const RunRow& row,
                      const RunHabits& habits,
                      const Scenario& scenario,
                      std::int64_t micro_batches) {
  Training training;
  training.global_batch = scenario.plan.micro_batch * scenario.plan.data * micro_batches;
  training.sequence = scenario.model.is_transformer() ? sequence_of(row, habits) : 1;  // samples
  training.gradient_precision = habits.gradient;
  training.adapters = run_adapters(row, habits, scenario.model);
  training.optimizer = noted_optimizer(row, habits);
  if (keeps_four_bits(row) && !training.adapters) {
    throw InputError("precision \"" + row.text("precision") + "\"");
  }
  training.narrow_logits = habits.narrow_logits.value_or(false);
  training.fp8_attention = row.says("notes", "fp8 attention");
  training.fp8_activation_inputs = habits.fp8_activation_inputs.value_or(false);
  training.transposes_narrow_weights = habits.transposes_narrow_weights.value_or(false);
  training.precision = precision_of(row, habits);
  if (training.adapters && training.narrow_products()) {
    training.narrow_weights = habits.narrow_base;
  }
  if (keeps_narrow_weights(row, habits, training)) {
    training.master_precision = DataType::bf16;
    if (!training.optimizer.quantised) {
      training.state_precision = DataType::bf16;
    }
  }
  if (training.precision == DataType::fp8) {
    training.narrow_scaling = scaling_of(precision_text(row));
  }
  return training;
}

}  // namespace titer
