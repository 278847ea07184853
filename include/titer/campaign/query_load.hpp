#pragma once
// Elastic serving: as many devices as the queries of the moment need.

#include <cstdint>
#include <string>
#include <vector>

#include "titer/units/quantity.hpp"

namespace titer {

struct QueryInterval {
  std::string name;
  double queries = 0;  // at once
  Seconds time;
};

struct QueryLoad {
  double devices_per_query = 1;  // less than one: a device serves several
  std::vector<QueryInterval> intervals;

  /// The least whole number: ceil(queries x devices per query).
  [[nodiscard]] std::int64_t devices(double queries) const;
};

struct QueryIntervalResult {
  QueryInterval interval;
  std::int64_t devices = 0;
  Seconds device_time;
};

struct QueryFleetResult {
  std::vector<QueryIntervalResult> intervals;
  std::int64_t most_devices = 0;
  Seconds time;
  Seconds device_time;

  /// Of a fleet that is always as large as the busiest interval needs.
  [[nodiscard]] Seconds fixed_device_time() const {
    return static_cast<double>(most_devices) * time;
  }
  [[nodiscard]] double average_devices() const { return device_time / time; }
  /// 0 where no devices are needed at all.
  [[nodiscard]] double saved_share() const {
    return most_devices == 0 ? 0 : 1 - device_time / fixed_device_time();
  }
};

[[nodiscard]] QueryFleetResult follow(const QueryLoad& load);

}  // namespace titer
