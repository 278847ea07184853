#include "sync_cost.hpp"

#include <algorithm>

#include "titer/collectives/choice.hpp"

namespace titer {
namespace {

double on_device(const ParameterCount& count, std::int64_t tensor) {
  return static_cast<double>(count.split) / static_cast<double>(tensor) +
         static_cast<double>(count.replicated);
}

/// Whether the model's first and last stage are on different ranks, so that each keeps a copy of a
/// tied token table.
bool ends_apart(const StepCosts& costs) {
  const StagePlace last = place_of(costs.placement, costs.stages - 1, 0, costs.shape);
  return costs.placement != Placement::two_ways && last.rank != 0;
}

/// Whether the copies of a stage are on the same node for every rank of their groups, on different
/// ones for every rank, or neither.
enum class Copies { same_node, other_nodes, mixed };

Copies copies_of(const Scenario& scenario, int rank, std::int64_t stride) {
  const std::int64_t devices = scenario.cluster.devices_per_node;
  const Plan& plan = scenario.plan;
  const std::int64_t p = plan.pipeline;
  if (plan.devices() <= devices) {
    return Copies::same_node;
  }
  // Devices that differ by whole pipelines lie on nodes alike after as many as a node has devices.
  const std::int64_t stretch = stride * p;
  const std::int64_t pipelines = std::min<std::int64_t>(plan.devices() / stretch, devices);
  bool same = false;
  bool other = false;
  for (std::int64_t i = 0; i < pipelines; ++i) {
    for (std::int64_t offset = 0; offset < stride; ++offset) {
      const std::int64_t here = i * stretch + rank * stride + offset;
      const std::int64_t there = i * stretch + (p - 1 - rank) * stride + offset;
      const bool together = here / devices == there / devices;
      same = same || together;
      other = other || !together;
    }
  }
  return same && other ? Copies::mixed : (same ? Copies::same_node : Copies::other_nodes);
}

/// The work after the backward passes, for a number of parameters on the device.
class SyncClock {
 public:
  /// Both must stay.
  SyncClock(const Scenario& scenario, const SyncGroup& place)
      : scenario_(&scenario),
        place_(&place),
        kernels_(scenario.cluster.chip, scenario.training.precision),
        sharded_(scenario.plan.sharding == Sharding::zero1 && place_->group.ranks() > 1),
        shards_(sharded_ ? static_cast<double>(place_->group.ranks()) : 1.0),
        gradient_(size_of(scenario.gradient_type())),
        weight_(size_of(scenario.training.precision)) {}

  [[nodiscard]] Seconds gradient_sync(double parameters) const {
    return group_time(sharded_ ? Collective::reduce_scatter : Collective::all_reduce,
                      parameters * gradient_,
                      place_->group,
                      place_->fabric);
  }
  [[nodiscard]] Seconds parameter_sync(double parameters) const {
    return sharded_
               ? group_time(
                     Collective::all_gather, parameters * weight_, place_->group, place_->fabric)
               : Seconds{};
  }
  [[nodiscard]] Seconds optimizer(double parameters) const {
    return kernels_.time({.kind = KernelKind::memory,
                          .flops = {},
                          .bytes = optimizer_bytes(*scenario_, parameters, shards_)});
  }
  [[nodiscard]] bool alone() const { return place_->group.ranks() == 1; }
  [[nodiscard]] double ranks() const { return place_->group.ranks(); }

 private:
  const Scenario* scenario_;
  const SyncGroup* place_;
  KernelClock kernels_;
  bool sharded_;
  double shards_;
  Bytes gradient_;
  Bytes weight_;
};

/// Cuts a stage's gradients into buckets, in the order in which its backward pass makes them.
class BucketMaker {
 public:
  BucketMaker(const Scenario& scenario, const StepCosts& costs, const SyncClock& clock)
      : clock_(clock),
        gathers_(scenario.overlap_param_gather()),
        bucket_(scenario.stack.bucket(clock.ranks())),
        layer_{layer_count(scenario), time_of(costs.layer)},
        embedding_{embedding_count(scenario), time_of(costs.embedding)},
        head_{head_count(scenario, costs), time_of(costs.head)} {}

