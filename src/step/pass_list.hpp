#pragma once
// What the passes of a block do, listed once: kernels and transfers in the order in which a device
// comes to them, and what runs beside what. Costs, links and exports are folds of this list.

#include <algorithm>
#include <utility>

#include "titer/step/pass_items.hpp"

namespace titer {

/// Hands a pass, item by item, to `take`.
template <class Take>
class PassList {
 public:
  PassList(const BlockClock& clock, Take& take) : clock_(clock), take_(take) {}

  void add(const Operation& op, const Kernel& kernel, Seconds time) {
    if (kernel.exists()) {
      take_({.name = op.name, .kernel = kernel, .time = time});
    }
  }
  void add(const Operation& op, const Transfer& transfer, Seconds time) {
    add(op, transfer, time, false);
  }
  /// The transfer beside the kernel, if both exist.
  void add_beside(const Operation& guest,
                  const Transfer& transfer,
                  Seconds transfer_time,
                  const Operation& op,
                  const Kernel& kernel,
                  Seconds time) {
    add(guest, transfer, transfer_time, kernel.exists());
    add(op, kernel, time);
  }
  /// A product and the transfer of what it needs.
  void add_after(const Operation& op,
                 const Transfer& transfer,
                 Seconds transfer_time,
                 const Kernel& kernel,
                 Seconds time) {
    if (!clock_.tiles(kernel, transfer)) {
      add(op, transfer, transfer_time);
      add(op, kernel, time);
      return;
    }
    add_ring(op, transfer, transfer.kind, transfer_time);
    add_tiles(op, kernel, others());
    add_tiles(op, kernel, 1);
    add_rest(op, transfer, transfer_time);
  }
  /// A product and the transfer of its result.
  void add_before(const Operation& op,
                  const Kernel& kernel,
                  Seconds time,
                  const Transfer& transfer,
                  Seconds transfer_time) {
    if (!clock_.tiles(kernel, transfer)) {
      add(op, kernel, time);
      add(op, transfer, transfer_time);
      return;
    }
    const bool reduces = transfer.kind == Collective::all_reduce;
    add_tiles(op, kernel, 1);
    add_ring(op, transfer, reduces ? Collective::reduce_scatter : transfer.kind, transfer_time);
    add_tiles(op, kernel, others());
    add_rest(op, transfer, transfer_time);
  }

 private:
  void add(const Operation& op, const Transfer& transfer, Seconds time, bool beside) {
    if (transfer.exists()) {
      take_({.name = op.name,
             .transfer = transfer,
             .time = time,
             .beside = beside,
             .whole = transfer.kind});
    }
  }
  /// Of the t tiles of a product, those that are computed while another one is on the ring.
  [[nodiscard]] int others() const { return clock_.group(LayerGroup::tensor).ranks() - 1; }
  void add_tiles(const Operation& op, const Kernel& kernel, int count) {
    const double share = static_cast<double>(count) / (others() + 1);
    take_({.name = op.name,
           .kernel = kernel.part(share),
           .time = count * clock_.time(clock_.tile(kernel)),
           .launches = count});
  }
  void add_ring(const Operation& op, Transfer transfer, Collective kind, Seconds time) {
    const double share = clock_.tiled_share(transfer);
    const Collective whole = std::exchange(transfer.kind, kind);
    take_({.name = op.name,
           .transfer = transfer,
           .time = share * time,
           .beside = true,
           .launches = others(),
           .whole = whole,
           .share = share});
  }
  /// What of a tiled transfer is not beside its product: the half of an all-reduce that gathers.
  void add_rest(const Operation& op, Transfer transfer, Seconds time) {
    const double share = 1.0 - clock_.tiled_share(transfer);
    if (share > 0) {
      const Collective whole = std::exchange(transfer.kind, Collective::all_gather);
      take_({.name = op.name,
             .transfer = transfer,
             .time = share * time,
             .launches = 0,
             .whole = whole,
             .share = share});
    }
  }

  const BlockClock& clock_;
  Take& take_;
};

/// Lists all passes of a block. `takes` has a member for each of them (forward, recompute,
/// backward, input_gradient, weight_gradient), to be called with its items.
template <class Takes>
class BlockList {
 public:
  BlockList(const OperationList& operations, const BlockClock& clock, Takes& takes)
      : operations_(operations),
        clock_(clock),
        forward_(clock, takes.forward),
        recompute_(clock, takes.recompute),
        backward_(clock, takes.backward),
        input_(clock, takes.input_gradient),
        weight_(clock, takes.weight_gradient) {}

