#pragma once
// What a pipeline schedule is made of: passes of chunks of layers, in an order for each rank, and
// which stage of the model each chunk is.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "titer/units/ensure.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// One pass of one chunk over one micro-batch. A schedule either does whole backward passes, or
/// splits them into the gradient of the input, which the stage before waits for, and that of the
/// weights, which can be put off. It may do both, for different micro-batches.
enum class Pass : std::uint8_t { forward, backward, input_gradient, weight_gradient };
inline constexpr int kPasses = 4;

/// Whether the pass makes the gradient that the stage before waits for.
[[nodiscard]] constexpr bool sends_gradient(Pass pass) {
  return pass == Pass::backward || pass == Pass::input_gradient;
}

/// Whether the pass makes the gradients of weights.
[[nodiscard]] constexpr bool makes_gradients(Pass pass) {
  return pass == Pass::backward || pass == Pass::weight_gradient;
}

struct Action {
  Pass pass = Pass::forward;
  int chunk = 0;
  int micro_batch = 0;
  // Done together with the next action of the list, whose inputs it waits for too: a forward and a
  // whole backward pass of different micro-batches, the one's transfers beside the other's compute.
  bool with_next = false;
  // One of two neighbours in the list, a forward and a backward pass of different micro-batches:
  // one after the other, but for exchanges of experts, which go beside the other's compute.
  bool overlapped = false;

  friend bool operator==(const Action&, const Action&) = default;
};

using ActionList = std::vector<Action>;

/// Chunks that are alive, forwarded and not yet through with all their gradients.
struct AliveChunks {
  int during = 0;  // while an action is done
  int after = 0;
};

/// How many actions from the list's i-th on are done together: itself, and the next one where it is
/// done with that.
[[nodiscard]] inline std::size_t done_together(const ActionList& list, std::size_t i) {
  const std::size_t count = list[i].with_next ? 2 : 1;
  ensure(i + count <= list.size(), "an action done with the next one has a next one");
  return count;
}

/// The same, and the next one where it is beside it, too.
[[nodiscard]] inline std::size_t done_at_once(const ActionList& list, std::size_t i) {
  const std::size_t count = list[i].overlapped ? 2 : done_together(list, i);
  ensure(i + count <= list.size(), "an action done with the next one has a next one");
  return count;
}

/// Which of the i-th and the next action of a list, done together or beside one another, is the
/// forward pass and which the backward one. `first`: the pass of the i-th.
struct OppositePasses {
  std::size_t forward = 0;
  std::size_t backward = 0;
};
[[nodiscard]] constexpr OppositePasses opposite_passes(Pass first, std::size_t i) {
  return first == Pass::forward ? OppositePasses{.forward = i, .backward = i + 1}
                                : OppositePasses{.forward = i + 1, .backward = i};
}

/// Of each action; two that are done together begin and end together. Of two that are overlapped
/// the layers of one come as those of the other go.
[[nodiscard]] inline std::vector<AliveChunks> alive_chunks(const ActionList& list) {
  std::vector<AliveChunks> alive;
  alive.reserve(list.size());
  int now = 0;
  while (alive.size() < list.size()) {
    const std::size_t begin = alive.size();
    const std::size_t end = begin + done_at_once(list, begin);
    const int before = now;
    for (std::size_t i = begin; i < end; ++i) {
      now += list[i].pass == Pass::forward ? 1 : 0;
    }
    int during = now;
    for (std::size_t i = begin; i < end; ++i) {
      now -= makes_gradients(list[i].pass) ? 1 : 0;
    }
    during = list[begin].overlapped ? std::max(before, now) : during;
    alive.insert(alive.end(), end - begin, {.during = during, .after = now});
  }
  return alive;
}

[[nodiscard]] inline int most_alive(const std::vector<AliveChunks>& alive) {
  int most = 0;
  for (const AliveChunks& chunks : alive) {
    most = std::max(most, chunks.during);
  }
  return most;
}
[[nodiscard]] inline int most_alive(const ActionList& list) {
  return most_alive(alive_chunks(list));
}

