#include "titer/plan/stage_blocks.hpp"

#include <algorithm>

namespace titer {
namespace {

/// What of the model some stages have.
class Contents {
 public:
  Contents(const ModelBlocks& blocks,
           const StageBlocks& stages,
           const Plan& plan,
           bool trained_only = false)
      : blocks_(blocks), stages_(stages), plan_(plan), trained_only_(trained_only) {}

  void add(int stage) {
    const std::span<const double> counts = stages_.kinds(stage);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      if (counts[kind] > 0) {
        sum_ += counts[kind] * of(blocks_.kinds[kind]);
      }
    }
    if (stage == 0) {
      sum_ += of(blocks_.embedding);
    }
    if (stage == stages_.last()) {
      sum_ += of(blocks_.head);
      if (!stages_.joins_ends() && (!trained_only_ || blocks_.embedding.has_gradients())) {
        sum_ += on_device(ParameterCount{.split = blocks_.tied_table}, plan_);
      }
    }
  }
  [[nodiscard]] DeviceParameters sum() const { return sum_; }

 private:
  [[nodiscard]] DeviceParameters of(const Block& block) const {
    return on_device(trained_only_ ? block.trained() : block.parameters, plan_);
  }

  const ModelBlocks& blocks_;
  const StageBlocks& stages_;
  const Plan& plan_;
  bool trained_only_;
  DeviceParameters sum_;
};

}  // namespace

void StageBlocks::fill(const Plan& plan, const ModelBlocks& blocks) {
  placement_ = titer::placement(plan.schedule);
  shape_ = {.stages = static_cast<int>(plan.pipeline),
            .micro_batches = 1,
            .virtual_stages = static_cast<int>(plan.virtual_stages),
            .group = {}};
  count_ = model_stages(placement_, shape_);
  kinds_ = blocks.kinds.size();
  layers_.resize(static_cast<std::size_t>(count_));
  share_out(plan.layers, layers_of(blocks) - blocks.front, layers_);
  layers_.front() += static_cast<double>(blocks.front);
  counts_.resize(layers_.size() * kinds_);
  repeated_.resize(plan.recompute_layers ? counts_.size() : 0);
  std::int64_t first = 0;
  for (std::size_t stage = 0; stage < layers_.size(); ++stage) {
    const auto count = static_cast<std::int64_t>(layers_[stage]);
    count_kinds(blocks.order, first, count, std::span(counts_).subspan(stage * kinds_, kinds_));
    if (plan.recompute_layers) {
      count_kinds(blocks.order,
                  first,
                  repeated_layers(plan, count, stage == 0 ? blocks.front : 0),
                  std::span(repeated_).subspan(stage * kinds_, kinds_));
    }
    first += count;
  }
  find_likes();
  ranks_.clear();
  for (int rank = 0; rank < shape_.stages; ++rank) {
    ranks_.push_back(rank_of(rank));
  }
}

void StageBlocks::find_likes() {
  like_.clear();
  const auto equal = [&](int one, int other) {
    return std::equal(kinds(one).begin(), kinds(one).end(), kinds(other).begin()) &&
           (repeated_.empty() ||
            std::equal(repeated(one).begin(), repeated(one).end(), repeated(other).begin()));
  };
  for (int stage = 0; stage < count_; ++stage) {
    if (stage > 0 && equal(stage, stage - 1)) {
      like_.push_back(like_.back());
      continue;
    }
    int first = 0;
    while (first < stage &&
           !(like_[static_cast<std::size_t>(first)] == first && equal(stage, first))) {
      ++first;
    }
    like_.push_back(first);
  }
}

StageBlocks::Rank StageBlocks::rank_of(int rank) const {
  Rank result{.alike = true, .as_before = rank > 0};
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    const int stage = of(rank, chunk);
    result.alike = result.alike && same(stage, of(rank, 0));
    if (rank > 0) {
      const int before = of(rank - 1, chunk);
      const bool ends = std::min(stage, before) == 0 || std::max(stage, before) == last();
      result.as_before = result.as_before && !ends && same(stage, before);
    }
  }
  return result;
}

bool StageBlocks::joins_ends() const {
  const int rank = place_of(placement_, last(), 0, shape_).rank;
  bool found = false;
  for (int chunk = 0; chunk < chunks(); ++chunk) {
    found = found || of(rank, chunk) == 0;
  }
  return found;
}

std::int64_t repeated_layers(const Plan& plan, std::int64_t layers, std::int64_t front) {
  return front + std::min(layers - front, plan.recompute_layers.value_or(layers));
}

std::int64_t layers_of(const ModelBlocks& blocks) {
  std::int64_t sum = 0;
  for (const LayerRun& run : blocks.order) {
    sum += run.count;
  }
  return sum;
}

DeviceParameters on_device(const ParameterCount& count, const Plan& plan) {
  return {.dense = static_cast<double>(count.split) / static_cast<double>(plan.tensor) +
                   static_cast<double>(count.replicated),
          .experts = static_cast<double>(count.experts) / static_cast<double>(plan.expert_ranks())};
}

DeviceParameters rank_parameters(const ModelBlocks& blocks,
                                 const StageBlocks& stages,
                                 const Plan& plan,
                                 int rank) {
  Contents contents(blocks, stages, plan);
  for (int chunk = 0; chunk < stages.chunks(); ++chunk) {
    contents.add(stages.of(rank, chunk));
  }
  return contents.sum();
}

DeviceParameters trained_parameters(const ModelBlocks& blocks,
                                    const StageBlocks& stages,
                                    const Plan& plan,
                                    int rank) {
  Contents contents(blocks, stages, plan, true);
  for (int chunk = 0; chunk < stages.chunks(); ++chunk) {
    contents.add(stages.of(rank, chunk));
  }
  return contents.sum();
}

}  // namespace titer
