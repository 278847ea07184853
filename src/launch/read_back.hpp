#pragma once
// A file that was written for other software, read again and compared with what was meant.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/import/imported.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// A key that a kind of software is told somewhere else.
struct ToldElsewhere {
  std::string_view path;  // "plan.recompute"
  std::string_view where;
};

/// A line for each key whose value is another in what was read, and changes time or memory:
/// "plan.schedule: zb-v: would be 1f1b". What is told elsewhere is taken as meant.
[[nodiscard]] std::vector<std::string> lost_keys(const Scenario& scenario,
                                                 const ImportedRun& read,
                                                 std::span<const ToldElsewhere> elsewhere);

}  // namespace titer
