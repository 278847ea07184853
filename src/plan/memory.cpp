#include "titer/plan/memory.hpp"

#include <algorithm>
#include <optional>

namespace titer {
namespace {

constexpr std::size_t kShapesFollowed = 64;  // as many as a search is likely to go back to

double on_device(const ParameterCount& count, std::int64_t tensor) {
  return static_cast<double>(count.split) / static_cast<double>(tensor) +
         static_cast<double>(count.replicated);
}

/// What one micro-batch keeps, and what a layer at work needs beyond that.
struct ActivationBytes {
  Bytes layer;
  Bytes working;
  Bytes embedding;  // first stage, per micro-batch in flight
  Bytes head;       // last stage, per micro-batch between its forward and its backward
};

ActivationBytes activation_bytes(const Plan& plan, const MemoryNeeds& needs) {
  const OperationList& layer = needs.operations->layer;
  const Bytes all = saved_bytes(layer, true);
  const Bytes without_core = saved_bytes(layer, false);
  ActivationBytes bytes;
  switch (plan.recompute) {
    case Recompute::none:
      bytes.layer = all;
      break;
    case Recompute::selective:
      bytes.layer = without_core;
      bytes.working = all - without_core;  // the recomputed core of one layer
      break;
    case Recompute::full:
      bytes.layer = layer_input_bytes(*needs.model, needs.slice);
      bytes.working = all;  // one layer's activations, rebuilt from its input
      break;
  }
  bytes.embedding = saved_bytes(needs.operations->embedding, true);
  bytes.head = saved_bytes(needs.operations->head, true);
  return bytes;
}

/// The stages of a plan's model and who has them.
class Stages {
 public:
  Stages(const Plan& plan, const Transformer& model)
      : placement_(placement(plan.schedule)),
        shape_{.stages = static_cast<int>(plan.pipeline),
               .micro_batches = 1,
               .virtual_stages = static_cast<int>(plan.virtual_stages),
               .group = {}},
        last_(model_stages(placement_, shape_) - 1),
        split_(plan.layers),
        layers_(model.layers) {
    if (is_even(split_)) {
      even_ = layers_ / count();
    }
  }

  [[nodiscard]] int count() const { return last_ + 1; }
  [[nodiscard]] int last() const { return last_; }
  [[nodiscard]] int chunks() const { return chunks_per_rank(placement_, shape_); }
  [[nodiscard]] int of(int rank, int chunk) const {
    return stage_of(placement_, {.rank = rank, .chunk = chunk}, shape_);
  }
  [[nodiscard]] std::int64_t layers(int stage) const {
    return even_ ? *even_ : layers_of(split_, stage, layers_, count());
  }
  /// Whether all stages of a rank have as many layers.
  [[nodiscard]] bool alike(int rank) const {
    bool same = true;
    for (int chunk = 1; !even_ && chunk < chunks(); ++chunk) {
      same = same && layers(of(rank, chunk)) == layers(of(rank, 0));
    }
    return same;
  }
  /// Whether the rank that has the last stage has the first one too, of either copy of the model.
  [[nodiscard]] bool joins_ends() const {
    const int rank = place_of(placement_, last_, 0, shape_).rank;
    bool found = false;
    for (int chunk = 0; chunk < chunks(); ++chunk) {
      found = found || of(rank, chunk) == 0;
    }
    return found;
  }

 private:
  Placement placement_;
  PipelineShape shape_;
  int last_;
  const LayerSplit& split_;
  std::int64_t layers_;
  std::optional<std::int64_t> even_;  // of every stage
};

/// What of the model some stages have.
class Contents {
 public:
  void add(const Stages& stages, int stage) {
    layers_ += stages.layers(stage);
    embeddings_ += stage == 0 ? 1 : 0;
    if (stage == stages.last()) {
      ++heads_;
      table_copies_ += stages.joins_ends() ? 0 : 1;
    }
  }

  [[nodiscard]] double parameters(const Transformer& model, std::int64_t tensor) const {
    double count = on_device(layers_ * layer_parameters(model), tensor);
    if (embeddings_ > 0) {
      count += on_device(embeddings_ * embedding_parameters(model, tensor), tensor);
    }
    if (heads_ > 0) {
      count += on_device(heads_ * head_parameters(model, tensor), tensor);
    }
    if (model.tied_embeddings && table_copies_ > 0) {
      const std::int64_t table = embedding_parameters(model, tensor).split;
      count += on_device(ParameterCount{.split = table_copies_ * table}, tensor);
    }
    return count;
  }

