#pragma once
// This process among those that share its work, and its part of the machine.

#include <string>

#include "titer/sweep/partition.hpp"

namespace titer {

/// What the environment says of this process; the shard as `option`, "3/64", where it is given.
[[nodiscard]] Launch this_process(const std::string& option);

/// As many threads as the user wants, or, for 0, as the process has cores.
[[nodiscard]] unsigned threads_or_usual(unsigned wanted, const Launch& launch);

}  // namespace titer
