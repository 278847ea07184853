#pragma once
// The passes of a block, one thing after the other: its kernels and transfers in the order in which
// a device comes to them. Together they take what the block costs.

#include <string_view>
#include <vector>

#include "titer/cost/cost.hpp"

namespace titer {

/// A kernel, or a transfer where one exists.
struct PassItem {
  std::string_view name;  // of its operation
  Kernel kernel{};
  Transfer transfer{};
  Seconds time;
  bool beside = false;       // a transfer that runs beside the kernel after it,
  bool meets_aside = false;  // or beside what comes after it that is `aside`,
  // or beside all kernels of the pass where it is overlapped: those of another one's are alike
  bool apart = false;
  Seconds launch{};       // of the host, to launch it
  double kernels = 1;     // so many of these, each for an expert, launched one after the other
  bool captured = false;  // or it is part of a graph, which takes one launch
  bool awaited = false;   // the host launches it when the device has done all before it
  bool aside = false;     // on a stream of its own: it waits for no transfer before it
  // A transfer may be a part of another one: an all-reduce around the tiles of a product.
  Collective whole = Collective::all_reduce;
  double share = 1;

  [[nodiscard]] bool is_transfer() const { return transfer.exists(); }
};
using PassItems = std::vector<PassItem>;

using BlockItems = EachPass<PassItems>;

/// All of a model's blocks, in the order of its StepCosts.
struct ModelItems {
  std::vector<BlockItems> kinds;  // of layers
  BlockItems embedding;
  BlockItems head;
};
/// `costs`: of the same scenario. `overlapped`: of passes that have others beside them (Action);
/// nothing of the others is apart. Where the host is slower than the device, each kernel takes its
/// share of the time in which the host launches them.
[[nodiscard]] ModelItems model_items(const Scenario& scenario,
                                     const StepCosts& costs,
                                     bool overlapped = false);

}  // namespace titer
