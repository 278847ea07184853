// Which algorithm a collective takes: the one that is asked for, the one that the cluster names, or
// the fastest on the links.

#include <fmt/format.h>

#include <algorithm>

#include "titer/input/reader.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

std::string names_of(const std::vector<Candidate>& candidates) {
  std::string names;
  for (const Candidate& candidate : candidates) {
    if (candidate.time) {
      add_listed(names, candidate.algorithm->name);
    }
  }
  return names.empty() ? "none does" : names;
}

}  // namespace

std::vector<Candidate> CollectiveDesk::candidates(const CollectiveQuery& query) const {
  std::vector<Candidate> list;
  for (const AlgorithmEntry& entry : algorithm_catalogue()) {
    if (entry.collective == query.collective) {
      const bool applies = entry.applies(group().group, group().fabric);
      list.push_back(
          {.algorithm = &entry,
           .time = applies ? std::optional(entry.time(query.size, group().group, group().fabric))
                           : std::nullopt});
    }
  }
  return list;
}

const AlgorithmEntry& CollectiveDesk::asked_for(const CollectiveQuery& query,
                                                const std::vector<Candidate>& candidates) const {
  std::vector<std::string_view> names;
  for (const Candidate& candidate : candidates) {
    const AlgorithmEntry& algorithm = *candidate.algorithm;
    names.push_back(algorithm.name);
    if (query.algorithm != algorithm.name) {
      continue;
    }
    if (!candidate.time) {
      throw InputError(fmt::format("algorithm {}: {} by it needs {}; on these ranks these run: {}",
                                   query.algorithm,
                                   name_of(query.collective),
                                   algorithm.needs,
                                   names_of(candidates)));
    }
    return algorithm;
  }
  throw InputError(fmt::format("algorithm {}: expected one that runs {} on these ranks: {}{}",
                               query.algorithm,
                               name_of(query.collective),
                               names_of(candidates),
                               suggestion(query.algorithm, names)));
}

std::vector<TimedAlgorithm> CollectiveDesk::contenders(Collective collective, Bytes size) const {
  std::vector<TimedAlgorithm> all =
      library_algorithms(collective, size, group().group, group().fabric);
  std::vector<TimedAlgorithm> everywhere;
  std::ranges::copy_if(all, std::back_inserter(everywhere), [&](const TimedAlgorithm& one) {
    return std::ranges::all_of(groups_, [&](const DeviceGroup& group) {
      return one.algorithm->applies(group.group, group.fabric);
    });
  });
  return everywhere.empty() ? all : everywhere;
}

CollectiveAnswer CollectiveDesk::fastest_answer(const CollectiveQuery& query) {
  const std::vector<TimedAlgorithm> in_turn = contenders(query.collective, query.size);
  if (in_turn.empty()) {
    throw InputError(
        fmt::format("algorithm of the library: expected one that runs {} on these ranks: {}",
                    name_of(query.collective),
                    names_of(candidates(query))));
  }
  CollectiveAnswer best = answer_by(*in_turn.front().algorithm, query);
  const TimedAlgorithm by_closed_form{best.algorithm, best.time};
  for (std::size_t i = 1; i < in_turn.size() && query.fidelity != NetworkFidelity::closed; ++i) {
    // Links that are shared make nothing faster than its closed form.
    if (in_turn[i].time >= best.time) {
      break;
    }
    CollectiveAnswer other = answer_by(*in_turn[i].algorithm, query);
    if (other.time < best.time) {
      best = std::move(other);
    }
  }
  if (best.algorithm != by_closed_form.algorithm) {
    best.by_closed_form = by_closed_form;
  }
  return best;
}

CollectiveAnswer CollectiveDesk::answer(const CollectiveQuery& query) {
  const std::vector<Candidate> list = candidates(query);
  CollectiveAnswer answer;
  if (group().group.ranks() > 1) {
    answer =
        query.algorithm.empty() ? fastest_answer(query) : answer_by(asked_for(query, list), query);
    const AlgorithmEntry* named = named_algorithm(query.collective, group().group, group().fabric);
    answer.named = query.algorithm.empty() && named == answer.algorithm;
    if (query.algorithm.empty() && named != nullptr && !answer.named) {
      answer.remark = fmt::format("{}, which is named, needs {}", named->name, named->needs);
    }
  }
  answer.candidates = list;
  return answer;
}

}  // namespace titer
