#pragma once
// A measured trace or training log, beside a scenario's prediction where one is named.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/output/report_file.hpp"

namespace titer {

struct TraceQuestion {
  std::vector<std::string> files;  // traces of ranks of one run, or one log
  std::string scenario;            // a run file or a shipped name; "" for none
  std::vector<std::string> sets;   // changes to it
  std::optional<int> warm_up;      // lines of a log
  std::string format = "text";
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

/// Prints the answer; the exit code.
[[nodiscard]] int validate_trace(const TraceQuestion& question);

}  // namespace titer
