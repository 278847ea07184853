#include "titer/campaign/side_costs.hpp"

#include <fmt/format.h>

#include "titer/estimate/model_state.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

constexpr Bytes kTerabyte = Bytes::from_si(1e12);
constexpr Range kAmountOfDollars = {0, 1e12};

using Costs = SideCosts;
constexpr std::array kSideCostFields = {
    fields::number<&Costs::staff>("staff", kAmountOfDollars, "dollars in a month (of 30 days)")
        .or_else("0"),
    fields::number<&Costs::network>(
        "network", kAmountOfDollars, "likewise, of lines out of the site and what goes over them")
        .or_else("0"),
    fields::number<&Costs::storage>(
        "storage", kAmountOfDollars, "dollars for a terabyte (1e12 bytes) that is kept for a month")
        .or_else("0"),
    fields::quantity<&Costs::stored>("stored", "kept beside checkpoints, such as `500 TB`")
        .or_else("nothing"),
    fields::integer<&Costs::checkpoints>(
        "checkpoints", {0, 1e6}, "how many are kept at the same time")
        .or_else("0"),
    fields::number<&Costs::once>(
        "once", kAmountOfDollars, "dollars once: licences, moving data in and out")
        .or_else("0")};

}  // namespace

std::span<const Field<SideCosts>> side_cost_fields() { return kSideCostFields; }

double SideCosts::stored_in_a_month(Bytes checkpoint) const {
  return storage * ((stored + static_cast<double>(checkpoints) * checkpoint) / kTerabyte);
}

double SideCosts::in_a_month(Bytes checkpoint) const {
  return staff + network + stored_in_a_month(checkpoint);
}

OtherRuns other_runs(std::string name,
                     std::int64_t count,
                     double tokens,
                     const Scenario& scenario,
                     const Reliability* reliability) {
  Estimator estimator;
  StepResult step;
  evaluate(scenario, Fidelity::closed, estimator, step);
  if (!step.fits()) {
    throw InputError(fmt::format("{}: {}", name, memory_sentence(step)));
  }
  const double useful =
      reliability == nullptr ? 1 : goodput(*reliability, scenario, step.iteration_time).fraction;
  if (!(useful > 0)) {
    throw InputError(fmt::format("{}: fails faster than it starts again", name));
  }
  return {.name = std::move(name),
          .count = count,
          .devices = scenario.plan.devices(),
          .time = Seconds::from_si(tokens / (step.tokens_per_s * useful)),
          .utilisation = computing_share(step) * useful};
}

double RentOrBuy::share() const { return (use / kHour) / (years * kHoursOfYear); }

std::optional<RentOrBuy> rent_or_buy(const Purchase& purchase,
                                     std::int64_t devices,
                                     double rent_per_hour,
                                     double bought_per_hour) {
  const double all = static_cast<double>(devices) * purchase.dollars;
  const double electricity = bought_per_hour - all / (purchase.years * kHoursOfYear);
  if (rent_per_hour <= electricity) {
    return std::nullopt;
  }
  return RentOrBuy{
      .purchase = all, .years = purchase.years, .use = all / (rent_per_hour - electricity) * kHour};
}

}  // namespace titer
