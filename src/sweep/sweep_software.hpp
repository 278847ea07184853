#pragma once
// What the software of a sweep's points can do.

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "titer/plan/abilities.hpp"
#include "titer/sweep/sweep.hpp"

namespace titer {

/// Abilities are in the document of a stack, not in the scenarios that are computed: read once for
/// each combination of the values of axes that lead into it.
class SweepSoftware {
 public:
  /// `sweep` must outlive it.
  explicit SweepSoftware(const Sweep& sweep);
  /// Of the point with these values, whose scenario can be read.
  [[nodiscard]] const Abilities& abilities(std::span<const std::size_t> at);

 private:
  const Sweep* sweep_;
  std::vector<std::size_t> axes_;  // that lead into the stack
  std::vector<std::size_t> key_;   // working memory
  std::map<std::vector<std::size_t>, Abilities> known_;
};

}  // namespace titer
