#include "titer/trace/trace_breakdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "trace_sweep.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostKindsOfKernels = 20;
// The host may run ahead of its device: with more than this share of the device's work after the
// last step, the host's steps do not say when the device did them.
constexpr double kMostAfterSteps = 0.05;

Seconds seconds(double nanoseconds) { return Seconds::from_si(1e-9 * nanoseconds); }
Seconds seconds(TraceTime time) { return seconds(static_cast<double>(time)); }

/// The sums of a device, and over how many steps.
struct DeviceSums {
  TraceSweep sweep;
  double steps = 1;
};

TraceSweep swept(const Trace& trace, const TraceDevice& device, std::vector<TraceWindow> windows) {
  TraceSweep sweep(trace, std::move(windows));
  sweep.run(device.spans);
  return sweep;
}

/// From the first span to the end of all.
TraceWindow whole(const TraceDevice& device) {
  TraceWindow window{.start = device.spans.front().start(), .end = device.spans.front().end()};
  for (const TraceSpan& span : device.spans) {
    window.end = std::max(window.end, span.end());
  }
  return window;
}

std::vector<TraceWindow> windows_of(const TraceDevice& device) {
  std::vector<TraceWindow> windows;
  for (const TraceStep& step : device.steps) {
    const TraceTime from = windows.empty() ? step.start : std::max(step.start, windows.back().end);
    if (step.end > from) {
      windows.push_back({.start = from, .end = step.end});
    }
  }
  return windows;
}

void sort_spans(TraceDevice& device) {
  const auto by_start = [](const TraceSpan& a, const TraceSpan& b) {
    return a.start() < b.start();
  };
  if (!std::ranges::is_sorted(device.spans, by_start)) {
    std::ranges::sort(device.spans, by_start);
  }
}

DeviceSums add_up(const Trace& trace, const TraceDevice& device, StepBreakdown& step) {
  const TraceWindow all = whole(device);
  const std::vector<TraceWindow> windows = windows_of(device);
  if (windows.empty()) {
    step.remarks.push_back(fmt::format(
        "device {}: no steps are marked: from its first operation to the end of its last "
        "counts as one step",
        device.name));
    return {swept(trace, device, {all})};
  }
  const auto steps = static_cast<double>(windows.size());
  DeviceSums sums{swept(trace, device, windows), steps};
  const auto after = static_cast<double>(sums.sweep.after());
  const double share = after / std::max(1.0, static_cast<double>(sums.sweep.sums().any) + after);
  if (device.steps_of_host && share > kMostAfterSteps) {
    step.remarks.push_back(fmt::format(
        "device {}: {:.0f} % of its work came after the host's last step: its time from the first "
        "step to its last operation was shared out over {} steps",
        device.name,
        100 * share,
        steps));
    return {swept(trace, device, {{.start = windows.front().start, .end = all.end}}), steps};
  }
  if (after > 0) {
    step.remarks.push_back(fmt::format("device {}: {} of work after the last step is left out",
                                       device.name,
                                       format(seconds(sums.sweep.after()))));
  }
  return sums;
}

/// The middle length of the steps, where they were cut one by one.
void set_median(const TraceSweep& sweep, double steps, StepBreakdown& step) {
  if (steps < 2 || static_cast<double>(sweep.windows().size()) != steps) {
    return;
  }
  std::vector<TraceTime> lengths = each_of(
      sweep.windows(), [&](const TraceWindow& window) { return window.end - window.start; });
  std::ranges::sort(lengths);
  const std::size_t half = lengths.size() / 2;
  step.median = lengths.size() % 2 == 1
                    ? seconds(lengths[half])
                    : 0.5 * (seconds(lengths[half - 1]) + seconds(lengths[half]));
}

/// Adds a device's share of the means.
void add_device(const DeviceSums& sums, double share, StepBreakdown& step) {
  const double factor = share / sums.steps;
  const auto mean = [&](TraceTime time) { return factor * seconds(time); };
  const CategorySums& of = sums.sweep.sums();
  step.time += mean(sums.sweep.time());
  step.idle += mean(sums.sweep.time() - of.any);
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    CategoryTime& to = step.categories[i];
    to.communication_first += mean(of.communication_first[i]);
    to.compute_first += mean(of.compute_first[i]);
    to.busy += mean(of.busy[i]);
    to.calls += factor * static_cast<double>(sums.sweep.calls(i));
  }
}

