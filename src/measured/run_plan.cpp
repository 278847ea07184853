// The plan and the training of a measured run.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// Degrees of a row that must be stated.
std::int64_t degree(const RunRow& row, std::string_view column) {
  const auto value = row.whole(column);
  if (!value || *value < 1) {
    throw InputError(fmt::format("{} not stated", column));
  }
  return *value;
}

std::optional<Sharding> sharding_of(const std::string& kind) {
  struct ShardingWord {
    std::string_view text;
    Sharding sharding;
  };
  static constexpr std::array<ShardingWord, 11> words = {{{"none", Sharding::none},
                                                          {"ddp", Sharding::none},
                                                          {"deepspeed-3d", Sharding::none},
                                                          {"distributed", Sharding::zero1},
                                                          {"zero1", Sharding::zero1},
                                                          {"zero2", Sharding::zero2},
                                                          {"zero3", Sharding::zero3},
                                                          {"fsdp", Sharding::zero3},
                                                          {"hsdp", Sharding::zero3},
                                                          {"megatron-fsdp", Sharding::zero3},
                                                          {"auto", Sharding::none}}};
  for (const ShardingWord& word : words) {
    if (kind.starts_with(word.text)) {
      return word.sharding;
    }
  }
  return std::nullopt;
}

void read_sharding(const RunRow& row, const RunHabits& habits, Plan& plan) {
  const std::string kind = lower(row.text("dp_kind"));
  std::optional<Sharding> sharding = sharding_of(kind);
  if (!sharding) {
    sharding = habits.sharding;
  }
  if (!sharding && plan.data == 1) {
    sharding = Sharding::none;
  }
  if (!sharding) {
    throw InputError("what data-parallel ranks share is not stated");
  }
  plan.sharding = *sharding;
  if (plan.data == 1 && plan.context == 1) {
    plan.sharding = Sharding::none;
  }
  const auto shard = row.whole("fsdp_shard");
  const bool groups = kind.find("within groups") != std::string::npos ||
                      kind.find("hsdp") != std::string::npos ||
                      kind.find("inside slice") != std::string::npos;
  if (shard && plan.shards() && *shard > 0 && *shard < plan.replicas() && groups) {
    plan.shard = *shard;
  } else if (kind.find("hsdp") != std::string::npos && !shard) {
    plan.shard = std::min(plan.data, row.whole("chips_per_node", 8));
  }
}

/// "block:5 layers"
std::optional<std::int64_t> layers_in(const std::string& text) {
  const std::size_t at = text.find_first_of("0123456789");
  return at == std::string::npos ? std::nullopt
                                 : std::optional<std::int64_t>(std::stoll(text.substr(at, 6)));
}

/// What a row says of recomputation by the words in it, the more telling before the others.
struct RecomputeWord {
  std::string_view text;
  Recompute recompute;
  Modules modules = 0;
};
constexpr Modules kAllButProducts = bits(Module::core_attention, Module::layer_norm);
constexpr std::array<RecomputeWord, 8> kRecomputeWords = {
    {{"none", Recompute::none},
     {"block", Recompute::full},
     {"full", Recompute::full},
     {"mla_up_proj", Recompute::modules, bit(Module::latent_up)},
     {"selective", Recompute::selective},
     {"all but q,k,v", Recompute::modules, kAllButProducts | bit(Module::mlp)},
     {"all but dot", Recompute::modules, kAllButProducts},
     {"partial", Recompute::modules, kAllButProducts}}};
// Layers times hidden size of models of which nothing but full recomputation fits.
constexpr std::int64_t kLargeModel = 500000;

void read_recompute(const RunRow& row, const RunHabits& habits, Plan& plan) {
  const std::string text = lower(row.text("recompute"));
  if (text.empty()) {
    if (!habits.recompute) {
      throw InputError("recompute not stated");
    }
    plan.recompute = *habits.recompute;
    return;
  }
  const auto is = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  const auto word = std::find_if(kRecomputeWords.begin(),
                                 kRecomputeWords.end(),
                                 [&](const RecomputeWord& known) { return is(known.text); });
  if (word == kRecomputeWords.end()) {
    throw InputError("recompute \"" + row.text("recompute") + "\" is not modelled");
  }
  plan.recompute = word->recompute;
  plan.recomputed = word->modules;
  if (word->text == "block") {
    plan.recompute_layers = layers_in(text);
  } else if (word->text == "partial" &&
             row.whole("layers", 0) * row.whole("hidden", 0) > kLargeModel) {
    plan.recompute = Recompute::full;
    plan.recomputed = 0;
  }
}

