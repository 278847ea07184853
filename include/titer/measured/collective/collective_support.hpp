#pragma once
// How far off measured collectives are from what is predicted of them.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/input/csv.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// Public timings of a collective on a chip, within nodes or across them, of less than 1 MiB or of
/// more.
struct CollectiveSupport {
  std::string chip;
  std::string collective;
  bool across_nodes = false;
  bool is_large = false;
  std::size_t timings = 0;
  /// Four of five are between these shares of the predicted time.
  double low = 1;
  double high = 1;
};

/// What configs/collectives.csv has, which scripts/update_collectives.py writes. Throws InputError.
[[nodiscard]] std::vector<CollectiveSupport> read_collective_support(const CsvTable& table);
[[nodiscard]] std::vector<CollectiveSupport> shipped_collective_support();

/// Nothing where there are too few.
[[nodiscard]] std::optional<CollectiveSupport> support_of(const std::vector<CollectiveSupport>& all,
                                                          const std::string& chip,
                                                          Collective collective,
                                                          bool across_nodes,
                                                          Bytes size);

}  // namespace titer
