#include "titer/seeds/seed_totals.hpp"

#include <algorithm>
#include <cmath>

namespace titer {
namespace {

void count_figure(const CheckResult& result, SeedTotals& totals) {
  ++totals.figures;
  if (result.status == CheckStatus::open) {
    ++totals.open;
    return;
  }
  totals.unmet += result.status == CheckStatus::unmet ? 1 : 0;
  for (std::size_t band = 0; band < kFigureBands.size(); ++band) {
    totals.within[band] += result.deviation() <= kFigureBands[band] ? 1 : 0;
  }
}

/// In how many times too high or too low, whichever it is.
double error_factor(const SeedFigure& figure) { return std::abs(std::log(figure.result->ratio)); }

}  // namespace

SeedTotals seed_totals(std::span<const SeedReport> reports) {
  SeedTotals totals;
  for (const SeedReport& report : reports) {
    totals.statements += report.results.empty() ? 0 : 1;
    for (const CheckResult& result : report.results) {
      if (result.check->kind == CheckKind::figure) {
        count_figure(result, totals);
        continue;
      }
      LawTotal& law = totals.laws[static_cast<std::size_t>(result.check->kind)];
      ++law.checks;
      law.hold += result.status == CheckStatus::holds ? 1 : 0;
    }
  }
  return totals;
}

std::vector<SeedFigure> figures_that_are(CheckStatus status, std::span<const SeedReport> reports) {
  std::vector<SeedFigure> figures;
  for (const SeedReport& report : reports) {
    for (const CheckResult& result : report.results) {
      if (result.status == status && result.check->is_figure()) {
        figures.push_back({&report, &result});
      }
    }
  }
  std::ranges::stable_sort(
      figures, [](const auto& a, const auto& b) { return error_factor(a) > error_factor(b); });
  return figures;
}

}  // namespace titer
