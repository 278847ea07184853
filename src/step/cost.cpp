#include "titer/step/cost.hpp"

#include <algorithm>

#include "titer/collectives/choice.hpp"

namespace titer {
namespace {

/// Compute of one pass: the sum of its kernels, but no less than the host needs to launch them. In
/// the gaps where the device waits for the host, transfers beside compute go on; counted otherwise,
/// a faster chip, which leaves them less compute to hide behind, would make the pass longer.
class PassClock {
 public:
  explicit PassClock(const BlockClock& clock) : clock_(clock) {}

  Seconds add(const Kernel& kernel) {
    const Seconds time = clock_.kernels.time(kernel);
    kernels_ += time;
    launches_ += kernel.exists() ? 1 : 0;
    return time;
  }
  /// A transfer that the next kernel waits for.
  void add(const Transfer& transfer) { blocking_ += launch(transfer); }
  /// A transfer beside a kernel that takes `kernel`.
  void add_beside(const Transfer& transfer, Seconds kernel) {
    exposed_ += std::max(Seconds{}, launch(transfer) - kernel);
  }
  [[nodiscard]] PassCost cost() const {
    return {.compute = std::max(kernels_, launches_ * clock_.dispatch - exposed_),
            .comm = blocking_ + exposed_,
            .comm_total = comm_total_};
  }

 private:
  Seconds launch(const Transfer& transfer) {
    if (!transfer.exists()) {
      return {};
    }
    const Seconds time = clock_.transfer_time(transfer);
    comm_total_ += time;
    ++launches_;
    return time;
  }

  const BlockClock& clock_;
  Seconds kernels_;
  Seconds blocking_;
  Seconds exposed_;
  Seconds comm_total_;
  double launches_ = 0;
};

void add_backward(const Operation& op, const BlockClock& clock, PassClock& pass) {
  const Seconds input = pass.add(op.input_gradient);
  const Seconds weight = pass.add(op.weight_gradient);
  if (op.column_split && clock.overlap == TensorOverlap::backward) {
    pass.add_beside(op.regather_transfer, input);
    pass.add_beside(op.backward_transfer, weight);
  } else {
    pass.add(op.regather_transfer);
    pass.add(op.backward_transfer);
  }
}

bool repeats(const Operation& op, Recompute recompute) {
  return recompute == Recompute::full || (recompute == Recompute::selective && op.core_attention);
}

Seconds group_time(Collective kind, Bytes size, const GroupPlace& place, const Fabric& fabric) {
  return place.group.ranks() == 1 ? Seconds{}
                                  : collective_time(kind, size, place.group, fabric).time;
}

/// The slowest channel between the ranks of two stages of one node.
Channel stage_channel(const Scenario& scenario, const GroupPlace& pipeline, int from, int to) {
  const int devices = scenario.cluster.devices_per_node;
  const Bytes probe = boundary_bytes(scenario);
  Channel slowest;
  const std::int64_t stride = pipeline.stride;
  const std::int64_t length = pipeline.group.ranks() * stride;
  const std::int64_t end = std::min<std::int64_t>(devices, pipeline.stretches * length);
  for (std::int64_t start = 0; start < end; start += length) {
    for (int offset = 0; offset < pipeline.stride; ++offset) {
      const auto device = [&](int stage) {
        return static_cast<int>((start + stage * stride + offset) % devices);
      };
      const Channel other = scenario.cluster.pair_channel(device(from), device(to));
      const bool first = slowest.links().empty();
      slowest = first || other.time(1, probe) > slowest.time(1, probe) ? other : slowest;
    }
  }
  return slowest;
}

/// One activation across a stage boundary, one way.
class SendClock {
 public:
  explicit SendClock(const Scenario& scenario)
      : scenario_(scenario),
        size_(boundary_bytes(scenario)),
        pipeline_(place(scenario.plan, Dimension::pipeline, scenario.cluster.devices_per_node)) {
    const bool sharded = scenario.slice().sequence_parallel;
    const bool gathered = !sharded && scenario.stack.pipeline_scatter_gather;
    if (scenario.plan.tensor > 1 && (sharded || gathered)) {
      size_ = size_ / static_cast<double>(scenario.plan.tensor);
    }
    if (gathered) {
      const GroupPlace tensor =
          place(scenario.plan, Dimension::tensor, scenario.cluster.devices_per_node);
      gather_ = group_time(Collective::all_gather,
                           boundary_bytes(scenario),
                           tensor,
                           tensor.fabric(scenario.cluster));
    }
    network_ = scenario.cluster.network_channel().time(1, size_);
  }

