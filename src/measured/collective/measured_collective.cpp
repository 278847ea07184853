#include "titer/measured/collective/measured_collective.hpp"

#include <array>
#include <cctype>
#include <filesystem>
#include <limits>

#include "titer/input/csv.hpp"

namespace titer {
namespace {

constexpr std::array<std::string_view, 9> kMeasuredOperations = {"all-reduce",
                                                                 "all-gather",
                                                                 "reduce-scatter",
                                                                 "all-to-all",
                                                                 "send-recv",
                                                                 "broadcast",
                                                                 "reduce",
                                                                 "scatter",
                                                                 "gather"};

/// Lower-case letters only.
std::string letters(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

constexpr double kAnyOfCollective = std::numeric_limits<double>::max();

/// The value of a column that is the same in every row; reports the first that differs.
std::string one_value(const CsvTable& table, std::string_view column, Problems& problems) {
  std::string first(table.text(0, column));
  for (std::size_t row = 1; row < table.rows(); ++row) {
    if (table.text(row, column) != first) {
      problems.add(table.where(row, column) + ": " + std::string(table.text(row, column)) +
                   ": expected \"" + first + "\" as in the rows before");
      break;
    }
  }
  return first;
}

std::optional<int> one_count(const CsvTable& table, std::string_view column, Problems& problems) {
  static_cast<void>(one_value(table, column, problems));
  const auto count = table.maybe_number(0, column, 1, 10'000'000, problems);
  return count ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

std::optional<MeasuredSize> read_row(const CsvTable& table, std::size_t row, Problems& problems) {
  const auto size = table.maybe_number(row, "size_bytes", 0, kAnyOfCollective, problems);
  const auto time = table.maybe_number(row, "time_us", 0, kAnyOfCollective, problems);
  const auto rate = table.maybe_number(row, "algbw_GBps", 0, kAnyOfCollective, problems);
  const bool has_time = time.value_or(0.0) > 0.0;
  if (size.value_or(0.0) <= 0.0 || (!has_time && rate.value_or(0.0) <= 0.0)) {
    return std::nullopt;
  }
  MeasuredSize measured{.size = Bytes::from_si(*size),
                        .type = std::string(table.text(row, "dtype"))};
  measured.out_of_place = has_time ? Seconds::from_si(*time * 1e-6)
                                   : measured.size / BytesPerSecond::from_si(*rate * 1e9);
  return measured;
}

}  // namespace

std::string operation_name(std::string_view name) {
  if (name.ends_with("_perf")) {
    name.remove_suffix(5);
  }
  const std::string wanted = letters(name);
  for (const std::string_view operation : kMeasuredOperations) {
    if (letters(operation) == wanted) {
      return std::string(operation);
    }
  }
  return {};
}

std::optional<Collective> collective_named(std::string_view operation) {
  for (const Collective collective : kCollectives) {
    if (name_of(collective) == operation) {
      return collective;
    }
  }
  return std::nullopt;
}

MeasuredCollective load_collective_table(const std::filesystem::path& path) {
  const CsvTable table = CsvTable::load(path);
  if (table.rows() == 0) {
    throw InputError(path.string() + ": expected rows of measurements, found none");
  }
  Problems problems;
  MeasuredCollective measured;
  const std::string name = one_value(table, "op", problems);
  measured.operation = operation_name(name);
  if (measured.operation.empty()) {
    problems.add(table.where(0, "op") + ": " + name + ": expected a collective");
  }
  measured.collective = collective_named(measured.operation);
  measured.ranks = one_count(table, "ngpus", problems);
  measured.nodes = one_count(table, "nnodes", problems);
  measured.hardware = one_value(table, "hardware", problems);
  measured.interconnect = one_value(table, "interconnect", problems);
  measured.source = table.text(0, "source");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (auto size = read_row(table, row, problems)) {
      measured.sizes.push_back(std::move(*size));
    } else {
      ++measured.skipped;
    }
  }
  problems.raise();
  return measured;
}

}  // namespace titer
