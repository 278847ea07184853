#include "step_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"

namespace titer {
namespace {

constexpr std::size_t kHatched = kGreyTone + 1;

/// In the order of kBreakdownParts: computing, communication, the rest.
constexpr std::array<std::size_t, kBreakdownParts.size()> kPartTones = {
    0, 4, 5, 7, 3, kHatched + 1, 1, 2, 6, kHatched + 3, kHatched, kGreyTone, kHatched + kGreyTone};

std::string spaced(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '_', ' ');
  return text;
}

/// Whether a reader would see no difference between their bars.
bool look_alike(const StageMemory& a, const StageMemory& b) {
  const double most = std::max(a.total().si(), b.total().si());
  return std::ranges::all_of(kMemoryParts, [&](const MemoryPart& part) {
    return std::abs((a.*part.value).si() - (b.*part.value).si()) <= 0.002 * most;
  });
}

PlotBar memory_bar(const StageMemory& first, const StageMemory& last) {
  PlotBar bar{.name = first.stage == last.stage
                          ? fmt::format("stage {}", first.stage)
                          : fmt::format("stages {}-{}", first.stage, last.stage),
              .values = {},
              .words = format(first.total())};
  for (const MemoryPart& part : kMemoryParts) {
    bar.values.push_back((first.*part.value).si());
  }
  return bar;
}

}  // namespace

BreakdownBars breakdown_bars(const std::vector<Breakdown>& breakdowns) {
  BreakdownBars bars;
  bars.values.resize(breakdowns.size());
  for (std::size_t i = 0; i < kBreakdownParts.size(); ++i) {
    const BreakdownPart& part = kBreakdownParts[i];
    const bool is_there = std::ranges::any_of(
        breakdowns, [&](const Breakdown& one) { return one.*part.value > Seconds{}; });
    if (!is_there) {
      continue;
    }
    bars.parts.push_back({.name = spaced(part.name), .tone = kPartTones[i]});
    for (std::size_t bar = 0; bar < breakdowns.size(); ++bar) {
      bars.values[bar].push_back((breakdowns[bar].*part.value).si());
    }
  }
  return bars;
}

Plot time_plot(const StepResult& result) {
  BreakdownBars parts = breakdown_bars({result.breakdown});
  PlotBar bar{.name = "", .values = std::move(parts.values.front())};
  std::string note =
      fmt::format("Pipeline stage {}, the last to finish; communication as far as it is exposed.",
                  result.reference_stage);
  if (result.error_bar) {
    bar.range = PlotRange{result.error_bar->low.si(), result.error_bar->high.si()};
    note += " Between the marks are four of five measured iterations.";
  }
  bar.words = format(result.iteration_time);
  return {.title = "Where the time goes",
          .note = note,
          .chart = PlotBars{.axis = time_axis("iteration time", result.iteration_time),
                            .parts = std::move(parts.parts),
                            .bars = {std::move(bar)}}};
}

Plot memory_plot(const StepResult& result) {
  PlotBars bars{
      .axis = memory_axis("memory of a device at its peak"),
      .parts = {},
      .bars = {},
      .limits = {{result.memory_capacity.si(), "capacity " + format(result.memory_capacity)}}};
  for (const MemoryPart& part : kMemoryParts) {
    bars.parts.push_back({.name = std::string(part.name)});
  }
  for (std::size_t begin = 0; begin < result.memory.size();) {
    std::size_t end = begin + 1;
    while (end < result.memory.size() && look_alike(result.memory[begin], result.memory[end])) {
      ++end;
    }
    bars.bars.push_back(memory_bar(result.memory[begin], result.memory[end - 1]));
    begin = end;
  }
  return {.title = "What takes the memory", .note = "", .chart = std::move(bars)};
}

Figure memory_headline(const StepResult& result) {
  return {.key = "",
          .datum = fmt::format("{} (of {}{})",
                               format(result.memory_peak),
                               format(result.memory_capacity),
                               result.fits() ? "" : ": does not fit"),
          .label = "memory of the fullest device"};
}

}  // namespace titer
