#include "titer/model/blocks.hpp"

#include <algorithm>

namespace titer {

void count_kinds(std::span<const LayerRun> order,
                 std::int64_t first,
                 std::int64_t count,
                 std::span<double> of_kinds) {
  std::ranges::fill(of_kinds, 0.0);
  std::int64_t begin = 0;
  for (const LayerRun& run : order) {
    const std::int64_t end = begin + run.count;
    const std::int64_t inside = std::min(end, first + count) - std::max(begin, first);
    if (inside > 0) {
      of_kinds[static_cast<std::size_t>(run.kind)] += static_cast<double>(inside);
    }
    begin = end;
  }
}

std::int64_t adapter_parameters(const ModelBlocks& blocks) {
  std::int64_t sum = blocks.head.adapters.total();
  for (const LayerRun& run : blocks.order) {
    sum += run.count * blocks.kinds[static_cast<std::size_t>(run.kind)].adapters.total();
  }
  return sum;
}

int kind_of(std::span<const LayerRun> order, std::int64_t layer) {
  for (const LayerRun& run : order) {
    if (layer < run.count) {
      return run.kind;
    }
    layer -= run.count;
  }
  ensure(false, "a layer is one of the model's");
  return 0;
}

Bytes saved_bytes(const OperationList& operations, Modules recomputed) {
  Bytes sum;
  for (const Operation& op : operations) {
    sum += (op.freed_by & recomputed) == 0 ? op.saved : Bytes{};
    sum += (op.modules & recomputed) == 0 ? op.core_saved : Bytes{};
  }
  return sum;
}

Bytes result_bytes(const OperationList& operations) {
  Bytes sum;
  for (const Operation& op : operations) {
    sum += op.kept_result;
  }
  return sum;
}

Bytes weight_gradient_bytes(const OperationList& operations) {
  Bytes sum;
  for (const Operation& op : operations) {
    sum += op.weight_input + op.output_gradient;
  }
  return sum;
}

}  // namespace titer
