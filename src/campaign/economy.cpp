#include "titer/campaign/economy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "titer/input/read_document.hpp"

namespace titer {
namespace {

constexpr double kHoursOfYear = 8760;
constexpr double kLeastDollars = 1e-6;
constexpr double kMostDollars = 1e9;
constexpr Joules kKilowattHour = Joules::from_si(3.6e6);

std::string read_date(Reader& in) {
  std::string date = in.text("date");
  const bool is_year = date.size() >= 4 && std::all_of(date.begin(), date.begin() + 4, [](char c) {
                         return c >= '0' && c <= '9';
                       });
  if (in.has("date") && !is_year) {
    in.fail("date", "expected when the figures held, such as \"2025-06\"");
  }
  return date;
}

double noted_number(Reader& in, std::string_view key, double most, EvidenceList& evidence) {
  const double value = in.number(key, 0, most);
  if (in.has(key)) {
    evidence.note(in, key, std::string(key));
  }
  return value;
}

DevicePrice read_price(Reader in, const std::string& chip, EvidenceList& evidence) {
  DevicePrice price{.chip = chip};
  const auto note = [&](std::string_view key) {
    evidence.note(in, key, fmt::format("devices.{}.{}", chip, key));
  };
  const auto hourly = in.maybe_number("dollars_per_hour", kLeastDollars, kMostDollars);
  const auto purchase = in.maybe_number("purchase", kLeastDollars, kMostDollars);
  if (hourly.has_value() == purchase.has_value()) {
    in.fail("", "expected either dollars_per_hour or a purchase in dollars with its years");
    static_cast<void>(in.raw("years"));
  } else if (hourly) {
    price.dollars_per_hour = *hourly;
    note("dollars_per_hour");
  } else {
    const double years = in.number("years", 0.1, 100);
    price.dollars_per_hour = *purchase / (years * kHoursOfYear);
    price.rented = false;
    note("purchase");
    if (in.has("years")) {
      note("years");
    }
  }
  in.finish();
  return price;
}

PowerDraw read_draw(Reader in, EvidenceList& evidence) {
  PowerDraw draw;
  draw.idle = noted_number(in, "idle", 1, evidence);
  draw.busy = noted_number(in, "busy", 2, evidence);
  draw.host = in.quantity<Watts>("host");
  draw.pue = in.number("pue", 1, 10);
  for (const std::string_view key : {"host", "pue"}) {
    if (in.has(key)) {
      evidence.note(in, key, std::string(key));
    }
  }
  if (draw.busy < draw.idle) {
    in.fail("busy", fmt::format("expected at least idle, {}", draw.idle));
  }
  in.finish();
  return draw;
}

PowerGrid load_grid(std::string_view name_or_file, const std::filesystem::path& folder) {
  return read_document(load_data(kGridData, name_or_file, folder), read_power_grid);
}

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

PowerGrid read_power_grid(Reader& in) {
  PowerGrid grid{.name = in.text("name")};
  static_cast<void>(in.maybe_text("title"));
  static_cast<void>(read_date(in));
  grid.evidence.read_sources(in);
  grid.grams_co2e_per_kwh = noted_number(in, "grams_co2e_per_kwh", 1e4, grid.evidence);
  grid.dollars_per_kwh = in.maybe_number("dollars_per_kwh", 0, 1e3);
  if (grid.dollars_per_kwh) {
    grid.evidence.note(in, "dollars_per_kwh", "dollars_per_kwh");
  }
  in.finish();
  return grid;
}

Economy read_economy(Reader& in, const std::filesystem::path& folder) {
  Economy economy{.name = in.text("name")};
  economy.title = in.maybe_text("title").value_or(economy.name);
  economy.date = read_date(in);
  economy.evidence.read_sources(in);
  Reader devices = in.object("devices");
  for (const std::string& chip : devices.keys()) {
    economy.devices.push_back(read_price(devices.object(chip), chip, economy.evidence));
  }
  devices.finish();
  economy.draw = read_draw(in.object("power"), economy.evidence);
  const std::string grid = in.text("grid");
  if (!grid.empty()) {
    economy.grid = load_grid(grid, folder);
  }
  in.finish();
  return economy;
}

Economy load_economy(std::string_view name_or_file, std::string_view grid) {
  const Document document = load_data(kPriceData, name_or_file);
  const std::filesystem::path file = document.sources.empty() ? "" : document.sources.front();
  Economy economy =
      read_document(document, [&](Reader& in) { return read_economy(in, file.parent_path()); });
  if (!grid.empty()) {
    economy.grid = load_grid(grid, {});
  }
  return economy;
}

Watts device_power(const Economy& economy, const Chip& chip, double utilisation) {
  const auto power = known_power(economy, chip, utilisation);
  if (!power) {
    throw InputError(power_gap(economy, chip));
  }
  return *power;
}

const DevicePrice* known_price(const Economy& economy, const Chip& chip) {
  const auto found =
      std::find_if(economy.devices.begin(), economy.devices.end(), [&](const DevicePrice& price) {
        return price.chip == chip.name;
      });
  return found == economy.devices.end() ? nullptr : &*found;
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
  } else if (!known_price(economy, chip)->rented && !economy.grid.dollars_per_kwh) {
    gaps.push_back({BillGap::Figure::price,
                    fmt::format("{}: dollars_per_kwh: missing; {} is bought, so that its "
                                "electricity is paid for",
                                economy.grid.name,
                                chip.name)});
  } else if (!known_price(economy, chip)->rented && !no_power.empty()) {
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
                     std::int64_t devices,
                     Seconds busy,
                     double utilisation) {
  KnownBill known;
  double kilowatt_hours = 0;
  if (const auto power = known_power(economy, chip, utilisation)) {
    known.energy = *power * (static_cast<double>(devices) * busy);
    kilowatt_hours = *known.energy / kKilowattHour;
    known.kilograms_co2e = kilowatt_hours * economy.grid.grams_co2e_per_kwh / 1000;
  }
  if (const DevicePrice* price = known_price(economy, chip)) {
    const double dollars = static_cast<double>(devices) * (busy / kHour) * price->dollars_per_hour;
    if (price->rented) {
      known.dollars = dollars;
    } else if (known.energy && economy.grid.dollars_per_kwh) {
      known.dollars = dollars + kilowatt_hours * *economy.grid.dollars_per_kwh;
    }
  }
  return known;
}

Bill bill(const Economy& economy,
          const Chip& chip,
          std::int64_t devices,
          Seconds busy,
          double utilisation) {
  const KnownBill known = known_bill(economy, chip, devices, busy, utilisation);
  if (!known.dollars || !known.energy) {
    throw InputError(bill_gaps(economy, chip).front().reason);
  }
  return {
      .dollars = *known.dollars, .energy = *known.energy, .kilograms_co2e = *known.kilograms_co2e};
}

double computing_share(const StepResult& result) {
  const Breakdown& parts = result.breakdown;
  return (parts.forward + parts.backward + parts.recompute + parts.optimizer) /
         result.iteration_time;
}

}  // namespace titer
