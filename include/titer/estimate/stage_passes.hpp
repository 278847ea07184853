#pragma once
// What the passes of each stage of the model take, as times and in ticks.

#include <array>
#include <cstdint>
#include <vector>

#include "titer/cost/cost.hpp"
#include "titer/estimate/pass_ticks.hpp"

namespace titer {

inline constexpr std::array<Pass, kPasses> kAllPasses = {
    Pass::forward, Pass::backward, Pass::input_gradient, Pass::weight_gradient};

/// Like stages have theirs once.
class StagePasses {
 public:
  /// No allocation once it had as many stages. `splits`: input and weight gradients by themselves,
  /// too, which take no ticks otherwise. Overlapped passes, if there are any.
  void fill(const StepCosts& costs, bool splits);
  [[nodiscard]] bool splits() const { return splits_; }

  /// In whole ticks, but for the transfers. `overlapped`: see Action.
  [[nodiscard]] const BlockCost& cost(int stage, bool overlapped = false) const {
    return of(stage, overlapped).cost;
  }
  /// What a pass occupies its rank for, by Pass, with what it recomputes before.
  [[nodiscard]] const std::array<Ticks, kPasses>& occupied(int stage,
                                                           bool overlapped = false) const {
    return of(stage, overlapped).occupied;
  }
  [[nodiscard]] Ticks alone(int stage, Pass pass, bool overlapped = false) const {
    return of(stage, overlapped).alone[static_cast<std::size_t>(pass)];
  }

 private:
  struct Passes {
    BlockCost cost;
    std::array<Ticks, kPasses> alone{};
    std::array<Ticks, kPasses> occupied{};
  };
  /// Likewise with others beside them.
  struct BothPasses {
    Passes alone;
    Passes overlapped;
  };
  void round(Passes& passes) const;
  [[nodiscard]] const Passes& of(int stage, bool overlapped) const {
    const BothPasses& both = distinct_[like_[static_cast<std::size_t>(stage)]];
    return overlapped ? both.overlapped : both.alone;
  }

  bool splits_ = false;
  std::vector<BothPasses> distinct_;
  std::vector<int> first_;           // of those, the first stage that has them
  std::vector<std::uint32_t> like_;  // of each stage: which of those it has
};

}  // namespace titer
