#pragma once
// What devices cost: their price per hour or their purchase, their electricity and its carbon.
// Prices and grids are data with a date (configs/prices, configs/grids).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/campaign/currency.hpp"
#include "titer/campaign/network_price.hpp"
#include "titer/estimate/result.hpp"
#include "titer/hardware/chip.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

inline constexpr DataKind kPriceData = {"price", "configs/prices", {"devices", "power", "grid"}};
inline constexpr DataKind kGridData = {
    "grid", "configs/grids", {"grams_co2e_per_kwh", "grams_co2e_per_kwh", "grams_co2e_per_kwh"}};

/// Electricity where the devices are.
struct PowerGrid {
  std::string name;
  double grams_co2e_per_kwh = 0;
  std::optional<double> dollars_per_kwh{};
  Currency currency{};  // in which its file has that price
  EvidenceList evidence{};
};

inline constexpr double kHoursOfYear = 8760;

struct Purchase {
  double dollars = 0;
  double years = 0;  // until it is written off
};

/// Servers that a cloud takes back: how long one is kept, and until another takes its place.
struct Spot {
  Seconds lifetime{};
  Seconds replacement{};
};

/// An hour of one device with its share of the server and network. A purchase is written off in a
/// straight line, hour by hour, used or not; its electricity is paid beside it. Rent includes it.
struct DevicePrice {
  std::string chip;
  double dollars_per_hour = 0;
  std::optional<Purchase> purchase{};  // none: it is rented
  Seconds commitment{};                // reserved: paid for at least, used or not
  std::optional<Spot> spot{};          // none: servers are kept

  [[nodiscard]] bool rented() const { return !purchase; }
};

/// What a device draws while it trains:
///   P = TDP (idle + (busy - idle) u) + host,   u: the share of the time in which it computes
/// and the site PUE times as much. What a file leaves out is as in those that are shipped, whose
/// sources say why.
struct PowerDraw {
  double idle = 0.1;  // shares of the rated power
  double busy = 1;
  Watts host = Watts::from_si(350);  // the server's other power and the network's, by device
  double pue = 1.1;  // power usage effectiveness: of the site, over that of its servers
};

struct Economy {
  std::string name;
  std::string title{};
  std::string date{};
  Currency currency{};  // in which its file has the prices
  std::vector<DevicePrice> devices{};
  std::optional<PowerDraw> draw{};  // empty: neither power nor grid is known
  PowerGrid grid{};
  std::optional<NetworkPrices> network{};
  std::string assumed{};  // a sentence of what the file does not say; empty: it says all
  EvidenceList evidence{};
};

/// What prices have become since the date of their list, over what they were.
struct PriceGrowth {
  double rent = 1;
  double electricity = 1;  // of devices that are bought
};

struct Bill {
  double dollars = 0;
  Joules energy;  // of the site
  double kilograms_co2e = 0;
};

/// As much of a bill as the figures say.
struct KnownBill {
  std::optional<double> dollars{};
  std::optional<Joules> energy{};
  std::optional<double> kilograms_co2e{};
};

/// A figure that a chip's bill lacks.
struct BillGap {
  enum class Figure { price, power };
  Figure figure = Figure::price;  // which dollars wait for, or energy and carbon
  std::string reason;
};

/// Reads a price file's object; its "grid" is a name or a file, found from `folder`.
[[nodiscard]] Economy read_economy(Reader& in, const std::filesystem::path& folder = {});
/// A shipped name or a file. `grid`: another than the file's. Throws InputError.
[[nodiscard]] Economy load_economy(std::string_view name_or_file, std::string_view grid = {});
[[nodiscard]] PowerGrid read_power_grid(Reader& in);

/// nullptr where the chip has none.
[[nodiscard]] const DevicePrice* known_price(const Economy& economy, const Chip& chip);
/// Throws InputError where the chip has no price, with those that have one.
[[nodiscard]] const DevicePrice& device_price(const Economy& economy, const Chip& chip);
/// What is missing for bills of the chip; empty where nothing is.
[[nodiscard]] std::vector<BillGap> bill_gaps(const Economy& economy, const Chip& chip);
/// Makes or replaces the price of a chip: so much rent for an hour.
void set_rent(Economy& economy, const Chip& chip, double dollars_per_hour);

/// What so many devices cost that are held for a time, `busy`, and compute for the share
/// `utilisation` of it:
///   E = n P t,   dollars = n t price (+ E dollars_per_kwh where they are not rented)
/// Throws InputError where a figure for the chip is missing.
[[nodiscard]] Bill bill(const Economy& economy,
                        const Chip& chip,
                        std::int64_t devices,
                        Seconds busy,
                        double utilisation);

/// Devices, and for how long.
struct DevicesHeld {
  std::int64_t devices = 0;
  Seconds busy{};
};
/// The same with nothing in place of what cannot be said.
[[nodiscard]] KnownBill known_bill(const Economy& economy,
                                   const Chip& chip,
                                   const DevicesHeld& held,
                                   double utilisation,
                                   const PriceGrowth& growth = {});

/// What is paid for the rest of a commitment that so many devices are not held for.
[[nodiscard]] double unused_dollars(const Economy& economy,
                                    const Chip& chip,
                                    std::int64_t devices,
                                    Seconds busy);

/// The share of an iteration in which the device of the reference stage computes.
[[nodiscard]] double computing_share(const StepResult& result);

}  // namespace titer
