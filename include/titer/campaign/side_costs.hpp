#pragma once
// What a training run costs beside the hours of its devices, what runs beside it on the same
// devices, and what these cost at other prices.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"
#include "titer/input/fields.hpp"

namespace titer {

inline constexpr Seconds kMonth = Seconds::from_si(30 * 86400.0);

/// Dollars beside those of devices.
struct SideCosts {
  double staff = 0;              // in a month
  double network = 0;            // likewise: lines out of the site, and what goes over them
  double storage = 0;            // for a terabyte (1e12 bytes) that is kept for a month
  Bytes stored;                  // beside checkpoints: data, logs
  std::int64_t checkpoints = 0;  // kept at the same time
  double once = 0;               // licences, moving the data in and out

  [[nodiscard]] double stored_in_a_month(Bytes checkpoint) const;  // dollars of it
  friend bool operator==(const SideCosts&, const SideCosts&) = default;
  [[nodiscard]] double in_a_month(Bytes checkpoint) const;  // of all but `once`
};
[[nodiscard]] std::span<const Field<SideCosts>> side_cost_fields();

/// Runs of a kind, on devices of the run that is asked about: ablations, models of other sizes,
/// evaluations.
struct OtherRuns {
  std::string name;
  std::int64_t count = 1;
  std::int64_t devices = 0;  // of one of them
  Seconds time{};            // that one takes
  double utilisation = 0;    // share of the time in which a device computes

  [[nodiscard]] Seconds device_time() const { return static_cast<double>(count * devices) * time; }
};
/// Throws InputError where the scenario does not fit in memory or cannot be trained.
[[nodiscard]] OtherRuns other_runs(std::string name,
                                   std::int64_t count,
                                   double tokens,
                                   const Scenario& scenario,
                                   const Reliability* reliability);

/// From how much use on devices that are bought cost less than rented ones.
struct RentOrBuy {
  double purchase = 0;  // dollars, of all devices
  double years = 0;     // until they are written off
  Seconds use{};        // of all devices

  [[nodiscard]] double share() const;  // of these years; above one: never
};
/// purchase / (an hour's rent - an hour's electricity). Empty where the electricity alone costs
/// more than the rent. `bought_per_hour`: with what is written off in the hour.
[[nodiscard]] std::optional<RentOrBuy> rent_or_buy(const Purchase& purchase,
                                                   std::int64_t devices,
                                                   double rent_per_hour,
                                                   double bought_per_hour);

}  // namespace titer
