#pragma once
// The table that titer sweep makes, wherever it goes, and what is said of its rows.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "titer/ask/search.hpp"
#include "titer/report/study/sweep_report.hpp"
#include "titer/sweep/sweep_run.hpp"

namespace titer {

class SweepTable {
 public:
  /// Says what was learned of measured runs on standard error. `out`: where the table goes, if to a
  /// file. Throws InputError.
  SweepTable(const SweepRequest& request, RowFormat format, std::string out, const Shard& shard);

  [[nodiscard]] const Sweep& sweep() const { return sweep_; }
  [[nodiscard]] std::optional<Fidelity> fidelity() const { return run_.fidelity; }
  [[nodiscard]] std::string columns() const { return rows_.header(); }
  [[nodiscard]] RowOrigin origin() const;
  /// The points in the first `count` of this process's chunks, or in all of them.
  [[nodiscard]] std::size_t points(std::size_t count) const;
  [[nodiscard]] std::size_t own_chunks() const { return run_.shard.count(chunks_.count()); }

  /// Computes what is not `done`, or what can be until `stop`.
  SweepOutcome compute(std::size_t done,
                       const std::atomic<bool>* stop,
                       const std::function<void(std::span<const SweepChunk>)>& emit);
  /// The whole table is at `path`, and no log of it: compares its first and last rows.
  void expect_ends(const std::filesystem::path& path);

 private:
  [[nodiscard]] std::string rows_of(std::size_t chunk);
  [[nodiscard]] std::function<void(const SweepPoint&, std::string&)> row_maker() const;

  Sweep sweep_;
  RowFormat format_;
  SweepRows rows_;
  std::string out_;
  SweepOptions run_;
  Chunks chunks_;
};

/// What the constraints left out, for whoever reads along; a table without rows is a mistake.
void tell_left_out(const SweepTable& table, const SweepOutcome& outcome, std::size_t rows);
/// Says how many rows ask more of their software than it has, where no column does.
void tell_beyond(const SweepTable& table, std::size_t beyond, std::size_t rows);
/// Says what defects left without a result, and returns the exit code.
[[nodiscard]] int tell_defects(const SweepTable& table,
                               const DefectRows& defects,
                               std::size_t rows);
/// The same of a table that was finished before, of which no more is known than what it says.
[[nodiscard]] int tell_defects_in(const std::filesystem::path& path, RowFormat format);

}  // namespace titer
