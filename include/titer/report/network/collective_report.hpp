#pragma once
// What a collective takes, as it is read; many sizes in the columns of nccl-tests.

#include <optional>
#include <string>
#include <vector>

#include "titer/measured/collective/collective_support.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// Of a size that was measured, or what a curve through others says of it.
struct MeasuredTime {
  Seconds time;
  std::string_view grade = "measured";  // of a curve: fitted, or extrapolated outside of its sizes
};

/// One answer and what was asked.
struct CollectiveResult {
  CollectiveQuery query;
  CollectiveAnswer answer;
  std::optional<MeasuredTime> measured;
  std::optional<CollectiveSupport> support = {};  // public timings of the same
};

/// "16 ranks (8 on each of 2 nodes) of dgx-a100-80gb".
[[nodiscard]] std::string ranks_text(const Cluster& cluster, const CollectiveDesk& desk);

/// `of_sizes`: people read a table with a row per size, not all that there is to say of one.
[[nodiscard]] View collective_view(const Cluster& cluster,
                                   const CollectiveDesk& desk,
                                   const std::vector<CollectiveResult>& results,
                                   bool of_sizes);

}  // namespace titer
