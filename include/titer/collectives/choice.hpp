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
void take_if_faster(CollectiveTime& best, Bytes size, const Group& group, const Fabric& fabric) {
  if (Algorithm::applies(group, fabric)) {
    const Seconds time = Algorithm::time(size, group, fabric);
    if (best.algorithm.empty() || time < best.time) {
      best = {.time = time, .algorithm = Algorithm::name};
    }
  }
}

template <class... Algorithms>
CollectiveTime fastest(const std::variant<Algorithms...>* /*list*/,
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
[[nodiscard]] CollectiveTime fastest(Bytes size, const Group& group, const Fabric& fabric) {
  return detail::fastest(static_cast<const List*>(nullptr), size, group, fabric);
}

namespace detail {
/// By the algorithm of that number in a list, from one; by "" where it does not apply.
template <class... Algorithms>
CollectiveTime numbered(const std::variant<Algorithms...>* /*list*/,
                        int number,
                        Bytes size,
                        const Group& group,
                        const Fabric& fabric) {
  CollectiveTime found;
  int at = 0;
  ((++at == number ? take_if_faster<Algorithms>(found, size, group, fabric) : void()), ...);
  return found;
}

template <class List, class Library>
CollectiveTime named_or_fastest(Collective collective,
                                Bytes size,
                                const Group& group,
                                const Fabric& fabric) {
  const int number = fabric.named.of(group.nodes)[static_cast<std::size_t>(collective)];
  if (number > 0 && group.ranks() > 1) {
    const CollectiveTime named =
        numbered(static_cast<const List*>(nullptr), number, size, group, fabric);
    if (!named.algorithm.empty()) {
      return named;
    }
  }
  return fastest<Library>(size, group, fabric);
}
}  // namespace detail

/// What a communication library would take for a collective that is known at run time: by the
/// algorithm that the fabric names for it, where that one applies to the group, else by the fastest
/// of the library's list. REQUIRES one or two ranks for send_recv.
[[nodiscard]] inline CollectiveTime collective_time(Collective collective,
                                                    Bytes size,
                                                    const Group& group,
                                                    const Fabric& fabric) {
  switch (collective) {
    case Collective::all_reduce:
      return detail::named_or_fastest<AllReduce, LibraryAllReduce>(collective, size, group, fabric);
    case Collective::all_gather:
      return detail::named_or_fastest<AllGather, LibraryAllGather>(collective, size, group, fabric);
    case Collective::reduce_scatter:
      return detail::named_or_fastest<ReduceScatter, LibraryReduceScatter>(
          collective, size, group, fabric);
    case Collective::all_to_all:
      return detail::named_or_fastest<AllToAll, LibraryAllToAll>(collective, size, group, fabric);
    case Collective::broadcast:
      return detail::named_or_fastest<Broadcast, LibraryBroadcast>(collective, size, group, fabric);
    case Collective::reduce:
      return detail::named_or_fastest<Reduce, LibraryReduce>(collective, size, group, fabric);
    case Collective::send_recv:
      return detail::named_or_fastest<SendRecv, SendRecv>(collective, size, group, fabric);
  }
  ensure(false, "a collective is one of the enumerated ones");
  return {};
}

}  // namespace titer
