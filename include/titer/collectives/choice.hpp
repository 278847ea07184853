#pragma once
// The choice among the algorithms of a collective, by predicted time.

#include <string_view>
#include <variant>

#include "titer/collectives/algorithms.hpp"
#include "titer/collectives/collective.hpp"

namespace titer {

/// What a collective takes, and by which algorithm.
struct CollectiveTime {
  Seconds time;
  std::string_view algorithm;
};

namespace detail {
template <class Algorithm>
constexpr void take_if_faster(CollectiveTime& best,
                              Bytes size,
                              const Group& group,
                              const Fabric& fabric) {
  if (Algorithm::applies(group, fabric)) {
    const Seconds time = Algorithm::time(size, group, fabric);
    if (best.algorithm.empty() || time < best.time) {
      best = {.time = time, .algorithm = Algorithm::name};
    }
  }
}

template <class... Algorithms>
constexpr CollectiveTime fastest(const std::variant<Algorithms...>* /*list*/,
                                 Bytes size,
                                 const Group& group,
                                 const Fabric& fabric) {
  if (group.ranks() == 1) {
    return {.time = Seconds{}, .algorithm = "none"};
  }
  CollectiveTime best;
  (take_if_faster<Algorithms>(best, size, group, fabric), ...);
  ensure(!best.algorithm.empty(), "some algorithm of the collective applies to the group");
  return best;
}
}  // namespace detail

/// The fastest algorithm of a list that applies to the group (the earlier one on a tie); for one
/// rank, no time by "none".
template <class List>
[[nodiscard]] constexpr CollectiveTime fastest(Bytes size,
                                               const Group& group,
                                               const Fabric& fabric) {
  return detail::fastest(static_cast<const List*>(nullptr), size, group, fabric);
}

/// What a communication library would take for a collective that is known at run time, by the
/// fastest of the algorithms in the library's list. REQUIRES one or two ranks for send_recv.
[[nodiscard]] constexpr CollectiveTime collective_time(Collective collective,
                                                       Bytes size,
                                                       const Group& group,
                                                       const Fabric& fabric) {
  switch (collective) {
    case Collective::all_reduce:
      return fastest<LibraryAllReduce>(size, group, fabric);
    case Collective::all_gather:
      return fastest<LibraryAllGather>(size, group, fabric);
    case Collective::reduce_scatter:
      return fastest<LibraryReduceScatter>(size, group, fabric);
    case Collective::all_to_all:
      return fastest<LibraryAllToAll>(size, group, fabric);
    case Collective::broadcast:
      return fastest<LibraryBroadcast>(size, group, fabric);
    case Collective::reduce:
      return fastest<LibraryReduce>(size, group, fabric);
    case Collective::send_recv:
      return fastest<SendRecv>(size, group, fabric);
  }
  ensure(false, "a collective is one of the enumerated ones");
  return {};
}

}  // namespace titer