/// What is not shared out evenly: embedding and head count as a layer each, the head and a module
/// for further tokens as two, or the first stages have one more.
void read_layers(const RunRow& row, std::int64_t layers, Plan& plan) {
  const std::int64_t stages = plan.pipeline * plan.virtual_stages;
  const auto count = static_cast<std::size_t>(stages);
  if (row.says("inferred_fields", "one layer fewer") || row.says("notes", "one layer less") ||
      (layers % stages != 0 && (layers + 2) % stages == 0)) {
    plan.layers = LayerRule::lighter_ends;
    return;
  }
  if (layers % stages == 0) {
    return;
  }
  std::vector<std::int64_t> of_stages(count, layers / stages);
  if ((layers + 3) % stages == 0 && (layers + 3) / stages > 2) {
    of_stages.assign(count, (layers + 3) / stages);
    of_stages.front() -= 1;
    of_stages.back() -= 2;
  } else {
    for (std::size_t i = 0; i < static_cast<std::size_t>(layers % stages); ++i) {
      ++of_stages[i];
    }
  }
  plan.layers = of_stages;
}

void read_schedule(const RunRow& row, Plan& plan) {
  struct ScheduleWord {
    std::string_view text;
    std::string_view name;
  };
  static constexpr std::array<ScheduleWord, 9> words = {{{"", "1f1b"},
                                                         {"1f1b", "1f1b"},
                                                         {"interleaved 1f1b", "1f1b"},
                                                         {"1f1b-interleaved", "1f1b"},
                                                         {"no pipeline", "1f1b"},
                                                         {"gpipe", "gpipe"},
                                                         {"zbv", "zb-v"},
                                                         {"v-half", "v-half"},
                                                         {"v-min", "v-min"}}};
  const std::string text = lower(row.text("sched"));
  const auto known = std::find_if(
      words.begin(), words.end(), [&](const ScheduleWord& word) { return word.text == text; });
  if (known == words.end()) {
    throw InputError("schedule \"" + row.text("sched") + "\" is not modelled");
  }
  if (plan.pipeline == 1) {
    plan.virtual_stages = 1;
    return;
  }
  plan.schedule = named_schedule(known->name);
}

void read_overlaps(const RunRow& row, const RunHabits& habits, Plan& plan) {
  // Fully sharded layers are gathered and reduced one by one, beside the others.
  if (row.has("dp_overlap") && plan.sharding != Sharding::zero3) {
    plan.overlap_grad_reduce = row.whole("dp_overlap", 0) == 1;
    plan.overlap_param_gather = row.whole("dp_overlap", 0) == 1 && plan.sharding == Sharding::zero1;
  }
  plan.tensor_overlap = habits.tensor_overlap;
  if (row.whole("tp_overlap", 0) == 1 && plan.tensor > 1) {
    plan.tensor_overlap = TensorOverlap::ring;
  }
  if (row.says("notes", "dispatcher deepep") || row.says("notes", "dispatcher hybridep")) {
    plan.expert_dispatch = ExpertDispatch::deduplicated;
  }
  plan.expert_overlap = row.says("notes", "MoE A2A overlap");
}

DataType precision_of(const RunRow& row) {
  const std::string text = lower(row.text("precision"));
  const auto is = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (is("fp8")) {
    return DataType::fp8;
  }
  if (is("fp4")) {
    return DataType::fp4;
  }
  if (is("fp16")) {  // before the other: where a row names both, its memory is that of fp16
                     // gradients
    return DataType::fp16;
  }
  if (is("bf16")) {
    return DataType::bf16;
  }
  if (is("tf32") || is("fp32")) {
    return is("tf32") ? DataType::tf32 : DataType::fp32;
  }
  throw InputError("precision \"" + row.text("precision") + "\"");
}

}  // namespace

Plan run_plan(const RunRow& row, const RunHabits& habits) {
  Plan plan;
  plan.pipeline = degree(row, "p");
  plan.tensor = degree(row, "t");
  plan.data = degree(row, "d");
  plan.context = row.whole("cp", 1);
  plan.expert = row.whole("ep", 1);
  if (row.has("etp") || plan.expert > 1) {
    plan.expert_tensor = row.whole("etp", 1);
  }
  plan.virtual_stages = row.whole("vpp", 1);
  plan.micro_batch = degree(row, "micro_batch");
  plan.sequence_parallel = row.whole("seq_parallel", 0) == 1 && plan.tensor > 1;
  if (row.has("offload") && row.text("offload") != "none") {
    throw InputError("offload \"" + row.text("offload") + "\"");
  }
  read_sharding(row, habits, plan);
  read_recompute(row, habits, plan);
  read_layers(row, row.whole("layers", 0), plan);
  read_schedule(row, plan);
  read_overlaps(row, habits, plan);
  return plan;
}

Training run_training(const RunRow& row,
                      const RunHabits& habits,
                      const Plan& plan,
                      std::int64_t micro_batches) {
  Training training;
  training.global_batch = plan.micro_batch * plan.data * micro_batches;
  training.sequence = row.has("seq") || !habits.sequence ? degree(row, "seq") : *habits.sequence;
  training.gradient_precision = habits.gradient;
  training.precision = precision_of(row);
  return training;
}

}  // namespace titer
