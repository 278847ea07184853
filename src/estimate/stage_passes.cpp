#include "titer/estimate/stage_passes.hpp"

#include <algorithm>

namespace titer {
void StagePasses::fill(const StepCosts& costs, bool splits) {
  splits_ = splits;
  distinct_.clear();
  first_.clear();
  like_.resize(static_cast<std::size_t>(costs.stages));
  for (int stage = 0; stage < costs.stages; ++stage) {
    const auto at = static_cast<std::size_t>(stage);
    if (stage > 0 && costs.alike(stage, stage - 1)) {
      like_[at] = like_[at - 1];
      continue;
    }
    const auto same =
        std::ranges::find_if(first_, [&](int other) { return costs.alike(stage, other); });
    like_[at] = static_cast<std::uint32_t>(same - first_.begin());
    if (same != first_.end()) {
      continue;
    }
    first_.push_back(stage);
    auto& [alone, overlapped] = distinct_.emplace_back();
    alone.cost = costs.chunk(stage);
    if (costs.shape.overlaps) {
      overlapped.cost =
          map_passes([](const PassCost& pass) { return pass.overlapped(); }, alone.cost);
      round(overlapped);
    }
    round(alone);
  }
}

void StagePasses::round(Passes& passes) const {
  const Ticks recompute = round_to_ticks(passes.cost.recompute);
  for (const Pass pass : kAllPasses) {
    const bool part = pass == Pass::input_gradient || pass == Pass::weight_gradient;
    if (part && !splits_) {
      continue;
    }
    const auto i = static_cast<std::size_t>(pass);
    passes.alone[i] = round_to_ticks(passes.cost.of(pass));
    passes.occupied[i] = passes.alone[i] + (sends_gradient(pass) ? recompute : 0);
  }
}

}  // namespace titer
