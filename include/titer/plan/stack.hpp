#pragma once
// What the training software decides (configs/stacks/<name>.json).

#include <array>
#include <string>

#include "titer/hardware/data_type.hpp"
#include "titer/hardware/evidence.hpp"

namespace titer {

/// Which tensor-parallel collectives run beside compute.
enum class TensorOverlap {
  none,
  // A column-split product's backward collectives run beside its own gradient products.
  backward,
};

inline constexpr std::array<Choice<TensorOverlap>, 2> kTensorOverlaps = {
    {{"none", TensorOverlap::none}, {"backward", TensorOverlap::backward}}};

[[nodiscard]] constexpr std::string_view name(TensorOverlap overlap) {
  return kTensorOverlaps[static_cast<std::size_t>(overlap)].name;
}

struct Stack {
  std::string name;
  std::string title;
  Seconds dispatch;  // host time to launch one kernel: a pass is no shorter than its launches
  TensorOverlap tensor_overlap = TensorOverlap::none;
  // A stage sends 1/t of an activation per rank, and the receivers gather it inside their node.
  bool pipeline_scatter_gather = false;
  std::array<DataType, kDataTypes.size()> gradient{};  // of each training precision
  Bytes runtime_memory;  // CUDA context, communicators, workspaces: outside the tensors
  EvidenceList evidence;

  [[nodiscard]] DataType gradient_type(DataType precision) const {
    return gradient[static_cast<std::size_t>(precision)];
  }
};

[[nodiscard]] Stack read_stack(Reader& in);

}  // namespace titer
