#pragma once
// One accelerator as its data file describes it (configs/chips/<name>.json).

#include <array>
#include <optional>
#include <string>

#include "titer/hardware/data_type.hpp"
#include "titer/hardware/evidence.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// Dense matrix rate for one data type, and how much of it large and small products reach:
/// a product of F operations takes (F + saturation) / (plateau * peak).
struct MatrixRate {
  FlopsPerSecond peak;
  double plateau = 1.0;
  Flops saturation;
  Grade grade = Grade::extrapolated;  // of the plateau
};

/// A memory and what a long streaming kernel gets of its bandwidth.
struct MemoryTier {
  Bytes capacity;
  BytesPerSecond bandwidth;
  double efficiency = 1.0;
  Grade grade = Grade::extrapolated;  // of the efficiency
};

struct Chip {
  std::string name;
  std::string title;
  std::string vendor;
  int year = 0;
  std::array<std::optional<MatrixRate>, kDataTypes.size()> matrix;  // index: DataType
  double attention_plateau = 1.0;  // share of the matrix peak that fused attention reaches
  MemoryTier memory;
  Seconds launch_floor;  // least time of one kernel on the device
  std::string scale_up_link;
  std::optional<BytesPerSecond> scale_up;       // per chip, one direction
  std::optional<BytesPerSecond> scale_up_pair;  // between one pair of chips
  std::optional<BytesPerSecond> host_link;
  std::optional<Watts> power;
  EvidenceList evidence;

  [[nodiscard]] const std::optional<MatrixRate>& rate(DataType type) const {
    return matrix[static_cast<std::size_t>(type)];
  }
};

/// Reads a chip file's object; problems go to the reader's collection.
[[nodiscard]] Chip read_chip(Reader& in);

/// The data types that the chip has a matrix rate for: "fp16, bf16".
[[nodiscard]] std::string data_type_names(const Chip& chip);

}  // namespace titer
