#pragma once
// What a collective takes, as text, CSV and JSON; a sweep over sizes in the columns of nccl-tests.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/plan/collective_query.hpp"

namespace titer {

/// What a curve through measured times says of a size.
struct MeasuredTime {
  Seconds time;
  Grade grade = Grade::fitted;  // extrapolated outside the sizes that were measured
};

/// One answer and what was asked.
struct CollectiveResult {
  CollectiveQuery query;
  CollectiveAnswer answer;
  std::optional<MeasuredTime> measured;
};

/// "16 ranks (8 on each of 2 nodes) of dgx-a100-80gb".
[[nodiscard]] std::string ranks_text(const Cluster& cluster, const CollectiveDesk& desk);

/// "all-reduce of 64 MiB, 16 ranks (8 on each of 2 nodes) of dgx-a100-80gb", the time, bandwidths,
/// and why: the candidates, the busiest link.
[[nodiscard]] std::string collective_text(const Cluster& cluster,
                                          const CollectiveDesk& desk,
                                          const CollectiveResult& result);
/// A table with a row per size.
[[nodiscard]] std::string collective_table(const Cluster& cluster,
                                           const CollectiveDesk& desk,
                                           const std::vector<CollectiveResult>& results);
[[nodiscard]] std::string collective_csv(const CollectiveDesk& desk,
                                         const std::vector<CollectiveResult>& results);
[[nodiscard]] Value collective_json(const Cluster& cluster,
                                    const CollectiveDesk& desk,
                                    const std::vector<CollectiveResult>& results);

}  // namespace titer
