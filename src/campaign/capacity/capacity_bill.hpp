#pragma once
// The bill of a number of devices that a question of capacity tries.

#include <optional>

#include "titer/campaign/capacity.hpp"

namespace titer {

/// What devices, spares and all that goes on beside them cost while the run goes on for a time.
/// Empty where the devices have no price. REQUIRES prices and a plan.
[[nodiscard]] std::optional<double> running_dollars(const CapacityQuestion& question,
                                                    const CapacityPoint& point,
                                                    Seconds time);
/// For how long that lasts; at most `longest`. REQUIRES prices of the devices, and a plan.
[[nodiscard]] Seconds affordable_time(const CapacityQuestion& question,
                                      const CapacityPoint& point,
                                      double dollars,
                                      Seconds longest);
/// What there is to pay before the run begins: other runs, and what is paid once. REQUIRES prices,
/// and `others` of the point.
[[nodiscard]] double fixed_dollars(const CapacityQuestion& question, const CapacityPoint& point);

/// The bill of the point's time and of all before it, what it is between the times of its spread,
/// and what the devices cost at other prices. REQUIRES prices, a plan, and `fixed_dollars`.
void fill_bill(const CapacityQuestion& question, CapacityPoint& point);

}  // namespace titer
