// What a layer, the embedding or the head takes: kernels, and transfers behind or beside them.

#include <algorithm>

#include "group_fabric.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/model/routing.hpp"
#include "titer/step/cost.hpp"

namespace titer {
namespace {

/// Compute of one pass: the sum of its kernels, but no less than the host needs to launch them. In
/// the gaps where the device waits for the host, transfers beside compute go on; counted otherwise,
/// a faster chip, which leaves them less compute to hide behind, would make the pass longer.
///
/// While a kernel and a transfer are beside one another, both take `slowdown` as long: together
/// max(k, c) + (slowdown - 1) min(k, c). What comes on top of them counts as compute.
class PassClock {
 public:
  explicit PassClock(const BlockClock& clock) : clock_(clock) {}

  Seconds add(const Kernel& kernel) { return add(kernel, clock_.time(kernel)); }
  Seconds add(const Kernel& kernel, Seconds time) {
    kernels_ += time;
    launches_ += kernel.exists() ? 1 : 0;
    return time;
  }
  /// A transfer that the next kernel waits for.
  void add(const Transfer& transfer) {
    add_transfer(clock_.transfer_time(transfer), comm_of(transfer.group));
  }
  void add_transfer(Seconds time, PassComm comm) { blocking_[comm] += launch(time, comm); }
  /// A transfer beside a kernel that takes `kernel`.
  void add_beside(Seconds transfer, PassComm comm, Seconds kernel) {
    const Seconds time = launch(transfer, comm);
    exposed_[comm] += std::max(Seconds{}, time - kernel);
    kernels_ += (clock_.slowdown - 1.0) * std::min(time, kernel);
  }
  /// A product and the transfer before or after it, as the stack overlaps them; the time of the
  /// product.
  Seconds add_product(const Kernel& kernel, const Transfer& transfer) {
    if (clock_.tiles(kernel, transfer)) {
      return add_tiled(kernel, transfer);
    }
    add(transfer);
    return add(kernel);
  }
  [[nodiscard]] PassCost cost() const {
    CommTimes comm = blocking_;
    comm += exposed_;
    return {.compute = std::max(kernels_, launches_ * clock_.dispatch - exposed_.sum()),
            .exposed = comm,
            .transfers = total_,
            .launched = std::max(kernels_, launches_ * clock_.dispatch)};
  }

 private:
  /// t tiles: t - 1 of them are on the ring while another one is computed, the last one only
  /// computed. Of an all-reduce the half that gathers comes after the product.
  Seconds add_tiled(const Kernel& kernel, const Transfer& transfer) {
    const int tiles = clock_.group(LayerGroup::tensor).ranks();
    const Seconds tile = clock_.time(clock_.tile(kernel));
    const Seconds whole = clock_.transfer_time(transfer);
    const Seconds beside = clock_.tiled_share(transfer) * whole;
    const Seconds sent = beside / (tiles - 1);
    total_[PassComm::tensor] += whole;
    blocking_[PassComm::tensor] += whole - beside;
    exposed_[PassComm::tensor] += (tiles - 1) * std::max(Seconds{}, sent - tile);
    kernels_ += tiles * tile + (tiles - 1) * (clock_.slowdown - 1.0) * std::min(sent, tile);
    launches_ += tiles + (tiles - 1);
    return tiles * tile;
  }

  Seconds launch(Seconds time, PassComm comm) {
    total_[comm] += time;
    launches_ += time > Seconds{} ? 1 : 0;
    return time;
  }

  const BlockClock& clock_;
  Seconds kernels_;
  CommTimes blocking_;
  CommTimes exposed_;
  CommTimes total_;
  double launches_ = 0;
};

/// The passes of a block, while its operations are gone through.
class BlockPasses {
 public:
  explicit BlockPasses(const BlockClock& clock)
      : clock_(clock),
        forward_(clock),
        backward_(clock),
        repeated_(clock),
        input_(clock),
        weight_(clock) {}

