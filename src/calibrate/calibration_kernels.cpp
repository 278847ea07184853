// Kernel tables as data of a chip's calibration.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>

#include "titer/calibrate/calibration_data.hpp"
#include "titer/input/read_document.hpp"
#include "titer/measured/measured_kernel.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

// Training runs are made of large kernels: these count for as many.
constexpr Flops kLarge = 1_GFLOP;
constexpr double kLargeWeight = 3;

/// The types that the paths of matrix figures name; bf16 where none does.
std::set<DataType> types_of(const std::vector<FittedFigure>& figures) {
  std::set<DataType> types;
  for (const FittedFigure& figure : figures) {
    for (const Choice<DataType>& type : kDataTypes) {
      if (figure.path.starts_with(fmt::format("matrix.{}.", type.name))) {
        types.insert(type.value);
      }
    }
  }
  return types.empty() ? std::set{DataType::bf16} : types;
}

Flops work_of(const MeasuredKernel& row) {
  Flops work;
  for (const Kernel& kernel : row.kernels) {
    work += kernel.flops;
  }
  return work;
}

/// "gemm 2^32 to 2^36 FLOP".
std::string group_of(KernelTableKind kind, Flops work) {
  constexpr std::array<std::string_view, 4> names = {"gemm", "attention", "mla", "moe"};
  const int power = std::ilogb(work.si()) / 4 * 4;
  return fmt::format(
      "{} 2^{:02} to 2^{:02} FLOP", names[static_cast<std::size_t>(kind)], power, power + 4);
}

void demand_rates(const Chip& chip, const std::vector<MeasuredKernel>& rows) {
  for (const MeasuredKernel& row : rows) {
    for (const DataType type : {row.type, row.product}) {
      if (!chip.rate(type)) {
        throw InputError(fmt::format("{} has no matrix rate of {}; expected kernels of {}",
                                     chip.name,
                                     name(type),
                                     data_type_names(chip)));
      }
    }
  }
}

void add(const MeasuredKernel& row, KernelTableKind kind, CalibrationData& data) {
  const Flops work = work_of(row);
  data.measured.push_back(row.time.si());
  data.groups.push_back(group_of(kind, work));
  data.weights.push_back(work >= kLarge ? kLargeWeight : 1.0);
}

std::string range_of(const std::vector<MeasuredKernel>& rows) {
  const auto [least, most] = std::minmax_element(
      rows.begin(), rows.end(), [](const MeasuredKernel& a, const MeasuredKernel& b) {
        return work_of(a) < work_of(b);
      });
  return format(work_of(*least)) + " to " + format(work_of(*most));
}

}  // namespace

CalibrationData kernel_data(std::span<const std::filesystem::path> files,
                            const std::vector<FittedFigure>& figures,
                            Flops least) {
  const std::set<DataType> types = types_of(figures);
  CalibrationData data;
  data.what = "kernels";
  const auto rows = std::make_shared<std::vector<MeasuredKernel>>();
  for (const std::filesystem::path& file : files) {
    KernelTable table = load_kernel_table(file);
    data.files.push_back(file.filename().string());
    data.skipped += table.skipped.size();
    for (MeasuredKernel& row : table.rows) {
      if (const Flops work = work_of(row);
          types.count(row.product) == 0 || work < least || work == Flops{}) {
        ++data.skipped;
        continue;
      }
      add(row, table.kind, data);
      rows->push_back(std::move(row));
    }
  }
  if (rows->empty()) {
    throw InputError(
        "the kernel tables hold no row of that size or more of the data types that are fitted");
  }
  data.range = range_of(*rows);
  data.predict = [rows](const Document& document,
                        std::span<const std::size_t> wanted,
                        std::span<double> seconds) {
    const Chip chip = read_document(document, read_chip);
    demand_rates(chip, *rows);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      seconds[i] = predicted(chip, (*rows)[wanted[i]]).si();
    }
  };
  return data;
}

}  // namespace titer
