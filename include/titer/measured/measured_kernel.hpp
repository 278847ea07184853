#pragma once
// Kernels as somebody measured them: tables of products, fused attention and expert layers of one
// chip, each row turned into the kernels that it ran.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "titer/hardware/kernel.hpp"
#include "titer/input/csv.hpp"
#include "titer/input/document.hpp"

namespace titer {

/// One row. Times are of short bursts, replayed from a recorded graph: no host is waited for.
struct MeasuredKernel {
  DataType type = DataType::bf16;     // of all but narrow kernels
  DataType product = DataType::bf16;  // of narrow kernels
  std::vector<Kernel> kernels{};      // one after the other
  bool starts_graph = false;          // each replay was of this alone, its start included
  bool is_flash_2 = false;            // attention by FlashAttention 2, whatever the chip
  Seconds time;
  int line = 0;  // of the table: one per row
};

enum class KernelTableKind : std::uint8_t { gemm, attention, mla, moe };

struct KernelTable {
  /// A row that is not predicted, and why.
  struct Skipped {
    int line = 0;
    std::string reason;
  };

  std::string file{};  // that it was read from
  KernelTableKind kind = KernelTableKind::gemm;
  std::optional<std::string> chip{};  // the shipped chip of its name
  std::vector<MeasuredKernel> rows{};
  std::vector<Skipped> skipped{};
};

/// The shipped chip that a table's name begins with: "h100-sxm5-80gb" for h100_sxm_gemm.csv, and
/// for h100-sxm5-80gb_gemm.csv.
[[nodiscard]] std::optional<std::string> chip_of_table(const std::filesystem::path& path);

/// By the columns; empty for a table of anything else.
[[nodiscard]] std::optional<KernelTableKind> kernel_table_kind(const CsvTable& table);

/// Columns as in the corpus, which tell what the table holds; a data type or setting that is not
/// modelled skips the row. Throws InputError with the place of every number that cannot be
/// understood.
[[nodiscard]] KernelTable kernel_table(const CsvTable& table, const std::filesystem::path& path);
[[nodiscard]] KernelTable load_kernel_table(const std::filesystem::path& path);

/// Of tables of products what the key "measured_products" of chips takes: their rows in 16 bits.
/// Throws InputError with a table that has none, is of no products or of another chip.
[[nodiscard]] Value measured_products(std::span<const KernelTable> tables, const std::string& chip);

/// The row's time by the chip's figures, in a burst. REQUIRES chip.rate() of both types.
[[nodiscard]] Seconds predicted(const Chip& chip, const MeasuredKernel& row);

}  // namespace titer
