#pragma once
// Schedules that are asked for by name on the command line, with a shape and durations of their
// own.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/report/step/schedule_report.hpp"

namespace CLI {
class App;
}

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

  void add_to(CLI::App& app);
  /// Each by itself, in the order of the names.
  [[nodiscard]] std::vector<ScheduleView> executed() const;
};

/// Refuses a number on the command line that is not within its bounds.
void check_range(std::string_view option, int value, int least, int most);
void check_range(std::string_view option, double value, double least, double most);

}  // namespace titer
