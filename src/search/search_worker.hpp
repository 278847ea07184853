#pragma once
// One thread's way through a tree of plans.

#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "search_score.hpp"
#include "titer/cost/cost_finder.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/search/bound/memory_bound.hpp"
#include "titer/search/known_work.hpp"

namespace titer {

/// Layers, of the tree's, that differ in what they recompute alone.
using AlikeLayers = std::vector<std::uint32_t>;

/// Of what a search compares plans by, or leaves them out for.
struct Asked {
  bool times = true;
  bool memory = false;
};
[[nodiscard]] Asked what_is_asked(const Search& search);

/// What no plan of a group of layers is under, or why there is none to search for.
struct GroupBound {
  std::string refusal{};
  bool over_limit = false;
  Scores least{};
  std::vector<Seconds> places{};  // time, in each of the layout's places; none: not asked for
};

class SearchWorker {
 public:
  /// `known`: of the search and of others like it; workers share it.
  SearchWorker(const Search& search,
               const PlanTree& tree,
               const SearchOptions& options,
               KnownWork& known);

  [[nodiscard]] GroupBound bound(const AlikeLayers& group);
  /// Goes through all plans of a group that may be better than `best` has, which takes them.
  void search(const AlikeLayers& group,
              const GroupBound& bound,
              BestPlans& best,
              SearchCounts& counts);
  /// The best of plans that are alike, again, and what the others are.
  [[nodiscard]] FoundPlan found(const AlikePlans& group);

 private:
  /// Blocks and what they cost where a layer's groups lie so: the places of one layer are few
  /// beside those of plans.
  struct PlacedLayers {
    LayerPlaces place;
    StepCosts costs;                    // of blocks alone
    std::vector<ModelWork> of_chips{};  // what they take on the cluster's chip, then on others
  };

  [[nodiscard]] bool stopped() const { return options_->stop != nullptr && *options_->stop; }
  [[nodiscard]] GroupBound sound_bound(const AlikeLayers& group);
  [[nodiscard]] std::optional<Seconds> bound_times(const AlikeLayers& group, GroupBound& bound);
  [[nodiscard]] std::optional<Seconds> least_in_place(const AlikeLayers& group);
  [[nodiscard]] std::optional<Seconds> least_of_pipelines(std::size_t count);
  [[nodiscard]] std::optional<Seconds> kernels_beyond_limit(const LayerPlaces* place,
                                                            bool own_experts);
  [[nodiscard]] std::optional<Seconds> bound_beyond_limit();
  [[nodiscard]] std::optional<Seconds> unsound_beyond_limit();
  [[nodiscard]] Bytes least_memory_of(const AlikeLayers& group);
  void search_layer(const GroupBound& bound, BestPlans& best, SearchCounts& counts);
  void leave_out(const std::string& defect, std::size_t plans, SearchCounts& counts);
  [[nodiscard]] const std::string& refusal_of_place();
  void take_plain();
  [[nodiscard]] bool is_plain_sound();
  [[nodiscard]] bool put_plain();
  void take_work(bool recomputed);
  void find_work(bool recomputed);
  [[nodiscard]] bool is_unlike() const;
  [[nodiscard]] double bounded_share() const;
  [[nodiscard]] Seconds bound_of_place();
  [[nodiscard]] Seconds bound_of_pipeline();
  [[nodiscard]] Seconds bound_of_chips();
  [[nodiscard]] Seconds bound_of_step(const StepCosts& costs);
  void find_result(StepResult& result);
  [[nodiscard]] PlacedLayers& placed_layers();
  [[nodiscard]] StepCosts& layers_in_place() { return placed_layers().costs; }
  [[nodiscard]] const std::vector<ModelWork>& work_on_chips();
  [[nodiscard]] const StageBlocks& contents_of(const Plan& plan,
                                               const std::vector<LayerRun>& order);
  void take_plain_costs();
  void put_pipeline(std::size_t number);
  void put_stages();
  void put_numbered(const PlanNumber& number);
  [[nodiscard]] bool is_sound(const Scenario& scenario);
  /// Whether the step is no longer than what there is an answer for.
  [[nodiscard]] bool is_short(const Scenario& scenario, const StepCosts& costs);
  void try_place(std::size_t below, BestPlans& best, SearchCounts& counts);
  [[nodiscard]] Bytes least_memory_in_place();
  [[nodiscard]] bool is_out_of_place(const BestPlans& best, SearchCounts& counts);
  void search_place(BestPlans& best, SearchCounts& counts);
  void search_untimed_place(BestPlans& best, SearchCounts& counts);
  void bound_pipelines(const BestPlans& best, SearchCounts& counts);
  void search_pipeline(BestPlans& best, SearchCounts& counts);
  [[nodiscard]] bool is_out_of_pipeline(std::span<const StateChoice> states,
                                        const BestPlans& best,
                                        SearchCounts& counts);
  void search_state(BestPlans& best, SearchCounts& counts);
  void search_leaf(BestPlans& best, SearchCounts& counts);
  void try_leaf(BestPlans& best, SearchCounts& counts);
  void evaluate_leaf(BestPlans& best, SearchCounts& counts);

  [[nodiscard]] Bytes any_state();
  [[nodiscard]] bool is_out(const BestPlans& best, SearchCounts& counts) const;

  const Search* search_;
  const PlanTree* tree_;
  const SearchOptions* options_;
  KnownWork* known_;
  Scorer scorer_;
  BestPlanOf best_of_;
  Scenario scenario_;                 // of the plan that is looked at; nothing else of it changes
  std::vector<Scenario> of_chips_{};  // plain_ with the chip of some conditions
  double least_factor_ = 1;           // of time, of any device with conditions
  double most_factor_ = 1;            // of compute, of one on the cluster's chip
  Scenario plain_;  // of its layers and place with the plainest pipeline and state
  PlanNumber number_{};
  Seconds longest_;
  Bytes capacity_;
  Asked asks_;
  MemoryBound memory_bound_;
  /// Why no plan of a layout can be in one of its places; looked for once.
  std::vector<std::vector<std::optional<std::string>>> refusals_;
  std::vector<PlacedLayers> placed_;
  std::size_t placed_count_ = 0;  // of the layer that is looked at
  LayerPlaces place_;             // of plain_
  std::optional<BlocksKey> listed_key_;
  ModelBlocks listed_;          // of plain_'s layers
  StepCosts* costs_ = nullptr;  // of plain_, and of a pipeline of scenario_'s stages
  StepCosts untimed_;           // blocks and stages alone
  /// By p, v, where stages are, and how layers are shared out.
  std::map<std::tuple<std::int64_t, std::int64_t, Placement, LayerSplit>, StageBlocks> contents_;
  ModelBlocks blocks_;  // that these share out
  ModelWork work_;      // of plain_
  /// Of a group that is bounded, without experts of their own and with: kernels that take too long.
  std::array<std::optional<Seconds>, 2> of_kernels_{};
  std::vector<std::pair<Seconds, std::size_t>> pipelines_;  // of a place, with what bounds them
  std::size_t of_pipeline_ = 1;                             // plans of each
  CostFinder leaf_;                                         // of scenario_
  // What the plans that are looked at take at least, and how many they are.
  Seconds least_;
  Bytes peak_;
  Bytes place_peak_;  // whatever their pipeline and state
  std::size_t leaves_ = 1;
  std::string refusal_;  // of the plan refused last
  std::vector<StageMemory> stages_;
  MemoryFinder memory_;
  Estimator estimator_;
  StepResult result_;
};

}  // namespace titer
