#include "titer/plan/classic_schedules.hpp"

#include <fmt/format.h>

namespace titer {
namespace {

/// The i-th chunk pass of interleaving: micro-batches in groups, each group through chunk 0, 1, …
/// v-1 (backwards: v-1 … 0) before the next.
Action interleaved(int i, Pass pass, const PipelineShape& shape) {
  const int group = shape.group_size();
  const int first = i / (group * shape.virtual_stages) * group;   // micro-batch of the group
  const int size = std::min(group, shape.micro_batches - first);  // the last group may be smaller
  const int at = i - first * shape.virtual_stages;
  const int chunk = at / size;
  return {.pass = pass,
          .chunk = pass == Pass::forward ? chunk : shape.virtual_stages - 1 - chunk,
          .micro_batch = first + at % size};
}

}  // namespace

ActionList Sequential::actions(int /*rank*/, const PipelineShape& shape) {
  ActionList list;
  for (int i = 0; i < shape.micro_batches; ++i) {
    list.push_back({.pass = Pass::forward, .chunk = 0, .micro_batch = i});
    list.push_back({.pass = Pass::backward, .chunk = 0, .micro_batch = i});
  }
  return list;
}

ActionList GPipe::actions(int /*rank*/, const PipelineShape& shape) {
  ActionList list;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (int i = 0; i < shape.micro_batches; ++i) {
      list.push_back({.pass = pass, .chunk = 0, .micro_batch = i});
    }
  }
  return list;
}

std::optional<std::string> OneForwardOneBackward::refusal(const PipelineShape& shape) {
  const int p = shape.stages;
  const int m = shape.micro_batches;
  if (shape.virtual_stages == 1) {
    return std::nullopt;
  }
  if (!shape.group && m % p != 0) {
    return fmt::format(
        "expected the {} micro-batches to be a multiple of the {} stages, as interleaving needs",
        m,
        p);
  }
  const int group = shape.group_size();
  if (group < p || (m % group != 0 && m % group < p)) {
    return fmt::format(
        "expected groups of at least {} of the {} micro-batches, the last one included, got {}",
        p,
        m,
        group);
  }
  return std::nullopt;
}

ActionList OneForwardOneBackward::actions(int rank, const PipelineShape& shape) {
  const int passes = shape.micro_batches * shape.virtual_stages;
  const int first = warm_up(rank, shape);
  ActionList list;
  list.reserve(2 * static_cast<std::size_t>(passes));
  for (int i = 0; i < passes + first; ++i) {
    if (i < passes) {
      list.push_back(interleaved(i, Pass::forward, shape));
    }
    if (i >= first) {
      list.push_back(interleaved(i - first, Pass::backward, shape));
    }
  }
  return list;
}

std::optional<SteadyPhase> OneForwardOneBackward::steady_phase(int rank,
                                                               const PipelineShape& shape) {
  const int p = shape.stages;
  const int v = shape.virtual_stages;
  if (v == 1) {
    return SteadyPhase{.begin = warm_up(rank, shape), .period = 2, .micro_batches = 1, .reach = 2};
  }
  if (shape.group) {
    return std::nullopt;
  }
  return SteadyPhase{
      .begin = warm_up(rank, shape), .period = 2 * p * v, .micro_batches = p, .reach = 2 * p};
}

ActionList BreadthFirst::actions(int /*rank*/, const PipelineShape& shape) {
  const int v = shape.virtual_stages;
  ActionList list;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (int chunk = 0; chunk < v; ++chunk) {
      for (int i = 0; i < shape.micro_batches; ++i) {
        list.push_back({.pass = pass,
                        .chunk = pass == Pass::forward ? chunk : v - 1 - chunk,
                        .micro_batch = i});
      }
    }
  }
  return list;
}

}  // namespace titer
