// Schedules of whole backward passes over stages in a loop: one micro-batch after the other, GPipe,
// 1F1B and its interleaving, breadth-first.

#include <fmt/format.h>

#include <algorithm>

#include "schedules.hpp"

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

/// Forwards before a rank's first backward, less the one of its first forward-backward pair. Where
/// both of a pair are overlapped, the forward is of a later micro-batch than the one whose gradient
/// comes back: one more. [Megatron-Core, get_pp_rank_microbatches]
int warm_up(int rank, const PipelineShape& shape) {
  const int behind = shape.stages - 1 - rank;
  const int chunks_ahead = shape.virtual_stages == 1
                               ? behind
                               : 2 * behind + (shape.virtual_stages - 1) * shape.group_size();
  return std::min(shape.micro_batches * shape.virtual_stages,
                  chunks_ahead + (shape.overlaps ? 1 : 0));
}

ActionList one_after_the_other(int /*rank*/, const PipelineShape& shape) {
  ActionList list;
  for (int i = 0; i < shape.micro_batches; ++i) {
    list.push_back({.pass = Pass::forward, .chunk = 0, .micro_batch = i});
    list.push_back({.pass = Pass::backward, .chunk = 0, .micro_batch = i});
  }
  return list;
}

std::optional<std::string> refused_interleaving(const PipelineShape& shape) {
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

ActionList one_forward_one_backward(int rank, const PipelineShape& shape) {
  const int passes = shape.micro_batches * shape.virtual_stages;
  const int first = warm_up(rank, shape);
  ActionList list;
  list.reserve(2 * static_cast<std::size_t>(passes));
  for (int i = 0; i < passes + first; ++i) {
    const bool both = i < passes && i >= first;
    if (i < passes) {
      list.push_back(interleaved(i, Pass::forward, shape));
      list.back().overlapped = both && shape.overlaps;
    }
    if (i >= first) {
      list.push_back(interleaved(i - first, Pass::backward, shape));
      list.back().overlapped = both && shape.overlaps;
    }
  }
  return list;
}

std::optional<SteadyPhase> interleaved_phase(int rank, const PipelineShape& shape) {
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

ActionList chunk_by_chunk(int /*rank*/, const PipelineShape& shape) {
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

/// (p - 1) (F + B + W): what the last rank waits before its first pass and after its last.
Seconds fill_and_drain(const PipelineShape& shape, const PassTimes& times) {
  return (shape.stages - 1) * (times.forward + times.backward());
}

}  // namespace

/// One micro-batch through all stages and back before the next: only one rank works at a time.
/// [seeds E16]
constinit const ScheduleEntry kSequential{
    .name = "sequential",
    .formula = "m (p - 1) (F + B + W)",
    .source = "vanilla model parallelism, E16",
    .splits = false,
    .by_one_rank = true,
    .actions = one_after_the_other,
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      return shape.micro_batches * fill_and_drain(shape, times);
    },
    .in_flight = [](int, const PipelineShape&) -> std::optional<int> { return 1; }};

/// All forwards, then all backwards. [Huang 2019]
constinit const ScheduleEntry kGPipe{
    .name = "gpipe",
    .formula = "(p - 1) (F + B + W)",
    .source = "Huang et al. 2019",
    .splits = false,
    .forwards_first = true,
    .has_plain_ratio = true,
    .has_plain_memory = true,
    .actions = chunk_by_chunk,  // of one
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      return fill_and_drain(shape, times);
    },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return shape.micro_batches;
    }};

/// One forward, one backward; with v > 1 interleaved over v chunks per rank, micro-batches in
/// groups through each chunk.  [Narayanan et al. 2021, arXiv 2104.04473]
constinit const ScheduleEntry kOneForwardOneBackward{
    .name = "1f1b",
    .of_chunks = "interleaved",
    .formula = "(p - 1) (F + B + W) / v",
    .source = "Narayanan et al. 2021, section 2.2",
    .interleaves = true,
    .groups = true,
    .splits = false,
    .overlaps = true,
    .has_plain_ratio = true,
    .has_plain_memory = true,
    .refusal = refused_interleaving,
    .actions = one_forward_one_backward,
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      return fill_and_drain(shape, times) / shape.virtual_stages;
    },
    .in_flight = [](int rank, const PipelineShape& shape) -> std::optional<int> {
      // Of an overlapped pair layers come as layers go.
      return std::min(shape.micro_batches * shape.virtual_stages,
                      warm_up(rank, shape) + (shape.overlaps ? 0 : 1));
    },
    .steady_phase = interleaved_phase};

/// All micro-batches through a chunk before the next chunk, so that each chunk's parameters are
/// gathered once per direction.  [Lamy-Poirier 2023, arXiv 2211.05953]
constinit const ScheduleEntry kBreadthFirst{
    .name = "breadth-first",
    .formula = "(p - 1) (F + B + W) / v, where v = 1 or m >= p",
    .source = "Lamy-Poirier 2023",
    .interleaves = true,
    .splits = false,
    .forwards_first = true,
    .has_plain_ratio = true,
    .actions = chunk_by_chunk,
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      const bool holds = shape.virtual_stages == 1 || shape.micro_batches >= shape.stages;
      return holds ? std::optional(fill_and_drain(shape, times) / shape.virtual_stages)
                   : std::nullopt;
    },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return shape.micro_batches * shape.virtual_stages;
    }};

}  // namespace titer
