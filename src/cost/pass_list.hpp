#pragma once
// What the passes of a block do, listed once: kernels and transfers in the order in which a device
// comes to them, and what runs beside what. Costs, links and exports are folds of this list.

#include <utility>

#include "titer/cost/pass_items.hpp"

namespace titer {

/// A kernel of an operation, a transfer of one, and what each takes by itself.
struct TimedKernel {
  const Operation& op;
  const Kernel& kernel;
  Seconds time;
  bool awaited = false;   // what it works on
  Seconds preparation{};  // of the host, before it launches it
};
struct TimedTransfer {
  const Operation& op;
  Transfer transfer;
  Seconds time;
  bool meets_aside = false;  // as PassItem's
};

/// Hands a pass, item by item, to `take`.
template <class Take>
class PassList {
 public:
  PassList(const BlockClock& clock, Take& take) : clock_(clock), take_(take) {}

  void add(const TimedKernel& of) {
    if (of.kernel.exists()) {
      take_({.name = of.op.name,
             .kernel = of.kernel,
             .time = of.time,
             .launch = of.preparation + clock_.launch(of.kernel),
             .kernels = of.op.loops,
             .captured = clock_.captures(of.op),
             .awaited = of.awaited,
             .aside = of.op.aside});
    }
  }
  void add(const TimedTransfer& of) { add(of, false); }
  /// The transfer beside the kernel, if both exist.
  void add_beside(const TimedTransfer& guest, const TimedKernel& of) {
    add(guest, of.kernel.exists());
    add(of);
  }
  /// A product and the transfer of what it needs.
  void add_after(const TimedTransfer& needed, const TimedKernel& product) {
    if (!clock_.tiles(product.kernel, needed.transfer)) {
      add(needed);
      add(product);
      return;
    }
    add_ring(needed, needed.transfer.kind);
    add_tiles(product, others());
    add_tiles(product, 1);
    add_rest(needed);
  }
  /// A product and the transfer of its result.
  void add_before(const TimedKernel& product, const TimedTransfer& result) {
    if (!clock_.tiles(product.kernel, result.transfer)) {
      add(product);
      add(result);
      return;
    }
    const bool reduces = result.transfer.kind == Collective::all_reduce;
    add_tiles(product, 1);
    add_ring(result, reduces ? Collective::reduce_scatter : result.transfer.kind);
    add_tiles(product, others());
    add_rest(result);
  }

 private:
  void add(const TimedTransfer& of, bool beside) {
    if (of.transfer.exists()) {
      take_({.name = of.op.name,
             .transfer = of.transfer,
             .time = of.time,
             .beside = beside,
             .meets_aside = of.meets_aside,
             .apart = clock_.is_apart(of.transfer),
             .launch = clock_.transfer_launch(),
             .captured = clock_.captures(of.op),
             .aside = of.op.aside,
             .whole = of.transfer.kind});
    }
  }
  /// Of the t tiles of a product, those that are computed while another one is on the ring.
  [[nodiscard]] int others() const { return clock_.group(LayerGroup::tensor).ranks() - 1; }
  void add_tiles(const TimedKernel& of, int count) {
    const double share = static_cast<double>(count) / (others() + 1);
    take_({.name = of.op.name,
           .kernel = of.kernel.part(share),
           .time = count * clock_.time(clock_.tile(of.kernel)),
           .launch = count * clock_.launch(of.kernel),
           .captured = clock_.captures(of.op),
           .aside = of.op.aside});
  }
  void add_ring(const TimedTransfer& of, Collective kind) {
    const double share = clock_.tiled_share(of.transfer);
    take_({.name = of.op.name,
           .transfer = as(kind, of.transfer),
           .time = share * of.time,
           .beside = true,
           .launch = others() * clock_.transfer_launch(),
           .captured = clock_.captures(of.op),
           .aside = of.op.aside,
           .whole = of.transfer.kind,
           .share = share});
  }
  /// What of a tiled transfer is not beside its product: the half of an all-reduce that gathers.
  void add_rest(const TimedTransfer& of) {
    const double share = 1.0 - clock_.tiled_share(of.transfer);
    if (share > 0) {
      take_({.name = of.op.name,
             .transfer = as(Collective::all_gather, of.transfer),
             .time = share * of.time,
             .aside = of.op.aside,
             .whole = of.transfer.kind,
             .share = share});
    }
  }
  static Transfer as(Collective kind, Transfer transfer) {
    transfer.kind = kind;
    return transfer;
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
    if (repeats.input.exists() && !operations_.empty()) {
      recompute_.add({operations_.front(), repeats.input, clock_.transfer_time(repeats.input)});
    }
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const Operation& op = operations_[i];
      const TimedKernel kernel{
          op, op.forward, clock_.time(op.forward), clock_.awaits(op), clock_.preparation(op)};
      const TimedTransfer transfer{
          op, op.forward_transfer, clock_.transfer_time(op.forward_transfer), meets_aside(i)};
      list_forward(kernel, transfer, forward_);
      if (const double share = repeats.of(op); share > 0) {
        const Kernel part = share < 1 ? op.forward.part(share) : op.forward;
        // What is reduced is kept, what is gathered is not.
        const bool keeps = repeats.by_operation && !op.column_split;
        list_forward({op, part, share * kernel.time, kernel.awaited, {}},
                     keeps ? TimedTransfer{op, {}, {}} : transfer,
                     recompute_);
      }
    }
    if (const Operation* last = guest_of(operations_.size()); last != nullptr) {
      weight_.add(regather(*last));
    }
    for (std::size_t i = operations_.size(); i > 0; --i) {
      list_gradients(i - 1);
    }
  }

