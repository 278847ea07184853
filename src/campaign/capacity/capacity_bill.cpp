#include "capacity_bill.hpp"

#include <algorithm>

#include "titer/estimate/model_state.hpp"

namespace titer {
namespace {

constexpr double kMostYears = 1000;

/// What paid devices draw power for: also what is done again.
double utilisation(const CapacityPoint& point) {
  const LostTime& lost = point.goodput.lost;
  const double training = point.goodput.fraction + lost.rework + lost.slow_devices;
  return computing_share(point.planned.step) * std::min(1.0, training);
}

/// Two figures of which one may not be known.
template <class Figure>
std::optional<Figure> sum_of(const std::optional<Figure>& a, const std::optional<Figure>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

KnownBill sum_of(const KnownBill& a, const KnownBill& b) {
  return {.dollars = sum_of(a.dollars, b.dollars),
          .energy = sum_of(a.energy, b.energy),
          .kilograms_co2e = sum_of(a.kilograms_co2e, b.kilograms_co2e)};
}

/// What prices of devices become in a time of the campaign.
PriceGrowth price_growth(const CapacityQuestion& question,
                         const Economy& economy,
                         CampaignTime time) {
  const Escalation& all = question.escalation;
  const DevicePrice* price = known_price(economy, question.scenario.cluster.chip);
  const bool is_reserved = price != nullptr && price->commitment > Seconds{};
  return {.rent = mean_growth(all.rent, all, is_reserved ? CampaignTime{} : time),
          .electricity = mean_growth(all.electricity, all, time)};
}

/// From the end of other runs on.
CampaignTime own_time(const CapacityPoint& point, Seconds time) {
  return {.from = point.others, .to = point.others + time};
}

/// The point's devices and spares in the run that is asked about.
KnownBill bill_of(const CapacityQuestion& question,
                  const CapacityPoint& point,
                  const Economy& economy,
                  Seconds time) {
  const Chip& chip = point.planned.scenario->cluster.chip;
  const PriceGrowth growth = price_growth(question, economy, own_time(point, time));
  return sum_of(known_bill(economy, chip, {point.devices, time}, utilisation(point), growth),
                known_bill(economy, chip, {point.spare_devices, time}, 0, growth));
}

/// Those of all other runs.
KnownBill other_bill(const CapacityQuestion& question,
                     const CapacityPoint& point,
                     const Economy& economy) {
  const Chip& chip = question.scenario.cluster.chip;
  const PriceGrowth growth = price_growth(question, economy, {.to = point.others});
  KnownBill all{.dollars = 0, .energy = Joules{}, .kilograms_co2e = 0};
  for (const OtherRuns& runs : question.other_runs) {
    all = sum_of(all, known_bill(economy, chip, {1, runs.device_time()}, runs.utilisation, growth));
  }
  return all;
}

/// What is stored of a run at one time.
Bytes checkpoint_of(const CapacityPoint& point) {
  return model_state(*point.planned.scenario).total();
}

double side_dollars(const CapacityQuestion& question,
                    const CapacityPoint& point,
                    CampaignTime time) {
  return question.side_costs ? question.side_costs->in_a_month(checkpoint_of(point)) *
                                   ((time.to - time.from) / kMonth) *
                                   mean_growth(question.escalation.costs, question.escalation, time)
                             : 0;
}
double dollars_once(const CapacityQuestion& question, const CapacityPoint& point) {
  return question.side_costs ? question.side_costs->paid_once(checkpoint_of(point)) : 0;
}

/// For the rest of a commitment, at the price that it begins with.
double dollars_unused(const CapacityQuestion& question,
                      const CapacityPoint& point,
                      const Economy& economy,
                      Seconds time) {
  return unused_dollars(economy,
                        question.scenario.cluster.chip,
                        point.devices + point.spare_devices,
                        point.others + time) *
         price_growth(question, economy, {}).rent;
}

/// Of all that there is to pay, were the run this long.
std::optional<double> whole_dollars(const CapacityQuestion& question,
                                    const CapacityPoint& point,
                                    Seconds time) {
  const auto running = running_dollars(question, point, time);
  return running ? std::optional(*running + point.fixed_dollars +
                                 dollars_unused(question, point, *question.economy, time))
                 : std::nullopt;
}

OtherBill bill_against(const CapacityQuestion& question, const CapacityPoint& point) {
  const auto devices_dollars = [&](const Economy& economy, Seconds time) {
    return bill_of(question, point, economy, time).dollars;
  };
  const Chip& chip = point.planned.scenario->cluster.chip;
  OtherBill bill{.dollars = sum_of(devices_dollars(*question.against, point.time),
                                   other_bill(question, point, *question.against).dollars)};
  if (bill.dollars) {
    *bill.dollars += dollars_unused(question, point, *question.against, point.time);
  }
  const DevicePrice* ours = known_price(*question.economy, chip);
  const DevicePrice* theirs = known_price(*question.against, chip);
  if (ours == nullptr || theirs == nullptr || ours->rented() == theirs->rented()) {
    return bill;
  }
  const bool is_ours_rented = ours->rented();
  const auto rent = devices_dollars(is_ours_rented ? *question.economy : *question.against, kHour);
  const auto bought =
      devices_dollars(is_ours_rented ? *question.against : *question.economy, kHour);
  if (rent && bought) {
    bill.rent_or_buy = rent_or_buy(*(is_ours_rented ? theirs : ours)->purchase,
                                   point.devices + point.spare_devices,
                                   *rent,
                                   *bought);
  }
  return bill;
}

}  // namespace

std::optional<double> running_dollars(const CapacityQuestion& question,
                                      const CapacityPoint& point,
                                      Seconds time) {
  const auto devices = bill_of(question, point, *question.economy, time).dollars;
  return devices ? std::optional(*devices + side_dollars(question, point, own_time(point, time)))
                 : std::nullopt;
}

Seconds affordable_time(const CapacityQuestion& question,
                        const CapacityPoint& point,
                        double dollars,
                        Seconds longest) {
  const auto cost = [&](Seconds time) { return *running_dollars(question, point, time); };
  if (question.escalation == Escalation{}) {
    return std::min(longest, dollars / cost(kDay) * kDay);
  }
  // More time costs more, but prices that fall may come to no more than so much, however long.
  Seconds paid{};
  Seconds above = std::min(longest, Seconds::from_si(kMostYears * kHoursOfYear * kHour.si()));
  if (cost(above) <= dollars) {
    return longest;
  }
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const Seconds between = 0.5 * (paid + above);
    (cost(between) <= dollars ? paid : above) = between;
  }
  return paid;
}

double fixed_dollars(const CapacityQuestion& question, const CapacityPoint& point) {
  return other_bill(question, point, *question.economy).dollars.value_or(0) +
         side_dollars(question, point, {.to = point.others}) + dollars_once(question, point);
}

void fill_bill(const CapacityQuestion& question, CapacityPoint& point) {
  const Economy& economy = *question.economy;
  point.bill =
      sum_of(bill_of(question, point, economy, point.time), other_bill(question, point, economy));
  point.side_dollars =
      side_dollars(question, point, {.to = point.whole_time()}) + dollars_once(question, point);
  point.unused_dollars = dollars_unused(question, point, economy, point.time);
  if (point.bill->dollars) {
    *point.bill->dollars += point.side_dollars + point.unused_dollars;
    if (point.spread) {
      point.dollars_low = whole_dollars(question, point, point.spread->low);
      point.dollars_high = whole_dollars(question, point, point.spread->high);
    }
  }
  if (question.against) {
    point.against = bill_against(question, point);
  }
}

}  // namespace titer
