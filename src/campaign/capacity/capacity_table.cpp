#include "titer/campaign/capacity_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "fewest_devices.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Plans that were found, by pair and devices: another deadline has the same.
using FoundPlans = std::map<std::pair<std::size_t, std::int64_t>, PlannedStep>;

/// "20 % too slow"
std::string beyond(double share, std::string_view what) {
  const double percent = 100 * (share - 1);
  return percent < 100 ? fmt::format("{:.{}f} % {}", percent, percent < 10 ? 1 : 0, what)
                       : fmt::format("{:.3g} times {}", share, what);
}

/// Empty where it is kept, as the budget is below.
std::string deadline_miss(const CapacityQuestion& question, const CapacityPoint& point) {
  if (keeps_deadline(question, point)) {
    return "";
  }
  const double share = point.time / *question.deadline;
  if (share <= 1) {
    return fmt::format("{:.0f} % in time", 100 * chance_in_time(question, point));
  }
  return share < 2 ? beyond(share, "too slow") : beyond(share, "as long");
}

std::string budget_miss(const CapacityQuestion& question, const CapacityPoint& point) {
  const bool is_known = question.budget && point.bill && point.bill->dollars;
  const double share = is_known ? *point.bill->dollars / *question.budget : 0;
  if (share <= 1) {
    return "";
  }
  return share < 2 ? beyond(share, "too dear") : beyond(share, "the budget");
}

void explain_miss(const CapacityQuestion& question,
                  const CapacityResult& result,
                  CapacityRow& row) {
  const auto over_memory = [](const CapacityPoint& point) { return point.planned.over_memory; };
  if (!row.point) {
    const auto full = std::find_if(result.points.rbegin(), result.points.rend(), over_memory);
    const CapacityPoint& last = full == result.points.rend() ? result.points.back() : *full;
    row.miss = full == result.points.rend() ? "no plan" : "does not fit";
    row.reason = fmt::format("{} devices: {}", last.devices, last.planned.problem);
    return;
  }
  for (const std::string& miss :
       {deadline_miss(question, *row.point), budget_miss(question, *row.point)}) {
    row.miss += (row.miss.empty() || miss.empty() ? "" : ", ") + miss;
  }
  row.reason = result.misses.empty() ? "" : result.misses.front();
}

CapacityRow row_of(const CapacityCase& one, const PlanFinder& plan) {
  CapacityRow row{.of = &one, .miss = "not possible", .reason = one.problem};
  if (!one.question) {
    return row;
  }
  const CapacityQuestion& question = *one.question;
  const CapacityResult result = question.devices.empty()
                                    ? capacity_of(question, try_for_fewest(question, plan))
                                    : find_capacity(question, plan);
  row.miss.clear();
  row.reason.clear();
  const auto chosen = question.deadline || question.budget ? result.fewest : result.fastest;
  const auto& points = result.points;
  if (chosen) {
    row.point = points[*chosen];
  } else {
    for (const CapacityPoint& point : points) {
      if (point.has_plan() && (!row.point || point.time < row.point->time)) {
        row.point = point;
      }
    }
    explain_miss(question, result, row);
  }
  row.notes = capacity_notes(
      question, {.points = row.point ? std::vector{*row.point} : std::vector<CapacityPoint>()});
  return row;
}

std::optional<double> figure_of(RowOrder by, const CapacityRow& row) {
  if (!row.point) {
    return std::nullopt;
  }
  const auto known = row.point->bill.value_or(KnownBill());
  switch (by) {
    case RowOrder::as_asked:
      break;
    case RowOrder::days:
      return row.point->time.si();
    case RowOrder::dollars:
      return known.dollars;
    case RowOrder::devices:
      return static_cast<double>(row.point->devices);
    case RowOrder::energy:
      return known.energy ? std::optional(known.energy->si()) : std::nullopt;
    case RowOrder::carbon:
      return known.kilograms_co2e;
  }
  return 0;
}

}  // namespace

std::vector<CapacityRow> find_rows(const CapacityTable& table,
                                   const PlanFinder& plan,
                                   const CasesDone& done) {
  FoundPlans found;
  std::vector<CapacityRow> rows;
  for (const CapacityCase& one : table.cases) {
    const PlanFinder remembered = [&](const CapacityQuestion& question, std::int64_t devices) {
      const std::pair key(question.pair, devices);
      if (const auto known = found.find(key); known != found.end()) {
        return known->second;
      }
      PlannedStep step = plan(question, devices);
      if (step.scenario || question.least_tokens_per_s == 0) {
        found.emplace(key, step);
      }
      return step;
    };
    rows.push_back(row_of(one, remembered));
    if (done) {
      done(rows.size());
    }
  }
  return rows;
}

void sort_rows(RowOrder by, std::vector<CapacityRow>& rows) {
  const auto key = [&](const CapacityRow& row) {
    const auto figure = figure_of(by, row);
    return std::tuple(!row.possible(), !figure, figure.value_or(0));
  };
  if (by != RowOrder::as_asked) {
    std::ranges::stable_sort(
        rows, [&](const CapacityRow& a, const CapacityRow& b) { return key(a) < key(b); });
  }
}

void keep_best(BestOf best_of, RowOrder by, std::vector<CapacityRow>& rows) {
  if (best_of == BestOf::all) {
    return;
  }
  sort_rows(by, rows);
  std::vector<std::string_view> seen;
  std::vector<CapacityRow> best;
  for (CapacityRow& row : rows) {
    const std::string& whose = best_of == BestOf::model ? row.of->model : row.of->cluster;
    if (!includes(seen, whose)) {
      seen.push_back(whose);
      best.push_back(std::move(row));
    }
  }
  rows = std::move(best);
}

}  // namespace titer
