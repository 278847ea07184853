#include "titer/measured/decisions.hpp"

#include <algorithm>
#include <string_view>

namespace titer {
namespace {

/// Rows of one plan. Alike are those whose plan reads the same and is predicted the same: a row may
/// say beside its plan what makes it another one.
struct MeasuredPlan {
  const Comparison* first = nullptr;
  double sum = 0;  // of the measured times
  int rows = 0;

  void add(const Comparison& row) {
    sum += *row.measured;
    ++rows;
  }
  [[nodiscard]] bool has(const Comparison& row) const {
    return first->plan == row.plan && *first->predicted == *row.predicted;
  }
  [[nodiscard]] double measured() const { return sum / rows; }
  [[nodiscard]] double predicted() const { return *first->predicted; }
};

struct MeasuredSweep {
  std::string_view name;
  std::vector<MeasuredPlan> plans{};

  void add(const Comparison& row) {
    const auto known =
        std::ranges::find_if(plans, [&](const MeasuredPlan& plan) { return plan.has(row); });
    const bool is_new = row.plan.empty() || known == plans.end();
    (is_new ? plans.emplace_back(MeasuredPlan{.first = &row}) : *known).add(row);
  }
};

/// Of two plans whose measured times can be told apart.
void count_pair(const MeasuredPlan& fast, const MeasuredPlan& slow, SweepDecision& into) {
  if (slow.measured() <= (1.0 + kToldApart) * fast.measured()) {
    return;
  }
  ++into.pairs;
  if (fast.predicted() <= slow.predicted()) {
    into.right += fast.predicted() < slow.predicted() ? 1.0 : 0.5;
  }
}

void count_pairs(const std::vector<MeasuredPlan>& plans, SweepDecision& into) {
  for (std::size_t a = 0; a < plans.size(); ++a) {
    for (std::size_t b = a + 1; b < plans.size(); ++b) {
      const bool a_first = plans[a].measured() < plans[b].measured();
      count_pair(plans[a_first ? a : b], plans[a_first ? b : a], into);
    }
  }
}

SweepDecision decided(const std::vector<MeasuredPlan>& plans) {
  const MeasuredPlan& chosen =
      *std::ranges::min_element(plans, std::ranges::less(), &MeasuredPlan::predicted);
  const MeasuredPlan& best =
      *std::ranges::min_element(plans, std::ranges::less(), &MeasuredPlan::measured);
  SweepDecision made{.family = best.first->family,
                     .chip = best.first->chip,
                     .plans = plans.size(),
                     .chosen = chosen.first->case_id,
                     .best = best.first->case_id,
                     .regret = chosen.measured() / best.measured() - 1.0};
  for (const MeasuredPlan& plan : plans) {
    made.rows += static_cast<std::size_t>(plan.rows);
  }
  count_pairs(plans, made);
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
  std::vector<MeasuredSweep> sweeps;
  for (const Comparison& row : rows) {
    if (row.sweep.empty() || !row.measured || !row.predicted) {
      continue;
    }
    auto known = std::ranges::find(sweeps, row.sweep, &MeasuredSweep::name);
    if (known == sweeps.end()) {
      known = sweeps.insert(sweeps.end(), {.name = row.sweep});
    }
    known->add(row);
  }
  std::vector<SweepDecision> decisions;
  for (const MeasuredSweep& sweep : sweeps) {
    if (sweep.plans.size() >= kLeastOfDecision) {
      decisions.push_back(decided(sweep.plans));
    }
  }
  return decisions;
}

SweepDecision all_decisions(std::span<const SweepDecision> sweeps) {
  SweepDecision all;
  for (const SweepDecision& sweep : sweeps) {
    all.rows += sweep.rows;
    all.plans += sweep.plans;
    all.pairs += sweep.pairs;
    all.right += sweep.right;
    all.regret += sweep.regret / static_cast<double>(sweeps.size());
  }
  return all;
}

}  // namespace titer