  [[nodiscard]] Seconds from(int stage) const {
    const int to = (stage + 1) % scenario_.shape().stages;
    if (leaves_node(pipeline_, stage, scenario_.cluster.devices_per_node)) {
      return network_ + gather_;
    }
    return stage_channel(scenario_, pipeline_, stage, to).time(1, size_) + gather_;
  }

 private:
  const Scenario& scenario_;
  Bytes size_;
  GroupPlace pipeline_;
  Seconds gather_;
  Seconds network_;
};

/// The work after the backward passes, for a number of parameters on the device.
class TailClock {
 public:
  explicit TailClock(const Scenario& scenario)
      : place_(place(scenario.plan, Dimension::data, scenario.cluster.devices_per_node)),
        fabric_(place_.fabric(scenario.cluster)),
        kernels_(scenario.cluster.chip, scenario.training.precision),
        traffic_(optimizer_traffic(scenario)),
        sharded_(scenario.plan.sharding == Sharding::zero1 && scenario.plan.data > 1),
        shards_(sharded_ ? static_cast<double>(scenario.plan.data) : 1.0),
        gradient_(size_of(scenario.gradient_type())),
        weight_(size_of(scenario.training.precision)) {}

  [[nodiscard]] StageTail tail(double parameters) const {
    StageTail tail;
    tail.gradient_sync = group_time(sharded_ ? Collective::reduce_scatter : Collective::all_reduce,
                                    parameters * gradient_,
                                    place_,
                                    fabric_);
    tail.optimizer = kernels_.time({.kind = KernelKind::memory,
                                    .flops = {},
                                    .bytes = parameters / shards_ * traffic_.per_updated +
                                             parameters * traffic_.per_gradient});
    if (sharded_) {
      tail.parameter_sync =
          group_time(Collective::all_gather, parameters * weight_, place_, fabric_);
    }
    return tail;
  }

