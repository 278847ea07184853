// Pipelines with lanes beside the passes.

#include <algorithm>

#include "titer/plan/pipeline/pipeline.hpp"

namespace titer {

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
        ticks_(ticks),
        lanes_(lanes) {}

  void run(std::vector<Ticks>& finish) {
    prepare(finish);
    Ticks* arrival = clock_.ends_of_passes_.data();
    for (const PipelinePass& pass : program_.passes()) {
      *++arrival = take(pass, finish[pass.rank]);
    }
    for (std::size_t rank = 0; rank < finish.size(); ++rank) {
      clock_.ends_[rank].send = clock_.send_ends_[rank];
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
    clock_.send_ends_.assign(p, 0);
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
    Ticks& send_end = clock_.send_ends_[pass.rank];
    wait(pass.rank, rank_end, start);
    Ticks end = start + ticks_[pass.kind];
    if (!lanes_.gathers.empty() && is(pass, Pass::forward)) {
      const Ticks gathered = std::max(end, lanes_.gathers.forwards[place_of_kind(pass.kind)]);
      ends.data_exposed += gathered - end;
      end = gathered;
    }
    if (lanes_.has_buckets()) {
      synchronise(pass, end, ends);
    }
    const Ticks send = lanes_.send[pass.kind];
    if (!lanes_.overlapped_sends) {
      rank_end = end + send;
      return rank_end;
    }
    rank_end = end;
    if (send > 0) {
      send_end = std::max(send_end, end) + send;
    }
    return send > 0 ? send_end : end;
  }

  void wait(std::size_t rank, Ticks from, Ticks to) {
    LaneEnds& ends = clock_.ends_[rank];
    const Ticks send_end = clock_.send_ends_[rank];
    ends.wait(from, to, send_end);
    const Ticks begin = std::clamp(send_end, from, to);
    const bool may_synchronise = two_ways_ && made_some(rank);
    if (may_synchronise && begin < to) {
      clock_.gaps_[rank].emplace_back(begin, to);
    }
  }

  /// Whether the rank has all gradients of one of its two stages.
  [[nodiscard]] bool made_some(std::size_t rank) const {
    return clock_.made_[rank].first > 0 || clock_.made_[paired(rank)].first > 0;
  }

  [[nodiscard]] bool is(const PipelinePass& pass, Pass as) const {
    return is_alone(pass, as, program_.places());
  }

  /// After the last pass that makes gradients of a stage: its buckets go on the data lane.
  void synchronise(const PipelinePass& pass, Ticks end, LaneEnds& ends) {
    const bool pair = pass.kind < instant_kind(program_.places()) && is_pair(pass.kind);
    const bool weight = is(pass, Pass::weight_gradient);
    if (!pair && !weight && !is(pass, Pass::backward)) {
      return;
    }
    const std::size_t place = place_of_kind(pass.kind);
    const std::size_t made = pair ? paired(place) : place;
    if (--clock_.gradients_left_[made] > 0) {
      return;
    }
    const GradientPass kind = pair     ? GradientPass::pair
                              : weight ? GradientPass::weight
                                       : GradientPass::whole;
    if (two_ways_) {
      clock_.made_[made] = {end, kind};
      return;
    }
    for (const BucketTicks& bucket : lanes_.buckets_of(made, kind)) {
      ends.data = std::max(ends.data, end - bucket.left) + bucket.sync;
    }
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
  const PassTicks& ticks_;
  const PipelineLanes& lanes_;
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

void data_lanes(const FollowedPipeline& pipeline,
                const PipelineLanes& lanes,
                std::vector<LaneEnds>& ends) {
  ends.assign(pipeline.finish.size(), {});
  for (std::size_t rank = 0; rank < pipeline.gathers.through.size(); ++rank) {
    ends[rank].data = pipeline.gathers.through[rank];
    ends[rank].data_exposed = pipeline.gathers_exposed[rank];
  }
  const Ticks later = pipeline.later;
  for (const LaneEvent& event : pipeline.events) {
    LaneEnds& own = ends[event.rank];
    if (event.waits) {
      own.wait(event.from + later, event.to + later, 0);
      continue;
    }
    const Ticks made = event.to + later - lanes.send[event.pass];
    for (const BucketTicks& bucket : lanes.buckets_of(event.place, event.kind)) {
      own.data = std::max(own.data, made - bucket.left) + bucket.sync;
    }
  }
}

}  // namespace titer
