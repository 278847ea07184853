#include "titer/step/pass_items.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace titer {
namespace {

class ItemList {
 public:
  explicit ItemList(const BlockClock& clock) : clock_(clock) {}

  void add(std::string_view name, const Kernel& kernel) {
    if (kernel.exists()) {
      items_.push_back({.name = name, .kernel = kernel, .time = clock_.time(kernel)});
    }
  }
  void add(std::string_view name, const Transfer& transfer) { add(name, transfer, false); }
  /// The transfer beside the kernel, if both exist.
  void add_beside(std::string_view name, const Transfer& transfer, const Kernel& kernel) {
    add(name, transfer, kernel.exists());
    add(name, kernel);
  }
  /// The transfer beside the kernel that is added next.
  void add_beside_next(std::string_view name, const Transfer& transfer) {
    add(name, transfer, true);
  }
  /// A product and the transfer of what it needs.
  void add_after(std::string_view name, const Transfer& transfer, const Kernel& kernel) {
    if (!is_tiled(transfer, kernel)) {
      add(name, transfer);
      add(name, kernel);
      return;
    }
    add_part(name, transfer, transfer.kind, clock_.tiled_share(transfer), true);
    add_tiles(name, kernel, clock_.group(LayerGroup::tensor).ranks() - 1);
    add_tiles(name, kernel, 1);
    add_rest(name, transfer);
  }
  /// A product and the transfer of its result.
  void add_before(std::string_view name, const Kernel& kernel, const Transfer& transfer) {
    if (!is_tiled(transfer, kernel)) {
      add(name, kernel);
      add(name, transfer);
      return;
    }
    const bool reduces = transfer.kind == Collective::all_reduce;
    add_tiles(name, kernel, 1);
    add_part(name,
             transfer,
             reduces ? Collective::reduce_scatter : transfer.kind,
             clock_.tiled_share(transfer),
             true);
    add_tiles(name, kernel, clock_.group(LayerGroup::tensor).ranks() - 1);
    add_rest(name, transfer);
  }
  /// The kernels stretched to take as long as the pass computes.
  PassItems take(const PassCost& cost) {
    Seconds kernels;
    for (const PassItem& item : items_) {
      kernels += item.is_transfer() ? Seconds{} : item.time;
    }
    if (cost.compute > kernels && kernels > Seconds{}) {
      const double stretch = cost.compute / kernels;
      for (PassItem& item : items_) {
        item.time = item.is_transfer() ? item.time : stretch * item.time;
      }
    }
    return std::move(items_);
  }

 private:
  void add(std::string_view name, const Transfer& transfer, bool beside) {
    if (transfer.exists()) {
      items_.push_back({.name = name,
                        .transfer = transfer,
                        .time = clock_.transfer_time(transfer),
                        .beside = beside});
    }
  }

  /// Cut into tiles, of which all but one are on the ring while others are computed.
  [[nodiscard]] bool is_tiled(const Transfer& transfer, const Kernel& kernel) const {
    return clock_.tiles(kernel, transfer);
  }
  void add_tiles(std::string_view name, const Kernel& kernel, int count) {
    const Seconds tile = clock_.time(clock_.tile(kernel));
    const double share = static_cast<double>(count) / clock_.group(LayerGroup::tensor).ranks();
    items_.push_back({.name = name, .kernel = kernel.part(share), .time = count * tile});
  }
  void add_part(
      std::string_view name, Transfer transfer, Collective kind, double share, bool beside) {
    const Seconds time = share * clock_.transfer_time(transfer);
    transfer.kind = kind;
    items_.push_back({.name = name, .transfer = transfer, .time = time, .beside = beside});
  }
  /// What of a tiled transfer is not beside its product: the half of an all-reduce that gathers.
  void add_rest(std::string_view name, const Transfer& transfer) {
    const double share = 1.0 - clock_.tiled_share(transfer);
    if (share > 0) {
      add_part(name, transfer, Collective::all_gather, share, false);
    }
  }

