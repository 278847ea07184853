#pragma once
// The memory that plans of a tree need at least, told from their layers and place alone.

#include <optional>
#include <vector>

#include "titer/plan/memory/peak_bound.hpp"
#include "titer/search/search_space.hpp"

namespace titer {

/// All that tells the operations of layers apart within a tree.
struct BlocksKey {
  std::size_t layout = 0;
  std::int64_t micro_batch = 1;
  bool sequence_parallel = false;
  bool own_experts = false;
  double expert_load = 1;
  double expert_kept = 1;
  double expert_sent = 1;
  bool gathers_tokens = false;
  bool shared_aside = false;
  friend bool operator==(const BlocksKey&, const BlocksKey&) = default;
};
/// Of the scenario's layers, which are those of the tree's.
[[nodiscard]] BlocksKey blocks_key(const Scenario& scenario, const LayerChoice& layer);

/// Finds it for one layer and place after the other; those of a layer after one another are quick.
class MemoryBound {
 public:
  MemoryBound(const Scenario& scenario, const PlanTree& tree);

  /// On devices, in all plans of the tree.
  [[nodiscard]] bool keeps_activations() const { return keeps_activations_; }
  /// Of all plans of this layer in its layout's place of this number: no plan's fullest device has
  /// room with less.
  [[nodiscard]] Bytes find(const LayerChoice& layer, std::size_t place);
  /// Of those of them that have this pipeline, of which `scenario` is; it gets other states.
  [[nodiscard]] Bytes of_pipeline(std::span<const StateChoice> states,
                                  const ModelBlocks& blocks,
                                  const StageBlocks& contents,
                                  Scenario& scenario);

 private:
  void take_blocks(const LayerChoice& layer);
  [[nodiscard]] Bytes of_states(const LayerChoice& layer, std::size_t place);
  [[nodiscard]] Bytes least_of_states(const LayerChoice& layer, const PlanPlace& place);
  template <class Bound>
  [[nodiscard]] std::optional<Bytes> least_of(std::span<const StateChoice> states,
                                              const ModelBlocks& blocks,
                                              Scenario& scenario,
                                              const Bound& bound) const;

  const PlanTree* tree_;
  bool keeps_activations_;
  Scenario scenario_;  // of the layer and place that are looked at
  std::optional<BlocksKey> key_;
  ModelBlocks blocks_;
  std::optional<Recomputation> recompute_;  // of the passes
  PassBytes passes_;
  std::vector<std::vector<std::optional<Bytes>>> states_;  // of the layouts' places
  std::vector<StageActivations> activations_;
  std::vector<Bytes> of_ranks_;
};

}  // namespace titer
