#pragma once
// An exported step as Chakra execution traces, which ASTRA-sim runs: for each rank a file of
// length-delimited protobuf messages, metadata and then nodes, and one JSON file of the groups.
//
// Attributes have the names and integer widths that ASTRA-sim's feeders look for. An all-gather's
// comm_size is the part of one rank, as ASTRA-sim has it; all others' are the full result. A kernel
// without arithmetic has one operation, so that ASTRA-sim's roofline times its bytes.

#include <string>

#include "titer/export/exported_step.hpp"

namespace titer {

/// Whether the program was built with protobuf.
[[nodiscard]] bool can_write_chakra();
/// The trace of one rank. REQUIRES can_write_chakra().
[[nodiscard]] std::string chakra_trace(const ExportedStep& step, int rank);
/// {"1": [0, 1], …}: the ranks of each group, whose number is the pg_name of its collectives.
[[nodiscard]] std::string chakra_groups(const ExportedStep& step);

}  // namespace titer
