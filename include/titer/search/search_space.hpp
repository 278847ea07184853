#pragma once
// The plans that a search goes through: every combination of values of the plan's keys that may
// work. Degrees divide what they split and multiply to the devices; what has no effect is not
// varied. validate() remains the judge of what is left.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/plan/abilities.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// The values of every key, the plainest first: of plans that are equally good the one that comes
/// first is the better one.
struct SearchSpace {
  std::vector<std::int64_t> tensor;
  std::vector<std::int64_t> context;
  std::vector<std::int64_t> expert;
  std::vector<std::optional<std::int64_t>> expert_tensor;  // none: as tensor
  std::vector<std::int64_t> micro_batch;
  std::vector<bool> sequence_parallel;
  std::vector<Recomputation> recompute;
  std::vector<TensorOverlap> tensor_overlap;
  std::vector<std::optional<ExpertDispatch>> expert_dispatch;  // none: the stack's
  std::vector<bool> expert_overlap;
  std::vector<bool> shared_expert_overlap;
  std::vector<std::int64_t> pipeline;
  std::vector<std::array<Dimension, kDimensions>> rank_order;
  std::vector<Schedule> schedule;
  std::vector<std::int64_t> virtual_stages;  // of schedules that interleave
  std::vector<LayerSplit> layers;
  std::vector<Sharding> sharding;
  std::vector<Offload> offload;
  std::vector<bool> overlap_grad_reduce;
  std::vector<bool> overlap_param_gather;
};

/// All that a plan for so many devices can be: every degree that divides, at least 256 tokens on a
/// context-parallel rank, experts over one rank or the tensor group, every schedule but the
/// sequential one, no offloading, overlap where the stack has buckets.
[[nodiscard]] SearchSpace full_space(const Scenario& scenario,
                                     std::span<const std::int64_t> devices);

/// A key of the plan that a search varies; the data degree follows from the others.
struct SearchKey {
  std::string_view name;   // in a plan
  std::string_view usual;  // every value that may work, in words
  void (*clear)(SearchSpace&);
  void (*add)(const Plan&, SearchSpace&);
  std::vector<Plan> (*plans)(const SearchSpace&);  // with each of the space's values

  /// As a plan's file has it; null: as is usual.
  [[nodiscard]] Value value(const Plan& plan) const;
  [[nodiscard]] std::vector<Value> values(const SearchSpace& space) const;
};
[[nodiscard]] std::span<const SearchKey> search_keys();

/// The rest of the devices, and how ranks are numbered.
struct PlanPlace {
  std::int64_t pipeline = 1;
  std::int64_t data = 1;
  std::array<Dimension, kDimensions> rank_order{};
};

/// Degrees that split layers, with the places that they have on so many devices. Of rank orders
/// that put all groups on the nodes alike only the first is there.
struct PlanLayout {
  std::int64_t devices = 1;
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  std::optional<std::int64_t> expert_tensor{};
  std::vector<PlanPlace> places;
};

/// How tokens go to experts on other ranks and back.
struct ExpertExchange {
  std::optional<ExpertDispatch> dispatch{};
  bool overlap = false;
  bool shared_overlap = false;
  friend auto operator<=>(const ExpertExchange&, const ExpertExchange&) = default;
};

/// All that the kernels of a layer depend on.
struct LayerChoice {
  std::size_t layout = 0;
  std::int64_t micro_batch = 1;
  bool sequence_parallel = false;
  Recomputation recompute{};
  TensorOverlap tensor_overlap = TensorOverlap::none;
  ExpertExchange exchange{};
};

struct PipelineChoice {
  std::size_t schedule = 0;  // of the space's
  std::int64_t virtual_stages = 1;
  std::size_t layers = 0;  // of the space's
};

/// What data-parallel ranks do with their state, with ways to overlap it: the same memory.
struct StateChoice {
  Sharding sharding = Sharding::none;
  std::size_t offload = 0;  // of the space's
  struct Overlap {
    bool grad_reduce = false;
    bool param_gather = false;
  };
  std::vector<Overlap> overlaps;
};

/// The space as a tree: layers, then the pipeline's place, then its schedule, then the state.
class PlanTree {
 public:
  /// `scenario`: model, batch and what of the plan is not varied; it and the space must stay. Only
  /// plans that software of these abilities can run are there.
  PlanTree(const Scenario& scenario,
           const SearchSpace& space,
           std::span<const std::int64_t> devices,
           Abilities abilities = {});

