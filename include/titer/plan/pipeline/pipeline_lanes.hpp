#pragma once
// What runs beside the passes of a pipeline's rank, for the closed form: messages and data-parallel
// transfers.

#include <algorithm>
#include <array>
#include <vector>

#include "titer/engine/task_graph.hpp"
#include "titer/plan/schedule/pass_kinds.hpp"

namespace titer {

/// Ticks of each kind of pass: what it occupies its rank for, sending its result included.
/// Index: PipelinePass::kind; pass_kinds() of them, of which instant_kind() takes 0.
using PassTicks = std::vector<Ticks>;

/// A part of a stage's gradients that is synchronised by itself.
struct BucketTicks {
  Ticks left = 0;  // of the stage's last pass that makes gradients, when the bucket's are complete
  Ticks sync = 0;
};

/// Gathers of updated parameters at the start of a step. Empty: there are none.
struct StartGathers {
  std::vector<Ticks> through;   // of each rank, when all of its are
  std::vector<Ticks> forwards;  // the earliest end of the forward passes at a place, which wait for
                                // theirs; that of a rank's last ones is no earlier than `through`

  [[nodiscard]] bool empty() const { return through.empty(); }
  void clear() {
    through.clear();
    forwards.clear();
  }
  friend bool operator==(const StartGathers&, const StartGathers&) = default;
};

/// What runs beside the passes of a rank: a lane of messages to other stages and a lane of
/// data-parallel transfers, each in order. Nothing slows anything down, and no link is shared.
/// Where two copies of the model go opposite ways, both ranks of a stage synchronise its buckets
/// together, those of the stage nearer to the model's end first.
struct PipelineLanes {
  bool overlapped_sends = false;  // otherwise a rank goes on when its message is through
  PassTicks send;                 // of each kind; then not in the ticks of the pass
  StartGathers gathers;
  // Of a stage, by the kind of pass that makes its gradients. Empty: there are none.
  std::array<std::vector<std::vector<BucketTicks>>, 3> buckets;
  // The stage whose buckets a stage's are. Empty: each has its own.
  std::vector<std::size_t> like;

  [[nodiscard]] bool has_buckets() const { return !buckets.front().empty(); }
  [[nodiscard]] const std::vector<BucketTicks>& buckets_of(std::size_t stage,
                                                           GradientPass kind) const {
    return buckets[static_cast<std::size_t>(kind)][like.empty() ? stage : like[stage]];
  }
};

/// What the lanes of a rank did.
struct LaneEnds {
  Ticks data = 0;  // when the data lane is through
  Ticks send = 0;  // when the last message is through that a rank does not wait for
  // While the rank waited; a message counts before a data-parallel transfer.
  Ticks send_exposed = 0;
  Ticks data_exposed = 0;
  // Of the data lane, after the rank's last pass and before it is through: only where it waits for
  // the other copy of the model.
  Ticks data_idle = 0;

  /// A time in which the rank did nothing.
  void wait(Ticks from, Ticks to, Ticks send_end) {
    const Ticks sent = std::clamp(send_end, from, to);
    send_exposed += sent - from;
    data_exposed += std::clamp(data, sent, to) - sent;
  }
};

}  // namespace titer
