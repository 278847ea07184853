#pragma once
// The passes of a block, one thing after the other: its kernels and transfers in the order in which
// a device comes to them. Together they take what the block costs.

#include <string_view>
#include <vector>

#include "titer/step/cost.hpp"

namespace titer {

/// A kernel, or a transfer where one exists.
struct PassItem {
  std::string_view name;  // of its operation
  Kernel kernel{};
  Transfer transfer{};
  Seconds time;
  bool beside = false;  // a transfer that runs beside the kernel after it

  [[nodiscard]] bool is_transfer() const { return transfer.exists(); }
};
using PassItems = std::vector<PassItem>;

struct BlockItems {
  PassItems forward;
  PassItems backward;
  PassItems recompute;
  PassItems input_gradient;
  PassItems weight_gradient;

  /// Recomputation is apart.
  [[nodiscard]] const PassItems& of(Pass pass) const;
};

/// `cost`: of the same operations. Where the host is slower than the device, each kernel takes its
/// share of the time in which the host launches them.
[[nodiscard]] BlockItems block_items(const OperationList& operations,
                                     const BlockCost& cost,
                                     const Repeats& repeats,
                                     const BlockClock& clock);

}  // namespace titer