  [[nodiscard]] const SearchSpace& space() const { return *space_; }
  [[nodiscard]] const std::vector<PlanLayout>& layouts() const { return layouts_; }
  [[nodiscard]] const std::vector<LayerChoice>& layers() const { return layers_; }
  [[nodiscard]] const PlanLayout& layout(const LayerChoice& layer) const {
    return layouts_[layer.layout];
  }
  /// Whether the batch can be shared out so.
  [[nodiscard]] bool has_batch(const LayerChoice& layer, const PlanPlace& place) const {
    return global_batch_ % (layer.micro_batch * place.data) == 0;
  }
  /// REQUIRES has_batch().
  [[nodiscard]] const std::vector<PipelineChoice>& pipelines(const LayerChoice& layer,
                                                             const PlanPlace& place) const;
  /// Whether it can be shared out over stages, too.
  [[nodiscard]] bool has_pipelines(const LayerChoice& layer, const PlanPlace& place) const {
    return has_batch(layer, place) && !pipelines(layer, place).empty();
  }
  [[nodiscard]] const std::vector<StateChoice>& states(const LayerChoice& layer,
                                                       const PlanPlace& place) const;
  /// How many plans there are: of a place, of a layer, and in all.
  [[nodiscard]] std::size_t count(const LayerChoice& layer, const PlanPlace& place) const;
  [[nodiscard]] std::size_t count(const LayerChoice& layer) const;
  [[nodiscard]] std::size_t plans() const { return plans_; }

  /// As the space's of this number shares them out, but for a list, which is of plans with as many
  /// stages of the model: of others every stage has as many.
  [[nodiscard]] LayerSplit layers_of(std::size_t split, std::int64_t stages) const;
  /// The first that shares them out over so many stages, if any does.
  [[nodiscard]] LayerSplit any_layers_of(std::int64_t stages) const;
  /// Puts the choices into a plan. The scenario's shares of a batch are of plans with as many
  /// data-parallel ranks.
  void put(const LayerChoice& layer, Plan& plan) const;
  void put(const PlanPlace& place, Plan& plan) const;
  void put(const PipelineChoice& pipeline, Plan& plan) const;
  void put(const StateChoice& state, StateChoice::Overlap overlap, Plan& plan) const;

 private:
  void add_layouts(std::int64_t devices);
  void add_experts(PlanLayout layout);
  [[nodiscard]] bool can_place(const Plan& plan) const;
  void add_places(PlanLayout& layout) const;
  void add_layers(std::size_t layout);
  void add_layer_choices(LayerChoice layer);
  void add_ways(LayerChoice layer, std::size_t below);
  [[nodiscard]] bool goes_together(const ExpertExchange& exchange) const;
  [[nodiscard]] std::vector<ExpertExchange> exchanges_of(const PlanLayout& layout) const;
  [[nodiscard]] std::size_t add_below(const LayerChoice& layer);
  [[nodiscard]] bool shares_alike(const LayerSplit& split, int stages) const;
  /// What ways to keep the state there are depends on.
  struct Setting {
    bool alone = false;      // no two devices have the same parameters
    bool pipelined = false;  // more than one stage
    bool split = false;      // more than one tensor-parallel rank
    [[nodiscard]] std::size_t number() const {
      return (alone ? 4U : 0U) + (pipelined ? 2U : 0U) + (split ? 1U : 0U);
    }
  };
  [[nodiscard]] static Setting setting(const PlanLayout& layout, const PlanPlace& place);
  void add_states(Setting setting);
  [[nodiscard]] std::vector<StateChoice::Overlap> overlaps_of(Plan plan) const;
  [[nodiscard]] std::int64_t micro_batches(const LayerChoice& layer, const PlanPlace& place) const {
    return global_batch_ / (layer.micro_batch * place.data);
  }

  const Scenario* scenario_;
  const SearchSpace* space_;
  Abilities abilities_;
  std::int64_t global_batch_;
  std::vector<PlanLayout> layouts_;
  std::vector<LayerChoice> layers_;
  /// p, m, and whether experts' exchanges are beside other passes.
  using PipelineKey = std::tuple<std::int64_t, std::int64_t, bool>;
  [[nodiscard]] PipelineKey pipeline_key(const LayerChoice& layer, const PlanPlace& place) const {
    return {place.pipeline, micro_batches(layer, place), layer.exchange.overlap};
  }
  void add_pipelines(const LayerChoice& layer, const PlanPlace& place);
  [[nodiscard]] std::vector<PipelineChoice> ways_of(std::size_t number,
                                                    std::int64_t pipeline) const;
  [[nodiscard]] bool is_possible(const PipelineChoice& choice, const PipelineKey& key) const;
  std::map<PipelineKey, std::vector<PipelineChoice>> pipelines_;
  std::array<std::vector<StateChoice>, 8> states_;  // of settings, by their numbers
  std::array<std::size_t, 8> leaves_{};
  std::size_t plans_ = 0;
};

}  // namespace titer
