// Gradients in buckets, beside the backward passes.

#include <algorithm>

#include "titer/cost/move_clock.hpp"

namespace titer {
namespace {

/// Cuts a stage's gradients into buckets, in the order in which its backward pass makes them.
class BucketMaker {
 public:
  BucketMaker(const Scenario& scenario, const StepCosts& costs, const MoveClock& clock)
      : clock_(clock),
        gathers_(scenario.overlap_param_gather()),
        bucket_(scenario.stack.bucket(clock.ranks())),
        contents_(costs.contents),
        order_(costs.blocks.order),
        embedding_{trained(costs.blocks.embedding, scenario.plan), time_of(costs.embedding)},
        head_{head_count(scenario, costs), time_of(costs.head)} {
    kinds_.reserve(costs.kinds.size());
    for (std::size_t kind = 0; kind < costs.kinds.size(); ++kind) {
      kinds_.push_back(
          {trained(costs.blocks.kinds[kind], scenario.plan), time_of(costs.kinds[kind])});
    }
  }

  /// Of a stage of the model.
  void fill(int stage, std::vector<GradientBucket>& buckets) {
    const bool first = stage == 0;
    const bool last = stage == contents_.last();
    const std::span<const double> counts = contents_.kinds(stage);
    buckets.clear();
    waiting_ = {};
    blocks_ = 0;
    done_ = {};
    all_ = {};
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      all_ += counts[kind] * kinds_[kind].time;
    }
    all_ += (first ? embedding_.time : Seconds{}) + (last ? head_.time : Seconds{});
    if (last) {
      add(head_, buckets);
    }
    add_layers(stage, buckets);
    if (first) {
      add(embedding_, buckets);
    }
    if (waiting_.total() > 0) {
      close(buckets);
    }
    if (!buckets.empty()) {
      buckets.back().ready = 1;  // not a rounding less
    }
  }

 private:
  struct Sized {
    DeviceParameters parameters;
    Seconds time;  // of its backward pass
  };

  /// The last layer of a stage comes first in its backward pass.
  void add_layers(int stage, std::vector<GradientBucket>& buckets) {
    double first = 0;
    for (int before = 0; before < stage; ++before) {
      first += contents_.layers(before);
    }
    const double end = first + contents_.layers(stage);
    double run_end = 0;
    for (const LayerRun& run : order_) {
      run_end += static_cast<double>(run.count);
    }
    for (auto run = order_.rbegin(); run != order_.rend(); ++run) {
      const double run_begin = run_end - static_cast<double>(run->count);
      const double inside = std::min(run_end, end) - std::max(run_begin, first);
      for (int i = 0; i < static_cast<int>(inside); ++i) {
        add(kinds_[static_cast<std::size_t>(run->kind)], buckets);
      }
      run_end = run_begin;
    }
  }

  static DeviceParameters trained(const Block& block, const Plan& plan) {
    return on_device(block.trained(), plan);
  }
  static Seconds time_of(const BlockCost& cost) { return cost.backward.busy(); }
  void add(const Sized& block, std::vector<GradientBucket>& buckets) {
    waiting_ += block.parameters;
    ++blocks_;
    done_ += block.time;
    if (waiting_.total() >= bucket_) {
      close(buckets);
    }
  }
  void close(std::vector<GradientBucket>& buckets) {
    if (!(waiting_ == timed_)) {
      timed_ = waiting_;
      sync_ = clock_.time(MoveTime::complete, waiting_);
      expert_sync_ = clock_.expert_time(MoveTime::complete, waiting_);
      if (gathers_) {
        gather_ = clock_.time(MoveTime::updated, waiting_);
        expert_gather_ = clock_.expert_time(MoveTime::updated, waiting_);
      }
    }
    const double share = all_ > Seconds{} ? done_ / all_ : 1.0;
    buckets.push_back({.ready = std::min(1.0, share),
                       .sync = sync_,
                       .gather = gather_,
                       .parameters = waiting_,
                       .blocks = blocks_,
                       .expert_sync = expert_sync_,
                       .expert_gather = expert_gather_});
    waiting_ = {};
    blocks_ = 0;
  }

  const MoveClock& clock_;
  bool gathers_;
  double bucket_;
  const StageBlocks& contents_;
  const std::vector<LayerRun>& order_;
  std::vector<Sized> kinds_;  // of layers
  Sized embedding_;
  Sized head_;
  DeviceParameters waiting_;  // parameters whose gradients are made, in no bucket yet
  int blocks_ = 0;            // of these
  Seconds done_;
  Seconds all_;
  // The times of the bucket closed last: most are as large.
  DeviceParameters timed_;
  Seconds sync_;
  Seconds gather_;
  Seconds expert_sync_;
  Seconds expert_gather_;
};

}  // namespace

/// Stages between the ends are alike where their groups are.
void fill_gradient_buckets(const Scenario& scenario, const MoveClock& clock, StepCosts& costs) {
  costs.buckets.resize(static_cast<std::size_t>(costs.stages));
  const bool two_ways = costs.placement == Placement::two_ways;
  BucketMaker maker(scenario, costs, clock);
  for (int stage = 0; stage < costs.stages; ++stage) {
    const auto at = static_cast<std::size_t>(stage);
    auto& buckets = costs.buckets[at];
    // Layers of one kind come in one order only.
    const bool one_kind = costs.kinds.size() == 1;
    if (two_ways) {
      const SyncGroups own_groups = sync_groups(scenario, costs.placement, stage);
      const MoveClock own(scenario, own_groups);
      BucketMaker(scenario, costs, own).fill(stage, buckets);
    } else if (one_kind && costs.alike(stage, stage - 1)) {
      buckets = costs.buckets[at - 1];
    } else {
      maker.fill(stage, buckets);
    }
  }
}

}  // namespace titer
