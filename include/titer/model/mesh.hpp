#pragma once
// Tensors laid out on a mesh of devices: each dimension of a tensor is split over one axis of the
// mesh or over none, and what a product of two such tensors costs follows from their layouts.
// Data, tensor and fully sharded parallelism are layouts.  [Mesh-TensorFlow 2018; GSPMD 2021]

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "titer/collectives/collective.hpp"
#include "titer/hardware/data_type.hpp"

namespace titer {

/// An axis of a mesh, or a dimension of tensors: its letter and its size.
struct MeshDimension {
  char letter = ' ';
  std::int64_t size = 1;
};

struct Mesh {
  std::vector<MeshDimension> axes;
  std::vector<MeshDimension> dimensions;

  [[nodiscard]] std::int64_t devices() const;
  /// REQUIRES an axis or a dimension of that letter.
  [[nodiscard]] std::int64_t size_of_axis(char axis) const;
  [[nodiscard]] std::int64_t size_of_dimension(char dimension) const;
};

/// {"bsh", "r.c"}: b is split over the axis r, s over none, h over c. No axis splits two.
struct MeshTensor {
  std::string dimensions;
  std::string axes;

  [[nodiscard]] char axis_of(char dimension) const;  // '.': none
  [[nodiscard]] char split_on(char axis) const;      // the dimension; '.': none
  [[nodiscard]] bool has(char dimension) const;
  [[nodiscard]] double elements(const Mesh& mesh) const;        // of the whole
  [[nodiscard]] double local_elements(const Mesh& mesh) const;  // of a device's part
};

/// output = sum of left * right over all dimensions that the output lacks.
struct MeshEinsum {
  MeshTensor left;
  MeshTensor right;
  MeshTensor output;
};

/// Its gradients are einsums too: of the output's gradient with the right for the left, and with
/// the left for the right.
[[nodiscard]] std::array<MeshEinsum, 2> gradients(const MeshEinsum& einsum);

enum class MeshOperand : std::uint8_t { left, right, output };

struct MeshTransfer {
  Collective kind = Collective::all_reduce;
  MeshOperand of = MeshOperand::output;
  char axis = ' ';  // among the devices that differ in this axis only
  Bytes size;       // as of any Transfer: the full result; of an all-to-all what a device sends
};

struct MeshCost {
  Flops flops;                          // of one device: 2 per multiply-add
  std::vector<MeshTransfer> transfers;  // those of operands before the product
};

/// Axis by axis:
/// - a dimension split in an operand is split in the work; an operand that has it whole takes its
///   part of it for nothing;
/// - if the axis splits different dimensions of the two, one of the operands is gathered: the one
///   whose dimension the output does not split on this axis, else the smaller;
/// - a dimension that is summed over leaves partial sums: all-reduce, or reduce-scatter where the
///   output splits another dimension on the axis;
/// - a dimension that the output has whole is gathered; one that it has on no axis, while it
///   splits another, is exchanged for that all-to-all;
/// - an axis that splits neither operand splits what the output has on it, or its devices repeat
///   each other's work.
/// REQUIRES sizes that divide. Reduce-scatters go first and all-gathers last.
[[nodiscard]] MeshCost mesh_cost(const Mesh& mesh, const MeshEinsum& einsum, DataType type);

}  // namespace titer
