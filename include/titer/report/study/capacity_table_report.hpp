#pragma once
// Models on clusters by deadlines, as they are read.

#include <vector>

#include "titer/campaign/capacity_table.hpp"
#include "titer/view/view.hpp"

namespace titer {

/// What was made of the rows: their order, and which of them are left.
struct TableOrder {
  RowOrder by = RowOrder::as_asked;
  BestOf best_of = BestOf::all;
};

/// A row for each case. REQUIRES rows.
[[nodiscard]] View capacity_table_view(const CapacityTable& table,
                                       const std::vector<CapacityRow>& rows,
                                       const TableOrder& order);

}  // namespace titer
