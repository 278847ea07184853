#include "titer/measured/dataset.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>

#include "measured/cells/run_columns.hpp"
#include "titer/measured/collective/collective_comparison.hpp"
#include "titer/measured/kernel_comparison.hpp"
#include "titer/measured/measured_kernel.hpp"
#include "titer/measured/measured_runs.hpp"
#include "titer/measured/run_comparison.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

constexpr std::array<DatasetKind, 4> kKernelDatasets = {  // by KernelTableKind
    DatasetKind::gemm,
    DatasetKind::attention,
    DatasetKind::mla,
    DatasetKind::expert_layer};

constexpr std::size_t kMostNamed = 6;  // columns of a table that is none of these

/// Points of which nobody says how long a size took.
std::vector<Comparison> skip_bandwidths(const CsvTable& table, const std::string& stem) {
  std::vector<Comparison> rows;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    rows.push_back({.case_id = stem + "-" + std::to_string(i + 1),
                    .family = "bandwidth",
                    .chip = {},
                    .stack = {},
                    .grade = {},
                    .sweep = {},
                    .skip_reason = "a bandwidth without size and time"});
  }
  return rows;
}

std::vector<Comparison> compare(const CsvTable& table,
                                const std::filesystem::path& path,
                                std::span<const KernelTable> products) {
  const DatasetKind kind = dataset_kind(table, path.string());
  switch (kind) {
    case DatasetKind::runs:
      return compare_runs(table, path.parent_path());
    case DatasetKind::named_runs:
      return compare_named_runs(table, path.parent_path());
    case DatasetKind::collective:
      return compare_collective(path);
    case DatasetKind::bandwidths:
      return skip_bandwidths(table, path.stem().string());
    case DatasetKind::index:
      return {};
    case DatasetKind::gemm:
    case DatasetKind::attention:
    case DatasetKind::mla:
    case DatasetKind::expert_layer:
      return compare_kernels(table, path, products);
  }
  return {};
}

/// Errors are shares of what was measured, so that must be above zero.
void check(const std::vector<Comparison>& rows, const std::filesystem::path& path) {
  Problems problems;
  for (const Comparison& row : rows) {
    if ((row.measured && !(*row.measured > 0)) ||
        (row.memory_measured && !(*row.memory_measured > 0))) {
      problems.add(path.string() + ": " + row.case_id +
                   ": a measured time or memory of 0: expected one above 0, or an empty cell");
    }
  }
  problems.raise();
}

}  // namespace

DatasetKind dataset_kind(const CsvTable& table, const std::string& source) {
  if (table.has("case_id") && (table.has("iter_time_s") || table.has("n_chips"))) {
    return DatasetKind::runs;
  }
  if (table.has_all({kNamedRunColumns[0], kNamedRunColumns[1]})) {
    return DatasetKind::named_runs;
  }
  if (table.has_all({"size_bytes", "op"})) {
    return DatasetKind::collective;
  }
  if (const auto kind = kernel_table_kind(table)) {
    return kKernelDatasets[static_cast<std::size_t>(*kind)];
  }
  if (table.has_all({"file", "max_busbw_GBps"})) {
    return DatasetKind::index;
  }
  if (table.has("busbw_GBps")) {
    return DatasetKind::bandwidths;
  }
  std::string given =
      listed(std::span(table.columns()).first(std::min(table.columns().size(), kMostNamed)));
  given += table.columns().size() > kMostNamed ? ", …" : "";
  throw InputError(source + ":1: " + given +
                   ": expected the columns of training runs (case_id, iter_time_s, …, or run, "
                   "iter_time_s), of a "
                   "collective (size_bytes, op, …), or of kernels (dtype with m, n, k; with batch, "
                   "seq, heads and kv_heads or qk_head_dim; or with tokens, experts)");
}

CsvTable load_dataset(const std::filesystem::path& path) {
  return with_run_columns(CsvTable::load(path));
}

std::vector<Comparison> compare_dataset(const std::filesystem::path& path,
                                        std::span<const KernelTable> products) {
  std::vector<Comparison> rows = compare(load_dataset(path), path, products);
  check(rows, path);
  return rows;
}

}  // namespace titer
