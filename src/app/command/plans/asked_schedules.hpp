#pragma once
// Schedules that are asked for by name on the command line, with a shape and durations of their
// own.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/ask/option.hpp"
#include "titer/report/step/schedule_report.hpp"

namespace titer {

struct AskedSchedules {
  std::vector<std::string> names;
  int pipeline = 0;
  int micro_batches = 0;
  std::optional<int> virtual_stages;
  std::optional<int> group;
  double forward = 1;
  double input_gradient = 1;
  double weight_gradient = 1;
  std::optional<double> pair;

  /// Each by itself, in the order of the names.
  [[nodiscard]] std::vector<ScheduleView> executed() const;
};

[[nodiscard]] std::span<const Option<AskedSchedules>> schedule_options();

}  // namespace titer
