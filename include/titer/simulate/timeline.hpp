#pragma once
// What a simulated step did, when: spans on the lanes of each rank, messages between them, and the
// memory in use. Traces, pictures and exports read this; nothing here knows how it came about.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "titer/engine/task_graph.hpp"
#include "titer/plan/schedule/actions.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// What a device does side by side. A lane does one thing at a time, in order.
enum class DeviceLane : std::uint8_t {
  compute,
  tensor_comm,
  context_comm,
  expert_comm,
  pipeline_send,
  pipeline_receive,
  data_comm,
  host_copy,
  optimizer,
};
inline constexpr std::array<std::string_view, 9> kLaneNames = {"compute",
                                                               "tensor comm",
                                                               "context comm",
                                                               "expert comm",
                                                               "pipeline send",
                                                               "pipeline receive",
                                                               "data comm",
                                                               "host copy",
                                                               "optimizer"};
inline constexpr std::size_t kLanes = kLaneNames.size();
[[nodiscard]] constexpr std::string_view name(DeviceLane lane) {
  return kLaneNames[static_cast<std::size_t>(lane)];
}

/// What a span's time counts as: a part of the Breakdown.
enum class TaskPart : std::uint8_t {
  forward,
  backward,  // whole, or its input-gradient part
  weight_gradient,
  recompute,
  optimizer,
  tensor_comm,
  context_comm,
  expert_comm,
  pipeline_comm,
  data_comm,
  host_copy,
};
inline constexpr std::array<std::string_view, 11> kTaskPartNames = {"forward",
                                                                    "backward",
                                                                    "weight gradient",
                                                                    "recompute",
                                                                    "optimizer",
                                                                    "tensor comm",
                                                                    "context comm",
                                                                    "expert comm",
                                                                    "pipeline comm",
                                                                    "data comm",
                                                                    "host copy"};
[[nodiscard]] constexpr std::string_view name(TaskPart part) {
  return kTaskPartNames[static_cast<std::size_t>(part)];
}
/// What a pass's own kernels count as.
[[nodiscard]] constexpr TaskPart part_of(Pass pass) {
  constexpr std::array<TaskPart, kPasses> parts = {
      TaskPart::forward, TaskPart::backward, TaskPart::backward, TaskPart::weight_gradient};
  return parts[static_cast<std::size_t>(pass)];
}
enum class PassComm : std::uint8_t;
/// What its transfers count as.
[[nodiscard]] TaskPart part_of(PassComm comm);

/// Something that a lane of a rank did.
struct LaneSpan {
  std::int32_t rank = 0;  // index in StepTimeline::ranks
  DeviceLane lane = DeviceLane::compute;
  TaskPart part = TaskPart::forward;
  std::optional<std::int16_t> stage{};        // of the model
  std::optional<std::int16_t> bucket{};       // of gradients or parameters
  std::optional<std::int32_t> micro_batch{};  // of a pass
  Ticks start = 0;
  Ticks end = 0;
};

/// A message between two ranks: spans[from] is its sending, spans[to] its arrival.
struct SpanFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// Bytes in use on a rank from `tick` on.
struct MemoryPoint {
  std::int32_t rank = 0;
  Ticks tick = 0;
  Bytes in_use;
};

/// A rank of the world, or a pipeline stage that stands for all ranks that do the same.
struct TimelineRank {
  int stage = 0;                // rank of the pipeline
  int tensor = 0;               // its number in its tensor group
  int data = 0;                 // which of the d, of those that have other sequences
  int context = 0;              // its number in its context group
  std::int64_t stands_for = 1;  // devices that do the same at the same time
};

struct StepTimeline {
  std::vector<TimelineRank> ranks;
  std::vector<LaneSpan> spans;  // by end; equal ends in no particular order
  std::vector<SpanFlow> flows;
  std::vector<MemoryPoint> memory;  // by tick for each rank
  Ticks makespan = 0;
};

}  // namespace titer
