#pragma once
// What runs beside the passes of a pipeline's rank, for the closed form: messages and data-parallel
// transfers.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
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

/// Of each kind of pass, by how much a pass and a transfer beside it each take longer, over the
/// time that they would go on together. Empty: by nothing.
using PassSlowdowns = std::vector<double>;

/// A part of a stage's parameters that its first forward pass waits for.
struct ArrivalTicks {
  Ticks there = 0;  // when, if nothing slows its transfer down
  Ticks left = 0;   // of the pass, which needs it from there on

  friend bool operator==(const ArrivalTicks&, const ArrivalTicks&) = default;
};

/// Gathers of updated parameters at the start of a step. Empty: there are none.
struct StartGathers {
  std::vector<Ticks> through;          // of each rank, when all of its are there, likewise
  std::vector<ArrivalTicks> arrivals;  // place by place, in the order of its forward pass
  std::vector<std::uint32_t> ends;     // of each place's, among them
  PassSlowdowns slower;                // of passes beside them, as PipelineLanes has it

  [[nodiscard]] bool empty() const { return through.empty(); }
  void clear() {
    through.clear();
    arrivals.clear();
    ends.clear();
    slower.clear();
  }
  [[nodiscard]] std::size_t begin(std::size_t place) const {
    return place > 0 ? ends[place - 1] : 0;
  }
  [[nodiscard]] std::span<const ArrivalTicks> of(std::size_t place) const {
    return std::span(arrivals).subspan(begin(place), ends[place] - begin(place));
  }
  friend bool operator==(const StartGathers&, const StartGathers&) = default;
};

inline constexpr std::size_t kNoReceiver = std::numeric_limits<std::size_t>::max();

/// What runs beside the passes of a rank: a lane of messages to other stages and a lane of
/// data-parallel transfers, each in order. Where two copies of the model go opposite ways, both
/// ranks of a stage synchronise its buckets together, those of the stage nearer to the model's end
/// first, and nothing is slowed down by it.
struct PipelineLanes {
  bool overlapped_sends = false;  // otherwise a message is a part of its pass, its end
  PassTicks send;                 // of each kind; then not in the ticks of the pass
  PassSlowdowns slower;           // of a pass, its message included where that is a part of it
  // Of each kind, the rank to which its message goes on links that the data lanes of both need:
  // each then takes as much longer as they meet. kNoReceiver: on other links. Empty: of no kind.
  std::vector<std::size_t> receivers;
  StartGathers gathers;  // messages included, likewise
  // Of a stage, by the kind of pass that makes its gradients, without messages. Empty: there are
  // none.
  std::array<std::vector<std::vector<BucketTicks>>, kGradientPasses> buckets;
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
  // Of the data lane, how long it shared its links with messages from the rank, and to it. One goes
  // out while the other comes in: it is late by the longer.
  Ticks met_out = 0;
  Ticks met_in = 0;
  // By how much passes took longer, because of what was beside them.
  Ticks forward_slowed = 0;
  Ticks backward_slowed = 0;

  /// A message that begins then, `met` is that of its way: how long the data lane shares its links
  /// with it.
  Ticks share(Ticks begin, Ticks message, Ticks& met) {
    const Ticks shared = std::clamp<Ticks>(data - begin, 0, message);
    const Ticks before = std::max(met_out, met_in);
    met += shared;
    data += std::max(met_out, met_in) - before;
    return shared;
  }
  /// A time in which the rank did nothing.
  void wait(Ticks from, Ticks to, Ticks send_end) {
    const Ticks sent = std::clamp(send_end, from, to);
    send_exposed += sent - from;
    data_exposed += std::clamp(data, sent, to) - sent;
  }
};

/// The lanes of ranks beside their passes, pass by pass. What is beside a pass takes as much longer
/// as the pass does. `message`: what of the pass is its message, at its end.
class LanesBeside {
 public:
  LanesBeside(const PassTicks& ticks, const PassSlowdowns& slower, const StartGathers& gathers)
      : ticks_(ticks), slower_(slower), gathers_(gathers) {}

  /// When a pass is through that begins at `start`.
  [[nodiscard]] Ticks pass(std::size_t kind, Ticks start, LaneEnds& ends) const {
    return part(kind, start, ticks_[kind], ends);
  }
  /// The same of a forward pass that waits for its parameters, if it is the first of its place.
  [[nodiscard]] Ticks first(
      std::size_t kind, Ticks start, Ticks message, std::size_t rank, LaneEnds& ends) const;
  /// The same of the pass that makes the last gradients of these buckets, which go on the data
  /// lane.
  [[nodiscard]] Ticks last(std::size_t kind,
                           Ticks start,
                           Ticks message,
                           const std::vector<BucketTicks>& buckets,
                           LaneEnds& ends) const;

 private:
  [[nodiscard]] Ticks part(std::size_t kind, Ticks start, Ticks work, LaneEnds& ends) const {
    const bool alone = slower_.empty() || std::max(ends.data, ends.send) <= start;
    return start + work + (alone ? 0 : slow_down(kind, start, work, ends));
  }
  /// By how much it takes longer.
  Ticks slow_down(std::size_t kind, Ticks start, Ticks work, LaneEnds& ends) const;

  const PassTicks& ticks_;
  const PassSlowdowns& slower_;
  const StartGathers& gathers_;
};

}  // namespace titer