  void list(const Repeats& repeats) {
    for (const Operation& op : operations_) {
      const Seconds kernel = clock_.time(op.forward);
      const Seconds transfer = clock_.transfer_time(op.forward_transfer);
      list_forward(op, kernel, transfer, forward_);
      if (repeats.of(op)) {
        list_forward(op, kernel, transfer, recompute_);
      }
    }
    if (const Operation* last = guest_of(operations_.size()); last != nullptr) {
      weight_.add(*last, last->regather_transfer, clock_.transfer_time(last->regather_transfer));
    }
    for (std::size_t i = operations_.size(); i > 0; --i) {
      list_gradients(i - 1);
    }
  }

 private:
  /// Of one operation.
  struct Times {
    Seconds input;
    Seconds weight;
    Seconds transfer;  // of the input's gradient
    Seconds regather;
  };
  using List = PassList<decltype(std::declval<Takes&>().forward)>;

  /// A column-split product's input is gathered before its kernel, any other's result is reduced
  /// after it.
  static void list_forward(const Operation& op, Seconds kernel, Seconds transfer, List& list) {
    if (op.beside) {
      list.add_beside(op, op.forward_transfer, transfer, op, op.forward, kernel);
    } else if (op.column_split) {
      list.add_after(op, op.forward_transfer, transfer, op.forward, kernel);
    } else {
      list.add_before(op, op.forward, kernel, op.forward_transfer, transfer);
    }
  }

  void list_gradients(std::size_t i) {
    const Operation& op = operations_[i];
    const Times times{clock_.time(op.input_gradient),
                      clock_.time(op.weight_gradient),
                      clock_.transfer_time(op.backward_transfer),
                      clock_.transfer_time(op.regather_transfer)};
    list_whole(op, times);
    // What has weights, but whose input needs no gradient, gathers only for them.
    if (op.input_gradient.exists() || !op.weight_gradient.exists()) {
      list_input(op, times, input_);
    } else {
      weight_.add(op, op.backward_transfer, times.transfer);
    }
    list_weight(i, times);
  }

  void list_whole(const Operation& op, const Times& times) {
    if (clock_.hides(op)) {
      backward_.add_beside(
          op, op.regather_transfer, times.regather, op, op.input_gradient, times.input);
      backward_.add_beside(
          op, op.backward_transfer, times.transfer, op, op.weight_gradient, times.weight);
      return;
    }
    list_input(op, times, backward_);
    backward_.add_after(op, op.regather_transfer, times.regather, op.weight_gradient, times.weight);
  }

  /// The gradient of a row-split product's result is gathered before its kernel, that of a
  /// column-split one's input reduced after it is made.
  static void list_input(const Operation& op, const Times& times, List& list) {
    if (op.beside) {
      list.add_beside(op, op.backward_transfer, times.transfer, op, op.input_gradient, times.input);
    } else if (op.column_split) {
      list.add_before(op, op.input_gradient, times.input, op.backward_transfer, times.transfer);
    } else {
      list.add_after(op, op.backward_transfer, times.transfer, op.input_gradient, times.input);
    }
  }

  /// The weight gradients by themselves. An input gathered again in bulk comes beside the weight
  /// gradient done before, that of a later operation.
  void list_weight(std::size_t i, const Times& times) {
    const Operation& op = operations_[i];
    const bool hides = clock_.hides(op);
    const Operation* guest = op.weight_gradient.exists() ? guest_of(i) : nullptr;
    if (guest == nullptr) {
      weight_.add_after(op,
                        hides ? Transfer{} : op.regather_transfer,
                        times.regather,
                        op.weight_gradient,
                        times.weight);
      return;
    }
    if (!hides) {
      weight_.add(op, op.regather_transfer, times.regather);
    }
    weight_.add_beside(*guest,
                       guest->regather_transfer,
                       clock_.transfer_time(guest->regather_transfer),
                       op,
                       op.weight_gradient,
                       times.weight);
  }

  /// Whose input is gathered again before anything of operation `i` is over: the nearest one before
  /// it that hides it so, unless another weight gradient lies between.
  [[nodiscard]] const Operation* guest_of(std::size_t i) const {
    while (i-- > 0) {
      const Operation& op = operations_[i];
      if (clock_.hides(op)) {
        return &op;
      }
      if (op.weight_gradient.exists()) {
        return nullptr;
      }
    }
    return nullptr;
  }

  const OperationList& operations_;
  const BlockClock& clock_;
  List forward_;
  List recompute_;
  List backward_;
  List input_;
  List weight_;
};

}  // namespace titer