  void add_forward(const Operation& op, bool repeats) {
    add_forward(op, forward_);
    if (repeats) {
      add_forward(op, repeated_);
    }
  }

  void add_backward(const Operation& op) {
    if (op.beside) {
      add_backward_beside(op);
      return;
    }
    if (clock_.overlap == TensorOverlap::ring) {
      backward_.add_product(op.input_gradient, op.backward_transfer);
      backward_.add_product(op.weight_gradient, op.regather_transfer);
      add_tiled_parts(op);
      return;
    }
    const Times times{clock_.time(op.input_gradient),
                      clock_.time(op.weight_gradient),
                      clock_.transfer_time(op.backward_transfer),
                      clock_.transfer_time(op.regather_transfer)};
    backward_.add(op.input_gradient, times.input);
    backward_.add(op.weight_gradient, times.weight);
    const PassComm comm = comm_of(op.backward_transfer.group);
    const PassComm regather = comm_of(op.regather_transfer.group);
    if (in_bulk(op)) {
      backward_.add_beside(times.regather, regather, times.input);
      backward_.add_beside(times.transfer, comm, times.weight);
    } else {
      backward_.add_transfer(times.regather, regather);
      backward_.add_transfer(times.transfer, comm);
    }
    add_parts(op, times);
  }

  [[nodiscard]] BlockCost cost() {
    weight_.add_transfer(regather_, PassComm::tensor);  // of the last one nothing is before
    return {.forward = forward_.cost(),
            .backward = backward_.cost(),
            .recompute = repeated_.cost(),
            .input_gradient = input_.cost(),
            .weight_gradient = weight_.cost()};
  }

 private:
  struct Times {
    Seconds input;
    Seconds weight;
    Seconds transfer;  // of the input's gradient
    Seconds regather;
  };

  void add_forward(const Operation& op, PassClock& pass) {
    if (!op.beside) {
      pass.add_product(op.forward, op.forward_transfer);
      return;
    }
    pass.add_beside(clock_.transfer_time(op.forward_transfer),
                    comm_of(op.forward_transfer.group),
                    pass.add(op.forward));
  }
  /// Its gradients' transfers run beside the kernel too, in whichever part of the pass that is.
  void add_backward_beside(const Operation& op) {
    const Seconds transfer = clock_.transfer_time(op.backward_transfer);
    const PassComm comm = comm_of(op.backward_transfer.group);
    for (PassClock* pass : {&backward_, &input_}) {
      pass->add_beside(transfer, comm, pass->add(op.input_gradient));
    }
    backward_.add(op.weight_gradient);
    weight_.add(op.weight_gradient);
  }

  /// The backward pass in two parts. Nothing is left beside which an input gradient's transfer
  /// could run: the next operation waits for it. The re-gather of an input in bulk runs beside the
  /// weight gradient done before, of a later operation; an operation without input gradient only
  /// gathers what it needs for its weights.
  void add_parts(const Operation& op, const Times& times) {
    input_.add(op.input_gradient, times.input);
    weight_.add(op.weight_gradient, times.weight);
    (op.input_gradient.exists() || !op.weight_gradient.exists() ? input_ : weight_)
        .add_transfer(times.transfer, comm_of(op.backward_transfer.group));
    if (op.weight_gradient.exists()) {
      weight_.add_beside(regather_, PassComm::tensor, times.weight);
      regather_ = {};
    }
    if (in_bulk(op)) {
      regather_ = times.regather;
    } else {
      weight_.add_transfer(times.regather, comm_of(op.regather_transfer.group));
    }
  }
  void add_tiled_parts(const Operation& op) {
    if (op.input_gradient.exists()) {
      input_.add_product(op.input_gradient, op.backward_transfer);
    } else {
      weight_.add(op.backward_transfer);
    }
    weight_.add_product(op.weight_gradient, op.regather_transfer);
  }
  [[nodiscard]] bool in_bulk(const Operation& op) const {
    return op.column_split && clock_.overlap == TensorOverlap::bulk;
  }