struct PipelineShape {
  int stages = 1;          // p, ranks of the pipeline
  int micro_batches = 1;   // m
  int virtual_stages = 1;  // v, chunks per rank (of each copy of the model)
  // Micro-batches that interleaving takes through one chunk before the next; otherwise p.
  std::optional<int> group{};
  bool overlaps = false;  // whether actions are overlapped where they can be

  [[nodiscard]] constexpr int group_size() const { return group.value_or(stages); }
  friend bool operator==(const PipelineShape&, const PipelineShape&) = default;
};

/// Which stage of the model a rank's chunk is.
enum class Placement : std::uint8_t {
  loop,      // chunk c of rank r is stage c p + r
  wave,      // odd chunks run back: stage c p + (p - 1 - r); each end of a wave stays on its rank
  two_ways,  // two copies of the model in opposite ways: chunk 0 is stage r, chunk 1 p - 1 - r;
             // the first half of the micro-batches goes through chunks 0, the other through 1
};

/// A chunk and the rank that has it.
struct StagePlace {
  int rank = 0;
  int chunk = 0;

  friend bool operator==(const StagePlace&, const StagePlace&) = default;
};

/// Stages that one micro-batch passes.
[[nodiscard]] constexpr int model_stages(Placement placement, const PipelineShape& shape) {
  return placement == Placement::two_ways ? shape.stages : shape.stages * shape.virtual_stages;
}

[[nodiscard]] constexpr int chunks_per_rank(Placement placement, const PipelineShape& shape) {
  return placement == Placement::two_ways ? 2 : shape.virtual_stages;
}

/// Micro-batches that pass one chunk.
[[nodiscard]] constexpr int micro_batches_per_chunk(Placement placement,
                                                    const PipelineShape& shape) {
  return placement == Placement::two_ways ? shape.micro_batches / 2 : shape.micro_batches;
}

/// The stage of the model that a chunk of a rank is.
[[nodiscard]] constexpr int stage_of(Placement placement,
                                     StagePlace place,
                                     const PipelineShape& shape) {
  const int p = shape.stages;
  const bool back = placement != Placement::loop && place.chunk % 2 == 1;
  const int along = back ? p - 1 - place.rank : place.rank;
  return placement == Placement::two_ways ? along : place.chunk * p + along;
}

/// Where a stage is for the micro-batches that pass `chunk` of some rank (which matters with two
/// ways only).
[[nodiscard]] constexpr StagePlace place_of(Placement placement,
                                            int stage,
                                            int chunk,
                                            const PipelineShape& shape) {
  const int p = shape.stages;
  const int at = placement == Placement::two_ways ? chunk : stage / p;
  const bool back = placement != Placement::loop && at % 2 == 1;
  return {.rank = back ? p - 1 - stage % p : stage % p, .chunk = at};
}

/// What the passes of a device's layers take (all its chunks of one copy together).
struct PassTimes {
  Seconds forward;          // F
  Seconds input_gradient;   // B
  Seconds weight_gradient;  // W
  // F&B: a forward and a whole backward done together, where a schedule pairs them; otherwise one
  // after the other.
  std::optional<Seconds> pair{};

  [[nodiscard]] Seconds backward() const { return input_gradient + weight_gradient; }
  [[nodiscard]] Seconds both() const { return pair.value_or(forward + backward()); }
};

/// Where a rank's actions repeat: from action `begin` as far as its last forward, `period` actions
/// do for `micro_batches` more what those before did. `reach`: the input of an action of one rank
/// comes from an action of another that is at most this much further from its own rank's `begin`
/// or nearer to it.
struct SteadyPhase {
  int begin = 0;
  int period = 0;
  int micro_batches = 0;
  int reach = 0;
};

}  // namespace titer
