#pragma once
// Rows of ../shared/measured/training*.csv that say how much memory a device had in use, as
// scenarios. A row that lacks what the physics needs is skipped, with the reason.

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "titer/input/csv.hpp"
#include "titer/plan/memory.hpp"
#include "titer/step/estimate.hpp"
#include "titer/step/source.hpp"

namespace titer::measured {

inline const std::filesystem::path kFolder =
    std::filesystem::path(TITER_ROOT) / ".." / "shared" / "measured";

/// What a figure counts: the framework's own peak of tensors, or all that the driver says is taken.
enum class Counts { tensors, all };

/// A row as a prediction, or why not.
struct Prediction {
  std::string id;
  std::string family;
  std::string grade;
  Bytes measured;
  Bytes predicted;
  std::string skipped;  // reason; empty: compared

  [[nodiscard]] double error() const { return predicted / measured - 1.0; }
};

class Row {
 public:
  Row(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  [[nodiscard]] std::string text(std::string_view column) const {
    return std::string(table_.text(row_, column));
  }
  [[nodiscard]] bool has(std::string_view column) const { return !text(column).empty(); }
  [[nodiscard]] bool says(std::string_view column, std::string_view word) const {
    return text(column).find(word) != std::string::npos;
  }
  [[nodiscard]] std::optional<double> number(std::string_view column) const {
    Problems problems;
    return table_.maybe_number(row_, column, 0, 1e15, problems);
  }
  [[nodiscard]] std::int64_t whole(std::string_view column, std::int64_t otherwise = 0) const {
    return static_cast<std::int64_t>(number(column).value_or(static_cast<double>(otherwise)));
  }

 private:
  const CsvTable& table_;
  std::size_t row_;
};

/// The software that a family ran, by what its source says of it.
inline std::string_view stack_of(std::string_view family) {
  static const std::map<std::string_view, std::string_view> stacks = {
      {"simumax_b200", "megatron-core"},  // Megatron-LM of 2025, Transformer Engine 2.11
      {"zero_bubble_pp", "megatron-lm"},  // a fork of Megatron-LM
      {"bigscience_v100", "deepspeed"},   // Megatron-DeepSpeed
      {"bigscience_1b3_v100", "deepspeed"},
      {"internevo_mem", "internevo"},
      {"alpa", "megatron-lm"},
      {"colossalai", "deepspeed"},
      {"amd_primus_pipeline", "megatron-core"}};
  const auto found = stacks.find(family);
  return found != stacks.end() ? found->second : std::string_view();
}

/// "q_lora 1536,kv_lora 512,rope 64,nope 128,v 128"
inline std::optional<LatentAttention> latent_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto part = [&](std::string_view name) {
    std::int64_t value = 0;
    const std::size_t at = ("," + text).find("," + std::string(name) + " ");
    if (at != std::string::npos) {
      const char* first = text.data() + at + name.size() + 1;
      std::from_chars(first, text.data() + text.size(), value);
    }
    return value;
  };
  return LatentAttention{.q_rank = part("q_lora"),
                         .kv_rank = part("kv_lora"),
                         .nope_dim = part("nope"),
                         .rope_dim = part("rope"),
                         .value_dim = part("v")};
}

/// A GPT, or where the MLP is gated a Llama: their norms, biases, dropout and positions.
inline Transformer model_of(const Row& row, std::int64_t vocabulary) {
  const bool gated = row.whole("ffn_gated") == 1;
  Transformer model{.name = row.text("model_name"),
                    .title = row.text("model_name"),
                    .source = row.text("source"),
                    .layers = row.whole("layers"),
                    .hidden = row.whole("hidden"),
                    .heads = row.whole("heads"),
                    .kv_heads = row.whole("kv_heads"),
                    .head_dim = row.whole("head_dim"),
                    .ffn = row.whole("ffn"),
                    .gated = gated};
  model.norm = gated ? Norm::rmsnorm : Norm::layernorm;
  model.biases = {.qkv = !gated, .output = !gated, .mlp = !gated};
  model.dropout = !gated;
  model.positions = gated ? Positions::rotary : Positions::learned;
  model.tied_embeddings = !gated;
  model.vocabulary = vocabulary;
  model.vocabulary_multiple = 128;
  model.max_sequence = row.whole("seq");
  model.position_rows = gated ? 0 : row.whole("seq");
  model.attention =
      row.whole("flash_attn") == 1 ? AttentionKernel::flash : AttentionKernel::materialised;
  model.latent = latent_of(row.text("mla"));
  if (row.has("n_experts")) {
    model.experts = Experts{.count = row.whole("n_experts"),
                            .per_token = row.whole("top_k"),
                            .ffn = row.whole("expert_ffn"),
                            .shared_ffn = row.whole("shared_expert_ffn")};
    const std::int64_t dense = row.whole("dense_layers");
    LayerKind with_experts;
    with_experts.experts = true;
    model.kinds = {LayerKind{}, with_experts};
    model.order = {{.kind = 0, .count = dense}, {.kind = 1, .count = model.layers - dense}};
    if (dense == 0) {
      model.kinds = {with_experts};
      model.order = {{.kind = 0, .count = model.layers}};
    }
  }
  return model;
}

inline std::optional<Sharding> sharding_of(const std::string& kind) {
  const std::string word = kind.substr(0, kind.find_first_of(" ("));
  static const std::map<std::string_view, Sharding> kinds = {{"none", Sharding::none},
                                                             {"ddp", Sharding::none},
                                                             {"deepspeed-3d", Sharding::none},
                                                             {"zero1", Sharding::zero1},
                                                             {"zero2", Sharding::zero2},
                                                             {"zero3", Sharding::zero3},
                                                             {"fsdp", Sharding::zero3}};
  const auto found = kinds.find(word);
  return found != kinds.end() ? std::optional(found->second) : std::nullopt;
}

/// What keeps a row from being predicted; empty: nothing.
inline std::string lacks(const Row& row) {
  for (const std::string_view column : {"layers", "hidden", "heads", "ffn", "seq", "p", "t", "d"}) {
    if (!row.has(column)) {
      return std::string(column) + " not stated";
    }
  }
  if (!row.has("micro_batch")) {
    return "micro-batch not stated";
  }
  if (!sharding_of(row.text("dp_kind"))) {
    return "what data-parallel ranks share is not stated: " + row.text("dp_kind");
  }
  if (!row.has("recompute")) {
    return "recomputation not stated";
  }
  if (row.has("offload") && row.text("offload") != "none") {
    return "offload: " + row.text("offload");
  }
  if (row.has("sched") && row.text("sched") != "1f1b" && row.text("sched") != "interleaved 1f1b") {
    return "schedule " + row.text("sched");
  }
  return {};
}

inline Plan plan_of(const Row& row) {
  Plan plan;
  plan.pipeline = row.whole("p");
  plan.tensor = row.whole("t");
  plan.data = row.whole("d");
  plan.context = row.whole("cp", 1);
  plan.expert = row.whole("ep", 1);
  if (row.has("etp")) {
    plan.expert_tensor = row.whole("etp");
  }
  plan.virtual_stages = row.whole("vpp", 1);
  plan.micro_batch = row.whole("micro_batch");
  plan.sequence_parallel = row.whole("seq_parallel") == 1;
  plan.sharding = *sharding_of(row.text("dp_kind"));
  const bool full = row.text("recompute").starts_with("full");
  plan.recompute = full ? Recompute::full : Recompute::none;
  if (row.says("recompute", "selective")) {
    plan.recompute = Recompute::selective;
  }
  const bool lighter = row.says("inferred_fields", "one layer fewer");
  const std::int64_t stages = plan.pipeline * plan.virtual_stages;
  if (lighter) {
    plan.layers = LayerRule::lighter_ends;
  } else if (row.whole("layers") % stages != 0) {
    std::vector<std::int64_t> layers(static_cast<std::size_t>(stages),
                                     row.whole("layers") / stages);
    for (std::int64_t i = 0; i < row.whole("layers") % stages; ++i) {
      ++layers[static_cast<std::size_t>(i)];
    }
    plan.layers = layers;
  }
  return plan;
}

/// Scenarios of rows on a base whose cluster only lends its network.
class Predictor {
 public:
  [[nodiscard]] Prediction predict(const Row& row) {
    Prediction result{.id = row.text("case_id"),
                      .family = row.text("family"),
                      .grade = row.text("grade"),
                      .measured = {},
                      .predicted = {},
                      .skipped = lacks(row)};
    const bool binary = row.says("mem_kind", "GiB") || row.says("mem_kind", "nvidia-smi");
    result.measured = row.number("mem_gb").value() * (binary ? 1_GiB : 1_GB);
    if (!result.skipped.empty()) {
      return result;
    }
    if (row.has("vocab")) {
      result.predicted = peak(row, row.whole("vocab"), result);
      return result;
    }
    // A vocabulary that is not stated must not matter: no stage with the ends is the fullest.
    const Bytes small = peak(row, 32000, result);
    result.predicted = peak(row, 50304, result);
    if (result.skipped.empty() && result.predicted > 1.005 * small) {
      result.skipped = "vocabulary not stated";
    }
    return result;
  }