  /// Of a stage with so many layers, and with the first or last block of the model.
  void fill(double layers, bool first, bool last, std::vector<GradientBucket>& buckets) {
    buckets.clear();
    waiting_ = 0;
    blocks_ = 0;
    done_ = {};
    all_ = layers * layer_.time + (first ? embedding_.time : Seconds{}) +
           (last ? head_.time : Seconds{});
    if (last) {
      add(head_, buckets);
    }
    for (int i = 0; i < static_cast<int>(layers); ++i) {
      add(layer_, buckets);
    }
    if (first) {
      add(embedding_, buckets);
    }
    if (waiting_ > 0) {
      close(buckets);
    }
    if (!buckets.empty()) {
      buckets.back().ready = 1;  // not a rounding less
    }
  }

 private:
  struct Block {
    double parameters;
    Seconds time;  // of its backward pass
  };

  static Seconds time_of(const BlockCost& cost) {
    return cost.backward.compute + cost.backward.comm;
  }
  void add(const Block& block, std::vector<GradientBucket>& buckets) {
    waiting_ += block.parameters;
    ++blocks_;
    done_ += block.time;
    if (waiting_ >= bucket_) {
      close(buckets);
    }
  }
  void close(std::vector<GradientBucket>& buckets) {
    if (waiting_ != timed_) {
      timed_ = waiting_;
      sync_ = clock_.gradient_sync(waiting_);
      gather_ = gathers_ ? clock_.parameter_sync(waiting_) : Seconds{};
    }
    const double share = all_ > Seconds{} ? done_ / all_ : 1.0;
    buckets.push_back({.ready = std::min(1.0, share),
                       .sync = sync_,
                       .gather = gather_,
                       .parameters = waiting_,
                       .blocks = blocks_});
    waiting_ = 0;
    blocks_ = 0;
  }

