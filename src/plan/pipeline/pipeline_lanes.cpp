// Pipelines with lanes beside the passes.

#include <algorithm>

#include "titer/plan/pipeline/pipeline.hpp"

namespace titer {

Ticks LanesBeside::slow_down(std::size_t kind, Ticks start, Ticks work, LaneEnds& ends) const {
  const Ticks data = std::clamp<Ticks>(ends.data - start, 0, work);
  const Ticks send = std::clamp<Ticks>(ends.send - start, 0, work);
  const Ticks longer = nearest_tick(slower_[kind] * static_cast<double>(data + send));
  ends.data += data > 0 ? longer : 0;
  ends.send += send > 0 ? longer : 0;
  (is_of(kind, Pass::forward) ? ends.forward_slowed : ends.backward_slowed) += longer;
  return longer;
}

Ticks LanesBeside::first(
    std::size_t kind, Ticks start, Ticks message, std::size_t rank, LaneEnds& ends) const {
  if (ends.data <= start) {  // all of them are there
    return pass(kind, start, ends);
  }
  const Ticks through = gathers_.through[rank];
  Ticks left = ticks_[kind];
  for (const ArrivalTicks& bucket : gathers_.of(place_of_kind(kind))) {
    // Until the last one is there, what the lane is late by is what slowed these gathers down.
    const Ticks there = bucket.there + (ends.data - through);
    // Of a pass alone: one that is overlapped may be shorter.
    const Ticks after = std::min(left, bucket.left + message);
    if (there > start) {
      start = part(kind, start, left - after, ends);
      left = after;
      const Ticks held = std::max(start, bucket.there + (ends.data - through));
      ends.data_exposed += held - start;
      start = held;
    }
  }
  return part(kind, start, left, ends);
}

Ticks LanesBeside::last(std::size_t kind,
                        Ticks start,
                        Ticks message,
                        const std::vector<BucketTicks>& buckets,
                        LaneEnds& ends) const {
  Ticks left = ticks_[kind];
  for (const BucketTicks& bucket : buckets) {
    const Ticks after = bucket.left + message;
    start = part(kind, start, left - after, ends);
    left = after;
    ends.data = std::max(ends.data, start) + bucket.sync;
  }
  return part(kind, start, left, ends);
}

/// One walk over a program's passes. A rank waits for its input, for parameters that are still
/// gathered, and for its own message unless that goes beside its compute.
class PipelineClock::LaneWalk {
 public:
  LaneWalk(PipelineClock& clock,
           const PipelineProgram& program,
           Placement placement,
           const PassTicks& ticks,
           const PipelineLanes& lanes)
      : clock_(clock),
        program_(program),
        stages_(static_cast<std::size_t>(model_stages(placement, program.shape()))),
        two_ways_(placement == Placement::two_ways),
        lanes_(lanes),
        ticks_(ticks),
        beside_(ticks_, lanes.slower, lanes.gathers) {
    if (!lanes.overlapped_sends) {
      std::ranges::transform(ticks_, lanes.send, ticks_.begin(), std::plus<>());
    }
  }

  void run(std::vector<Ticks>& finish) {
    prepare(finish);
    Ticks* arrival = clock_.ends_of_passes_.data();
    for (const PipelinePass& pass : program_.passes()) {
      *++arrival = take(pass, finish[pass.rank]);
    }
    if (two_ways_ && lanes_.has_buckets()) {
      for (std::size_t rank = 0; rank < finish.size() / 2; ++rank) {
        synchronise_both(rank, finish);
      }
    }
  }

 private:
  void prepare(std::vector<Ticks>& finish) {
    const auto p = static_cast<std::size_t>(program_.shape().stages);
    finish.assign(p, 0);
    clock_.ends_.assign(p, {});
    for (std::size_t rank = 0; rank < lanes_.gathers.through.size(); ++rank) {
      clock_.ends_[rank].data = lanes_.gathers.through[rank];
    }
    auto& arrivals = clock_.ends_of_passes_;
    arrivals.resize(std::max(arrivals.size(), program_.passes().size() + 1));
    arrivals[0] = 0;
    clock_.gradients_left_.assign(program_.places(), 0);
    for (std::size_t place = 0; place < program_.places(); ++place) {
      const PassCounts& counts = program_.counts(place);
      clock_.gradients_left_[place] += counts.of(Pass::backward) + counts.of(Pass::weight_gradient);
      clock_.gradients_left_[paired(place)] += counts.pairs;
    }
    if (two_ways_) {
      clock_.made_.assign(program_.places(), {});
      clock_.gaps_.resize(std::max(clock_.gaps_.size(), p));
      for (auto& gaps : clock_.gaps_) {
        gaps.clear();
      }
    }
  }

