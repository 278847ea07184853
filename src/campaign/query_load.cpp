#include "titer/campaign/query_load.hpp"

#include <algorithm>
#include <cmath>

namespace titer {

std::int64_t QueryLoad::devices(double queries) const {
  constexpr double rounding = 1e-12;  // relative; ten queries of 0.1 devices need one
  return static_cast<std::int64_t>(std::ceil(queries * devices_per_query * (1 - rounding)));
}

QueryFleetResult follow(const QueryLoad& load) {
  QueryFleetResult result;
  for (const QueryInterval& interval : load.intervals) {
    const std::int64_t devices = load.devices(interval.queries);
    const Seconds device_time = static_cast<double>(devices) * interval.time;
    result.intervals.push_back(
        {.interval = interval, .devices = devices, .device_time = device_time});
    result.most_devices = std::max(result.most_devices, devices);
    result.time += interval.time;
    result.device_time += device_time;
  }
  return result;
}

}  // namespace titer
