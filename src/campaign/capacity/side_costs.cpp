#include "titer/campaign/side_costs.hpp"

#include <fmt/format.h>

#include <cmath>

#include "capacity_counts.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

constexpr Bytes kTerabyte = Bytes::from_si(1e12);
constexpr Bytes kGigabyte = Bytes::from_si(1e9);
constexpr Range kAmountOfMoney = {0, 1e12};
constexpr Range kNumber = {0, 1e6};

using Costs = SideCosts;
constexpr std::array kSideCostFields = {
    fields::number<&Costs::staff>(
        "staff",
        kAmountOfMoney,
        "in a month (of 30 days), as all prices here in the currency of the answer")
        .or_else("0"),
    fields::number<&Costs::network>(
        "network", kAmountOfMoney, "in a month, of lines out of the site")
        .or_else("0"),
    fields::number<&Costs::storage>(
        "storage", kAmountOfMoney, "of a terabyte (1e12 bytes) that is kept for a month")
        .or_else("0"),
    fields::quantity<&Costs::stored>("stored", "kept beside checkpoints, such as `500 TB`")
        .or_else("nothing"),
    fields::integer<&Costs::checkpoints>(
        "checkpoints", kNumber, "how many are kept at the same time")
        .or_else("0"),
    fields::number<&Costs::egress>(
        "egress", kAmountOfMoney, "of a gigabyte (1e9 bytes) that leaves the site")
        .or_else("0"),
    fields::quantity<&Costs::moved_out>(
        "moved_out", "leaves it in the whole time beside checkpoints, such as `20 TB`")
        .or_else("nothing"),
    fields::integer<&Costs::checkpoints_out>("checkpoints_out", kNumber, "how many leave it")
        .or_else("0"),
    fields::quantity<&Costs::checkpoint_out_every>(
        "checkpoint_out_every",
        "beside these: after how long each time one more leaves it, as `1 d`")
        .or_else("none does"),
    fields::number<&Costs::once>(
        "once", kAmountOfMoney, "paid once: licences, setting up, moving data in")
        .or_else("0")};

constexpr ShareLimit kRise = {{-0.9, 10}, "-90% to 1000%, such as \"5%\""};
using E = Escalation;
constexpr std::array kEscalationFields = {
    share<E, &E::rent, kRise>(
        "rent",
        "by how much a device's rent rises in a year, such as `5%`, or falls, such as `-20%`; what "
        "is reserved keeps the price that it begins with")
        .or_else("0"),
    share<E, &E::electricity, kRise>("electricity", "likewise, for devices that are bought")
        .or_else("0"),
    share<E, &E::costs, kRise>("costs", "likewise, of what is paid beside devices in a month")
        .or_else("0"),
    fields::quantity<&E::begins>("begins",
                                 "how long after the date of the prices the first run does")
        .or_else("then")};

}  // namespace

std::span<const Field<SideCosts>> side_cost_fields() { return kSideCostFields; }

double SideCosts::stored_in_a_month(Bytes checkpoint) const {
  return storage * ((stored + static_cast<double>(checkpoints) * checkpoint) / kTerabyte);
}

Bytes SideCosts::out_in_a_month(Bytes checkpoint) const {
  return checkpoint_out_every ? kMonth / *checkpoint_out_every * checkpoint : Bytes{};
}

Bytes SideCosts::out_once(Bytes checkpoint) const {
  return moved_out + static_cast<double>(checkpoints_out) * checkpoint;
}

double SideCosts::egress_of(Bytes bytes) const { return egress * (bytes / kGigabyte); }

double SideCosts::in_a_month(Bytes checkpoint) const {
  return staff + network + stored_in_a_month(checkpoint) + egress_of(out_in_a_month(checkpoint));
}

double SideCosts::paid_once(Bytes checkpoint) const {
  return once + egress_of(out_once(checkpoint));
}

SideCosts SideCosts::times(double rate) const {
  SideCosts costs = *this;
  for (double* price : {&costs.staff, &costs.network, &costs.storage, &costs.egress, &costs.once}) {
    *price *= rate;
  }
  return costs;
}

std::span<const Field<Escalation>> escalation_fields() { return kEscalationFields; }

double mean_growth(double yearly, const Escalation& all, CampaignTime time) {
  const double in_a_year = std::log1p(yearly);
  const auto years = [](Seconds t) { return t / kHour / kHoursOfYear; };
  const double at_first = std::exp(in_a_year * years(all.begins + time.from));
  const double growth = in_a_year * years(time.to - time.from);
  return growth == 0 ? at_first : at_first * (std::expm1(growth) / growth);
}

OtherRuns other_runs(std::string name,
                     std::int64_t count,
                     double tokens,
                     const Scenario& scenario,
                     const Reliability* reliability) {
  Estimator estimator;
  StepResult step;
  evaluate(scenario, usual_fidelity(scenario), estimator, step);
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