 private:
  GroupPlace place_;
  Fabric fabric_;
  KernelClock kernels_;
  OptimizerTraffic traffic_;
  bool sharded_;
  double shards_;
  Bytes gradient_;
  Bytes weight_;
};

void fill_tails(const Scenario& scenario, StepCosts& costs) {
  const TailClock clock(scenario);
  const int p = costs.shape.stages;
  costs.tails.resize(static_cast<std::size_t>(p));
  double previous = -1.0;
  for (int s = 0; s < p; ++s) {
    const double count = stage_parameters(scenario.model, s, costs.shape, scenario.plan.tensor);
    auto& tail = costs.tails[static_cast<std::size_t>(s)];
    // Stages between the ends are alike.
    tail = count == previous ? costs.tails[static_cast<std::size_t>(s - 1)] : clock.tail(count);
    previous = count;
  }
}

/// All-reduce of the token table's gradient between the first and the last stage.
Seconds embedding_sync_time(const Scenario& scenario) {
  if (!scenario.model.tied_embeddings || scenario.plan.pipeline == 1) {
    return {};
  }
  const GroupPlace pipeline =
      place(scenario.plan, Dimension::pipeline, scenario.cluster.devices_per_node);
  const auto last = static_cast<int>(scenario.plan.pipeline - 1);
  const bool network = leaves_node(pipeline, last, scenario.cluster.devices_per_node);
  const Group pair = network ? Group{.per_node = 1, .nodes = 2} : Group{.per_node = 2, .nodes = 1};
  Fabric fabric{.node = {}, .network = scenario.cluster.network_channel()};
  if (!network) {
    fabric.node = stage_channel(scenario, pipeline, last, 0);
  }
  const double table =
      static_cast<double>(embedding_parameters(scenario.model, scenario.plan.tensor).split) /
      static_cast<double>(scenario.plan.tensor);
  return collective_time(
             Collective::all_reduce, table * size_of(scenario.gradient_type()), pair, fabric)
      .time;
}

}  // namespace

Seconds BlockClock::transfer_time(const Transfer& transfer) const {
  return collective_time(transfer.kind, transfer.size, tensor_group, tensor_fabric).time;
}

BlockClock block_clock(const Scenario& scenario) {
  const GroupPlace tensor =
      place(scenario.plan, Dimension::tensor, scenario.cluster.devices_per_node);
  return {.kernels = KernelClock(scenario.cluster.chip, scenario.training.precision),
          .tensor_group = tensor.group,
          .tensor_fabric = tensor.fabric(scenario.cluster),
          .overlap = scenario.tensor_overlap(),
          .dispatch = scenario.stack.dispatch};
}

BlockCost block_cost(const OperationList& operations,
                     Recompute recompute,
                     const BlockClock& clock) {
  PassClock forward(clock);
  PassClock backward(clock);
  PassClock repeated(clock);
  for (const Operation& op : operations) {
    forward.add(op.forward);
    forward.add(op.forward_transfer);
    add_backward(op, clock, backward);
    if (repeats(op, recompute)) {
      repeated.add(op.forward);
      repeated.add(op.forward_transfer);
    }
  }
  return {.forward = forward.cost(), .backward = backward.cost(), .recompute = repeated.cost()};
}

BlockCost StepCosts::chunk(int stage) const {
  BlockCost cost = layers_per_chunk * layer;
  if (stage == 0) {
    cost += embedding;
  }
  if (stage == shape.stages * shape.virtual_stages - 1) {
    cost += head;
  }
  return cost;
}

Seconds StepCosts::send_after(int stage, bool backward) const {
  const int p = shape.stages;
  const int last = p * shape.virtual_stages - 1;
  if (stage == (backward ? 0 : last)) {
    return {};
  }
  const int boundary = backward ? stage - 1 : stage;  // both directions cross the same one
  return send[static_cast<std::size_t>(boundary % p)];
}

void step_costs(const Scenario& scenario, StepCosts& costs) {
  const Slice slice = scenario.slice();
  const BlockClock clock = block_clock(scenario);
  costs.shape = scenario.shape();
  costs.layers_per_chunk = static_cast<double>(scenario.model.layers) /
                           (costs.shape.stages * costs.shape.virtual_stages);
  list_operations(scenario.model, slice, costs.operations);
  costs.layer = block_cost(costs.operations.layer, scenario.plan.recompute, clock);
  costs.embedding = block_cost(costs.operations.embedding, Recompute::none, clock);
  costs.head = block_cost(costs.operations.head, Recompute::none, clock);
  costs.send.resize(static_cast<std::size_t>(costs.shape.stages));
  if (costs.shape.stages > 1) {
    const SendClock send(scenario);
    for (int s = 0; s < costs.shape.stages; ++s) {
      costs.send[static_cast<std::size_t>(s)] = send.from(s);
    }
  }
  costs.embedding_sync = embedding_sync_time(scenario);
  fill_tails(scenario, costs);
}

Bytes boundary_bytes(const Scenario& scenario) {
  return static_cast<double>(scenario.plan.micro_batch * scenario.training.sequence *
                             scenario.model.hidden) *
         size_of(scenario.training.precision);
}

OptimizerTraffic optimizer_traffic(const Scenario& scenario) {
  const Bytes gradient = size_of(scenario.gradient_type());
  const Bytes weight = size_of(scenario.training.precision);
  const Bytes fp32 = size_of(DataType::fp32);
  const Bytes states = Bytes::from_si(scenario.training.optimizer.state_bytes);
  // Read the gradient; read and write the fp32 weights and the states; write the weights that the
  // model uses, where they are a copy. Before that every gradient is read for its norm, and after
  // it every gradient is set to zero.
  const Bytes copy = weight < fp32 ? weight : Bytes{};
  return {.per_updated = gradient + 2.0 * (fp32 + states) + copy, .per_gradient = 2.0 * gradient};
}

}  // namespace titer
