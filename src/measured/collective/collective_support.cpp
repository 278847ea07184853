#include "titer/measured/collective/collective_support.hpp"

#include <algorithm>

#include "titer/scenario/source.hpp"

namespace titer {
namespace {

constexpr Bytes kLarge = Bytes::from_si(1 << 20);

/// Which of two words a cell has.
bool is_second(const CsvTable& table,
               std::size_t row,
               std::string_view column,
               std::pair<std::string_view, std::string_view> words,
               Problems& problems) {
  const std::string_view word = table.text(row, column);
  if (word != words.first && word != words.second) {
    problems.add(table.where(row, column) + ": expected " + std::string(words.first) + " or " +
                 std::string(words.second));
  }
  return word == words.second;
}

}  // namespace

std::vector<CollectiveSupport> read_collective_support(const CsvTable& table) {
  constexpr double most = 1e9;
  Problems problems;
  std::vector<CollectiveSupport> all;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto number = [&](std::string_view column, double least) {
      const auto value = table.maybe_number(row, column, least, most, problems);
      if (table.text(row, column).empty()) {
        problems.add(table.where(row, column) + ": expected a number");
      }
      return value.value_or(least);
    };
    all.push_back({.chip = std::string(table.text(row, "chip")),
                   .collective = std::string(table.text(row, "collective")),
                   .across_nodes = is_second(table, row, "tier", {"node", "network"}, problems),
                   .is_large = is_second(table, row, "sizes", {"small", "large"}, problems),
                   .timings = static_cast<std::size_t>(number("timings", 1)),
                   .low = number("low", 0),
                   .high = number("high", 0)});
  }
  problems.raise();
  return all;
}

std::vector<CollectiveSupport> shipped_collective_support() {
  return read_collective_support(CsvTable::load(data_root() / "configs/collectives.csv"));
}

std::optional<CollectiveSupport> support_of(const std::vector<CollectiveSupport>& all,
                                            const std::string& chip,
                                            Collective collective,
                                            bool across_nodes,
                                            Bytes size) {
  const auto found = std::ranges::find_if(all, [&](const CollectiveSupport& one) {
    return one.chip == chip && one.collective == name_of(collective) &&
           one.across_nodes == across_nodes && one.is_large == (size >= kLarge);
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace titer
