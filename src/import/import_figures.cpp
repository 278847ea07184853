#include "titer/import/import_figures.hpp"

#include <algorithm>
#include <string_view>

#include "titer/model/transformer/tower.hpp"
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

DataType type_of(std::string_view word) {
  const auto* found =
      std::ranges::find_if(kDataTypes, [&](const auto& choice) { return choice.name == word; });
  return found == kDataTypes.end() ? DataType::bf16 : found->value;
}

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

/// By how many ranks weights, gradients and optimizer are split.
struct StateShares {
  double weights = 1;
  double gradients = 1;
  double optimizer = 1;
};

StateShares shares_of(const Value& plan, double replicas) {
  const double ranks =
      std::min(replicas, static_cast<double>(integer_of(plan, "shard", 1'000'000'000)));
  const std::string_view sharding = word_of(plan, "sharding", "none");
  if (sharding == "zero1") {
    return {.optimizer = ranks};
  }
  if (sharding == "zero2") {
    return {.gradients = ranks, .optimizer = ranks};
  }
  return sharding == "none" ? StateShares{}
                            : StateShares{.weights = ranks, .gradients = ranks, .optimizer = ranks};
}

bool is_offloaded(const Value& plan, std::string_view part) {
  const Value* offload = plan.find("offload");
  return offload != nullptr && offload->find(part) != nullptr;
}

/// Moments of a parameter, of `each` or narrower; muon's as if no parameter were of a matrix.
double moment_bytes_of(std::string_view optimizer, Bytes each) {
  constexpr double quantised = 1 + 4.0 / 256;
  const bool has_two = optimizer == "adam" || optimizer == "lamb" || optimizer == "muon";
  const bool has_one = optimizer == "sgd" || optimizer == "lion";
  if (optimizer == "adam-8bit" || optimizer == "lion-8bit") {
    return (optimizer == "adam-8bit" ? 2 : 1) * quantised;
  }
  return each.si() * (has_two ? 2.0 : (has_one ? 1.0 : 0.0));
}

void add_memory(const Held& most, const ImportedRun& imported, ImportFigures& figures) {
  const Value& plan = imported.plan;
  const std::string_view optimizer = word_of(imported.training, "optimizer", "adam");
  const bool narrow = figures.precision != DataType::fp32;
  // fp8 is of what products read; the weights themselves are bf16. [NVIDIA Transformer Engine]
  const Bytes weight =
      size_of(figures.precision == DataType::fp8 ? DataType::bf16 : figures.precision);
  const auto number_of = [&](std::string_view what) {
    return size_of(type_of(word_of(imported.training, what, "fp32")));
  };
  const double moments = moment_bytes_of(optimizer, number_of("state_precision"));
  const Bytes master = number_of("master_precision");
  const Bytes state = Bytes::from_si(moments) + (narrow && master > weight ? master : Bytes{});
  const auto data =
      static_cast<double>(integer_of(plan, "data", 1) * integer_of(plan, "context", 1));
  const auto tensor = static_cast<double>(integer_of(plan, "tensor", 1));
  const double apart =
      static_cast<double>(integer_of(plan, "expert", 1) *
                          integer_of(plan, "expert_tensor", integer_of(plan, "tensor", 1)));
  const StateShares dense = shares_of(plan, data);
  const StateShares experts = shares_of(plan, std::max(1.0, data * tensor / apart));
  const auto bytes = [&](Bytes each, double StateShares::*share) {
    return (most.dense / (dense.*share) + most.experts / (experts.*share)) * each;
  };
  figures.on_device = most.dense + most.experts;
  figures.weights = is_offloaded(plan, "weights") ? Bytes{} : bytes(weight, &StateShares::weights);
  figures.gradients = bytes(size_of(figures.gradient), &StateShares::gradients);
  figures.optimizer =
      is_offloaded(plan, "optimizer") ? Bytes{} : bytes(state, &StateShares::optimizer);
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
