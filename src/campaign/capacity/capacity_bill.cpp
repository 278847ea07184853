#include "capacity_bill.hpp"

#include <algorithm>

#include "titer/estimate/model_state.hpp"

namespace titer {
namespace {

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

/// The point's devices and spares in the run that is asked about.
KnownBill bill_of(const CapacityPoint& point, const Economy& economy, Seconds time) {
  const Chip& chip = point.planned.scenario->cluster.chip;
  return sum_of(known_bill(economy, chip, point.devices, time, utilisation(point)),
                known_bill(economy, chip, point.spare_devices, time, 0));
}

/// Those of all other runs.
KnownBill other_bill(const CapacityQuestion& question, const Economy& economy) {
  const Chip& chip = question.scenario.cluster.chip;
  KnownBill all{.dollars = 0, .energy = Joules{}, .kilograms_co2e = 0};
  for (const OtherRuns& runs : question.other_runs) {
    all = sum_of(all, known_bill(economy, chip, 1, runs.device_time(), runs.utilisation));
  }
  return all;
}

/// What is stored of a run at one time.
Bytes checkpoint_of(const CapacityPoint& point) {
  return model_state(*point.planned.scenario).total();
}

double side_dollars(const CapacityQuestion& question, const CapacityPoint& point, Seconds time) {
  return question.side_costs
             ? question.side_costs->in_a_month(checkpoint_of(point)) * (time / kMonth)
             : 0;
}
double dollars_once(const CapacityQuestion& question) {
  return question.side_costs ? question.side_costs->once : 0;
}

OtherBill bill_against(const CapacityQuestion& question, const CapacityPoint& point) {
  const auto devices_dollars = [&](const Economy& economy, Seconds time) {
    return bill_of(point, economy, time).dollars;
  };
  const Chip& chip = point.planned.scenario->cluster.chip;
  OtherBill bill{.dollars = sum_of(devices_dollars(*question.against, point.time),
                                   other_bill(question, *question.against).dollars)};
  if (bill.dollars) {
    *bill.dollars += unused_dollars(
        *question.against, chip, point.devices + point.spare_devices, point.whole_time());
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
  const auto devices = bill_of(point, *question.economy, time).dollars;
  return devices ? std::optional(*devices + side_dollars(question, point, time)) : std::nullopt;
}

double fixed_dollars(const CapacityQuestion& question, const CapacityPoint& point) {
  return other_bill(question, *question.economy).dollars.value_or(0) +
         side_dollars(question, point, point.others) + dollars_once(question);
}

void fill_bill(const CapacityQuestion& question, CapacityPoint& point) {
  const Economy& economy = *question.economy;
  point.bill = sum_of(bill_of(point, economy, point.time), other_bill(question, economy));
  point.side_dollars = side_dollars(question, point, point.whole_time()) + dollars_once(question);
  point.unused_dollars = unused_dollars(economy,
                                        question.scenario.cluster.chip,
                                        point.devices + point.spare_devices,
                                        point.whole_time());
  if (point.bill->dollars) {
    *point.bill->dollars += point.side_dollars + point.unused_dollars;
  }
  if (question.against) {
    point.against = bill_against(question, point);
  }
}

}  // namespace titer
