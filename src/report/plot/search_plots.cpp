#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/step/scenario_words.hpp"
#include "report/study/search_figures.hpp"
#include "study_plots.hpp"
#include "titer/units/text.hpp"
#include "titer/view/plot_axes.hpp"

namespace titer {
namespace {

/// "pipeline 8, tensor 8, data 4": the degrees of a plan.
std::string degrees_text(const Plan& plan) {
  std::string text =
      fmt::format("pipeline {}, tensor {}, data {}", plan.pipeline, plan.tensor, plan.data);
  if (plan.context > 1) {
    text += fmt::format(", context {}", plan.context);
  }
  return plan.expert > 1 ? text + fmt::format(", expert {}", plan.expert) : text;
}

/// REQUIRES a bill.
std::string dollars_text(const FoundPlan& found) {
  return fmt::format("{:.2f} dollars", found.bill->dollars);
}

/// What an objective counts along an axis, as it is read: more of it may be better.
PlotAxis objective_axis(Objective objective, double largest) {
  switch (objective) {
    case Objective::time:
      return time_axis("iteration time", Seconds::from_si(largest));
    case Objective::memory:
      return memory_axis("memory of the fullest device");
    case Objective::mfu:
      return percent_axis("MFU (more is better)");
    case Objective::cost:
      return count_axis("dollars of an iteration", largest);
    case Objective::tokens_per_dollar:
      return count_axis("tokens per dollar (more is better)", largest);
    case Objective::energy:
      return count_axis("energy of an iteration, J", largest);
    case Objective::goodput:
      return count_axis("tokens/s that count (more is better)", largest);
    case Objective::devices:
      break;
  }
  return count_axis("devices", largest);
}

/// Both axes of a picture: an objective, or what else is shown of a plan.
double number_of(const FoundPlan& found, const std::vector<Objective>& objectives, Objective of) {
  const auto at = std::ranges::find(objectives, of);
  if (at != objectives.end()) {
    return std::abs(found.scores[static_cast<std::size_t>(at - objectives.begin())]);
  }
  return of == Objective::memory ? found.result.memory_peak.si() : found.result.iteration_time.si();
}

}  // namespace

std::vector<Plot> search_plots(const Search& search, const SearchAnswer& answer) {
  if (answer.plans.size() < 2) {
    return {};
  }
  const std::vector<Objective>& objectives = search.objectives;
  const bool is_front = objectives.size() > 1;
  const Objective y = objectives.front();
  const Objective x = is_front                 ? objectives[1]
                      : y == Objective::memory ? Objective::time
                                               : Objective::memory;
  PlotSeries series{.name = "plans", .look = PlotLook::points};
  double most_x = 0;
  double most_y = 0;
  for (const FoundPlan& found : answer.plans) {
    PlotPoint point{.x = number_of(found, objectives, x),
                    .y = number_of(found, objectives, y),
                    .words = fmt::format("{}: {}, {} on {} devices, {}",
                                         series.points.size() + 1,
                                         format(found.result.iteration_time),
                                         format(found.result.memory_peak),
                                         found.devices,
                                         degrees_text(found.plan)),
                    .label = std::to_string(series.points.size() + 1)};
    most_x = std::max(most_x, point.x);
    most_y = std::max(most_y, point.y);
    series.points.push_back(std::move(point));
  }
  return {{.title = is_front ? "The Pareto front" : fmt::format("The best plans by {}", name(y)),
           .note = "Numbers are rows of the table.",
           .chart = PlotPlane{.x = objective_axis(x, most_x),
                              .y = objective_axis(y, most_y),
                              .series = {std::move(series)}}}};
}

Figures search_headline(const SearchAnswer& answer) {
  if (answer.plans.empty()) {
    return {};
  }
  const FoundPlan& best = answer.plans.front();
  const StepResult& result = best.result;
  Figures figures = {{"", time_words(result), "iteration time of the best plan"}};
  if (best.bill) {
    figures.push_back({"", dollars_text(best), "what an iteration costs"});
  }
  if (best.scores.size() > 1 && answer.plans.size() > 1) {
    const FoundPlan& last = answer.plans.back();
    figures.push_back({"",
                       fmt::format("{}{} (on {} devices)",
                                   format(last.result.iteration_time),
                                   last.bill ? ", " + dollars_text(last) : "",
                                   last.devices),
                       "the other end of the front"});
  }
  return joined(
      figures,
      {{"", degrees_text(best.plan), "the best plan"},
       {"", Datum(result.mfu, kPercent), "MFU (full attention)"},
       {"",
        fmt::format("{} (of {})", format(result.memory_peak), format(result.memory_capacity)),
        "memory of the fullest device"},
       {"", best.devices, "devices"}});
}

}  // namespace titer