  [[nodiscard]] std::size_t paired(std::size_t place) const {
    return opposite_place(program_.places(), place);
  }

  /// When what the pass sends is there.
  Ticks take(const PipelinePass& pass, Ticks& rank_end) {
    const Ticks start = std::max(rank_end, clock_.ends_of_passes_[pass.input]);
    LaneEnds& ends = clock_.ends_[pass.rank];
    wait(pass.rank, rank_end, start);
    rank_end = done(pass, start, ends);
    const Ticks send = lanes_.overlapped_sends ? lanes_.send[pass.kind] : 0;
    if (send > 0) {
      const Ticks begin = std::max(ends.send, rank_end);
      ends.send = begin + send + held_up(pass.kind, begin, send, ends);
      return ends.send;
    }
    return rank_end;
  }

  /// By how much a message and the data lanes of both its ranks hold one another up.
  Ticks held_up(std::size_t kind, Ticks begin, Ticks send, LaneEnds& own) {
    if (lanes_.receivers.empty() || lanes_.receivers[kind] == kNoReceiver) {
      return 0;
    }
    LaneEnds& others = clock_.ends_[lanes_.receivers[kind]];
    return std::max(own.share(begin, send, own.met_out), others.share(begin, send, others.met_in));
  }

  void wait(std::size_t rank, Ticks from, Ticks to) {
    LaneEnds& ends = clock_.ends_[rank];
    ends.wait(from, to, ends.send);
    const Ticks begin = std::clamp(ends.send, from, to);
    const bool may_synchronise = two_ways_ && made_some(rank);
    if (may_synchronise && begin < to) {
      clock_.gaps_[rank].emplace_back(begin, to);
    }
  }

  /// When the pass is through. The last one that makes gradients of a stage puts its buckets on the
  /// data lane.
  Ticks done(const PipelinePass& pass, Ticks start, LaneEnds& ends) {
    const Ticks message = lanes_.overlapped_sends ? 0 : lanes_.send[pass.kind];
    if (!lanes_.gathers.empty() && is(pass, Pass::forward)) {
      return beside_.first(pass.kind, start, message, pass.rank, ends);
    }
    const std::optional<GradientPass> kind = gradient_pass(pass.kind, program_.places());
    if (!lanes_.has_buckets() || !kind) {
      return beside_.pass(pass.kind, start, ends);
    }
    const std::size_t place = place_of_kind(pass.kind);
    const std::size_t made = *kind == GradientPass::pair ? paired(place) : place;
    if (--clock_.gradients_left_[made] > 0) {
      return beside_.pass(pass.kind, start, ends);
    }
    if (two_ways_) {
      const Ticks end = beside_.pass(pass.kind, start, ends);
      clock_.made_[made] = {end - message, *kind};
      return end;
    }
    return beside_.last(pass.kind, start, message, lanes_.buckets_of(made, *kind), ends);
  }

  /// Whether the rank has all gradients of one of its two stages.
  [[nodiscard]] bool made_some(std::size_t rank) const {
    return clock_.made_[rank].first > 0 || clock_.made_[paired(rank)].first > 0;
  }

  [[nodiscard]] bool is(const PipelinePass& pass, Pass as) const {
    return is_alone(pass, as, program_.places());
  }