  const SyncClock& clock_;
  bool gathers_;
  double bucket_;
  Block layer_;
  Block embedding_;
  Block head_;
  double waiting_ = 0;  // parameters whose gradients are made, in no bucket yet
  int blocks_ = 0;      // of these
  Seconds done_;
  Seconds all_;
  // The times of the bucket closed last: most are as large.
  double timed_ = -1;
  Seconds sync_;
  Seconds gather_;
};

/// Stages between the ends are alike where their groups are.
void fill_buckets(const Scenario& scenario, StepCosts& costs) {
  costs.buckets.resize(static_cast<std::size_t>(costs.stages));
  const bool two_ways = costs.placement == Placement::two_ways;
  const SyncGroup group = sync_group(scenario, costs.placement, 0);
  const SyncClock clock(scenario, group);
  BucketMaker maker(scenario, costs, clock);
  for (int stage = 0; stage < costs.stages; ++stage) {
    const bool first = stage == 0;
    const bool last = stage == costs.stages - 1;
    const auto at = static_cast<std::size_t>(stage);
    auto& buckets = costs.buckets[at];
    const double layers = costs.layers[at];
    if (two_ways) {
      const SyncGroup own_group = sync_group(scenario, costs.placement, stage);
      const SyncClock own(scenario, own_group);
      BucketMaker(scenario, costs, own).fill(layers, first, last, buckets);
    } else if (stage > 1 && !last && layers == costs.layers[at - 1]) {
      buckets = costs.buckets[at - 1];
    } else {
      maker.fill(layers, first, last, buckets);
    }
  }
}

}  // namespace

double layer_count(const Scenario& scenario) {
  return on_device(layer_parameters(scenario.model), scenario.plan.tensor);
}

double embedding_count(const Scenario& scenario) {
  const std::int64_t t = scenario.plan.tensor;
  return on_device(embedding_parameters(scenario.model, t), t);
}

double head_count(const Scenario& scenario, const StepCosts& costs) {
  const std::int64_t t = scenario.plan.tensor;
  double count = on_device(head_parameters(scenario.model, t), t);
  if (scenario.model.tied_embeddings && ends_apart(costs)) {
    const ParameterCount table{.split = embedding_parameters(scenario.model, t).split};
    count += on_device(table, t);
  }
  return count;
}

Bytes token_table_gradient(const Scenario& scenario) {
  const std::int64_t t = scenario.plan.tensor;
  const ParameterCount table{.split = embedding_parameters(scenario.model, t).split};
  return on_device(table, t) * size_of(scenario.gradient_type());
}

Bytes optimizer_bytes(const Scenario& scenario, double parameters, double shards) {
  const OptimizerTraffic traffic = optimizer_traffic(scenario);
  return parameters / shards * traffic.per_updated + parameters * traffic.per_gradient;
}

Seconds group_time(Collective kind, Bytes size, Group group, const Fabric& fabric) {
  return group.ranks() == 1 ? Seconds{} : collective_time(kind, size, group, fabric).time;
}

SyncGroup sync_group(const Scenario& scenario, Placement placement, int rank) {
  const Cluster& cluster = scenario.cluster;
  const int devices = cluster.devices_per_node;
  const GroupPlace data = place(scenario.plan, Dimension::data, devices);
  if (placement != Placement::two_ways) {
    return {data.group, data.fabric(cluster)};
  }
  const GroupPlace pipeline = place(scenario.plan, Dimension::pipeline, devices);
  GroupPlace both = data;
  switch (copies_of(scenario, rank, pipeline.stride)) {
    case Copies::same_node: {
      const int apart =
          std::abs(static_cast<int>(scenario.plan.pipeline) - 1 - 2 * rank) * pipeline.stride;
      const int between = data.group.per_node > 1 ? std::min(apart, data.stride_in_node) : apart;
      both.group.per_node = 2 * data.group.per_node;
      // A ring over both copies' devices; no wider than the node.
      both.stride_in_node = std::clamp(between, 1, devices / both.group.per_node);
      break;
    }
    case Copies::other_nodes:
      both.group.nodes = 2 * data.group.nodes;
      break;
    case Copies::mixed:
      both.group = {.per_node = 1, .nodes = 2 * data.group.ranks()};
      both.stride_in_node = 1;
      break;
  }
  return {both.group, both.fabric(cluster)};
}

void fill_synchronisation(const Scenario& scenario, StepCosts& costs) {
  const int p = costs.shape.stages;
  const bool two_ways = costs.placement == Placement::two_ways;
  SyncGroup group = sync_group(scenario, costs.placement, 0);
  const SyncClock clock(scenario, group);
  const bool in_buckets = scenario.overlap_grad_reduce() && !clock.alone();
  costs.tails.resize(static_cast<std::size_t>(p));
  double previous = -1.0;
  for (int s = 0; s < p; ++s) {
    const double count = rank_parameters(scenario.model, scenario.plan, s);
    StageTail& tail = costs.tails[static_cast<std::size_t>(s)];
    if (count == previous && !two_ways) {
      tail = costs.tails[static_cast<std::size_t>(s - 1)];  // stages between the ends are alike
      continue;
    }
    if (two_ways && s > 0) {
      group = sync_group(scenario, costs.placement, s);
    }
    tail = {.gradient_sync = in_buckets ? Seconds{} : clock.gradient_sync(count),
            .optimizer = clock.optimizer(count),
            .parameter_sync =
                scenario.overlap_param_gather() ? Seconds{} : clock.parameter_sync(count)};
    previous = count;
  }
  if (in_buckets) {
    fill_buckets(scenario, costs);
  } else {
    costs.buckets.clear();
  }
}

}  // namespace titer
