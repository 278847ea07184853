#include "titer/collectives/catalogue.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "titer/collectives/algorithms.hpp"

namespace titer {

namespace {

template <class A>
concept Gathers = requires {
  A::gathers;
};

// What another collective takes over from such an all-to-all (DirectReduceScatter) is none.
template <class A>
concept IsOneExchange = requires {
  A::one_exchange;
};

template <class A, class... Algorithms>
constexpr bool is_in(const std::variant<Algorithms...>* /*list*/) {
  return (std::is_same_v<A, Algorithms> || ...);
}

template <class Library, class... Algorithms>
void list(std::vector<AlgorithmEntry>& catalogue,
          Collective collective,
          const std::variant<Algorithms...>* /*list*/) {
  (catalogue.push_back(
       {.collective = collective,
        .name = Algorithms::name,
        .formula = Algorithms::formula,
        .source = Algorithms::source,
        .needs = Algorithms::needs,
        .exact = Algorithms::exact,
        .in_library = is_in<Algorithms>(static_cast<const Library*>(nullptr)),
        .gathers = Gathers<Algorithms>,
        .one_exchange = collective == Collective::all_to_all && IsOneExchange<Algorithms>,
        .applies = &Algorithms::applies,
        .time = &Algorithms::time,
        .volume = &Algorithms::volume,
        .steps = &Algorithms::steps}),
   ...);
}

template <class List, class Library>
void list(std::vector<AlgorithmEntry>& catalogue, Collective collective) {
  list<Library>(catalogue, collective, static_cast<const List*>(nullptr));
}

std::vector<AlgorithmEntry> make_catalogue() {
  std::vector<AlgorithmEntry> catalogue;
  list<AllReduce, LibraryAllReduce>(catalogue, Collective::all_reduce);
  list<AllGather, LibraryAllGather>(catalogue, Collective::all_gather);
  list<ReduceScatter, LibraryReduceScatter>(catalogue, Collective::reduce_scatter);
  list<AllToAll, LibraryAllToAll>(catalogue, Collective::all_to_all);
  list<Broadcast, LibraryBroadcast>(catalogue, Collective::broadcast);
  list<Reduce, LibraryReduce>(catalogue, Collective::reduce);
  list<SendRecv, SendRecv>(catalogue, Collective::send_recv);
  return catalogue;
}

}  // namespace

std::span<const AlgorithmEntry> algorithm_catalogue() {
  static const std::vector<AlgorithmEntry> catalogue = make_catalogue();
  return catalogue;
}

const AlgorithmEntry* named_algorithm(Collective collective,
                                      const Group& group,
                                      const Fabric& fabric) {
  int number = fabric.named.of(group.nodes)[static_cast<std::size_t>(collective)];
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.collective == collective && number-- == 1) {
      return &entry;
    }
  }
  return nullptr;
}

std::vector<TimedAlgorithm> library_algorithms(Collective collective,
                                               Bytes size,
                                               const Group& group,
                                               const Fabric& fabric) {
  const AlgorithmEntry* named = named_algorithm(collective, group, fabric);
  if (named != nullptr && named->applies(group, fabric)) {
    return {{named, named->time(size, group, fabric)}};
  }
  std::vector<TimedAlgorithm> algorithms;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.collective == collective && entry.in_library && entry.applies(group, fabric)) {
      algorithms.push_back({&entry, entry.time(size, group, fabric)});
    }
  }
  std::stable_sort(
      algorithms.begin(), algorithms.end(), [](const TimedAlgorithm& a, const TimedAlgorithm& b) {
        return a.time < b.time;
      });
  return algorithms;
}

}  // namespace titer
