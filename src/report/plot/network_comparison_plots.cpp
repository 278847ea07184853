#include <fmt/format.h>

#include <algorithm>

#include "network_plots.hpp"
#include "step_plots.hpp"
#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"

namespace titer {
namespace {

/// "rails-64 4:1, 10 failed"
std::string network_name(const NetworkStep& one) {
  std::string name = one.topology.empty() ? "one ideal switch" : one.topology;
  if (one.variant.oversubscription) {
    name += fmt::format(" {:g}:1", *one.variant.oversubscription);
  }
  const double failed = one.variant.failed_links.value_or(0);
  if (failed == 0) {
    return name;
  }
  return name + (failed < 1 ? fmt::format(", {:g} % of links failed", 100 * failed)
                            : fmt::format(", {:g} failed", failed));
}

std::vector<const NetworkStep*> answered_of(const std::vector<NetworkStep>& steps) {
  std::vector<const NetworkStep*> answered;
  for (const NetworkStep& one : steps) {
    if (one.step) {
      answered.push_back(&one);
    }
  }
  return answered;
}

}  // namespace

std::vector<Plot> network_comparison_plots(const std::vector<NetworkStep>& steps) {
  const std::vector<const NetworkStep*> answered = answered_of(steps);
  std::vector<Breakdown> parts;
  parts.reserve(answered.size());
  Seconds longest;
  for (const NetworkStep* one : answered) {
    parts.push_back(one->step->breakdown);
    longest = std::max(longest, one->step->iteration_time);
  }
  BreakdownBars drawn = breakdown_bars(parts);
  std::vector<PlotBar> bars;
  bars.reserve(answered.size());
  for (const NetworkStep* one : answered) {
    bars.push_back({.name = network_name(*one),
                    .values = drawn.values[bars.size()],
                    .words = format(one->step->iteration_time)});
  }
  return {{.title = "The step on each network",
           .note = "Communication as far as it is exposed.",
           .chart = PlotBars{.axis = time_axis("iteration time", longest),
                             .parts = std::move(drawn.parts),
                             .bars = std::move(bars)}}};
}

Figures network_comparison_headline(const std::vector<NetworkStep>& steps) {
  const std::vector<const NetworkStep*> answered = answered_of(steps);
  if (answered.empty()) {
    return {};
  }
  const auto [fastest, slowest] = std::minmax_element(
      answered.begin(), answered.end(), [](const NetworkStep* one, const NetworkStep* other) {
        return one->step->iteration_time < other->step->iteration_time;
      });
  const auto words = [](const NetworkStep& one) {
    return fmt::format("{} ({})", format(one.step->iteration_time), network_name(one));
  };
  Figures figures = {{"", words(**fastest), "the fastest"}, {"", words(**slowest), "the slowest"}};
  const auto price = [](const NetworkStep* one) {
    return one->purchase ? one->purchase->dollars_per_port() : 0;
  };
  const auto cheapest = std::ranges::min_element(
      answered,
      [&](const NetworkStep* one, const NetworkStep* other) { return price(one) < price(other); });
  if ((*cheapest)->purchase) {
    figures.push_back({"",
                       fmt::format("{:.0f} dollars a port ({})",
                                   (*cheapest)->purchase->dollars_per_port(),
                                   network_name(**cheapest)),
                       "the cheapest"});
  }
  return figures;
}

}  // namespace titer
