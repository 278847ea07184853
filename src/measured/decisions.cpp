#include "titer/measured/decisions.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace titer {
namespace {

using SweepRows = std::vector<const Comparison*>;

/// Of two rows whose measured times can be told apart.
void count_pair(const Comparison& fast, const Comparison& slow, SweepDecision& into) {
  if (*slow.measured <= (1.0 + kToldApart) * *fast.measured) {
    return;
  }
  ++into.pairs;
  if (*fast.predicted <= *slow.predicted) {
    into.right += *fast.predicted < *slow.predicted ? 1.0 : 0.5;
  }
}

void count_pairs(const SweepRows& rows, SweepDecision& into) {
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.size(); ++b) {
      const bool a_first = *rows[a]->measured < *rows[b]->measured;
      count_pair(*rows[a_first ? a : b], *rows[a_first ? b : a], into);
    }
  }
}

template <class Time>
const Comparison& fastest(const SweepRows& rows, Time Comparison::*time) {
  return **std::ranges::min_element(
      rows, [&](const Comparison* a, const Comparison* b) { return *(a->*time) < *(b->*time); });
}

SweepDecision decided(const SweepRows& rows) {
  const Comparison& chosen = fastest(rows, &Comparison::predicted);
  const Comparison& best = fastest(rows, &Comparison::measured);
  SweepDecision made{.family = best.family,
                     .chip = best.chip,
                     .rows = rows.size(),
                     .chosen = chosen.case_id,
                     .best = best.case_id,
                     .regret = *chosen.measured / *best.measured - 1.0};
  count_pairs(rows, made);
  return made;
}

}  // namespace

std::optional<double> SweepDecision::kendall() const {
  if (pairs == 0) {
    return std::nullopt;
  }
  return 2.0 * right / static_cast<double>(pairs) - 1.0;
}

std::vector<SweepDecision> sweep_decisions(std::span<const Comparison> rows) {
  std::vector<std::pair<std::string_view, SweepRows>> sweeps;
  for (const Comparison& row : rows) {
    if (row.sweep.empty() || !row.measured || !row.predicted) {
      continue;
    }
    auto known =
        std::ranges::find_if(sweeps, [&](const auto& sweep) { return sweep.first == row.sweep; });
    if (known == sweeps.end()) {
      known = sweeps.insert(sweeps.end(), {row.sweep, {}});
    }
    known->second.push_back(&row);
  }
  std::vector<SweepDecision> decisions;
  for (const auto& sweep : sweeps) {
    if (sweep.second.size() >= kLeastOfDecision) {
      decisions.push_back(decided(sweep.second));
    }
  }
  return decisions;
}

SweepDecision all_decisions(std::span<const SweepDecision> sweeps) {
  SweepDecision all;
  for (const SweepDecision& sweep : sweeps) {
    all.rows += sweep.rows;
    all.pairs += sweep.pairs;
    all.right += sweep.right;
    all.regret += sweep.regret / static_cast<double>(sweeps.size());
  }
  return all;
}

}  // namespace titer
