#include "titer/plan/memory.hpp"

#include <algorithm>

namespace titer {
namespace {

double on_device(const ParameterCount& count, std::int64_t tensor) {
  return static_cast<double>(count.split) / static_cast<double>(tensor) +
         static_cast<double>(count.replicated);
}

/// What one micro-batch keeps per chunk of layers, and what a layer at work needs beyond that.
struct ActivationBytes {
  Bytes chunk;
  Bytes working;
  Bytes embedding;  // first stage, per micro-batch in flight
  Bytes head;       // last stage, per micro-batch between its forward and its backward
};

ActivationBytes activation_bytes(const Plan& plan, const MemoryNeeds& needs) {
  const Transformer& model = *needs.model;
  const OperationList& layer = needs.operations->layer;
  const double layers =
      static_cast<double>(model.layers) / (needs.shape.stages * needs.shape.virtual_stages);
  const Bytes all = saved_bytes(layer, true);
  const Bytes without_core = saved_bytes(layer, false);
  const Bytes input = layer_input_bytes(model, needs.slice);
  ActivationBytes bytes;
  switch (plan.recompute) {
    case Recompute::none:
      bytes.chunk = layers * all;
      break;
    case Recompute::selective:
      bytes.chunk = layers * without_core;
      bytes.working = all - without_core;  // the recomputed core of one layer
      break;
    case Recompute::full:
      bytes.chunk = layers * input;
      bytes.working = all;  // one layer's activations, rebuilt from its input
      break;
  }
  bytes.embedding = saved_bytes(needs.operations->embedding, true);
  bytes.head = saved_bytes(needs.operations->head, true);
  return bytes;
}

/// Passes of chunk 0 alive at the most, of `chunks` alive in all. Micro-batches go in groups of p,
/// and the first p (v-1) backward passes free other chunks.
int first_chunks_in_flight(int chunks, PipelineShape shape) {
  const int group = shape.stages * shape.virtual_stages;
  const int forwards = std::min(shape.micro_batches * shape.virtual_stages,
                                chunks + shape.stages * (shape.virtual_stages - 1));
  return forwards / group * shape.stages + std::min(forwards % group, shape.stages);
}

/// Passes of the last stage's last chunk alive at the most; when interleaved, as with 1F1B, each of
/// its backward passes follows its forward at once.
int last_chunks_in_flight(int chunks, PipelineShape shape) {
  return shape.virtual_stages == 1 ? chunks : 1;
}

}  // namespace

ParameterBytes parameter_bytes(const OptimizerRule& rule, DataType precision, DataType gradient) {
  const bool needs_copy = size_of(precision) < size_of(DataType::fp32);
  const Bytes copy = needs_copy ? size_of(DataType::fp32) : Bytes{};
  return {.weight = size_of(precision),
          .gradient = size_of(gradient),
          .optimizer = Bytes::from_si(rule.state_bytes) + copy};
}

double stage_parameters(const Transformer& model,
                        int stage,
                        PipelineShape shape,
                        std::int64_t tensor) {
  const std::int64_t layers = model.layers / shape.stages;
  double count = on_device(layers * layer_parameters(model), tensor);
  if (stage == 0) {
    count += on_device(embedding_parameters(model, tensor), tensor);
  }
  if (stage == shape.stages - 1) {
    count += on_device(head_parameters(model, tensor), tensor);
    if (model.tied_embeddings && shape.stages > 1) {
      const ParameterCount table{.split = embedding_parameters(model, tensor).split};
      count += on_device(table, tensor);
    }
  }
  return count;
}

void stage_memory(const Plan& plan, const MemoryNeeds& needs, std::vector<StageMemory>& stages) {
  const ActivationBytes activation = activation_bytes(plan, needs);
  const int p = needs.shape.stages;
  const double shards = plan.sharding == Sharding::zero1 ? static_cast<double>(plan.data) : 1.0;
  stages.resize(static_cast<std::size_t>(p));
  for (int s = 0; s < p; ++s) {
    StageMemory& memory = stages[static_cast<std::size_t>(s)];
    const int chunks = in_flight(plan.schedule, s, needs.shape);
    memory = StageMemory{.stage = s};
    memory.parameters = stage_parameters(*needs.model, s, needs.shape, needs.slice.tensor);
    memory.weights = memory.parameters * needs.parameter.weight;
    memory.gradients = memory.parameters * needs.parameter.gradient;
    memory.optimizer = memory.parameters / shards * needs.parameter.optimizer;
    memory.activations = chunks * activation.chunk;
    memory.working = activation.working;
    if (s == 0) {
      memory.activations += first_chunks_in_flight(chunks, needs.shape) * activation.embedding;
    }
    if (s == p - 1) {
      memory.working += activation.head;
      memory.activations += (last_chunks_in_flight(chunks, needs.shape) - 1) * activation.head;
    }
    memory.runtime = needs.runtime;
  }
}

}  // namespace titer
