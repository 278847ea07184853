#include "titer/campaign/economy.hpp"

#include <fmt/format.h>

#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr Joules kKilowattHour = Joules::from_si(3.6e6);

std::optional<Watts> known_power(const Economy& economy, const Chip& chip, double utilisation) {
  if (!economy.draw || !chip.power) {
    return std::nullopt;
  }
  const PowerDraw& draw = *economy.draw;
  const double share = draw.idle + (draw.busy - draw.idle) * utilisation;
  return draw.pue * (share * *chip.power + draw.host);
}

/// Empty where the power is known.
std::string power_gap(const Economy& economy, const Chip& chip) {
  if (!economy.draw) {
    return "no prices say what power devices draw beside their rated one, and from which grid";
  }
  return chip.power ? ""
                    : fmt::format(
                          "cluster.chip.power: missing; the energy of {} needs its rated "
                          "power, such as \"700 W\"",
                          chip.name);
}

/// Empty where the price is known.
std::string price_gap(const Economy& economy, const Chip& chip) {
  if (known_price(economy, chip) != nullptr) {
    return "";
  }
  std::string known;
  for (const DevicePrice& price : economy.devices) {
    known += (known.empty() ? "" : ", ") + price.chip;
  }
  return fmt::format("{}: no price of {}: expected one of {}",
                     economy.name,
                     chip.name,
                     known.empty() ? "none" : known);
}

}  // namespace

const DevicePrice* known_price(const Economy& economy, const Chip& chip) {
  return first_with(economy.devices, chip.name, &DevicePrice::chip);
}

const DevicePrice& device_price(const Economy& economy, const Chip& chip) {
  const DevicePrice* price = known_price(economy, chip);
  if (price == nullptr) {
    throw InputError(price_gap(economy, chip));
  }
  return *price;
}

std::vector<BillGap> bill_gaps(const Economy& economy, const Chip& chip) {
  std::vector<BillGap> gaps;
  const std::string no_power = power_gap(economy, chip);
  if (std::string no_price = price_gap(economy, chip); !no_price.empty()) {
    gaps.push_back({BillGap::Figure::price, std::move(no_price)});
  } else if (!known_price(economy, chip)->rented() && !economy.grid.dollars_per_kwh) {
    gaps.push_back({BillGap::Figure::price,
                    fmt::format("{}: dollars_per_kwh: missing; {} is bought, so that its "
                                "electricity is paid for",
                                economy.grid.name,
                                chip.name)});
  } else if (!known_price(economy, chip)->rented() && !no_power.empty()) {
    gaps.push_back({BillGap::Figure::price, no_power});
  }
  if (!no_power.empty()) {
    gaps.push_back({BillGap::Figure::power, no_power});
  }
  return gaps;
}

void set_rent(Economy& economy, const Chip& chip, double dollars_per_hour) {
  std::erase_if(economy.devices, [&](const DevicePrice& price) { return price.chip == chip.name; });
  economy.devices.push_back({.chip = chip.name, .dollars_per_hour = dollars_per_hour});
}

KnownBill known_bill(const Economy& economy,
                     const Chip& chip,
                     const DevicesHeld& held,
                     double utilisation,
                     const PriceGrowth& growth) {
  const auto devices = static_cast<double>(held.devices);
  KnownBill known;
  double kilowatt_hours = 0;
  if (const auto power = known_power(economy, chip, utilisation)) {
    known.energy = *power * (devices * held.busy);
    kilowatt_hours = *known.energy / kKilowattHour;
    known.kilograms_co2e = kilowatt_hours * economy.grid.grams_co2e_per_kwh / 1000;
  }
  if (const DevicePrice* price = known_price(economy, chip)) {
    const double dollars = devices * (held.busy / kHour) * price->dollars_per_hour;
    if (price->rented()) {
      known.dollars = dollars * growth.rent;
    } else if (known.energy && economy.grid.dollars_per_kwh) {
      known.dollars = dollars + kilowatt_hours * *economy.grid.dollars_per_kwh * growth.electricity;
    }
  }
  return known;
}

Bill bill(const Economy& economy,
          const Chip& chip,
          std::int64_t devices,
          Seconds busy,
          double utilisation) {
  const KnownBill known = known_bill(economy, chip, {devices, busy}, utilisation);
  if (!known.dollars || !known.energy) {
    throw InputError(bill_gaps(economy, chip).front().reason);
  }
  return {
      .dollars = *known.dollars, .energy = *known.energy, .kilograms_co2e = *known.kilograms_co2e};
}

double unused_dollars(const Economy& economy,
                      const Chip& chip,
                      std::int64_t devices,
                      Seconds busy) {
  const DevicePrice* price = known_price(economy, chip);
  const Seconds unused = price == nullptr ? Seconds{} : price->commitment - busy;
  return unused > Seconds{}
             ? static_cast<double>(devices) * (unused / kHour) * price->dollars_per_hour
             : 0;
}

double computing_share(const StepResult& result) {
  const Breakdown& parts = result.breakdown;
  return (parts.forward + parts.backward + parts.recompute + parts.optimizer) /
         result.iteration_time;
}

}  // namespace titer
