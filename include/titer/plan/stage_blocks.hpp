#pragma once
// What blocks of the model each of its stages has, and who has the stages.

#include <cstddef>
#include <span>
#include <vector>

#include "titer/model/blocks.hpp"
#include "titer/plan/plan.hpp"

namespace titer {

class StageBlocks {
 public:
  /// Fills it anew; no allocation once it was as large. REQUIRES layers that can be shared out.
  void fill(const Plan& plan, const ModelBlocks& blocks);

  [[nodiscard]] int count() const { return count_; }  // of the stages
  [[nodiscard]] int last() const { return count_ - 1; }
  [[nodiscard]] Placement placement() const { return placement_; }
  [[nodiscard]] int chunks() const { return chunks_per_rank(placement_, shape_); }
  [[nodiscard]] int of(int rank, int chunk) const {
    return stage_of(placement_, {.rank = rank, .chunk = chunk}, shape_);
  }
  /// Layers of each kind in a stage.
  [[nodiscard]] std::span<const double> kinds(int stage) const { return of_stage(counts_, stage); }
  /// Those of them that whole-layer recomputation takes: the stage's first `recompute_layers`, or
  /// all. What other ways of recomputing repeat, they repeat in all layers.
  [[nodiscard]] std::span<const double> repeated(int stage) const {
    return of_stage(repeated_.empty() ? counts_ : repeated_, stage);
  }
  [[nodiscard]] double layers(int stage) const { return layers_[static_cast<std::size_t>(stage)]; }
  /// Whether two stages have, and recompute, as many layers of each kind.
  [[nodiscard]] bool same(int stage, int other) const {
    return first_like(stage) == first_like(other);
  }
  /// The first stage that has.
  [[nodiscard]] int first_like(int stage) const { return like_[static_cast<std::size_t>(stage)]; }
  /// Whether all stages of a rank have.
  [[nodiscard]] bool alike(int rank) const { return ranks_[static_cast<std::size_t>(rank)].alike; }
  /// Whether a rank's stages have as those of the rank before, and none of them is an end of the
  /// model.
  [[nodiscard]] bool as_before(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)].as_before;
  }
  /// Whether the rank that has the last stage has the first one too, of either copy of the model.
  [[nodiscard]] bool joins_ends() const;

 private:
  struct Rank {
    bool alike = true;
    bool as_before = false;
  };
  [[nodiscard]] std::span<const double> of_stage(const std::vector<double>& counts,
                                                 int stage) const {
    return std::span(counts).subspan(static_cast<std::size_t>(stage) * kinds_, kinds_);
  }
  void find_likes();
  [[nodiscard]] Rank rank_of(int rank) const;

  Placement placement_ = Placement::loop;
  PipelineShape shape_;
  int count_ = 1;
  std::size_t kinds_ = 1;
  std::vector<double> layers_;
  std::vector<double> counts_;
  std::vector<double> repeated_;  // none: as counts_
  std::vector<int> like_;         // of each stage the first one that has as many
  std::vector<Rank> ranks_;
};

/// How many of a stage's layers the backward pass may repeat: all of a tower's, which are in front,
/// and the first of the others.
[[nodiscard]] std::int64_t repeated_layers(const Plan& plan,
                                           std::int64_t layers,
                                           std::int64_t front);

/// A number of layers in all.
[[nodiscard]] std::int64_t layers_of(const ModelBlocks& blocks);

/// Parameters of a block on one device.
[[nodiscard]] DeviceParameters on_device(const ParameterCount& count, const Plan& plan);
/// Of all stages that a rank of the pipeline has, what is trained.
[[nodiscard]] DeviceParameters trained_parameters(const ModelBlocks& blocks,
                                                  const StageBlocks& stages,
                                                  const Plan& plan,
                                                  int rank);
/// Of all stages that a rank of the pipeline has; two copies of the model count twice. With a tied
/// token table the last stage has a copy, unless its rank has the first stage too (of either copy
/// of the model).
[[nodiscard]] DeviceParameters rank_parameters(const ModelBlocks& blocks,
                                               const StageBlocks& stages,
                                               const Plan& plan,
                                               int rank);

}  // namespace titer
