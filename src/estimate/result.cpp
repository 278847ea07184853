#include "titer/estimate/result.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace titer {

Seconds Breakdown::total() const {
  Seconds sum;
  for (const BreakdownPart& part : kBreakdownParts) {
    sum += this->*part.value;
  }
  return sum;
}

const StageMemory& StepResult::peak_stage() const {
  ensure(!memory.empty(), "a result holds the memory of at least one stage");
  return *std::ranges::max_element(
      memory, [](const auto& a, const auto& b) { return a.total() < b.total(); });
}

std::string memory_sentence(const StepResult& result) {
  const StageMemory& stage = result.peak_stage();
  std::array<MemoryPart, kMemoryParts.size()> parts = kMemoryParts;
  std::ranges::stable_sort(parts, [&](const MemoryPart& a, const MemoryPart& b) {
    return stage.*a.value > stage.*b.value;
  });
  std::string tiers;
  for (const TierNeed& tier : result.tiers) {
    tiers += fmt::format(
        "{} of a node needs {} of {}; ", tier.tier, format(tier.needed), format(tier.capacity));
  }
  std::string text = fmt::format("{}: {}stage {} needs {} of {}: ",
                                 result.fits() ? "fits" : "does not fit",
                                 tiers,
                                 stage.stage,
                                 format(stage.total()),
                                 format(result.memory_capacity));
  std::string_view between;
  for (const MemoryPart& part : parts) {
    if (stage.*part.value > Bytes{}) {
      text += between;
      text += part.name;
      text += ' ';
      text += format(stage.*part.value);
      between = ", ";
    }
  }
  return text;
}

}  // namespace titer
