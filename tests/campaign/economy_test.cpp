#include "titer/campaign/economy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "titer/input/read_document.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kYearHours = 365 * 24;

Chip chip_of(const std::string& name, Watts power) {
  Chip chip;
  chip.name = name;
  chip.power = power;
  return chip;
}

PowerDraw draw_of(double idle, double busy, Watts host, double pue) {
  return {.idle = idle, .busy = busy, .host = host, .pue = pue};
}

Economy economy_of(bool rented) {
  Economy economy{.name = "test"};
  economy.devices = {{.chip = "x", .dollars_per_hour = 2.5}};
  if (!rented) {
    economy.devices.front().purchase = {.dollars = 2.5 * 3 * kYearHours, .years = 3};
  }
  economy.draw = draw_of(0.1, 0.9, 300_W, 1.2);
  economy.grid = {.name = "g", .grams_co2e_per_kwh = 400, .dollars_per_kwh = 0.1};
  return economy;
}

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// The problems of a price file in which one text is replaced.
std::vector<std::string> problems_with(std::string_view from, std::string_view to) {
  std::string text = R"({"name": "p", "date": "2025", "sources": {"s": "printed"},
"devices": {"x": {"dollars_per_hour": {"value": 2, "source": "s"}}},
"power": {"idle": 0.1, "busy": 1, "host": "350 W", "pue": 1.1},
"grid": "france"})";
  text.replace(text.find(from), from.size(), to);
  try {
    static_cast<void>(
        read_document(parse_json(text, "p.json"), [](Reader& in) { return read_economy(in); }));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

TEST(Economy, BillsDevicesAndTheirPower) {
  const double u = 0.75;
  const Bill rent = bill(economy_of(true), chip_of("x", 700_W), 16, 7200_s, u);
  const double watts = 1.2 * ((0.1 + 0.8 * u) * 700 + 300);
  const double kilowatt_hours = 16 * watts * 2 / 1000;
  EXPECT_DOUBLE_EQ(rent.dollars, 16 * 2 * 2.5);
  EXPECT_NEAR(rent.energy.si(), kilowatt_hours * 3.6e6, 1);
  EXPECT_NEAR(rent.kilograms_co2e, kilowatt_hours * 400 / 1000, 1e-9);
  const Bill own = bill(economy_of(false), chip_of("x", 700_W), 16, 7200_s, u);
  EXPECT_NEAR(own.dollars, rent.dollars + kilowatt_hours * 0.1, 1e-9);
}

TEST(Economy, NamesTheFigureThatAChipLacks) {
  Economy economy = economy_of(false);
  const auto bill_of = [&](const Chip& chip) {
    return error_of([&] { static_cast<void>(bill(economy, chip, 1, 1_s, 1)); });
  };
  EXPECT_EQ(bill_of(chip_of("y", 1_W)), "test: no price of y: expected one of x");
  Chip without = chip_of("x", 1_W);
  without.power.reset();
  EXPECT_EQ(bill_of(without),
            "cluster.chip.power: missing; the energy of x needs its rated power, such as "
            "\"700 W\"");
  economy.grid.dollars_per_kwh.reset();
  EXPECT_EQ(bill_of(chip_of("x", 1_W)),
            "g: dollars_per_kwh: missing; x is bought, so that its electricity is paid for");
}

TEST(Economy, BillsWhatIsKnown) {
  const auto billed = [](const Economy& economy, const Chip& chip) {
    return known_bill(economy, chip, {16, 7200_s}, 0.75);
  };
  Economy economy = economy_of(true);
  Chip chip = chip_of("x", 700_W);
  EXPECT_TRUE(bill_gaps(economy, chip).empty());
  const Bill whole = bill(economy, chip, 16, 7200_s, 0.75);
  EXPECT_EQ(billed(economy, chip).dollars, whole.dollars);
  EXPECT_EQ(billed(economy, chip).energy, whole.energy);
  EXPECT_EQ(billed(economy, chip).kilograms_co2e, whole.kilograms_co2e);
  // Without a rated power rent is known all the same, what is bought is not.
  chip.power.reset();
  EXPECT_EQ(billed(economy, chip).dollars, whole.dollars);
  EXPECT_FALSE(billed(economy, chip).energy);
  EXPECT_FALSE(billed(economy, chip).kilograms_co2e);
  ASSERT_EQ(bill_gaps(economy, chip).size(), 1u);
  EXPECT_EQ(bill_gaps(economy, chip)[0].figure, BillGap::Figure::power);
  EXPECT_FALSE(billed(economy_of(false), chip).dollars);
  EXPECT_EQ(bill_gaps(economy_of(false), chip).size(), 2u);
  // Without a price the energy is, until there is one.
  chip = chip_of("y", 700_W);
  EXPECT_FALSE(billed(economy, chip).dollars);
  EXPECT_EQ(billed(economy, chip).energy, whole.energy);
  ASSERT_EQ(bill_gaps(economy, chip).size(), 1u);
  EXPECT_EQ(bill_gaps(economy, chip)[0].figure, BillGap::Figure::price);
  set_rent(economy, chip, 3);
  EXPECT_NEAR(*billed(economy, chip).dollars, 16 * 2 * 3, 1e-9);
  economy.draw.reset();
  EXPECT_NEAR(*billed(economy, chip).dollars, 16 * 2 * 3, 1e-9);
  EXPECT_FALSE(billed(economy, chip).energy);
}

TEST(Economy, OfEveryShippedNameIsReadAndSourced) {
  for (const std::string& name : shipped_names(kPriceData)) {
    const Economy economy = load_economy(name);
    EXPECT_EQ(economy.name, name);
    EXPECT_FALSE(economy.devices.empty()) << name;
    for (const Evidence& figure : economy.evidence.figures()) {
      EXPECT_NE(figure.source, "given by the user") << name << ": " << figure.key;
    }
    const std::vector<std::string> chips = shipped_names(kChipData);
    for (const DevicePrice& price : economy.devices) {
      EXPECT_TRUE(std::binary_search(chips.begin(), chips.end(), price.chip)) << price.chip;
    }
  }
  for (const std::string& name : shipped_names(kGridData)) {
    const Economy economy = load_economy("owned-assumed", name);
    EXPECT_EQ(economy.grid.name, name);
    EXPECT_TRUE(economy.grid.dollars_per_kwh);
    EXPECT_EQ(economy.grid.evidence.figures().size(), 2u);
  }
}

TEST(Economy, WritesAPurchaseOffInAStraightLine) {
  const Economy economy = load_economy("owned-assumed");
  const DevicePrice& price = device_price(economy, chip_of("h100-sxm5-80gb", 700_W));
  ASSERT_TRUE(price.purchase);
  EXPECT_EQ(price.purchase->dollars, 45000);
  EXPECT_EQ(price.purchase->years, 4);
  EXPECT_DOUBLE_EQ(price.dollars_per_hour, 45000 / (4 * kYearHours));
}

TEST(Economy, NodePowerIsAsMeasuredOnH100) {
  // At most 8.4 kW of 8 devices; a computationally intensive job 76 % of 10.2 kW on average.
  Economy economy = load_economy("gpu-clouds-2026");
  economy.draw->pue = 1;
  const Chip h100 = chip_of("h100-sxm5-80gb", 700_W);
  const auto power = [&](double utilisation) {
    return (bill(economy, h100, 8, 1_s, utilisation).energy / 1_s).si();
  };
  EXPECT_NEAR(power(1), 8400, 1);
  EXPECT_NEAR(power(0.87), 0.76 * 10200, 100);
}

TEST(Economy, NamesWhatIsWrongInAFile) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(problems_with("2025", "2025-06"), Lines{});
  EXPECT_EQ(problems_with("\"2025\"", "\"soon\""),
            Lines{"p.json:1:23: date: \"soon\": expected when the figures held, such as "
                  "\"2025-06\""});
  EXPECT_EQ(problems_with("\"dollars_per_hour\"", "\"purchase\"").size(), 1u);  // no years
  EXPECT_EQ(problems_with("{\"dollars_per_hour\"", "{\"years\": 4, \"dollars_per_hour\""),
            Lines{"p.json:2:28: devices.x.years: 4: expected a purchase that they are of"});
  EXPECT_EQ(problems_with("{\"dollars_per_hour\": {\"value\": 2, \"source\": \"s\"}}", "{}"),
            Lines{"p.json:2:18: devices.x: expected either dollars_per_hour, or rent_per_hour or a "
                  "purchase with its years in the file's currency"});
  EXPECT_EQ(problems_with("\"busy\": 1", "\"busy\": 0.05"),
            Lines{"p.json:3:32: power.busy: 0.05: expected at least idle, 0.1"});
  EXPECT_EQ(problems_with("\"pue\": 1.1", "\"pue\": 0.9").size(), 1u);
  EXPECT_EQ(problems_with("\"s\": \"printed\"", "\"t\": \"printed\"").size(), 1u);
  EXPECT_EQ(problems_with("france", "frnce"),
            Lines{"frnce: no shipped grid has this name; did you mean \"france\"? (a file is given "
                  "by a path with a slash or ending in .json)"});
}

