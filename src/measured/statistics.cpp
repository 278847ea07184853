#include "titer/measured/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::size_t kLeastOfSweep = 3;  // rows; of two, every order is right half of the time

/// From 1; equal values share the mean of the ranks that they take together.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) {
      ++end;
    }
    const double shared = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2.0;
    for (std::size_t i = begin; i < end; ++i) {
      ranks[order[i]] = shared;
    }
    begin = end;
  }
  return ranks;
}

/// Predicted and measured figures, in the same order.
struct Pairs {
  std::vector<double> measured;
  std::vector<double> predicted;

  void add(double of_measured, double of_predicted) {
    measured.push_back(of_measured);
    predicted.push_back(of_predicted);
  }
};

double regret_of(const Pairs& sweep) {
  const double best = *std::ranges::min_element(sweep.measured);
  const double fastest = *std::ranges::min_element(sweep.predicted);
  std::vector<double> taken;
  for (std::size_t i = 0; i < sweep.measured.size(); ++i) {
    if (sweep.predicted[i] == fastest) {
      taken.push_back(sweep.measured[i]);
    }
  }
  return mean_of(taken) / best - 1.0;
}

void add_sweeps(const std::map<std::string_view, Pairs>& sweeps, ErrorStatistics& into) {
  std::vector<double> correlations;
  std::vector<double> regrets;
  for (const auto& [name, sweep] : sweeps) {
    if (sweep.measured.size() < kLeastOfSweep) {
      continue;
    }
    regrets.push_back(regret_of(sweep));
    if (const auto correlation = rank_correlation(sweep.measured, sweep.predicted)) {
      correlations.push_back(*correlation);
    }
  }
  into.sweeps = regrets.size();
  if (!regrets.empty()) {
    into.regret = mean_of(regrets);
  }
  if (!correlations.empty()) {
    into.spearman = mean_of(correlations);
  }
}

void add_errors(const Pairs& pairs, ErrorStatistics& into) {
  into.n = pairs.measured.size();
  if (into.n == 0) {
    return;
  }
  std::vector<double> errors;
  std::vector<double> sizes;
  for (std::size_t i = 0; i < into.n; ++i) {
    ensure(pairs.measured[i] > 0, "what was measured is above zero");
    errors.push_back(pairs.predicted[i] / pairs.measured[i] - 1.0);
    sizes.push_back(std::abs(errors.back()));
  }
  into.bias = mean_of(errors);
  into.median_signed = percentile(std::move(errors), 0.5);
  into.mean = mean_of(sizes);
  into.most = *std::ranges::max_element(sizes);
  into.p90 = percentile(sizes, 0.9);
  into.median = percentile(std::move(sizes), 0.5);
}

using ComparedRows = std::vector<const Comparison*>;

/// A figure as it is kept in a row.
struct Figure {
  std::optional<double> Comparison::*measured;
  std::optional<double> Comparison::*predicted;
};
constexpr Figure kTime = {&Comparison::measured, &Comparison::predicted};
constexpr Figure kMemory = {&Comparison::memory_measured, &Comparison::memory_predicted};

ErrorStatistics statistics_of(const ComparedRows& rows, Figure figure) {
  Pairs pairs;
  std::map<std::string_view, Pairs> sweeps;
  for (const Comparison* row : rows) {
    const auto& measured = row->*figure.measured;
    const auto& predicted = row->*figure.predicted;
    if (!measured || !predicted) {
      continue;
    }
    pairs.add(*measured, *predicted);
    if (!row->sweep.empty()) {
      sweeps[row->sweep].add(*measured, *predicted);
    }
  }
  ErrorStatistics found;
  add_errors(pairs, found);
  add_sweeps(sweeps, found);
  return found;
}

