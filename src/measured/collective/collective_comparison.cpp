#include "titer/measured/collective/collective_comparison.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "titer/input/csv.hpp"
#include "titer/measured/collective/collective_machine.hpp"

namespace titer {
namespace {

namespace fs = std::filesystem;

/// Who measured a table, by the end of its name.
std::string family_of(std::string_view stem) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> endings = {
      {{"_aiconf", "aiconfigurator"},
       {"_vtrain", "vtrain"},
       {"_mleng", "ml-engineering"},
       {"_mleng_unstated", "ml-engineering"},
       {"_galvatron", "galvatron"}}};
  for (const auto& [ending, family] : endings) {
    if (stem.ends_with(ending)) {
      return std::string(family);
    }
  }
  return "nccl-tests";
}

struct IndexEntry {
  std::string software;
  std::string grade;
};

/// What the folder's index says of a table; nothing where there is none.
IndexEntry index_entry(const fs::path& table) {
  const fs::path index = table.parent_path() / "INDEX.csv";
  if (!fs::exists(index)) {
    return {};
  }
  const CsvTable entries = CsvTable::load(index);
  for (std::size_t row = 0; row < entries.rows(); ++row) {
    if (entries.text(row, "file") == table.filename().string()) {
      return {.software = std::string(entries.text(row, "software")),
              .grade = std::string(entries.text(row, "grade"))};
    }
  }
  return {};
}

}  // namespace

std::vector<Comparison> compare_collective(const fs::path& table) {
  const MeasuredCollective measured = load_collective_table(table);
  const Placing placing = place_measured(measured);
  const std::string stem = table.stem().string();
  const IndexEntry index = index_entry(table);
  Comparison row{.case_id = {},
                 .family = family_of(stem),
                 .chip = placing.placed ? placing.placed->cluster.chip.name : std::string{},
                 .stack = index.software,
                 .grade = index.grade,
                 .sweep = {},
                 .skip_reason = placing.skip_reason};
  const auto ways = placing.placed ? std::optional(ways_of(*placing.placed)) : std::nullopt;
  std::vector<Comparison> rows;
  for (const MeasuredSize& size : measured.sizes) {
    row.case_id = fmt::format("{}:{:.0f}", stem, size.size.si());
    row.measured = size.time()->si();
    if (ways) {
      row.predicted = predicted_time(placing.placed->collective, *ways, size.size).si();
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace titer
