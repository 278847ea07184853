#pragma once
// What layers were found to take, for searches of the same model on other numbers of devices.

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "titer/cost/cost_finder.hpp"
#include "titer/search/bound/search_bound.hpp"
#include "titer/search/search_space.hpp"

namespace titer {

/// Of scenarios that differ in their plans, numbers of devices and batches alone. Threads may share
/// it.
class KnownWork {
 public:
  /// No more than what the scenario's blocks take in this place, into `work`; false where nobody
  /// added it. Without recomputation it is of all ways to recompute.
  bool find(const Scenario& scenario,
            const LayerPlaces& place,
            bool recomputed,
            ModelWork& work) const;
  /// The same of its kernels alone, by what they take in another place, or beside other transfers;
  /// with these where they are known in its own (null: no matter where). False where no kernels are
  /// known. `own_experts`: of its place.
  bool find_kernels(const Scenario& scenario,
                    const LayerPlaces* place,
                    bool own_experts,
                    ModelWork& work) const;
  void add(const Scenario& scenario, const LayerPlaces& place, const ModelWork& work);

 private:
  using Layout =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::optional<std::int64_t>, int>;
  /// What its kernels depend on, besides those that recompute.
  using Kernels =
      std::tuple<std::int64_t, bool, std::optional<TensorOverlap>, std::optional<ExpertDispatch>>;
  struct Layer {
    Kernels kernels;
    bool expert_overlap = false;
    bool shared_expert_overlap = false;
    std::size_t place = 0;  // of its layout's
    friend auto operator<=>(const Layer&, const Layer&) = default;
  };
  struct KnownRecompute {
    Recomputation way{};
    double pace = 1;
    std::vector<BlockWork::Recompute> kinds{};
  };
  struct Known {
    double pace = 1;   // of kernels: more devices wait for the slowest of more
    ModelWork work{};  // without recomputation
    std::vector<KnownRecompute> ways{};
  };
  struct KnownLayout {
    std::vector<LayerPlaces> places{};  // few
    std::map<Layer, Known> layers{};
  };
  /// Threads are at different layouts most of the time, and must not wait for each other there.
  struct Shelf {
    mutable std::mutex mutex{};
    std::map<Layout, KnownLayout> layouts{};
    std::size_t count = 0;  // of their layers

    /// Null where nobody added anything of it. REQUIRES that the caller holds the mutex.
    [[nodiscard]] const KnownLayout* find(const Layout& layout) const;
  };
  [[nodiscard]] static std::size_t shelf_of(const Layout& layout, std::int64_t micro_batch);
  [[nodiscard]] static Layout layout_of(const Scenario& scenario);
  [[nodiscard]] static Layer layer_of(const Plan& plan, std::size_t place);

  static constexpr std::size_t shelf_count = 64;
  std::array<Shelf, shelf_count> shelves_;
};

}  // namespace titer
