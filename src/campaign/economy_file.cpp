// Reading prices and grids.

#include <fmt/format.h>

#include <filesystem>

#include "titer/campaign/economy.hpp"
#include "titer/campaign/file_schemas.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/input/read_document.hpp"

namespace titer {
namespace {

/// When the figures held.
template <auto Member, class T>
constexpr Field<T> date() {
  return fields::text<Member, T>("date", "when the figures held, such as `2025-06`")
      .needed()
      .read_by([](const Field<T>& own, Reader& in, T& object) {
        std::string date = in.text(own.key);
        if (in.has(own.key) && !is_date(date)) {
          in.fail(own.key, "expected when the figures held, such as \"2025-06\"");
        }
        object.*Member = std::move(date);
      });
}

/// A price as its file has it.
struct WrittenPrice {
  std::optional<double> dollars_per_hour{};
  std::optional<double> rent_per_hour{};
  std::optional<double> purchase{};
  std::optional<double> years{};
  std::optional<Seconds> commitment{};
  std::optional<Seconds> spot_lifetime{};
  std::optional<Seconds> spot_replacement{};
};
constexpr Range kDollars = {1e-6, 1e9};
constexpr Range kPriceRange = {1e-6, 1e12};
constexpr Range kYears = {0.1, 100};
constexpr std::array kPriceFields = {
    fields::number<&WrittenPrice::dollars_per_hour>(
        "dollars_per_hour", kDollars, "rent of one with its share of server and network"),
    fields::number<&WrittenPrice::rent_per_hour>(
        "rent_per_hour", kPriceRange, "the same in the file's currency"),
    fields::number<&WrittenPrice::purchase>(
        "purchase",
        kPriceRange,
        "in place of rent: what one with its share costs, in the file's currency"),
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

constexpr std::array<std::string_view, 5> kOfRent = {
    "dollars_per_hour", "rent_per_hour", "commitment", "spot_lifetime", "spot_replacement"};

void read_rent(Reader& in, const WrittenPrice& written, double rate, DevicePrice& price) {
  price.dollars_per_hour = written.dollars_per_hour ? *written.dollars_per_hour
                                                    : rate * written.rent_per_hour.value_or(0);
  price.commitment = written.commitment.value_or(Seconds{});
  if (in.has("spot_lifetime") != in.has("spot_replacement") || written.spot_lifetime == Seconds{}) {
    in.fail("",
            "expected both spot_lifetime, above zero, and spot_replacement, such as \"5 d\" and "
            "\"20 min\"");
  } else if (written.spot_lifetime && written.spot_replacement) {
    price.spot = {.lifetime = *written.spot_lifetime, .replacement = *written.spot_replacement};
  }
  if (in.has("years")) {
    in.fail("years", "expected a purchase that they are of");
  }
}

void read_purchase(Reader& in, const WrittenPrice& written, double rate, DevicePrice& price) {
  const double years = in.has("years") ? written.years.value_or(kYears.least)
                                       : in.number("years", kYears.least, kYears.most);
  const double dollars = rate * written.purchase.value_or(0);
  price.dollars_per_hour = dollars / (years * kHoursOfYear);
  price.purchase = {.dollars = dollars, .years = years};
  for (const std::string_view key : kOfRent) {
    if (in.has(key)) {
      in.fail(key, "expected rent that it is of");
    }
  }
}

/// `rate`: dollars for one of the file's currency.
DevicePrice read_price(Reader in, const std::string& chip, double rate, EvidenceList& evidence) {
  DevicePrice price{.chip = chip};
  WrittenPrice written;
  read_fields<WrittenPrice>(kPriceFields, in, written);
  // Of what is there, right or not: what is wrong with a figure is said already.
  const int ways = (in.has("dollars_per_hour") ? 1 : 0) + (in.has("rent_per_hour") ? 1 : 0) +
                   (in.has("purchase") ? 1 : 0);
  if (ways != 1) {
    in.fail("",
            "expected either dollars_per_hour, or rent_per_hour or a purchase with its years in "
            "the file's currency");
    return price;
  }
  in.has("purchase") ? read_purchase(in, written, rate, price)
                     : read_rent(in, written, rate, price);
  for (const Field<WrittenPrice>& field : kPriceFields) {
    if (in.has(field.key)) {
      evidence.note(in, field.key, fmt::format("devices.{}.{}", chip, field.key));
    }
  }
  return price;
}

constexpr std::array kDrawFields = {
    fields::figure<&PowerDraw::idle>("idle", {0, 1}, "share of the rated power of one that waits"),
    fields::figure<&PowerDraw::busy>(
        "busy", {0, 2}, "share of the rated power of one that computes"),
    fields::figure<&PowerDraw::host>("host", "the server's and the network's, by device"),
    fields::figure<&PowerDraw::pue>("pue", {1, 10}, "power of the site over that of its servers")};

/// What of the power is not in a file, and what is taken for it.
std::string assumed_draw(const Value* power) {
  std::string figures;
  for (const Field<PowerDraw>& field : kDrawFields) {
    if (power == nullptr || power->find(field.key) == nullptr) {
      const Value usual = field.write(PowerDraw{});
      figures += fmt::format("{}{} {}",
                             figures.empty() ? "" : ", ",
                             field.key,
                             usual.text.empty() ? to_json(usual, 0) : usual.text);
    }
  }
  return figures.empty() ? "" : "power not in the prices is as shipped prices have it: " + figures;
}

constexpr Range kPartPrice = {0, 1e9};
constexpr std::array kNetworkFields = {
    fields::figure<&NetworkPrices::switch_port>(
        "switch_port", kPartPrice, "a port of a switch, in the file's currency")
        .needed(),
    fields::figure<&NetworkPrices::switch_port_power>("switch_port_power", "what it draws")
        .needed(),
    fields::figure<&NetworkPrices::switch_link>(
        "switch_link", kPartPrice, "a link between switches with what is at both its ends")
        .needed(),
    fields::figure<&NetworkPrices::switch_link_power>("switch_link_power", "what it draws")
        .needed(),
    fields::figure<&NetworkPrices::nic_link>(
        "nic_link", kPartPrice, "likewise a link to a node's network interface, or between two")
        .needed(),
    fields::figure<&NetworkPrices::nic_link_power>("nic_link_power", "what it draws").needed()};

/// In which the amounts of a file are that do not say that they are dollars.
template <class File>
constexpr Field<File> currency_field() {
  return fields::of_schema<File, currency_schema>(
             "currency",
             [](const Field<File>& own, Reader& in, File& file) {
               if (auto currency = read_currency(own.key, in, &file.evidence)) {
                 file.currency = *std::move(currency);
               }
             },
             "of amounts that do not say that they are dollars, with its rate to the dollar: an "
             "object, or as in `EUR=1.08@2026-10`")
      .or_else("dollars");
}

/// Files as they are written: of a grid, and of prices.
struct WrittenGrid : PowerGrid {
  std::string title{};
  std::string date{};
  std::optional<double> price_per_kwh{};
};
constexpr std::array kGridFields = {
    fields::text<&WrittenGrid::name, WrittenGrid>("name", "of the grid").needed(),
    fields::text<&WrittenGrid::title>("title", "the same for people"),
    date<&WrittenGrid::date, WrittenGrid>(),
    fields::sources<&WrittenGrid::evidence, WrittenGrid>(),
    currency_field<WrittenGrid>(),
    fields::figure<&WrittenGrid::grams_co2e_per_kwh, WrittenGrid>(
        "grams_co2e_per_kwh", {0, 1e4}, "carbon of its electricity")
        .needed(),
    fields::figure<&WrittenGrid::dollars_per_kwh, WrittenGrid>(
        "dollars_per_kwh", {0, 1e3}, "price of its electricity, for devices that are bought"),
    fields::figure<&WrittenGrid::price_per_kwh, WrittenGrid>(
        "price_per_kwh", {0, 1e6}, "the same in the file's currency")};

struct WrittenEconomy : Economy {
  std::string grid_name{};
};

void read_prices(const Field<WrittenEconomy>& own, Reader& in, WrittenEconomy& file) {
  Reader devices = in.object(own.key);
  for (const std::string& chip : devices.keys()) {
    file.devices.push_back(
        read_price(devices.object(chip), chip, file.currency.dollars, file.evidence));
  }
  devices.finish();
}

Value prices_schema(const Field<WrittenEconomy>& /*own*/) {
  return Value::make_object()
      .add("type", "object")
      .add("additionalProperties", schema_of<WrittenPrice>(kPriceFields));
}

void read_draw(const Field<WrittenEconomy>& own, Reader& in, WrittenEconomy& file) {
  auto given = in.maybe_object(own.key);
  if (!given) {
    return;
  }
  Reader& power = *given;
  PowerDraw& draw = *file.draw;
  read_noted<PowerDraw>(kDrawFields, power, "", file.evidence, draw);
  // As they are written: what stands in for one that is wrong says nothing of the other.
  const auto written = [&](std::string_view key) {
    const Value* value = power.raw(key);
    value = value != nullptr && value->find("value") != nullptr ? value->find("value") : value;
    return value != nullptr && value->kind == Value::Kind::number ? std::optional(value->number)
                                                                  : std::nullopt;
  };
  const double idle = written("idle").value_or(PowerDraw{}.idle);
  const double busy = written("busy").value_or(PowerDraw{}.busy);
  if (busy < idle) {
    power.fail("busy", fmt::format("expected at least idle, {}", draw.idle));
  }
}

constexpr std::array kEconomyFields = {
    fields::text<&WrittenEconomy::name, WrittenEconomy>("name", "of the prices").needed(),
    fields::text<&WrittenEconomy::title, WrittenEconomy>("title", "the same for people")
        .or_else("its name"),
    date<&WrittenEconomy::date, WrittenEconomy>(),
    fields::sources<&WrittenEconomy::evidence, WrittenEconomy>(),
    currency_field<WrittenEconomy>(),
    fields::special<WrittenEconomy>("devices", {read_prices, prices_schema, nullptr}, "by chip")
        .needed(),
    fields::special<WrittenEconomy>(
        "power",
        {read_draw,
         [](const Field<WrittenEconomy>& /*own*/) { return schema_of<PowerDraw>(kDrawFields); },
         nullptr},
        "what a device draws while it trains")
        .or_else("as its keys are"),
    fields::part<&WrittenEconomy::network,
                 kNetworkFields,
                 &WrittenEconomy::evidence,
                 fields::kNoPath,
                 WrittenEconomy>(
        "network", "what networks cost to buy and draw, for each 100 Gbps of one direction")
        .or_else("not known"),
    fields::text<&WrittenEconomy::grid_name, WrittenEconomy>("grid",
                                                             "one of `titer list grids`, or a file")
        .needed()
        .read_by([](const Field<WrittenEconomy>& own, Reader& in, WrittenEconomy& file) {
          if (in.has(own.key)) {
            file.grid_name = in.text(own.key);
          } else {
            in.fail(own.key,
                    "missing; expected where the electricity comes from: one of `titer list "
                    "grids`, such as \"united-states\", or a file");
          }
        })};

PowerGrid load_grid(std::string_view name_or_file, const std::filesystem::path& folder) {
  return read_document(load_data(kGridData, name_or_file, folder), read_power_grid);
}

}  // namespace

Value grid_schema() { return schema_of<WrittenGrid>(kGridFields); }

PowerGrid read_power_grid(Reader& in) {
  WrittenGrid grid;
  read_noted<WrittenGrid>(kGridFields, in, "", grid.evidence, grid);
  if (grid.price_per_kwh) {
    if (grid.dollars_per_kwh) {
      in.fail("price_per_kwh", "expected either this or dollars_per_kwh");
    }
    grid.dollars_per_kwh = grid.currency.dollars * *grid.price_per_kwh;
  }
  return static_cast<PowerGrid&&>(grid);  // but for what only the file has
}

Value price_schema() { return schema_of<WrittenEconomy>(kEconomyFields); }

Economy read_economy(Reader& in, const std::filesystem::path& folder) {
  WrittenEconomy file;
  file.draw.emplace();
  read_noted<WrittenEconomy>(kEconomyFields, in, "", file.evidence, file);
  file.assumed = assumed_draw(in.raw("power"));
  if (file.title.empty()) {
    file.title = file.name;
  }
  if (!file.grid_name.empty()) {
    file.grid = load_grid(file.grid_name, folder);
  }
  if (file.network) {
    for (double* price :
         {&file.network->switch_port, &file.network->switch_link, &file.network->nic_link}) {
      *price *= file.currency.dollars;
    }
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
  demand_one_rate(economy.currency, economy.grid.name, economy.grid.currency);
  return economy;
}

}  // namespace titer
