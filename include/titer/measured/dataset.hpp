#pragma once
// Tables of measurements, whatever they are of.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "titer/input/csv.hpp"
#include "titer/measured/comparison.hpp"
#include "titer/measured/measured_kernel.hpp"

namespace titer {

/// What the rows of a table are, told by its columns.
enum class DatasetKind {
  runs,         // case_id, iter_time_s
  named_runs,   // run, iter_time_s
  collective,   // size_bytes, op
  bandwidths,   // busbw_GBps, and no size and time
  index,        // file, max_busbw_GBps: of tables; measures nothing
  gemm,         // dtype, m, n, k
  attention,    // dtype, batch, seq, heads, kv_heads
  mla,          // dtype, batch, seq, heads, qk_head_dim
  expert_layer  // dtype, tokens, experts
};

/// Throws InputError, naming the source and what was expected, for columns that are none of these.
[[nodiscard]] DatasetKind dataset_kind(const CsvTable& table, const std::string& source);

/// With columns of runs as they are called here. Throws InputError for a file that cannot be read.
[[nodiscard]] CsvTable load_dataset(const std::filesystem::path& path);

/// Every row of the table beside what is predicted of it; none of an index. `products`: of tables
/// of kernels, tables of such that were measured before. Throws InputError for a file that cannot
/// be read or is no such table, and with the place of each cell that is wrong.
[[nodiscard]] std::vector<Comparison> compare_dataset(const std::filesystem::path& path,
                                                      std::span<const KernelTable> products = {});

}  // namespace titer
