#pragma once
// All the algorithms of all the lists, as values.

#include <span>
#include <string_view>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/collectives/steps.hpp"

namespace titer {

/// An algorithm with its functions, for choices made by name at run time.
struct AlgorithmEntry {
  Collective collective = Collective::all_reduce;
  std::string_view name;
  std::string_view formula;
  std::string_view source;
  std::string_view needs;  // what a group must have for it
  bool exact = true;
  bool in_library = false;
  bool gathers = false;  // the steps gather the vectors of all, which every rank adds up by itself
  bool one_exchange = false;  // an all-to-all of all messages at once: one pattern, not n^2 of them
  bool (*applies)(const Group&, const Fabric&) = nullptr;
  Seconds (*time)(Bytes, const Group&, const Fabric&) = nullptr;
  Bytes (*volume)(Bytes, const Group&) = nullptr;
  Steps (*steps)(Bytes, const Group&, const Fabric&) = nullptr;
};

/// Every algorithm of every list, in the order of the lists.
[[nodiscard]] std::span<const AlgorithmEntry> algorithm_catalogue();

/// The algorithm that the fabric names for a collective of the group, whether it applies or not;
/// null: none.
[[nodiscard]] const AlgorithmEntry* named_algorithm(Collective collective,
                                                    const Group& group,
                                                    const Fabric& fabric);

/// An algorithm and what it takes by its closed form.
struct TimedAlgorithm {
  const AlgorithmEntry* algorithm = nullptr;
  Seconds time;
};
/// Those that a library may take, the fastest by its closed form first: the named one alone where
/// it applies.
[[nodiscard]] std::vector<TimedAlgorithm> library_algorithms(Collective collective,
                                                             Bytes size,
                                                             const Group& group,
                                                             const Fabric& fabric);

}  // namespace titer
