#include "titer/plan/schedule.hpp"

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// The i-th chunk pass of interleaving: micro-batches in groups of p, each group through chunk
/// 0, 1, … v-1 (backwards: v-1 … 0) before the next.
Action interleaved(int i, bool backward, PipelineShape shape) {
  const int group_size = shape.stages * shape.virtual_stages;
  const int group = i / group_size;
  const int chunk = i % group_size / shape.stages;
  return {.backward = backward,
          .chunk = backward ? shape.virtual_stages - 1 - chunk : chunk,
          .micro_batch = group * shape.stages + i % shape.stages};
}

Action plain(int i, bool backward) { return {.backward = backward, .chunk = 0, .micro_batch = i}; }

}  // namespace

Action GPipe::action(int /*rank*/, int index, PipelineShape shape) {
  const bool backward = index >= shape.micro_batches;
  return plain(backward ? index - shape.micro_batches : index, backward);
}

Action OneForwardOneBackward::action(int rank, int index, PipelineShape shape) {
  const int passes = shape.micro_batches * shape.virtual_stages;
  const int first = warm_up(rank, shape);
  int forward_index = index;
  int backward_index = -1;
  if (index >= first) {
    const int steady = index - first;
    const int pairs = passes - first;
    const bool in_pairs = steady < 2 * pairs;
    const bool backward = !in_pairs || steady % 2 == 1;
    backward_index = !in_pairs ? steady - pairs : (backward ? steady / 2 : -1);
    forward_index = first + steady / 2;
  }
  const bool backward = backward_index >= 0;
  const int i = backward ? backward_index : forward_index;
  ensure(i < passes, "an action index is below actions_per_rank()");
  return shape.virtual_stages == 1 ? plain(i, backward) : interleaved(i, backward, shape);
}

std::string_view name(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.name; }, schedule);
}
std::string_view bubble_formula(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.formula; }, schedule);
}
std::string_view source(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.source; }, schedule);
}
bool interleaves(const Schedule& schedule) {
  return std::visit([](const auto& s) { return s.interleaves; }, schedule);
}
Action action(const Schedule& schedule, int rank, int index, PipelineShape shape) {
  return std::visit([&](const auto& s) { return s.action(rank, index, shape); }, schedule);
}
int in_flight(const Schedule& schedule, int rank, PipelineShape shape) {
  return std::visit([&](const auto& s) { return s.in_flight(rank, shape); }, schedule);
}
Seconds bubble(const Schedule& schedule, PipelineShape shape, Seconds both) {
  return std::visit([&](const auto& s) { return s.bubble(shape, both); }, schedule);
}

std::optional<SteadyPhase> steady_phase(const Schedule& schedule, int rank, PipelineShape shape) {
  return std::visit([&](const auto& s) { return s.steady_phase(rank, shape); }, schedule);
}

}  // namespace titer
