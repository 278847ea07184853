#include "search_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace titer {
namespace {

bool always(const FoundPlan& /*found*/) { return true; }
bool has_bill(const FoundPlan& found) { return found.bill.has_value(); }
double tokens_per_dollar(const FoundPlan& found) {
  const double tokens = found.result.tokens_per_s * found.result.iteration_time.si();
  return found.bill ? tokens / found.bill->dollars : 0;
}

constexpr std::array<FoundFigure, 10> kFoundFigures = {{
    {"time",
     "",
     always,
     [](const FoundPlan& found) { return format(found.result.iteration_time); },
     [](const FoundPlan& found) { return found.result.iteration_time.si(); }},
    {"refined",
     "refined_iteration_time_s",
     [](const FoundPlan& found) { return found.refined.has_value(); },
     [](const FoundPlan& found) { return found.refined ? format(*found.refined) : "-"; },
     [](const FoundPlan& found) { return found.refined ? found.refined->si() : 0; }},
    {"tokens/s",
     "",
     always,
     [](const FoundPlan& found) { return fmt::format("{:.0f}", found.result.tokens_per_s); },
     [](const FoundPlan& found) { return found.result.tokens_per_s; }},
    {"MFU",
     "",
     always,
     [](const FoundPlan& found) { return fmt::format("{:.1f} %", 100 * found.result.mfu); },
     [](const FoundPlan& found) { return found.result.mfu; }},
    {"causal MFU",
     "",
     always,
     [](const FoundPlan& found) { return fmt::format("{:.1f} %", 100 * found.result.mfu_causal); },
     [](const FoundPlan& found) { return found.result.mfu_causal; }},
    {"memory",
     "",
     always,
     [](const FoundPlan& found) { return format(found.result.memory_peak); },
     [](const FoundPlan& found) { return found.result.memory_peak.si(); }},
    {"dollars",
     "iteration_dollars",
     has_bill,
     [](const FoundPlan& found) {
       return found.bill ? fmt::format("{:.2f}", found.bill->dollars) : "-";
     },
     [](const FoundPlan& found) { return found.bill ? found.bill->dollars : 0; }},
    {"tokens/dollar",
     "tokens_per_dollar",
     has_bill,
     [](const FoundPlan& found) { return fmt::format("{:.0f}", tokens_per_dollar(found)); },
     tokens_per_dollar},
    {"energy",
     "iteration_energy_j",
     has_bill,
     [](const FoundPlan& found) { return found.bill ? format(found.bill->energy) : "-"; },
     [](const FoundPlan& found) { return found.bill ? found.bill->energy.si() : 0; }},
    {"goodput",
     "goodput_fraction",
     [](const FoundPlan& found) { return found.goodput.has_value(); },
     [](const FoundPlan& found) {
       return found.goodput ? fmt::format("{:.1f} %", 100 * found.goodput->fraction) : "-";
     },
     [](const FoundPlan& found) { return found.goodput ? found.goodput->fraction : 0; }},
}};

}  // namespace

std::span<const FoundFigure> found_figures() { return kFoundFigures; }

std::vector<const FoundFigure*> found_figures(const SearchAnswer& answer) {
  std::vector<const FoundFigure*> list;
  for (const FoundFigure& figure : kFoundFigures) {
    if (std::any_of(answer.plans.begin(), answer.plans.end(), figure.exists)) {
      list.push_back(&figure);
    }
  }
  return list;
}

}  // namespace titer