KindUse use_of(const TraceKind& kind, const KindSum& sum, double factor) {
  return {.kind = kind,
          .calls = factor * static_cast<double>(sum.calls),
          .time = factor * seconds(sum.time),
          .fastest = seconds(sum.fastest)};
}

/// The names that took most; of equal ones the first.
std::vector<KindUse> longest(const Trace& trace, const std::vector<KindSum>& sums, double factor) {
  std::map<std::pair<std::string_view, TraceCategory>, KindSum> names;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].calls > 0) {
      names[{trace.kinds[i].name, trace.kinds[i].category}].add(sums[i]);
    }
  }
  std::vector<KindUse> uses = each_of(names, [&](const auto& one) {
    return use_of(
        {.name = std::string(one.first.first), .category = one.first.second}, one.second, factor);
  });
  std::ranges::stable_sort(uses, std::ranges::greater(), &KindUse::time);
  uses.resize(std::min(uses.size(), kMostKindsOfKernels));
  return uses;
}

/// Sizes are means over the calls that tell one.
std::vector<KindUse> collectives(const Trace& trace,
                                 const std::vector<KindSum>& sums,
                                 double factor) {
  struct Group {
    KindSum sum;
    double bytes = 0;
    double sized = 0;
  };
  std::map<std::pair<TraceCategory, int>, Group> groups;  // 0 ranks: unknown
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const TraceKind& kind = trace.kinds[i];
    if (sums[i].calls == 0 || class_of(kind.category) != TraceClass::communication) {
      continue;
    }
    Group& group = groups[{kind.category, kind.ranks.value_or(0)}];
    group.sum.add(sums[i]);
    if (kind.bytes) {
      group.bytes += static_cast<double>(sums[i].calls) * kind.bytes->si();
      group.sized += static_cast<double>(sums[i].calls);
    }
  }
  std::vector<KindUse> uses;
  uses.reserve(groups.size());
  for (const auto& [key, group] : groups) {
    const TraceKind kind{.name = std::string(name(key.first)),
                         .category = key.first,
                         .ranks = key.second > 0 ? std::optional(key.second) : std::nullopt,
                         .bytes = group.sized > 0
                                      ? std::optional(Bytes::from_si(group.bytes / group.sized))
                                      : std::nullopt};
    uses.push_back(use_of(kind, group.sum, factor));
  }
  return uses;
}

}  // namespace

Seconds StepBreakdown::sum(TraceClass of, Seconds CategoryTime::*what) const {
  Seconds sum;
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    if (class_of(static_cast<TraceCategory>(i)) == of) {
      sum += categories[i].*what;
    }
  }
  return sum;
}

StepBreakdown break_down(Trace trace) {
  StepBreakdown step{.source = trace.source,
                     .format = trace.format,
                     .chip = trace.chip,
                     .rank = trace.rank,
                     .world_size = trace.world_size,
                     .devices = static_cast<int>(trace.devices.size()),
                     .steps = 0,
                     .time = {},
                     .idle = {},
                     .kinds = {},
                     .collectives = {},
                     .remarks = {}};
  ensure(!trace.devices.empty(), "a trace is of a device");
  if (trace.in_a_row) {
    step.remarks.emplace_back("the trace has durations but no times: nothing counts as overlapped");
  }
  if (trace.skipped > 0) {
    step.remarks.push_back(
        fmt::format("events of devices without a time, or with an impossible one: {} are left out",
                    trace.skipped));
  }
  const double share = 1.0 / step.devices;
  std::vector<KindSum> kinds(trace.kinds.size());
  for (TraceDevice& device : trace.devices) {
    sort_spans(device);
    const DeviceSums sums = add_up(trace, device, step);
    add_device(sums, share, step);
    set_median(sums.sweep, sums.steps, step);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      kinds[i].add(sums.sweep.kinds()[i]);
    }
    step.streams += static_cast<int>(device.streams.size());
    step.steps += sums.steps;
    device.spans = {};
  }
  const double factor = 1.0 / step.steps;
  step.kinds = longest(trace, kinds, factor);
  step.collectives = collectives(trace, kinds, factor);
  step.steps *= share;
  return step;
}

}  // namespace titer
