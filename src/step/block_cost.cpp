// What a layer, the embedding or the head takes: kernels, and transfers behind or beside them.

#include <algorithm>

#include "titer/collectives/choice.hpp"
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

  Seconds add(const Kernel& kernel) { return add(kernel, clock_.kernels.time(kernel)); }
  Seconds add(const Kernel& kernel, Seconds time) {
    kernels_ += time;
    launches_ += kernel.exists() ? 1 : 0;
    return time;
  }
  /// A transfer that the next kernel waits for.
  void add(const Transfer& transfer) { add_transfer(clock_.transfer_time(transfer)); }
  void add_transfer(Seconds time) { blocking_ += launch(time); }
  /// A transfer beside a kernel that takes `kernel`.
  void add_beside(Seconds transfer, Seconds kernel) {
    const Seconds time = launch(transfer);
    exposed_ += std::max(Seconds{}, time - kernel);
    kernels_ += (clock_.slowdown - 1.0) * std::min(time, kernel);
  }
  /// A product and the transfer before or after it, as the stack overlaps them; the time of the
  /// product.
  Seconds add_product(const Kernel& kernel, const Transfer& transfer) {
    if (transfer.exists() && clock_.tiles(kernel)) {
      return add_tiled(kernel, transfer);
    }
    add(transfer);
    return add(kernel);
  }
  [[nodiscard]] PassCost cost() const {
    return {.compute = std::max(kernels_, launches_ * clock_.dispatch - exposed_),
            .comm = blocking_ + exposed_,
            .comm_total = comm_total_};
  }

 private:
  /// t tiles: t - 1 of them are on the ring while another one is computed, the last one only
  /// computed. Of an all-reduce the half that gathers comes after the product.
  Seconds add_tiled(const Kernel& kernel, const Transfer& transfer) {
    const int tiles = clock_.tensor_group.ranks();
    const Seconds tile = clock_.kernels.time(clock_.tile(kernel));
    const Seconds whole = clock_.transfer_time(transfer);
    const Seconds beside = clock_.tiled_share(transfer) * whole;
    const Seconds sent = beside / (tiles - 1);
    comm_total_ += whole;
    blocking_ += whole - beside;
    exposed_ += (tiles - 1) * std::max(Seconds{}, sent - tile);
    kernels_ += tiles * tile + (tiles - 1) * (clock_.slowdown - 1.0) * std::min(sent, tile);
    launches_ += tiles + (tiles - 1);
    return tiles * tile;
  }

  Seconds launch(Seconds time) {
    comm_total_ += time;
    launches_ += time > Seconds{} ? 1 : 0;
    return time;
  }

  const BlockClock& clock_;
  Seconds kernels_;
  Seconds blocking_;
  Seconds exposed_;
  Seconds comm_total_;
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
    forward_.add_product(op.forward, op.forward_transfer);
    if (repeats) {
      repeated_.add_product(op.forward, op.forward_transfer);
    }
  }

  void add_backward(const Operation& op) {
    if (clock_.overlap == TensorOverlap::ring) {
      backward_.add_product(op.input_gradient, op.backward_transfer);
      backward_.add_product(op.weight_gradient, op.regather_transfer);
      add_tiled_parts(op);
      return;
    }
    const Times times{clock_.kernels.time(op.input_gradient),
                      clock_.kernels.time(op.weight_gradient),
                      clock_.transfer_time(op.backward_transfer),
                      clock_.transfer_time(op.regather_transfer)};
    backward_.add(op.input_gradient, times.input);
    backward_.add(op.weight_gradient, times.weight);
    if (in_bulk(op)) {
      backward_.add_beside(times.regather, times.input);
      backward_.add_beside(times.transfer, times.weight);
    } else {
      backward_.add_transfer(times.regather);
      backward_.add_transfer(times.transfer);
    }
    add_parts(op, times);
  }

  [[nodiscard]] BlockCost cost() {
    weight_.add_transfer(regather_);  // of the last one there is nothing before
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

  /// The backward pass in two parts. Nothing is left beside which an input gradient's transfer
  /// could run: the next operation waits for it. The re-gather of an input in bulk runs beside the
  /// weight gradient done before, of a later operation; an operation without input gradient only
  /// gathers what it needs for its weights.
  void add_parts(const Operation& op, const Times& times) {
    input_.add(op.input_gradient, times.input);
    weight_.add(op.weight_gradient, times.weight);
    (op.input_gradient.exists() ? input_ : weight_).add_transfer(times.transfer);
    if (op.weight_gradient.exists()) {
      weight_.add_beside(regather_, times.weight);
      regather_ = {};
    }
    if (in_bulk(op)) {
      regather_ = times.regather;
    } else {
      weight_.add_transfer(times.regather);
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

bool repeats(const Operation& op, Recompute recompute) {
  return recompute == Recompute::full || (recompute == Recompute::selective && op.core_attention);
}

}  // namespace

Seconds BlockClock::transfer_time(const Transfer& transfer) const {
  if (!transfer.exists()) {
    return {};
  }
  return collective_time(transfer.kind, transfer.size, tensor_group, tensor_fabric).time;
}

Kernel BlockClock::tile(Kernel kernel) const {
  const double tiles = tensor_group.ranks();
  kernel.flops = kernel.flops / tiles;
  kernel.bytes = kernel.bytes / tiles;
  return kernel;
}

BlockClock block_clock(const Scenario& scenario) {
  const GroupPlace tensor =
      place(scenario.plan, Dimension::tensor, scenario.cluster.devices_per_node);
  return {.kernels = KernelClock(scenario.cluster.chip, scenario.training.precision),
          .tensor_group = tensor.group,
          .tensor_fabric = tensor.fabric(scenario.cluster),
          .overlap = scenario.tensor_overlap(),
          .dispatch = scenario.stack.dispatch,
          .slowdown = scenario.stack.overlap_slowdown};
}

BlockCost block_cost(const OperationList& operations,
                     Recompute recompute,
                     const BlockClock& clock) {
  BlockPasses passes(clock);
  for (const Operation& op : operations) {
    passes.add_forward(op, repeats(op, recompute));
    passes.add_backward(op);
  }
  return passes.cost();
}

}  // namespace titer
