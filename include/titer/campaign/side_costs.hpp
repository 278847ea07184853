#pragma once
// What a training run costs beside the hours of its devices, what runs beside it on the same
// devices, and what these cost at other prices.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "titer/campaign/economy.hpp"
#include "titer/campaign/goodput.hpp"

namespace titer {

inline constexpr Seconds kMonth = 30 * kDay;

/// Money beside that for devices.
struct SideCosts {
  double staff = 0;                  // in a month
  double network = 0;                // likewise: lines out of the site
  double storage = 0;                // for a terabyte (1e12 bytes) that is kept for a month
  Bytes stored{};                    // beside checkpoints: data, logs
  std::int64_t checkpoints = 0;      // kept at the same time
  double egress = 0;                 // for a gigabyte (1e9 bytes) that leaves the site
  Bytes moved_out{};                 // in the whole time, beside checkpoints
  std::int64_t checkpoints_out = 0;  // likewise
  std::optional<Seconds> checkpoint_out_every{};  // beside these: each time a copy goes elsewhere
  double once = 0;                                // licences, setting up

  friend bool operator==(const SideCosts&, const SideCosts&) = default;
  [[nodiscard]] double stored_in_a_month(Bytes checkpoint) const;  // what that costs
  [[nodiscard]] Bytes out_in_a_month(Bytes checkpoint) const;      // leaves the site
  [[nodiscard]] Bytes out_once(Bytes checkpoint) const;
  [[nodiscard]] double egress_of(Bytes bytes) const;
  [[nodiscard]] double in_a_month(Bytes checkpoint) const;  // all that goes on
  [[nodiscard]] double paid_once(Bytes checkpoint) const;
  /// With all prices times that, as in another currency.
  [[nodiscard]] SideCosts times(double rate) const;
};
[[nodiscard]] std::span<const Field<SideCosts>> side_cost_fields();

/// By what share prices rise in a year (or fall, below zero), year upon year, from the date of
/// their list on.
struct Escalation {
  double rent = 0;         // of devices; what is reserved keeps the price that it begins with
  double electricity = 0;  // of devices that are bought
  double costs = 0;        // what is paid beside devices in a month
  Seconds begins{};        // after that date, with the first run

  friend bool operator==(const Escalation&, const Escalation&) = default;
};
[[nodiscard]] std::span<const Field<Escalation>> escalation_fields();

/// A time of a campaign, from the beginning of its first run.
struct CampaignTime {
  Seconds from{};
  Seconds to{};
};
/// A price in this time over what it is in its list, on average:
///   ((1 + g)^b - (1 + g)^a) / ((b - a) ln(1 + g)),   a, b: years after the date of the list
[[nodiscard]] double mean_growth(double yearly, const Escalation& all, CampaignTime time);

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