 private:
  std::int64_t layers_ = 0;
  std::int64_t embeddings_ = 0;
  std::int64_t heads_ = 0;
  std::int64_t table_copies_ = 0;  // of the last stage, where the first one is on another rank
};

double parameters_of_rank(const Stages& stages,
                          const Transformer& model,
                          std::int64_t tensor,
                          int rank) {
  Contents contents;
  for (int chunk = 0; chunk < stages.chunks(); ++chunk) {
    contents.add(stages, stages.of(rank, chunk));
  }
  return contents.parameters(model, tensor);
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

/// Whether the formulas above hold for a rank.
bool has_formula(const Plan& plan, int rank, PipelineShape shape, const Stages& stages) {
  const bool counted = std::holds_alternative<GPipe>(plan.schedule) ||
                       std::holds_alternative<OneForwardOneBackward>(plan.schedule);
  const bool whole_groups = shape.virtual_stages == 1 || (shape.group_size() == shape.stages &&
                                                          shape.micro_batches % shape.stages == 0);
  return counted && whole_groups && stages.alike(rank);
}

/// The peak of a rank by formula.
void add_counted(const Plan& plan,
                 const MemoryNeeds& needs,
                 const ActivationBytes& bytes,
                 double layers,
                 StageMemory& memory) {
  const int chunks = in_flight(plan.schedule, memory.stage, needs.shape);
  memory.activations = chunks * layers * bytes.layer;
  memory.working = layers > 0 ? bytes.working : Bytes{};
  if (memory.stage == 0) {
    memory.activations += first_chunks_in_flight(chunks, needs.shape) * bytes.embedding;
  }
  if (memory.stage == needs.shape.stages - 1) {
    memory.working += bytes.head;
    memory.activations += (last_chunks_in_flight(chunks, needs.shape) - 1) * bytes.head;
  }
}

/// The peak of a rank along its actions. A head at work counts as working, not as kept.
void add_followed(const Plan& plan,
                  const MemoryNeeds& needs,
                  std::span<const Action> list,
                  std::span<const StageActivations> stages,
                  StageMemory& memory) {
  const Bytes head = saved_bytes(needs.operations->head, true);
  const ActivationPeak peak =
      activation_peak(list, placement(plan.schedule), memory.stage, needs.shape, stages);
  const Bytes at_work = std::min(peak.last_stages, 1) * head;
  memory.activations = peak.kept - at_work;
  memory.working = peak.working + at_work;
}

}  // namespace

ParameterBytes parameter_bytes(const OptimizerRule& rule, DataType precision, DataType gradient) {
  const bool needs_copy = size_of(precision) < size_of(DataType::fp32);
  const Bytes copy = needs_copy ? size_of(DataType::fp32) : Bytes{};
  return {.weight = size_of(precision),
          .gradient = size_of(gradient),
          .optimizer = Bytes::from_si(rule.state_bytes) + copy};
}

double stage_parameters(const Transformer& model, const Plan& plan, int stage) {
  Contents contents;
  contents.add(Stages(plan, model), stage);
  return contents.parameters(model, plan.tensor);
}

double rank_parameters(const Transformer& model, const Plan& plan, int rank) {
  return parameters_of_rank(Stages(plan, model), model, plan.tensor, rank);
}

std::vector<StageActivations> stage_activations(const Plan& plan, const MemoryNeeds& needs) {
  std::vector<StageActivations> stages;
  stage_activations(plan, needs, stages);
  return stages;
}

void stage_activations(const Plan& plan,
                       const MemoryNeeds& needs,
                       std::vector<StageActivations>& all) {
  const ActivationBytes bytes = activation_bytes(plan, needs);
  const ModelOperations& operations = *needs.operations;
  const Bytes layer_after = weight_gradient_bytes(operations.layer);
  const Stages stages(plan, *needs.model);
  all.clear();
  for (int stage = 0; stage < stages.count(); ++stage) {
    const auto layers = static_cast<double>(stages.layers(stage));
    // What full recomputation rebuilds for a layer's input gradient stays for its weight gradient.
    StageActivations one{.kept = layers * bytes.layer,
                         .after_input_gradient = layers * layer_after,
                         .working = layers > 0 ? bytes.working : Bytes{}};
    if (stage == 0) {
      one.kept += bytes.embedding;
      one.after_input_gradient += weight_gradient_bytes(operations.embedding);
    }
    if (stage == stages.last()) {
      one.kept += bytes.head;
      one.after_input_gradient += weight_gradient_bytes(operations.head);
    }
    all.push_back(one);
  }
}

std::vector<StageMemory> stage_memory(const Plan& plan, const MemoryNeeds& needs) {
  std::vector<StageMemory> stages;
  MemoryFinder().find(plan, needs, stages);
  return stages;
}

const std::vector<ActionList>& MemoryFinder::lists(const Schedule& schedule,
                                                   const PipelineShape& shape) {
  for (const Followed& known : followed_) {
    if (known.shape == shape && is_same(known.schedule, schedule)) {
      return known.lists;
    }
  }
  Followed followed{.schedule = schedule, .shape = shape, .lists = action_lists(schedule, shape)};
  if (followed_.size() < kShapesFollowed) {
    return followed_.emplace_back(std::move(followed)).lists;
  }
  oldest_ = (oldest_ + 1) % kShapesFollowed;
  followed_[oldest_] = std::move(followed);
  return followed_[oldest_].lists;
}

void MemoryFinder::find(const Plan& plan,
                        const MemoryNeeds& needs,
                        std::vector<StageMemory>& stages) {
  const double shards = plan.sharding == Sharding::zero1 ? static_cast<double>(plan.data) : 1.0;
  const Stages all(plan, *needs.model);
  stages.resize(static_cast<std::size_t>(needs.shape.stages));
  for (int rank = 0; rank < needs.shape.stages; ++rank) {
    StageMemory& memory = stages[static_cast<std::size_t>(rank)];
    memory = StageMemory{.stage = rank};
    memory.parameters = parameters_of_rank(all, *needs.model, plan.tensor, rank);
    memory.weights = memory.parameters * needs.parameter.weight;
    memory.gradients = memory.parameters * needs.parameter.gradient;
    memory.optimizer = memory.parameters / shards * needs.parameter.optimizer;
    memory.runtime = needs.runtime;
  }
  const ActivationBytes bytes = activation_bytes(plan, needs);
  const std::vector<ActionList>* followed = nullptr;
  for (StageMemory& memory : stages) {
    if (has_formula(plan, memory.stage, needs.shape, all)) {
      const auto layers = static_cast<double>(all.layers(all.of(memory.stage, 0)));
      add_counted(plan, needs, bytes, layers, memory);
      continue;
    }
    if (followed == nullptr) {
      stage_activations(plan, needs, activations_);
      followed = &lists(plan.schedule, needs.shape);
    }
    const ActionList& list = (*followed)[static_cast<std::size_t>(memory.stage)];
    add_followed(plan, needs, list, activations_, memory);
  }
}

}  // namespace titer
