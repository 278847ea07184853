#include "titer/campaign/capacity_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "capacity_devices.hpp"
#include "titer/model/model.hpp"

namespace titer {
namespace {

/// Plans that were found, by pair and devices: another deadline has the same.
using FoundPlans = std::map<std::pair<std::size_t, std::int64_t>, PlannedStep>;

/// The fewest devices of usual sizes that keep a deadline, from a guess on.
class FewestDevices {
 public:
  FewestDevices(const CapacityQuestion& question, const PlanFinder& plan)
      : question_(question), plan_(plan), sizes_(usual_sizes(question.scenario.cluster)) {}

  /// The points that were tried, by their devices.
  std::vector<CapacityPoint> find() {
    std::size_t next = first_of(ideal_devices() / usual_share);
    while (above_ - below_ > 1) {
      next = std::clamp(next, below_, above_ - 2);  // of sizes; the bounds are one more
      const CapacityPoint& point = try_size(next);
      const bool in_time = point.has_plan() && keeps_deadline(question_, point);
      (in_time ? above_ : below_) = next + 1;
      if (!in_time && no_longer_helps()) {
        break;
      }
      next = after(next);
    }
    if (above_ > sizes_.size()) {
      try_between();
    }
    std::vector<CapacityPoint> points;
    for (auto& [size, point] : tried_) {
      points.push_back(std::move(point));
    }
    return points;
  }

 private:
  static constexpr double usual_share = 0.4;  // of the peak, at which the search begins
  static constexpr double most_growth = 4;    // from one that has a plan to the next

  /// That would do at the peak of the chip, 6 FLOPs for each parameter and token.
  [[nodiscard]] double ideal_devices() const {
    const Scenario& scenario = question_.scenario;
    const Transformer* transformer = scenario.model.if_transformer();
    const double parameters = static_cast<double>(
        transformer != nullptr ? active_parameters(*transformer) : titer::parameters(scenario));
    const auto& rate = scenario.cluster.chip.rate(scenario.training.precision);
    return rate ? 6 * parameters * *question_.tokens / (rate->peak.si() * question_.deadline->si())
                : 1;
  }
  /// The first size of so many devices or more; the last where there is none.
  [[nodiscard]] std::size_t first_of(double devices) const {
    const auto found = std::lower_bound(
        sizes_.begin(), sizes_.end(), devices, [](std::int64_t size, double least) {
          return static_cast<double>(size) < least;
        });
    return std::min(static_cast<std::size_t>(found - sizes_.begin()), sizes_.size() - 1);
  }
  CapacityPoint& try_size(std::size_t size) {
    return tried_.emplace(size, capacity_point(question_, plan_, sizes_[size])).first->second;
  }
  /// That has to be within the deadline: with a chance asked for, about what 90 % keep.
  [[nodiscard]] Seconds time_asked_for(const CapacityPoint& point) const {
    return question_.chance && point.spread ? point.spread->high : point.time;
  }
  /// What the point just tried says of the next, as if twice as many took half the time.
  [[nodiscard]] std::size_t after(std::size_t size) const {
    const CapacityPoint& point = tried_.at(size);
    const auto devices = static_cast<double>(point.devices);
    const double times =
        point.has_plan() ? std::min(most_growth, time_asked_for(point) / *question_.deadline) : 2;
    return first_of(devices * times);
  }
  /// Where the largest sizes will not do, some between may: plans share out some numbers better
  /// than others. As many devices as the best of those that were tried would need are the least.
  void try_between() {
    constexpr int most_tries = 4;
    constexpr double slack = 0.95;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [size, point] : tried_) {
      if (point.has_plan()) {
        least = std::min(
            least,
            static_cast<double>(point.devices) * (time_asked_for(point) / *question_.deadline));
      }
    }
    int tries = 0;
    for (std::size_t size = 0; size < sizes_.size() && tries < most_tries; ++size) {
      if (static_cast<double>(sizes_[size]) >= slack * least && !tried_.contains(size)) {
        const CapacityPoint& point = try_size(size);
        ++tries;
        if (point.has_plan() && keeps_deadline(question_, point)) {
          return;
        }
      }
    }
  }
  /// Whether of two sizes that are too slow the larger is no faster.
  [[nodiscard]] bool no_longer_helps() const {
    const CapacityPoint* before = nullptr;
    for (const auto& [size, point] : tried_) {
      if (point.has_plan() && before != nullptr && point.time >= before->time) {
        return true;
      }
      before = point.has_plan() ? &point : before;
    }
    return false;
  }

  const CapacityQuestion& question_;
  const PlanFinder& plan_;
  std::vector<std::int64_t> sizes_;
  std::map<std::size_t, CapacityPoint> tried_;
  std::size_t below_ = 0;                  // one more than the largest size that will not do
  std::size_t above_ = sizes_.size() + 1;  // one more than the smallest size that will
};

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
                                    ? capacity_of(question, FewestDevices(question, plan).find())
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
      const std::pair key(one.pair, devices);
      const auto known = found.find(key);
      return known != found.end() ? known->second
                                  : found.emplace(key, plan(question, devices)).first->second;
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
    std::stable_sort(rows.begin(), rows.end(), [&](const CapacityRow& a, const CapacityRow& b) {
      return key(a) < key(b);
    });
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
    if (std::find(seen.begin(), seen.end(), whose) == seen.end()) {
      seen.push_back(whose);
      best.push_back(std::move(row));
    }
  }
  rows = std::move(best);
}

}  // namespace titer