std::optional<double> coverage_of(const ComparedRows& rows) {
  std::size_t inside = 0;
  std::size_t with_interval = 0;
  for (const Comparison* row : rows) {
    if (row->interval && row->measured && row->predicted) {
      ++with_interval;
      const bool is_in =
          *row->measured >= row->interval->low && *row->measured <= row->interval->high;
      inside += is_in ? 1 : 0;
    }
  }
  if (with_interval == 0) {
    return std::nullopt;
  }
  return static_cast<double>(inside) / static_cast<double>(with_interval);
}

std::vector<SkipReason> reasons_of(const ComparedRows& rows) {
  std::map<std::string, std::size_t> counts;
  for (const Comparison* row : rows) {
    if (const std::string reason = skip_reason(*row); !reason.empty()) {
      ++counts[reason];
    }
  }
  std::vector<SkipReason> reasons = each_of(counts, [](const auto& one) {
    return SkipReason{one.first, one.second};
  });
  std::ranges::stable_sort(reasons, std::ranges::greater(), &SkipReason::rows);
  return reasons;
}

GroupStatistics group_of(std::string name, const ComparedRows& rows) {
  GroupStatistics group{.name = std::move(name),
                        .time = statistics_of(rows, kTime),
                        .memory = statistics_of(rows, kMemory),
                        .reasons = reasons_of(rows)};
  group.time.skipped = rows.size() - group.time.n;
  group.time.coverage80 = coverage_of(rows);
  const auto with_memory = std::ranges::count_if(
      rows, [](const Comparison* row) { return row->memory_measured.has_value(); });
  group.memory.skipped = static_cast<std::size_t>(with_memory) - group.memory.n;
  return group;
}

}  // namespace

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double percentile(std::vector<double> samples, double share) {
  ensure(!samples.empty() && share >= 0 && share <= 1, "a percentile is of some samples");
  std::ranges::sort(samples);
  const double position = share * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double part = position - static_cast<double>(below);
  return samples[below] + part * (samples[above] - samples[below]);
}

std::optional<double> rank_correlation(std::span<const double> one, std::span<const double> other) {
  ensure(one.size() == other.size(), "ranks are compared of as many values");
  if (one.size() < 2) {
    return std::nullopt;
  }
  const std::vector<double> first = ranks_of(one);
  const std::vector<double> second = ranks_of(other);
  const double middle = (static_cast<double>(one.size()) + 1.0) / 2.0;
  double together = 0;
  double of_first = 0;
  double of_second = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    together += (first[i] - middle) * (second[i] - middle);
    of_first += (first[i] - middle) * (first[i] - middle);
    of_second += (second[i] - middle) * (second[i] - middle);
  }
  if (of_first == 0 || of_second == 0) {
    return std::nullopt;
  }
  return together / std::sqrt(of_first * of_second);
}

std::string group_name(const Comparison& row, GroupBy by) {
  const auto or_unstated = [](const std::string& name) {
    return name.empty() ? std::string("not stated") : name;
  };
  switch (by) {
    case GroupBy::all:
      return "all";
    case GroupBy::family:
      return or_unstated(row.family);
    case GroupBy::chip:
      return or_unstated(row.chip);
    case GroupBy::stack:
      return or_unstated(row.stack);
  }
  return {};
}

std::string skip_reason(const Comparison& row) {
  if (row.relative_error()) {
    return {};
  }
  if (!row.skip_reason.empty()) {
    return row.skip_reason;
  }
  return row.measured ? "no time predicted" : "no time measured";
}

std::vector<GroupStatistics> group_statistics(std::span<const Comparison> rows, GroupBy by) {
  ComparedRows all;
  std::map<std::string, ComparedRows> groups;
  for (const Comparison& row : rows) {
    all.push_back(&row);
    if (by != GroupBy::all) {
      groups[group_name(row, by)].push_back(&row);
    }
  }
  std::vector<GroupStatistics> found = {group_of("all", all)};
  for (const auto& [name, members] : groups) {
    found.push_back(group_of(name, members));
  }
  return found;
}

}  // namespace titer
