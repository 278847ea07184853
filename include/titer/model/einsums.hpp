#pragma once
// A mixture of experts as GShard writes it: every step a product of dense tensors, the choice of
// experts among them.  [GShard 2020, Algorithm 2]

#include <cstdint>

#include "titer/units/quantity.hpp"

namespace titer {

/// G groups of S tokens, E experts that take C tokens of each group, M columns of the model and H
/// of an expert.
struct ExpertEinsums {
  std::int64_t groups = 0;
  std::int64_t tokens = 0;
  std::int64_t experts = 0;
  std::int64_t capacity = 0;
  std::int64_t model = 0;
  std::int64_t hidden = 0;

  /// GSM,ME -> GSE
  [[nodiscard]] constexpr Flops gate() const {
    return two(groups * tokens) * static_cast<double>(model * experts);
  }
  /// GSEC,GSM -> EGCM: a product with zeros and ones that others do by copying rows.
  [[nodiscard]] constexpr Flops dispatch() const {
    return two(groups * tokens) * static_cast<double>(experts * capacity * model);
  }
  /// EGCM,EMH -> EGCH
  [[nodiscard]] constexpr Flops wi() const {
    return two(experts * groups * capacity) * static_cast<double>(model * hidden);
  }
  /// EGCH,EHM -> GECM
  [[nodiscard]] constexpr Flops wo() const { return wi(); }
  /// GSEC,GECM -> GSM
  [[nodiscard]] constexpr Flops combine() const { return dispatch(); }

  /// What all devices together send to the experts, and as much back: E G C M elements.
  [[nodiscard]] constexpr Bytes all_to_all(Bytes element) const {
    return static_cast<double>(experts * groups) * static_cast<double>(capacity * model) * element;
  }

 private:
  [[nodiscard]] static constexpr Flops two(std::int64_t factor) {
    return Flops::from_si(2.0 * static_cast<double>(factor));
  }
};

// The profile of one dispatch: bf16[16,1024,128,256] and bf16[16,1024,16,256].  [seed 000]
static_assert(ExpertEinsums{.groups = 16,
                            .tokens = 1024,
                            .experts = 128,
                            .capacity = 256,
                            .model = std::int64_t{16} * 256,
                            .hidden = 1}
                  .dispatch() == Flops::from_si(4398046511104.0));

}  // namespace titer
