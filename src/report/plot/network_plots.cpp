#include "network_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/step/scenario_words.hpp"
#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"

namespace titer {
namespace {

PlotAxis size_axis() { return {.label = "size of the full result, bytes", .logarithmic = true}; }

/// A prediction's place on the axes of sizes and of what is read of a time; what was measured too.
struct SizePoints {
  PlotSeries predicted{.name = "predicted"};
  PlotSeries measured{.name = "measured", .look = PlotLook::points};

  void add(Bytes size, Seconds time, const std::optional<MeasuredTime>& seen, const auto& y) {
    if (size > Bytes{} && time > Seconds{}) {
      predicted.points.push_back(point(size, time, y));
      if (seen && seen->time > Seconds{}) {
        measured.points.push_back(point(size, seen->time, y));
      }
    }
  }
  [[nodiscard]] std::vector<PlotSeries> series() && {
    std::vector<PlotSeries> all = {std::move(predicted)};
    if (!measured.points.empty()) {
      all.push_back(std::move(measured));
    }
    return all;
  }

 private:
  static PlotPoint point(Bytes size, Seconds time, const auto& y) {
    const auto value = y(size, time);
    return {.x = size.si(),
            .y = value.si(),
            .words = fmt::format("{}: {}, {}", format(size), format(time), format(value))};
  }
};

Plot bandwidth_plot(const std::string& title, const std::string& of, SizePoints points) {
  return {
      .title = title + " bandwidth over sizes",
      .note = "",
      .chart = PlotPlane{.x = size_axis(),
                         .y = {.label = of + " bandwidth, GB/s", .scale = 1e-9, .from_zero = true},
                         .series = std::move(points).series()}};
}

Plot candidates_plot(const CollectiveResult& result) {
  PlotBars bars{.axis = {}, .parts = {{.name = ""}}, .bars = {}};
  std::vector<Candidate> able;
  std::ranges::copy_if(result.answer.candidates,
                       std::back_inserter(able),
                       [](const Candidate& one) { return one.time.has_value(); });
  std::ranges::stable_sort(
      able, [](const Candidate& a, const Candidate& b) { return *a.time < *b.time; });
  Seconds longest;
  for (const Candidate& one : able) {
    const bool taken = one.algorithm == result.answer.algorithm;
    longest = std::max(longest, *one.time);
    bars.bars.push_back({.name = std::string(one.algorithm->name),
                         .values = {one.time->si()},
                         .words = format(*one.time) + (taken ? ", taken" : "")});
  }
  bars.axis = time_axis("closed form", longest);
  return {.title = "What each algorithm would take", .note = "", .chart = std::move(bars)};
}

}  // namespace

std::vector<Plot> collective_plots(const CollectiveDesk& desk,
                                   const std::vector<CollectiveResult>& results) {
  if (results.front().answer.algorithm == nullptr) {
    return {};
  }
  if (results.size() == 1) {
    return {candidates_plot(results.front())};
  }
  SizePoints points;
  for (const CollectiveResult& result : results) {
    points.add(
        result.query.size, result.answer.time, result.measured, [&](Bytes size, Seconds time) {
          return desk.bus_bandwidth(result.query.collective, size, time);
        });
  }
  return {bandwidth_plot("Bus", "bus", std::move(points))};
}

Figures collective_headline(const CollectiveDesk& desk,
                            const std::vector<CollectiveResult>& results) {
  const CollectiveResult& largest = results.back();
  if (largest.answer.algorithm == nullptr) {
    return {};
  }
  const std::string of = results.size() > 1 ? " of " + format(largest.query.size) : "";
  const Seconds time = largest.answer.time;
  const auto& support = largest.support;
  std::optional<ErrorBar> bar;
  if (support) {
    bar = {support->low * time, support->high * time};
  }
  Figures figures = {{"", format(time) + bar_words(" (", bar, ")"), "time" + of},
                     {"",
                      desk.bus_bandwidth(largest.query.collective, largest.query.size, time),
                      "bus bandwidth" + of},
                     {"", largest.answer.algorithm->name, "algorithm" + of}};
  if (largest.measured) {
    figures.push_back({"",
                       fmt::format("{} (the prediction is off by {:+.1f} %)",
                                   format(largest.measured->time),
                                   100 * (time / largest.measured->time - 1)),
                       "measured" + of});
  }
  return figures;
}

std::vector<Plot> library_plots(const std::vector<LibraryResult>& results) {
  if (results.size() == 1) {
    return {};
  }
  SizePoints points;
  for (const LibraryResult& result : results) {
    points.add(result.size, result.choice.time, result.measured, [](Bytes size, Seconds time) {
      return size / time;
    });
  }
  return {bandwidth_plot("Algorithm", "algorithm", std::move(points))};
}

Figures library_headline(const std::vector<LibraryResult>& results) {
  const LibraryResult& largest = results.back();
  const std::string of = " of " + format(largest.size);
  return {{"", largest.choice.time, "time" + of},
          {"",
           fmt::format("{} (protocol {}, {} channels)",
                       name_of(largest.choice.algorithm),
                       name_of(largest.choice.protocol),
                       largest.choice.channels),
           "algorithm" + of}};
}

std::string tier_name(std::string_view from, std::string_view to) {
  const auto kind = [](std::string_view label) {
    return std::string(label.substr(0, label.find_last_not_of(" 0123456789") + 1));
  };
  return kind(from) + " to " + kind(to);
}

Plot link_plot(const std::vector<LinkTime>& links) {
  struct LinkTier {
    Seconds sum;
    Seconds least;
    Seconds most;
    std::size_t links = 0;
  };
  std::map<std::string, LinkTier> tiers;
  Seconds longest;
  for (const auto& [name, time] : links) {
    LinkTier& tier = tiers[name];
    tier.least = tier.links == 0 ? time : std::min(tier.least, time);
    tier.most = std::max(tier.most, time);
    tier.sum += time;
    ++tier.links;
    longest = std::max(longest, time);
  }
  PlotBars bars{.axis = time_axis("busy", longest), .parts = {{.name = ""}}, .bars = {}};
  for (const auto& [name, tier] : tiers) {
    const Seconds mean = tier.sum / static_cast<double>(tier.links);
    bars.bars.push_back({.name = name,
                         .values = {mean.si()},
                         .words = fmt::format("{} of {} links", format(mean), tier.links),
                         .range = PlotRange{tier.least.si(), tier.most.si()}});
  }
  return {.title = "How long links are busy",
          .note = "Means of those that carry something; the marks are the least and the most.",
          .chart = std::move(bars)};
}

}  // namespace titer