 private:
  Bytes peak(const Row& row, std::int64_t vocabulary, Prediction& result) {
    Scenario scenario = base(row.text("hw_key"), std::string(stack_of(result.family)));
    scenario.model = model_of(row, vocabulary);
    scenario.plan = plan_of(row);
    const Plan& plan = scenario.plan;
    scenario.training.sequence = row.whole("seq");
    scenario.training.precision = row.says("precision", "fp16") ? DataType::fp16 : DataType::bf16;
    const std::int64_t replicas = plan.micro_batch * plan.data;
    scenario.training.global_batch =
        row.has("grad_accum") ? row.whole("grad_accum") * replicas : row.whole("global_batch");
    const auto violations = validate(scenario);
    if (!violations.empty()) {
      result.skipped = violations.front().text();
      return {};
    }
    ModelBlocks blocks;
    list_blocks(scenario.model, scenario.slice(), blocks);
    Bytes most;
    for (const StageMemory& stage : stage_memory(plan, memory_needs(scenario, blocks))) {
      const bool tensors = row.says("mem_kind", "allocated") || row.says("mem_kind", "peak");
      most = std::max(most, tensors ? stage.allocated() : stage.total());
    }
    return most;
  }

  const Scenario& base(std::string chip, const std::string& stack) {
    std::transform(chip.begin(), chip.end(), chip.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
    const auto [known, is_new] = bases_.try_emplace(chip + " " + stack);
    if (is_new) {
      ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
      source.assign({"cluster.nodes", Value(), "test"});
      source.assign({"cluster.chip", Value(chip), "test"});
      source.assign({"stack", Value(stack), "test"});
      source.read_unchecked(known->second);
      known->second.cluster.nodes.reset();
    }
    return known->second;
  }

  std::map<std::string, Scenario> bases_;
};

/// All rows of the corpus with a memory figure.
inline std::vector<Prediction> predictions() {
  std::vector<Prediction> all;
  Predictor predictor;
  for (const std::string_view file : {"training.csv", "training_vtrain_single.csv"}) {
    const CsvTable table = CsvTable::load(kFolder / file);
    for (std::size_t i = 0; i < table.rows(); ++i) {
      const Row row(table, i);
      if (row.has("mem_gb")) {
        all.push_back(predictor.predict(row));
      }
    }
  }
  return all;
}

}  // namespace titer::measured
