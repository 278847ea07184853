#include "titer/measured/measured_kernel.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <utility>

#include "kernel_row.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace {

using Names = std::pair<std::string_view, std::string_view>;
constexpr std::array<Names, 8> kTableChips = {{{"a100_sxm", "a100-sxm4-80gb"},
                                               {"h100_sxm", "h100-sxm5-80gb"},
                                               {"h200_sxm", "h200-sxm-141gb"},
                                               {"b200_sxm", "b200-sxm"},
                                               {"b300_sxm", "b300-sxm"},
                                               {"gb200", "gb200-nvl72"},
                                               {"gb300", "gb300-nvl72"},
                                               {"l40s", "l40s"}}};

}  // namespace

std::optional<KernelTableKind> kernel_table_kind(const CsvTable& table) {
  if (table.has_all({"dtype", "m", "n", "k"})) {
    return KernelTableKind::gemm;
  }
  if (table.has_all({"dtype", "batch", "seq", "heads", "kv_heads"})) {
    return KernelTableKind::attention;
  }
  if (table.has_all({"dtype", "batch", "seq", "heads", "qk_head_dim"})) {
    return KernelTableKind::mla;
  }
  if (table.has_all({"dtype", "tokens", "experts"})) {
    return KernelTableKind::moe;
  }
  return std::nullopt;
}

std::optional<std::string> chip_of_table(const std::filesystem::path& path) {
  const std::string stem = path.stem().string();
  for (const auto& [table, chip] : kTableChips) {
    if (stem.starts_with(std::string(table) + "_")) {
      return std::string(chip);
    }
  }
  std::optional<std::string> longest;
  for (const std::string& chip : shipped_names(kChipData)) {
    const bool is_named = stem == chip || stem.starts_with(chip + "_");
    if (is_named && (!longest || longest->size() < chip.size())) {
      longest = chip;
    }
  }
  return longest;
}

KernelTable kernel_table(const CsvTable& table, const std::filesystem::path& path) {
  const auto kind = kernel_table_kind(table);
  if (!kind) {
    throw InputError(
        path.string() +
        ": expected a table of products (m, n, k), attention (batch, seq, heads, "
        "kv_heads or qk_head_dim) or expert layers (tokens, experts), and their dtype");
  }
  KernelTable result{.file = path.string(), .kind = *kind, .chip = chip_of_table(path)};
  Problems problems;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    read_kernel_row(table, row, result, problems);
  }
  problems.raise();
  return result;
}

KernelTable load_kernel_table(const std::filesystem::path& path) {
  return kernel_table(CsvTable::load(path), path);
}

Value measured_products(std::span<const KernelTable> tables, const std::string& chip) {
  Value products = Value::make_array();
  for (const KernelTable& table : tables) {
    if (table.chip && *table.chip != chip) {
      throw InputError(
          fmt::format("{}: products of {}: expected some of {}", table.file, *table.chip, chip));
    }
    const std::size_t before = products.items.size();
    for (const MeasuredKernel& row : table.rows) {
      if (table.kind == KernelTableKind::gemm && size_of(row.product) == size_of(DataType::bf16)) {
        const KernelShape& shape = row.kernels.front().shape;
        products.push(Value::make_array()
                          .push(shape.rows)
                          .push(shape.columns)
                          .push(shape.inner)
                          .push(1e6 * row.time.si()));
      }
    }
    if (products.items.size() == before) {
      throw InputError(table.file + ": expected products (m, n, k) in bf16");
    }
  }
  return products;
}

Seconds predicted(const Chip& chip, const MeasuredKernel& row) {
  const KernelClock clock(chip, row.type, row.product, Clocks::burst);
  Seconds sum = row.starts_graph ? chip.graph_start : Seconds{};
  for (const Kernel& kernel : row.kernels) {
    const bool is_slower = row.is_flash_2 && kernel.kind == KernelKind::attention;
    sum += (is_slower ? 1.0 / chip.flash_2 : 1.0) * clock.time(kernel);
  }
  return sum;
}

}  // namespace titer
