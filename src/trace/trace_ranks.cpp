#include "titer/trace/trace_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr double kLeastWaiting = 0.01;  // of a step, to be worth a sentence
constexpr std::size_t kMostJoinedKinds = 20;

RankStep rank_step(const StepBreakdown& step) {
  constexpr Seconds CategoryTime::*first = &CategoryTime::communication_first;
  return {.source = step.source,
          .rank = step.rank,
          .time = step.time,
          .communication = step.sum(TraceClass::communication, first),
          .compute = step.sum(TraceClass::compute, first),
          .copies = step.sum(TraceClass::copy, first),
          .idle = step.idle};
}

void add(const StepBreakdown& step, double share, StepBreakdown& mean) {
  mean.time += share * step.time;
  mean.idle += share * step.idle;
  mean.steps += share * step.steps;
  mean.devices += step.devices;
  mean.streams += step.streams;
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    const CategoryTime& of = step.categories[i];
    CategoryTime& to = mean.categories[i];
    to.communication_first += share * of.communication_first;
    to.compute_first += share * of.compute_first;
    to.busy += share * of.busy;
    to.calls += share * of.calls;
  }
}

/// Uses of the same name, category and group as one, the longest first.
std::vector<KindUse> joined_uses(const std::vector<StepBreakdown>& steps,
                                 std::vector<KindUse> StepBreakdown::*uses) {
  std::map<std::tuple<std::string, TraceCategory, int>, KindUse> all;
  const double share = 1.0 / static_cast<double>(steps.size());
  for (const StepBreakdown& step : steps) {
    for (const KindUse& use : step.*uses) {
      const auto [place, is_new] =
          all.try_emplace({use.kind.name, use.kind.category, use.kind.ranks.value_or(0)},
                          KindUse{.kind = use.kind, .time = {}, .fastest = {}});
      KindUse& to = place->second;
      to.fastest = is_new ? use.fastest : std::min(to.fastest, use.fastest);
      if (to.kind.bytes && use.kind.bytes && to.calls + share * use.calls > 0) {
        const double weight = share * use.calls / (to.calls + share * use.calls);
        to.kind.bytes = (1 - weight) * *to.kind.bytes + weight * *use.kind.bytes;
      }
      to.calls += share * use.calls;
      to.time += share * use.time;
    }
  }
  std::vector<KindUse> list;
  list.reserve(all.size());
  for (auto& [key, use] : all) {
    list.push_back(std::move(use));
  }
  std::ranges::stable_sort(list, std::ranges::greater(), &KindUse::time);
  return list;
}

StepBreakdown mean_of(const std::vector<StepBreakdown>& steps) {
  if (steps.size() == 1) {
    return steps.front();
  }
  StepBreakdown mean = steps.front();
  mean.source = fmt::format("{} traces, {} first", steps.size(), steps.front().source);
  mean.devices = 0;
  mean.streams = 0;
  mean.steps = 0;
  mean.time = {};
  mean.idle = {};
  mean.median.reset();
  mean.categories = {};
  mean.remarks.clear();
  std::set<std::string> remarks;
  for (const StepBreakdown& step : steps) {
    add(step, 1.0 / static_cast<double>(steps.size()), mean);
    for (const std::string& remark : step.remarks) {
      if (remarks.insert(remark).second) {
        mean.remarks.push_back(remark);
      }
    }
  }
  mean.kinds = joined_uses(steps, &StepBreakdown::kinds);
  mean.kinds.resize(std::min(mean.kinds.size(), kMostJoinedKinds));
  mean.collectives = joined_uses(steps, &StepBreakdown::collectives);
  return mean;
}

}  // namespace

TraceRanks join_ranks(const std::vector<StepBreakdown>& steps) {
  ensure(!steps.empty(), "a run has a rank");
  TraceRanks joined{.mean = mean_of(steps), .ranks = {}, .waiting = {}};
  for (const StepBreakdown& step : steps) {
    joined.ranks.push_back(rank_step(step));
  }
  const auto least = std::ranges::min_element(joined.ranks, {}, &RankStep::communication);
  joined.late = static_cast<std::size_t>(least - joined.ranks.begin());
  Seconds sum;
  for (const RankStep& rank : joined.ranks) {
    sum += rank.communication - least->communication;
  }
  joined.waiting = sum / static_cast<double>(joined.ranks.size());
  return joined;
}

std::string straggler_sentence(const TraceRanks& ranks) {
  if (ranks.ranks.size() < 2 || !(ranks.waiting > kLeastWaiting * ranks.mean.time)) {
    return "";
  }
  std::vector<Seconds> compute = each_of(ranks.ranks, &RankStep::compute);
  std::ranges::sort(compute);
  const RankStep& late = ranks.ranks[ranks.late];
  return fmt::format(
      "{} ({}) comes last to collectives: it computes for {} where the middle rank takes {}; the "
      "ranks wait {} a step on average, {:.0f} % of it",
      late.rank ? fmt::format("rank {}", *late.rank) : fmt::format("trace {}", ranks.late + 1),
      late.source,
      format(late.compute),
      format(compute[(compute.size() - 1) / 2]),
      format(ranks.waiting),
      100 * (ranks.waiting / ranks.mean.time));
}

}  // namespace titer
