#pragma once
// What one device does for one micro-batch in one layer: a short list of operations, each with its
// kernels, the bytes it keeps for the backward pass and the communication it asks for.

#include <array>
#include <cstddef>
#include <string_view>

#include "titer/collectives/collective.hpp"
#include "titer/hardware/kernel.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

/// A collective over the tensor-parallel group. Size: the full result (no size: no transfer).
struct Transfer {
  Collective kind = Collective::all_reduce;
  Bytes size;

  [[nodiscard]] constexpr bool exists() const { return size > Bytes{}; }
};

/// One operation of a layer on one tensor-parallel rank.
struct Operation {
  std::string_view name;
  Kernel forward{};
  Kernel input_gradient{};
  Kernel weight_gradient{};  // only operations with weights
  Bytes saved{};             // kept from the forward to the backward pass
  Bytes core_saved{};  // likewise, unless core attention is recomputed (selective recomputation)
  // A weight gradient that is put off needs these until it is done, and nothing else: of `saved`
  // the operation's input, and the gradient of its output, whole if the input gradient gathered it.
  Bytes weight_input{};
  Bytes output_gradient{};
  bool core_attention = false;  // then its forward kernel runs again in the backward pass

  Transfer forward_transfer{};   // after (row split) or before (column split) the forward kernel
  Transfer backward_transfer{};  // of the input gradient
  // A column-split product's backward transfers can run beside its own gradient kernels: its
  // input gradient's beside the weight gradient, the re-gather of its input (sequence
  // parallelism) beside the input gradient.
  Transfer regather_transfer{};
  bool column_split = false;
};

/// The operations of one layer, in forward order; no heap memory.
class OperationList {
 public:
  static constexpr std::size_t capacity = 16;

  constexpr void clear() { size_ = 0; }
  constexpr void add(const Operation& operation) {
    ensure(size_ < capacity, "a layer has room for 16 operations");
    operations_[size_++] = operation;
  }
  [[nodiscard]] constexpr const Operation* begin() const { return operations_.data(); }
  [[nodiscard]] constexpr const Operation* end() const { return operations_.data() + size_; }
  [[nodiscard]] constexpr std::size_t size() const { return size_; }

 private:
  std::array<Operation, capacity> operations_{};
  std::size_t size_ = 0;
};

}  // namespace titer