  /// The buckets of the two stages of a rank and the one as far from the other end, which both
  /// have: each begins when both have made it.
  void synchronise_both(std::size_t rank, const std::vector<Ticks>& finish) {
    const std::size_t other = stages_ - 1 - rank;
    Ticks data = std::max(clock_.ends_[rank].data, clock_.ends_[other].data);
    Idle own(clock_.gaps_[rank], std::max(finish[rank], clock_.ends_[rank].send));
    Idle others(clock_.gaps_[other], std::max(finish[other], clock_.ends_[other].send));
    for (const std::size_t stage : {other, rank}) {
      const auto& [here, kind_here] = clock_.made_[stage];
      const auto& [there, kind_there] = clock_.made_[stages_ + stage];
      const auto& buckets_here = lanes_.buckets_of(stage, kind_here);
      const auto& buckets_there = lanes_.buckets_of(stage, kind_there);
      for (std::size_t i = 0; i < buckets_here.size(); ++i) {
        const Ticks ready = std::max(here - buckets_here[i].left, there - buckets_there[i].left);
        const Ticks start = std::max(data, ready);
        data = start + buckets_here[i].sync;
        own.add(start, data);
        others.add(start, data);
      }
    }
    own.fill(data, clock_.ends_[rank]);
    others.fill(data, clock_.ends_[other]);
  }

  /// How much of the transfers runs while a rank does nothing, before and after its last pass and
  /// message.
  class Idle {
   public:
    Idle(const std::vector<std::pair<Ticks, Ticks>>& gaps, Ticks finish)
        : gaps_(gaps), finish_(finish) {}

    void add(Ticks start, Ticks end) {
      for (const auto& [from, to] : gaps_) {
        before_ += std::max<Ticks>(0, std::min(end, to) - std::max(start, from));
      }
      after_ += std::max<Ticks>(0, end - std::max(start, finish_));
    }
    void fill(Ticks data, LaneEnds& ends) const {
      ends.data = data;
      ends.data_exposed += before_;
      ends.data_idle = std::max<Ticks>(0, data - finish_) - after_;
    }

   private:
    const std::vector<std::pair<Ticks, Ticks>>& gaps_;
    Ticks finish_;
    Ticks before_ = 0;
    Ticks after_ = 0;
  };

  PipelineClock& clock_;
  const PipelineProgram& program_;
  std::size_t stages_;
  bool two_ways_;
  const PipelineLanes& lanes_;
  PassTicks ticks_;  // with messages that a rank waits for
  LanesBeside beside_;
};

void PipelineClock::run(const Schedule& schedule,
                        PipelineShape shape,
                        const PassTicks& ticks,
                        const PipelineLanes& lanes,
                        std::vector<Ticks>& finish) {
  const PipelineProgram& whole = program(schedule, shape);
  ends_of_.reset();
  LaneWalk(*this, whole, placement(schedule), ticks, lanes).run(finish);
  counts_ = whole.counts_of(micro_batches_per_chunk(placement(schedule), shape));
}

void PipelineClock::end_beside(const PipelineLanes& lanes,
                               std::vector<LaneEnds>& ends,
                               std::vector<Ticks>& finish) {
  const FollowedPipeline& pipeline = followed_[last_followed_];
  const PipelineProgram::Ending& ending =
      course(pipeline.schedule, pipeline.shape).program->ending();
  const LanesBeside beside(pipeline.ticks, lanes.slower, pipeline.gathers);
  ends = pipeline.starts;
  ends_of_ending_ = pipeline.before_ending;
  ends_of_ending_.reserve(ending.taken.size() + ending.passes.size());
  auto made = ending.made.begin();
  for (std::size_t i = 0; i < ending.passes.size(); ++i) {
    const PipelinePass& pass = ending.passes[i];
    const Ticks before = ends_of_ending_[pass.before];
    const Ticks start = std::max(before, ends_of_ending_[pass.input]);
    LaneEnds& own = ends[pass.rank];
    own.wait(before, start, 0);
    if (made != ending.made.end() && made->pass == i) {
      const auto& buckets = lanes.buckets_of(made->place, made->kind);
      ends_of_ending_.push_back(beside.last(pass.kind, start, lanes.send[pass.kind], buckets, own));
      ++made;
    } else {
      ends_of_ending_.push_back(beside.pass(pass.kind, start, own));
    }
  }
  finish.clear();
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    finish.push_back(ends_of_ending_[ending.last[rank]] + pipeline.later);
    ends[rank].data += pipeline.later;
  }
}

}  // namespace titer
