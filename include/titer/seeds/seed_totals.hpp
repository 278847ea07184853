#pragma once
// What many seeds come to: how near the printed figures are met, and how many laws hold.

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "titer/seeds/seed.hpp"

namespace titer {

struct LawTotal {
  std::size_t checks = 0;
  std::size_t hold = 0;
};

struct SeedTotals {
  std::size_t statements = 0;  // less those with nothing to compute
  std::size_t figures = 0;
  std::array<std::size_t, kFigureBands.size()> within{};  // of these, less what is open
  std::size_t unmet = 0;
  std::size_t open = 0;
  std::array<LawTotal, kCheckKinds.size()> laws{};  // by CheckKind; none of figures

  [[nodiscard]] const LawTotal& of(CheckKind kind) const {
    return laws[static_cast<std::size_t>(kind)];
  }
};
[[nodiscard]] SeedTotals seed_totals(std::span<const SeedReport> reports);

/// A printed figure, and whose.
struct SeedFigure {
  const SeedReport* report = nullptr;
  const CheckResult* result = nullptr;
};
/// The worst first: by how many times they are too high or too low.
[[nodiscard]] std::vector<SeedFigure> figures_that_are(CheckStatus status,
                                                       std::span<const SeedReport> reports);

}  // namespace titer
