#pragma once
// What NCCL's tuner would take for a collective, as text, CSV and JSON.

#include <string>
#include <vector>

#include "titer/collectives/nccl.hpp"
#include "titer/input/document.hpp"
#include "titer/report/collective_report.hpp"

namespace titer {

/// One size and the choice for it.
struct LibraryResult {
  Bytes size;
  NcclChoice choice;
  std::optional<MeasuredTime> measured{};
};

/// One size: the choice, and every pair of algorithm and protocol with its time or why NCCL does
/// not use it. Several: a row each. `what`: "all-reduce, 16 ranks of dgx-a100-80gb".
[[nodiscard]] std::string library_text(const std::string& what,
                                       const std::vector<LibraryResult>& results);
[[nodiscard]] std::string library_csv(const std::vector<LibraryResult>& results);
[[nodiscard]] Value library_json(const std::string& what,
                                 const std::vector<LibraryResult>& results);

}  // namespace titer
