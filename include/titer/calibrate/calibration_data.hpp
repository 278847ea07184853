#pragma once
// Measurements as a calibration takes them: kernels of a chip, collectives of a cluster or network,
// runs of a software stack.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "titer/calibrate/calibration.hpp"
#include "titer/measured/measured_runs.hpp"

namespace titer {

/// Rows of kernel tables (gemm: m, n, k; attention: batch, seq, heads, …) of the data types of
/// `figures` and of `least` operations or more; others are skipped and counted. Groups: powers of
/// two of a product's inner dimension, and of an attention's sequence. The document is a chip.
[[nodiscard]] CalibrationData kernel_data(std::span<const std::filesystem::path> files,
                                          const std::vector<FittedFigure>& figures,
                                          Flops least = {});

/// Collectives by nccl-tests (anything but .csv) or tables of the corpus (.csv) of `least` bytes
/// and more, as the fastest algorithm takes on the cluster. Groups: the files. The document is a
/// cluster or, where `cluster` names one, a network that takes the place of that cluster's.
[[nodiscard]] CalibrationData collective_data(std::span<const std::filesystem::path> files,
                                              const Document& base,
                                              const std::string& cluster,
                                              Bytes least);
/// Whether any of these was measured on several nodes.
[[nodiscard]] bool crosses_nodes(std::span<const std::filesystem::path> files);

/// What of each run's stack a calibrated one takes the place of.
enum class StackPart : std::uint8_t { whole, kernels };
/// Runs by the closed form; the document is a stack.
[[nodiscard]] CalibrationData run_data(std::vector<MeasuredRun> runs,
                                       StackPart part = StackPart::whole);

}  // namespace titer
