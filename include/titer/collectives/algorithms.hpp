#pragma once
// The lists of collective algorithms, and the choice among them by predicted time. Each algorithm
// is a small type with a closed form (`time`), the messages it claims to send (`sends`) and the
// bytes each rank sends (`volume`). A shared typed test runs the messages on the event engine and
// demands the formula; a new algorithm is tested once it is in its list.
//
// Size S is always the full result: all-gather: the gathered bytes; reduce-scatter: a rank's input
// bytes; all-reduce: the vector. One rank costs nothing. The reduction arithmetic is left out (it
// is hidden behind the wire on every device that we model).

#include <string_view>
#include <variant>
#include <vector>

#include "titer/collectives/all_gather.hpp"
#include "titer/collectives/all_reduce.hpp"
#include "titer/collectives/collective.hpp"
#include "titer/collectives/reduce_scatter.hpp"
#include "titer/collectives/send_recv.hpp"

namespace titer {

template <CollectiveAlgorithm... Algorithms>
using AlgorithmsOf = std::variant<Algorithms...>;

using AllReduce = AlgorithmsOf<RingAllReduce, HierarchicalAllReduce, NaiveRingAllReduce>;
using AllGather = AlgorithmsOf<RingAllGather, HierarchicalAllGather>;
using ReduceScatter = AlgorithmsOf<RingReduceScatter, HierarchicalReduceScatter>;
using SendRecv = AlgorithmsOf<PointToPoint>;

/// What a collective takes, and by which algorithm.
struct CollectiveTime {
  Seconds time;
  std::string_view algorithm;
};

namespace detail {
template <class Algorithm>
constexpr void take_if_faster(CollectiveTime& best, Bytes size, Group group, const Fabric& fabric) {
  if (Algorithm::applies(group)) {
    const Seconds time = Algorithm::time(size, group, fabric);
    if (best.algorithm.empty() || time < best.time) {
      best = {.time = time, .algorithm = Algorithm::name};
    }
  }
}

template <class... Algorithms>
constexpr CollectiveTime fastest(const std::variant<Algorithms...>* /*list*/,
                                 Bytes size,
                                 Group group,
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
[[nodiscard]] constexpr CollectiveTime fastest(Bytes size, Group group, const Fabric& fabric) {
  return detail::fastest(static_cast<const List*>(nullptr), size, group, fabric);
}

[[nodiscard]] constexpr CollectiveTime all_reduce(Bytes size, Group group, const Fabric& fabric) {
  return fastest<AllReduce>(size, group, fabric);
}
[[nodiscard]] constexpr CollectiveTime all_gather(Bytes size, Group group, const Fabric& fabric) {
  return fastest<AllGather>(size, group, fabric);
}
[[nodiscard]] constexpr CollectiveTime reduce_scatter(Bytes size,
                                                      Group group,
                                                      const Fabric& fabric) {
  return fastest<ReduceScatter>(size, group, fabric);
}
/// REQUIRES a group of one or two ranks.
[[nodiscard]] constexpr CollectiveTime send_recv(Bytes size, Group group, const Fabric& fabric) {
  return fastest<SendRecv>(size, group, fabric);
}

/// The same, for a collective that is known at run time.
[[nodiscard]] constexpr CollectiveTime collective_time(Collective collective,
                                                       Bytes size,
                                                       Group group,
                                                       const Fabric& fabric) {
  switch (collective) {
    case Collective::all_reduce:
      return all_reduce(size, group, fabric);
    case Collective::all_gather:
      return all_gather(size, group, fabric);
    case Collective::reduce_scatter:
      return reduce_scatter(size, group, fabric);
    case Collective::send_recv:
      return send_recv(size, group, fabric);
  }
  ensure(false, "a collective is one of the enumerated ones");
  return {};
}

/// One line of the catalogue.
struct AlgorithmInfo {
  Collective collective = Collective::all_reduce;
  std::string_view name;
  std::string_view formula;
  std::string_view source;
};

/// Every algorithm of every list, in the order of the lists.
[[nodiscard]] std::vector<AlgorithmInfo> algorithm_catalogue();

}  // namespace titer
