#include "titer/import/import_figures.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "titer/model/transformer/tower.hpp"
#include "titer/plan/memory/optimizer.hpp"
#include "titer/plan/plan.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

std::int64_t integer_of(const Value& object, std::string_view key, std::int64_t otherwise) {
  const Value* value = object.find(key);
  const bool is_known = value != nullptr && value->kind == Value::Kind::number;
  return is_known ? value->integer : otherwise;  // not what is left open
}

std::string_view word_of(const Value& object, std::string_view key, std::string_view otherwise) {
  const Value* value = object.find(key);
  return value == nullptr ? otherwise : std::string_view(value->text);
}

template <class E, std::size_t N>
E choice_of(std::string_view word, const std::array<Choice<E>, N>& choices, E otherwise) {
  const auto* found = std::ranges::find(choices, word, &Choice<E>::name);
  return found == choices.end() ? otherwise : found->value;
}

DataType type_of(std::string_view word) { return choice_of(word, kDataTypes, DataType::bf16); }

/// Layers of each stage: as listed, or as even as can be.
std::vector<std::int64_t> layers_of_stages(const Transformer& model, const Value& plan) {
  const std::int64_t stages =
      integer_of(plan, "pipeline", 1) * integer_of(plan, "virtual_stages", 1);
  std::vector<std::int64_t> counts;
  if (const Value* list = plan.find("layers"); list != nullptr) {
    for (const Value& item : list->items) {
      counts.push_back(item.integer);
    }
    return counts;
  }
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    counts.push_back(model.layers * (stage + 1) / stages - model.layers * stage / stages);
  }
  return counts;
}

struct Held {
  double dense = 0;
  double experts = 0;
};

Held held(const ParameterCount& count, const Value& plan) {
  const auto tensor = static_cast<double>(integer_of(plan, "tensor", 1));
  const auto apart =
      static_cast<double>(integer_of(plan, "expert", 1) *
                          integer_of(plan, "expert_tensor", integer_of(plan, "tensor", 1)));
  return {
      .dense = static_cast<double>(count.split) / tensor + static_cast<double>(count.replicated),
      .experts = static_cast<double>(count.experts) / apart};
}

/// Of every rank of the pipeline, which has a stage in each of its virtual ones.
std::vector<ParameterCount> parameters_of_ranks(const Transformer& model, const Value& plan) {
  const std::int64_t tensor = integer_of(plan, "tensor", 1);
  const auto ranks = static_cast<std::size_t>(integer_of(plan, "pipeline", 1));
  const std::vector<std::int64_t> stages = layers_of_stages(model, plan);
  const std::vector<LayerRun> runs = model.runs();
  std::vector<ParameterCount> of_kinds =
      each_of(model.kinds, [&](const LayerKind& kind) { return layer_parameters(model, kind); });
  std::vector<ParameterCount> of_ranks(ranks);
  std::vector<double> kinds(model.kinds.size());
  std::int64_t first = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    std::ranges::fill(kinds, 0.0);
    count_kinds(runs, first, stages[stage], kinds);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      of_ranks[stage % ranks] += static_cast<std::int64_t>(kinds[kind]) * of_kinds[kind];
    }
    first += stages[stage];
  }
  of_ranks.front() += embedding_parameters(model, tensor);
  if (model.tower) {
    of_ranks.front() += tower_parameters(*model.tower);
  }
  of_ranks.back() += head_parameters(model, tensor);
  if (ranks > 1 && model.tied_embeddings) {
    of_ranks.back().split += model.padded_vocabulary(tensor) * model.hidden;
  }
  return of_ranks;
}

bool is_offloaded(const Value& plan, std::string_view part) {
  const Value* offload = plan.find("offload");
  return offload != nullptr && offload->find(part) != nullptr;
}

void add_memory(const Held& most, const ImportedRun& imported, ImportFigures& figures) {
  const Value& plan = imported.plan;
  const auto type_or_fp32 = [&](std::string_view key) {
    return type_of(word_of(imported.training, key, "fp32"));
  };
  // fp8 is of what products read; the weights themselves are bf16. [NVIDIA Transformer Engine]
  const ParameterBytes bytes = parameter_bytes(
      choice_of(word_of(imported.training, "optimizer", "adam"), kOptimizers, kAdam),
      {.weight = figures.precision == DataType::fp8 ? DataType::bf16 : figures.precision,
       .gradient = figures.gradient,
       .state = type_or_fp32("state_precision"),
       .master = type_or_fp32("master_precision")});
  const auto data =
      static_cast<double>(integer_of(plan, "data", 1) * integer_of(plan, "context", 1));
  const auto tensor = static_cast<double>(integer_of(plan, "tensor", 1));
  const double apart =
      static_cast<double>(integer_of(plan, "expert", 1) *
                          integer_of(plan, "expert_tensor", integer_of(plan, "tensor", 1)));
  const Sharding sharding =
      choice_of(word_of(plan, "sharding", "none"), kShardingNames, Sharding::none);
  const SplitStates splits = kShardingKinds[static_cast<std::size_t>(sharding)].splits;
  const auto split_by = [&](bool is_split, double replicas) {
    const auto most_ranks = static_cast<double>(integer_of(plan, "shard", 1'000'000'000));
    return is_split ? std::min(replicas, most_ranks) : 1.0;
  };
  const auto held_of = [&](Bytes each, bool is_split) {
    return (most.dense / split_by(is_split, data) +
            most.experts / split_by(is_split, std::max(1.0, data * tensor / apart))) *
           each;
  };
  figures.on_device = most.dense + most.experts;
  figures.weights = is_offloaded(plan, "weights") ? Bytes{} : held_of(bytes.weight, splits.weights);
  figures.gradients = held_of(bytes.gradient, splits.gradients);
  figures.optimizer =
      is_offloaded(plan, "optimizer") ? Bytes{} : held_of(bytes.optimizer, splits.optimizer);
}

}  // namespace

ImportFigures import_figures(const Transformer& model, const ImportedRun& imported) {
  ImportFigures figures;
  figures.parameters = parameters(model);
  figures.active = active_parameters(model);
  figures.sequence = integer_of(imported.training, "sequence", model.max_sequence);
  figures.forward_full = forward_flops(model, 1, figures.sequence, AttentionCount::full).total();
  figures.forward_causal =
      forward_flops(model, 1, figures.sequence, AttentionCount::causal).total();
  figures.precision = type_of(word_of(imported.training, "precision", "bf16"));
  const bool is_half = figures.precision == DataType::fp16;
  figures.gradient =
      type_of(word_of(imported.training, "gradient_precision", is_half ? "fp16" : "fp32"));
  const std::vector<ParameterCount> ranks = parameters_of_ranks(model, imported.plan);
  Held most;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Held here = held(ranks[rank], imported.plan);
    if (here.dense + here.experts > most.dense + most.experts) {
      most = here;
      figures.rank = static_cast<std::int64_t>(rank);
    }
  }
  add_memory(most, imported, figures);
  return figures;
}

}  // namespace titer
