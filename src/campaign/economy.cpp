#include "titer/campaign/economy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "titer/campaign/file_schemas.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/input/read_document.hpp"

namespace titer {
namespace {

constexpr Joules kKilowattHour = Joules::from_si(3.6e6);

/// When the figures held.
template <auto Member, class T>
constexpr Field<T> date() {
  return fields::text<Member, T>("date", "when the figures held, such as `2025-06`")
      .needed()
      .read_by([](const Field<T>& own, Reader& in, T& object) {
        std::string date = in.text(own.key);
        const bool is_year =
            date.size() >= 4 && std::all_of(date.begin(), date.begin() + 4, [](char c) {
              return c >= '0' && c <= '9';
            });
        if (in.has(own.key) && !is_year) {
          in.fail(own.key, "expected when the figures held, such as \"2025-06\"");
        }
        object.*Member = std::move(date);
      });
}

/// A price as its file has it.
struct WrittenPrice {
  std::optional<double> dollars_per_hour{};
  std::optional<double> purchase{};
  std::optional<double> years{};
  std::optional<Seconds> commitment{};
  std::optional<Seconds> spot_lifetime{};
  std::optional<Seconds> spot_replacement{};
};
constexpr Range kDollars = {1e-6, 1e9};
constexpr Range kYears = {0.1, 100};
constexpr std::array kPriceFields = {
    fields::number<&WrittenPrice::dollars_per_hour>(
        "dollars_per_hour", kDollars, "rent of one with its share of server and network"),
    fields::number<&WrittenPrice::purchase>(
        "purchase", kDollars, "in place of rent: what one with its share costs, in dollars"),
    fields::number<&WrittenPrice::years>("years", kYears, "of a purchase: until it is written off"),
    fields::quantity<&WrittenPrice::commitment>(
        "commitment", "of rent that is reserved: how long it is paid for at least, used or not")
        .or_else("none"),
    fields::quantity<&WrittenPrice::spot_lifetime>(
        "spot_lifetime",
        "of spot rent: how long a server is kept on average until the cloud takes it back, which "
        "is "
        "a failure; needs a record of failures")
        .or_else("it is kept"),
    fields::quantity<&WrittenPrice::spot_replacement>(
        "spot_replacement", "with that: until another one takes its place")};

constexpr std::array<std::string_view, 4> kOfRent = {
    "dollars_per_hour", "commitment", "spot_lifetime", "spot_replacement"};

void read_rent(Reader& in, const WrittenPrice& written, DevicePrice& price) {
  price.dollars_per_hour = *written.dollars_per_hour;
  price.commitment = written.commitment.value_or(Seconds{});
  if (written.spot_lifetime.has_value() != written.spot_replacement.has_value() ||
      written.spot_lifetime == Seconds{}) {
    in.fail("",
            "expected both spot_lifetime, above zero, and spot_replacement, such as \"5 d\" and "
            "\"20 min\"");
  } else if (written.spot_lifetime) {
    price.spot = {.lifetime = *written.spot_lifetime, .replacement = *written.spot_replacement};
  }
  if (in.has("years")) {
    in.fail("years", "expected a purchase that they are of");
  }
}

void read_purchase(Reader& in, const WrittenPrice& written, DevicePrice& price) {
  const double years = in.number("years", kYears.least, kYears.most);
  price.dollars_per_hour = *written.purchase / (years * kHoursOfYear);
  price.purchase = {.dollars = *written.purchase, .years = years};
  for (const std::string_view key : kOfRent) {
    if (in.has(key)) {
      in.fail(key, "expected rent that it is of");
    }
  }
}

DevicePrice read_price(Reader in, const std::string& chip, EvidenceList& evidence) {
  DevicePrice price{.chip = chip};
  WrittenPrice written;
  read_fields<WrittenPrice>(kPriceFields, in, written);
  if (written.dollars_per_hour.has_value() == written.purchase.has_value()) {
    in.fail("", "expected either dollars_per_hour or a purchase in dollars with its years");
    return price;
  }
  written.purchase ? read_purchase(in, written, price) : read_rent(in, written, price);
  for (const Field<WrittenPrice>& field : kPriceFields) {
    if (in.has(field.key)) {
      evidence.note(in, field.key, fmt::format("devices.{}.{}", chip, field.key));
    }
  }
  return price;
}

constexpr std::array kDrawFields = {
    fields::figure<&PowerDraw::idle>("idle", {0, 1}, "share of the rated power of one that waits")
        .needed(),
    fields::figure<&PowerDraw::busy>(
        "busy", {0, 2}, "share of the rated power of one that computes")
        .needed(),
    fields::figure<&PowerDraw::host>("host", "the server's and the network's, by device").needed(),
    fields::figure<&PowerDraw::pue>("pue", {1, 10}, "power of the site over that of its servers")
        .needed()};

/// Files as they are written: of a grid, and of prices.
struct WrittenGrid : PowerGrid {
  std::string title{};
  std::string date{};
};
constexpr std::array kGridFields = {
    fields::text<&WrittenGrid::name, WrittenGrid>("name", "of the grid").needed(),
    fields::text<&WrittenGrid::title>("title", "the same for people"),
    date<&WrittenGrid::date, WrittenGrid>(),
    fields::sources<&WrittenGrid::evidence, WrittenGrid>(),
    fields::figure<&WrittenGrid::grams_co2e_per_kwh, WrittenGrid>(
        "grams_co2e_per_kwh", {0, 1e4}, "carbon of its electricity")
        .needed(),
    fields::figure<&WrittenGrid::dollars_per_kwh, WrittenGrid>(
        "dollars_per_kwh", {0, 1e3}, "price of its electricity, for devices that are bought")};

struct WrittenEconomy : Economy {
  std::string grid_name{};
};

void read_prices(const Field<WrittenEconomy>& own, Reader& in, WrittenEconomy& file) {
  Reader devices = in.object(own.key);
  for (const std::string& chip : devices.keys()) {
    file.devices.push_back(read_price(devices.object(chip), chip, file.evidence));
  }
  devices.finish();
}

Value prices_schema(const Field<WrittenEconomy>& /*own*/) {
  return Value::make_object()
      .add("type", "object")
      .add("additionalProperties", schema_of<WrittenPrice>(kPriceFields));
}

void read_draw(const Field<WrittenEconomy>& own, Reader& in, WrittenEconomy& file) {
  Reader power = in.object(own.key);
  PowerDraw& draw = file.draw.emplace();
  read_noted<PowerDraw>(kDrawFields, power, "", file.evidence, draw);
  if (draw.busy < draw.idle) {
    power.fail("busy", fmt::format("expected at least idle, {}", draw.idle));
  }
}

constexpr std::array kEconomyFields = {
    fields::text<&WrittenEconomy::name, WrittenEconomy>("name", "of the prices").needed(),
    fields::text<&WrittenEconomy::title, WrittenEconomy>("title", "the same for people")
        .or_else("its name"),
    date<&WrittenEconomy::date, WrittenEconomy>(),
    fields::sources<&WrittenEconomy::evidence, WrittenEconomy>(),
    fields::special<WrittenEconomy>("devices", {read_prices, prices_schema, nullptr}, "by chip")
        .needed(),
    fields::special<WrittenEconomy>(
        "power",
        {read_draw,
         [](const Field<WrittenEconomy>& /*own*/) { return schema_of<PowerDraw>(kDrawFields); },
         nullptr},
        "what a device draws while it trains")
        .needed(),
    fields::text<&WrittenEconomy::grid_name, WrittenEconomy>("grid",
                                                             "one of `titer list grids`, or a file")
        .needed()};

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

Value grid_schema() { return schema_of<WrittenGrid>(kGridFields); }

PowerGrid read_power_grid(Reader& in) {
  WrittenGrid grid;
  read_noted<WrittenGrid>(kGridFields, in, "", grid.evidence, grid);
  return static_cast<PowerGrid&&>(grid);  // but for what only the file has
}

Value price_schema() { return schema_of<WrittenEconomy>(kEconomyFields); }

Economy read_economy(Reader& in, const std::filesystem::path& folder) {
  WrittenEconomy file;
  read_noted<WrittenEconomy>(kEconomyFields, in, "", file.evidence, file);
  if (file.title.empty()) {
    file.title = file.name;
  }
  if (!file.grid_name.empty()) {
    file.grid = load_grid(file.grid_name, folder);
  }
  return static_cast<Economy&&>(file);
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
    if (price->rented()) {
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
