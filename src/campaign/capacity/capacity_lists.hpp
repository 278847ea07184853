#pragma once
// The lists of a table of questions of capacity.

#include <span>
#include <vector>

#include "titer/scenario/source.hpp"

namespace titer {

/// The lists of a table, taken out of its document, and the changes to scenarios.
struct TableLists {
  Document rest;
  std::vector<Assignment> changes;
  std::vector<Value> models{};
  std::vector<Value> clusters{};
  std::vector<Value> stacks{};  // of clusters, as prices, rents and powers are
  std::vector<Value> prices{};
  std::vector<Value> rents{};
  std::vector<Value> powers{};
  std::vector<Value> deadlines{};

  /// Of a list of clusters' own, one for all or that of one; null where there is none.
  [[nodiscard]] static const Value* of_cluster(const std::vector<Value>& list, std::size_t number) {
    return list.empty() ? nullptr : &list[list.size() == 1 ? 0 : number];
  }
};

/// Takes them out. Throws InputError with all that is wrong for every combination alike.
[[nodiscard]] TableLists table_lists(const Document& document, std::span<const Assignment> changes);

}  // namespace titer