  const BlockClock& clock_;
  PassClock forward_;
  PassClock backward_;
  PassClock repeated_;
  PassClock input_;
  PassClock weight_;
  Seconds regather_;  // in bulk, of the operation before: beside the next weight gradient
};

/// Devices for which one process launches kernels, one after the other.
double launchers(const Plan& plan) {
  return plan.sharding == Sharding::data_parallel_root ? static_cast<double>(plan.data) : 1.0;
}

}  // namespace

PassComm comm_of(LayerGroup group) {
  switch (group) {
    case LayerGroup::tensor:
      return PassComm::tensor;
    case LayerGroup::context:
    case LayerGroup::context_inner:
    case LayerGroup::context_outer:
      return PassComm::context;
    case LayerGroup::expert:
    case LayerGroup::expert_tensor:
      return PassComm::expert;
    case LayerGroup::data:
      return PassComm::data;
  }
  return PassComm::tensor;
}

std::optional<std::string> refused_sharding(const Plan& plan) {
  if (plan.sharding != Sharding::none && plan.sharding != Sharding::zero1) {
    return std::string(name(plan.sharding)) + " is not followed collective by collective yet";
  }
  if (plan.shard && *plan.shard != plan.replicas()) {
    return "shards among some of the replicas are not followed collective by collective yet";
  }
  return std::nullopt;
}

PlanGroup plan_group(LayerGroup group) {
  constexpr std::array<PlanGroup, kLayerGroups> groups = {PlanGroup::tensor,
                                                          PlanGroup::context,
                                                          PlanGroup::expert,
                                                          PlanGroup::expert_tensor,
                                                          PlanGroup::replicas,
                                                          PlanGroup::context_inner,
                                                          PlanGroup::context_outer};
  return groups[static_cast<std::size_t>(group)];
}

Repeats repeats_of(const Plan& plan) {
  return {.all = plan.recompute == Recompute::full, .modules = plan.recomputed_modules()};
}

Seconds BlockClock::transfer_time(const Transfer& transfer) const {
  if (!transfer.exists()) {
    return {};
  }
  const Group& among = group(transfer.group);
  if (transfer.kind == Collective::send_recv) {  // each to its neighbours, all at once
    return neighbour_time(transfer.size, among, fabric(transfer.group));
  }
  return collective_time(transfer.kind, transfer.size, among, fabric(transfer.group)).time;
}

Kernel BlockClock::tile(const Kernel& kernel) const {
  return kernel.part(1.0 / group(LayerGroup::tensor).ranks());
}

KernelPace kernel_pace(const Scenario& scenario) {
  const StackKernels& kernels = scenario.stack.kernels;
  return {.memory = kernels.memory_traffic,
          .attention = kernels.attention_slowdown,
          .all = 1.0 + kernels.straggling * expected_maximum(scenario.plan.devices())};
}

BlockClock block_clock(const Scenario& scenario) {
  BlockClock clock{
      .kernels = KernelClock(
          scenario.cluster.chip, scenario.training.base_type(), scenario.training.precision),
      .pace = kernel_pace(scenario),
      .groups = {},
      .fabrics = {},
      .overlap = scenario.tensor_overlap(),
      .dispatch = launchers(scenario.plan) * scenario.stack.dispatch,
      .slowdown = scenario.stack.overlap_slowdown};
  for (std::size_t i = 0; i < kLayerGroups; ++i) {
    const PlanGroup group = plan_group(static_cast<LayerGroup>(i));
    if (group_ranks(scenario.plan, group).ranks > 1) {
      const GroupPlace at = place(scenario.plan, group, scenario.cluster);
      clock.groups[i] = at.group;
      clock.fabrics[i] = group_fabric(scenario, at);
    }
  }
  return clock;
}

BlockCost block_cost(const OperationList& operations,
                     const Repeats& repeats,
                     const BlockClock& clock) {
  BlockPasses passes(clock);
  for (const Operation& op : operations) {
    passes.add_forward(op, repeats.of(op));
    passes.add_backward(op);
  }
  return passes.cost();
}

}  // namespace titer
