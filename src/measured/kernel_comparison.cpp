#include "titer/measured/kernel_comparison.hpp"

#include <algorithm>
#include <filesystem>

#include "titer/input/read_document.hpp"
#include "titer/measured/measured_kernel.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace {

Comparison empty_row(const std::string& stem, const KernelTable& table, int line) {
  return {.case_id = stem + ":" + std::to_string(line),
          .family = stem,
          .chip = table.chip.value_or(""),
          .stack = {},
          .grade = {},
          .sweep = {}};
}

Chip chip_with(const std::string& name, std::span<const KernelTable> products) {
  Document document = load_data(kChipData, name);
  if (!products.empty()) {
    document.root.add("measured_products", measured_products(products, name));
  }
  return read_document(document, read_chip);
}

}  // namespace

std::vector<Comparison> compare_kernels(const CsvTable& csv,
                                        const std::filesystem::path& path,
                                        std::span<const KernelTable> products) {
  const KernelTable table = kernel_table(csv, path);
  const std::string stem = path.stem().string();
  const std::optional<Chip> chip =
      table.chip ? std::optional(chip_with(*table.chip, products)) : std::nullopt;
  std::vector<std::pair<int, Comparison>> rows;  // by line
  for (const MeasuredKernel& kernel : table.rows) {
    Comparison row = empty_row(stem, table, kernel.line);
    row.measured = kernel.time.si();
    if (!chip) {
      row.skip_reason =
          "the file does not begin with the name of a shipped chip, such as "
          "h100-sxm5-80gb_gemm.csv";
    } else if (!chip->rate(kernel.type) || !chip->rate(kernel.product)) {
      row.skip_reason = chip->name + " has no rate of " + std::string(name(kernel.product));
    } else {
      row.predicted = predicted(*chip, kernel).si();
    }
    rows.emplace_back(kernel.line, std::move(row));
  }
  for (const KernelTable::Skipped& skipped : table.skipped) {
    Comparison row = empty_row(stem, table, skipped.line);
    row.skip_reason = skipped.reason;
    rows.emplace_back(skipped.line, std::move(row));
  }
  std::ranges::sort(rows, [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Comparison> ordered;
  ordered.reserve(rows.size());
  for (auto& [line, row] : rows) {
    ordered.push_back(std::move(row));
  }
  return ordered;
}

}  // namespace titer
