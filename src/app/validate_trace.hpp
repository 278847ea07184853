#pragma once
// A measured trace or training log, beside a scenario's prediction where one is named.

#include <optional>
#include <string>
#include <vector>

namespace titer {

struct TraceQuestion {
  std::string file;
  std::string scenario;           // a run file or a shipped name; "" for none
  std::vector<std::string> sets;  // changes to it
  std::optional<int> warm_up;     // lines of a log
  std::string format = "text";
};

/// Prints the answer; the exit code.
[[nodiscard]] int validate_trace(const TraceQuestion& question);

}  // namespace titer