 private:
  /// Of one operation.
  struct Gradients {
    TimedKernel input;
    TimedKernel weight;
    TimedTransfer transfer;  // of the input's
    TimedTransfer regather;
  };
  using List = PassList<decltype(std::declval<Takes&>().forward)>;

  /// A column-split product's input is gathered before its kernel, any other's result is reduced
  /// after it.
  static void list_forward(const TimedKernel& kernel, const TimedTransfer& transfer, List& list) {
    if (kernel.op.beside) {
      list.add_beside(transfer, kernel);
    } else if (kernel.op.column_split) {
      list.add_after(transfer, kernel);
    } else {
      list.add_before(kernel, transfer);
    }
  }

  void list_gradients(std::size_t i) {
    const Operation& op = operations_[i];
    if (op.aside && !is_aside(i + 1)) {
      begin_aside(i);
    }
    const Transfer own = meets_aside(i) ? Transfer{} : op.backward_transfer;
    const Gradients of{{op, op.input_gradient, clock_.time(op.input_gradient)},
                       {op, op.weight_gradient, clock_.time(op.weight_gradient)},
                       {op, own, clock_.transfer_time(own)},
                       regather(op)};
    list_whole(of);
    // What has weights, but whose input needs no gradient, gathers only for them.
    if (op.input_gradient.exists() || !op.weight_gradient.exists()) {
      list_input(of, input_);
    } else {
      weight_.add(of.transfer);
    }
    list_weight(of, op.weight_gradient.exists() ? guest_of(i) : nullptr);
  }

  [[nodiscard]] bool is_aside(std::size_t i) const {
    return i < operations_.size() && operations_[i].aside;
  }
  /// Whether the operations behind this one are on a stream of their own, beside its transfers.
  [[nodiscard]] bool meets_aside(std::size_t i) const {
    return !operations_[i].aside && is_aside(i + 1);
  }
  /// The last of some operations aside, whose gradients come first: the exchange that they are
  /// beside begins with them.
  void begin_aside(std::size_t last) {
    std::size_t i = last;
    while (i > 0 && operations_[i].aside) {
      --i;
    }
    const Operation& op = operations_[i];
    const TimedTransfer transfer{
        op, op.backward_transfer, clock_.transfer_time(op.backward_transfer), true};
    backward_.add(transfer);
    input_.add(transfer);
  }

  void list_whole(const Gradients& of) {
    if (clock_.hides(of.input.op)) {
      backward_.add_beside(of.regather, of.input);
      backward_.add_beside(of.transfer, of.weight);
      return;
    }
    list_input(of, backward_);
    backward_.add_after(of.regather, of.weight);
  }

  /// The gradient of a row-split product's result is gathered before its kernel, that of a
  /// column-split one's input reduced after it is made.
  static void list_input(const Gradients& of, List& list) {
    if (of.input.op.beside) {
      list.add_beside(of.transfer, of.input);
    } else if (of.input.op.column_split) {
      list.add_before(of.input, of.transfer);
    } else {
      list.add_after(of.transfer, of.input);
    }
  }

  /// The weight gradients by themselves. An input gathered again in bulk comes beside the weight
  /// gradient done before, that of a later operation.
  void list_weight(const Gradients& of, const Operation* guest) {
    if (clock_.hides(of.weight.op)) {
      if (guest == nullptr) {
        weight_.add(of.weight);
      } else {
        weight_.add_beside(regather(*guest), of.weight);
      }
    } else if (guest == nullptr) {
      weight_.add_after(of.regather, of.weight);
    } else {
      weight_.add(of.regather);
      weight_.add_beside(regather(*guest), of.weight);
    }
  }

  /// Asked for twice of an operation that is a guest first: kept, as the choice of an algorithm
  /// takes longest.
  TimedTransfer regather(const Operation& op) {
    if (regathered_ != &op) {
      regathered_ = &op;
      regather_time_ = clock_.transfer_time(op.regather_transfer);
    }
    return {op, op.regather_transfer, regather_time_};
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
  const Operation* regathered_ = nullptr;  // whose transfer was timed last
  Seconds regather_time_;
  List forward_;
  List recompute_;
  List backward_;
  List input_;
  List weight_;
};

}  // namespace titer