  const BlockClock& clock_;
  PassItems items_;
};

/// A column-split product's input is gathered before its kernel, any other's result is reduced
/// after it.
void add_forward(const Operation& op, ItemList& list) {
  if (op.beside) {
    list.add_beside(op.name, op.forward_transfer, op.forward);
  } else if (op.column_split) {
    list.add_after(op.name, op.forward_transfer, op.forward);
  } else {
    list.add_before(op.name, op.forward, op.forward_transfer);
  }
}

/// The gradient of a row-split product's result is gathered before its kernels, that of a
/// column-split one's input reduced after it is made.
void add_input_gradient(const Operation& op, ItemList& list) {
  if (op.beside) {
    list.add_beside(op.name, op.backward_transfer, op.input_gradient);
  } else if (op.column_split) {
    list.add_before(op.name, op.input_gradient, op.backward_transfer);
  } else {
    list.add_after(op.name, op.backward_transfer, op.input_gradient);
  }
}

bool in_bulk(const Operation& op, const BlockClock& clock) {
  return op.column_split && clock.overlap == TensorOverlap::bulk;
}

void add_backward(const Operation& op, const BlockClock& clock, ItemList& list) {
  if (!op.beside && in_bulk(op, clock)) {
    list.add_beside(op.name, op.regather_transfer, op.input_gradient);
    list.add_beside(op.name, op.backward_transfer, op.weight_gradient);
    return;
  }
  add_input_gradient(op, list);
  list.add_after(op.name, op.regather_transfer, op.weight_gradient);
}

/// The weight gradients by themselves. An input gathered again in bulk comes beside the weight
/// gradient done before, that of a later operation; for the last one there is none.
class WeightGradients {
 public:
  WeightGradients(const OperationList& operations, const BlockClock& clock)
      : operations_(operations), clock_(clock), guests_(operations.size(), nullptr) {
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& op = at(i);
      if (op.weight_gradient.exists()) {
        guests_[i] = std::exchange(first_, nullptr);
      }
      first_ = in_bulk(op, clock_) ? &op : first_;
    }
  }

  void add_to(ItemList& list) const {
    if (first_ != nullptr) {
      list.add(first_->name, first_->regather_transfer);
    }
    for (std::size_t i = operations_.size(); i > 0; --i) {
      const Operation& op = at(i - 1);
      if (!op.input_gradient.exists()) {
        list.add(op.name, op.backward_transfer);
      }
      add_product(op, guests_[i - 1], list);
    }
  }

 private:
  [[nodiscard]] const Operation& at(std::size_t i) const { return operations_[i]; }

  void add_product(const Operation& op, const Operation* guest, ItemList& list) const {
    const Transfer regather = in_bulk(op, clock_) ? Transfer{} : op.regather_transfer;
    if (guest == nullptr) {
      list.add_after(op.name, regather, op.weight_gradient);
      return;
    }
    list.add(op.name, regather);
    list.add_beside_next(guest->name, guest->regather_transfer);
    list.add(op.name, op.weight_gradient);
  }

  const OperationList& operations_;
  const BlockClock& clock_;
  std::vector<const Operation*> guests_;  // whose inputs come beside each operation
  const Operation* first_ = nullptr;      // whose input comes before all
};

}  // namespace

const PassItems& BlockItems::of(Pass pass) const {
  switch (pass) {
    case Pass::forward:
      return forward;
    case Pass::backward:
      return backward;
    case Pass::input_gradient:
      return input_gradient;
    case Pass::weight_gradient:
      return weight_gradient;
  }
  ensure(false, "a pass is one of the enumerated ones");
  return forward;
}

BlockItems block_items(const OperationList& operations,
                       const BlockCost& cost,
                       const Repeats& repeats,
                       const BlockClock& clock) {
  ItemList forward(clock);
  ItemList repeated(clock);
  for (const Operation& op : operations) {
    add_forward(op, forward);
    if (repeats.of(op)) {
      add_forward(op, repeated);
    }
  }
  ItemList backward(clock);
  ItemList input(clock);
  ItemList weight(clock);
  for (auto op = std::make_reverse_iterator(operations.end());
       op != std::make_reverse_iterator(operations.begin());
       ++op) {
    add_backward(*op, clock, backward);
    if (op->input_gradient.exists()) {
      add_input_gradient(*op, input);
    }
  }
  WeightGradients(operations, clock).add_to(weight);
  return {.forward = forward.take(cost.forward),
          .backward = backward.take(cost.backward),
          .recompute = repeated.take(cost.recompute),
          .input_gradient = input.take(cost.input_gradient),
          .weight_gradient = weight.take(cost.weight_gradient)};
}

}  // namespace titer
