#pragma once
// Measured kernels beside their predictions.

#include <filesystem>
#include <span>
#include <vector>

#include "titer/input/csv.hpp"
#include "titer/measured/comparison.hpp"
#include "titer/measured/measured_kernel.hpp"

namespace titer {

/// A table of one chip's kernels (measured/measured_kernel.hpp) and the file that it was read from;
/// a row for each of its own. case_id: the file's stem, ":", the line; family: the stem; stack:
/// none. `products`: tables of those of the chip that were measured before. Every row of a table
/// that names no shipped chip is skipped with the reason. Throws InputError where it cannot be
/// understood.
[[nodiscard]] std::vector<Comparison> compare_kernels(const CsvTable& csv,
                                                      const std::filesystem::path& path,
                                                      std::span<const KernelTable> products = {});

}  // namespace titer
