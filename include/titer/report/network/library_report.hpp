#pragma once
// What NCCL's tuner would take for a collective, as it is read.

#include <optional>
#include <string>
#include <vector>

#include "titer/collectives/nccl/nccl.hpp"
#include "titer/report/network/collective_report.hpp"

namespace titer {

/// One size and the choice for it.
struct LibraryResult {
  Bytes size;
  NcclChoice choice;
  std::optional<MeasuredTime> measured{};
};

/// One size: the choice, and every pair of algorithm and protocol with its time or why NCCL does
/// not use it. Several: a row each. `what`: "all-reduce, 16 ranks of dgx-a100-80gb".
[[nodiscard]] View library_view(const std::string& what,
                                const NcclSystem& system,
                                const std::vector<LibraryResult>& results);

}  // namespace titer
