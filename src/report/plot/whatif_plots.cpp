#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/step/scenario_words.hpp"
#include "step_plots.hpp"
#include "study_plots.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostTornadoBars = 12;

std::string signed_percent(double share) { return Datum(share, kSignedPercent).words(); }

Plot tornado(const Sensitivity& found) {
  PlotBars bars{.axis = {.label = fmt::format("% of {} for 1 % more of the figure", found.of)},
                .parts = {{.name = "less", .tone = 0}, {.name = "more", .tone = 3}},
                .bars = {}};
  for (const FigureEffect& effect : found.figures) {
    if (bars.bars.size() == kMostTornadoBars) {
      break;
    }
    const std::string& owner = effect.figure.owner;
    const std::string gain =
        effect.gain && effect.gain->relative >= 0.0005
            ? fmt::format("; a tenth better gains {:.1f} %", 100 * effect.gain->relative)
            : "";
    bars.bars.push_back(
        signed_bar(effect.figure.path + (owner.empty() ? "" : fmt::format(" ({})", owner)),
                   effect.elasticity.value,
                   fmt::format("{:+.3f}{}", effect.elasticity.value, gain)));
  }
  return {.title = "What it depends on most",
          .note = fmt::format("Elasticity: by how many percent {} changes for one percent more.",
                              found.of),
          .chart = std::move(bars)};
}

Plot shares(const Sensitivity& found) {
  PlotBars bars{.axis = percent_axis("share of the iteration time"), .parts = {{""}}, .bars = {}};
  for (const ResourceShare& one : found.shares) {
    if (std::abs(one.share) >= 0.0005) {
      bars.bars.push_back({.name = std::string(name(one.resource)),
                           .values = {one.share},
                           .words = fmt::format("{:.1f} %", 100 * one.share)});
    }
  }
  return {.title = "What binds",
          .note = "The share of the time that goes with the rates and times of each.",
          .chart = std::move(bars)};
}

Plot both_times(const Difference& found) {
  BreakdownBars parts = breakdown_bars({found.a.breakdown, found.b.breakdown});
  const auto bar = [&](std::string_view name, std::size_t index, Seconds time) {
    return PlotBar{.name = std::string(name), .values = parts.values[index], .words = format(time)};
  };
  return {.title = "Where the time goes",
          .note = "Of the stage that finishes last; communication as far as it is exposed.",
          .chart = PlotBars{
              .axis = time_axis("iteration time",
                                std::max(found.a.iteration_time, found.b.iteration_time)),
              .parts = std::move(parts.parts),
              .bars = {bar("A", 0, found.a.iteration_time), bar("B", 1, found.b.iteration_time)}}};
}

/// Ordered as in the answer, the largest first.
Plot shared_out(const Difference& found) {
  PlotBars bars =
      signed_bars("B less A", "B takes", each_of(found.contributions, &Contribution::time));
  for (const Contribution& one : found.contributions) {
    if (bars.bars.size() < kMostTornadoBars && one.time != Seconds{}) {
      const double share = one.time / found.a.iteration_time;
      bars.bars.push_back(
          signed_bar(listed(one.paths, " and "),
                     one.time.si(),
                     fmt::format("{} ({} of A)", signed_text(one.time), signed_percent(share))));
    }
  }
  return {.title = "Which inputs make the difference",
          .note = "What each contributes, averaged over the orders in which they can change.",
          .chart = std::move(bars)};
}

}  // namespace

PlotBar signed_bar(std::string name, double value, std::string words) {
  return {.name = std::move(name),
          .values = {std::min(value, 0.0), std::max(value, 0.0)},
          .words = std::move(words)};
}

PlotBars signed_bars(const std::string& axis,
                     const std::string& what,
                     const std::vector<Seconds>& times) {
  Seconds most;
  for (const Seconds time : times) {
    most = std::max(most, Seconds::from_si(std::abs(time.si())));
  }
  return {.axis = time_axis(axis, most),
          .parts = {{.name = what + " less", .tone = 0}, {.name = what + " more", .tone = 3}},
          .bars = {}};
}

std::vector<Plot> sensitivity_plots(const Sensitivity& found) {
  std::vector<Plot> plots;
  if (!found.shares.empty()) {
    plots.push_back(shares(found));
  }
  if (!found.figures.empty()) {
    plots.push_back(tornado(found));
  }
  return plots;
}

std::vector<Plot> difference_plots(const Difference& found) {
  std::vector<Plot> plots = {both_times(found)};
  if (found.time() != Seconds{} || found.contributions.size() > 1) {
    plots.push_back(shared_out(found));
  }
  return plots;
}

Figures difference_headline(const Difference& found) {
  const double ratio = found.b.iteration_time / found.a.iteration_time;
  const auto time = [](const StepResult& result) {
    return fmt::format("{} (on {} devices{})",
                       format(result.iteration_time),
                       result.devices,
                       bar_words("; ", result.error_bar));
  };
  Figures figures = {{"", time(found.a), "A"},
                     {"", time(found.b), "B"},
                     {"", signed_percent(ratio - 1), "B over A"}};
  if (!found.contributions.empty() && found.contributions.front().time != Seconds{}) {
    const Contribution& most = found.contributions.front();
    figures.push_back({"",
                       fmt::format("{} ({})", listed(most.paths, " and "), signed_text(most.time)),
                       "the input that makes most of it"});
  }
  return figures;
}

}  // namespace titer