/// Most who rent know neither the power nor the site: what shipped prices have is taken, and told.
TEST(Economy, TakesThePowerOfShippedPricesWhereAFileHasNone) {
  const auto read = [](std::string_view power) {
    const std::string text = R"({"name": "p", "date": "2025", "grid": "france",)" +
                             std::string(power) + R"("devices": {"x": {"dollars_per_hour": 2}}})";
    return read_document(parse_json(text, "p.json"), [](Reader& in) { return read_economy(in); });
  };
  const Economy shipped = load_economy("cloud-lists-2026");
  EXPECT_EQ(shipped.assumed, "");
  const auto expect_as_shipped = [&](const Economy& economy, double pue) {
    EXPECT_DOUBLE_EQ(economy.draw->idle, shipped.draw->idle);
    EXPECT_DOUBLE_EQ(economy.draw->busy, shipped.draw->busy);
    EXPECT_EQ(economy.draw->host, shipped.draw->host);
    EXPECT_DOUBLE_EQ(economy.draw->pue, pue);
  };
  const Economy without = read("");
  expect_as_shipped(without, shipped.draw->pue);
  EXPECT_EQ(without.assumed,
            "power not in the prices is as shipped prices have it: idle 0.1, busy 1.0, host 350 W, "
            "pue 1.1");
  const Economy some = read(R"("power": {"pue": 1.3},)");
  expect_as_shipped(some, 1.3);
  EXPECT_EQ(some.assumed,
            "power not in the prices is as shipped prices have it: idle 0.1, busy 1.0, host 350 W");
  EXPECT_EQ(problems_with(",\n\"grid\": \"france\"", ""),
            std::vector<std::string>{
                "p.json:1:1: grid: missing; expected where the electricity comes from: one of "
                "`titer list grids`, such as \"united-states\", or a file"});
}

/// What follows from a wrong figure is not said as well.
TEST(Economy, NamesAWrongFigureOnce) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(problems_with("{\"value\": 2, \"source\": \"s\"}", "-2"),
            Lines{"p.json:2:39: devices.x.dollars_per_hour: -2: expected a number from 1e-06 to "
                  "1000000000"});
  const std::string rent = "{\"dollars_per_hour\": {\"value\": 2, \"source\": \"s\"}}";
  for (const char* price :
       {R"({"purchase": 45000, "years": 0})",
        R"({"purchase": "dear", "years": 4})",
        R"({"rent_per_hour": 0})",
        R"({"rent_per_hour": 2, "spot_lifetime": "5", "spot_replacement": "20 min"})"}) {
    EXPECT_EQ(problems_with(rent, price).size(), 1u) << price;
  }
  EXPECT_EQ(problems_with("\"busy\": 1", "\"busy\": 9"),
            Lines{"p.json:3:32: power.busy: 9: expected a number from 0 to 2"});
  EXPECT_EQ(problems_with("\"busy\": 1", "\"busy\": {\"value\": 0.05, \"source\": \"s\"}").size(),
            1u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
