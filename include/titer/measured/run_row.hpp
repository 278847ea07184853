#pragma once
// One row of a table of measured training runs, by its columns' names. A blank cell means that the
// source does not say.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "titer/input/csv.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// What a memory figure counts.
enum class MemoryCount {
  tensors,   // the framework's own peak
  reserved,  // with what its allocator holds for later ones
  device,    // all that the driver says is taken
};

/// Whether the word is in the text with no letter before or behind it.
[[nodiscard]] bool holds_word(std::string_view text, std::string_view word);

/// As terms are compared: in small letters, without blanks, "-" and "_".
[[nodiscard]] std::string plain_words(std::string_view text);

/// A view of a row; the table must outlive it.
class RunRow {
 public:
  RunRow(const CsvTable& table, std::size_t row) : table_(&table), row_(row) {}

  /// "" for a blank cell or one that says "not stated", and for a column that the table has not.
  /// One of the devices and the degrees that make them follows from the others.
  [[nodiscard]] std::string text(std::string_view column) const;
  [[nodiscard]] bool has(std::string_view column) const { return !text(column).empty(); }
  /// The cell as plain_words() has it.
  [[nodiscard]] std::string plain(std::string_view column) const;
  /// Whether the cell has this word in it, in small or capital letters.
  [[nodiscard]] bool says(std::string_view column, std::string_view word) const;
  /// The same where no letter stands before or behind it.
  [[nodiscard]] bool says_word(std::string_view column, std::string_view word) const;
  [[nodiscard]] std::optional<double> number(std::string_view column) const;
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view column) const;
  [[nodiscard]] std::int64_t whole(std::string_view column, std::int64_t otherwise) const {
    return whole(column).value_or(otherwise);
  }
  /// Of a layer; 0 where it has none, which one alone is, too.
  [[nodiscard]] std::int64_t experts() const;
  /// As stated, or as the degrees come to.
  [[nodiscard]] std::int64_t chips() const;
  /// The first cell that is no number where one belongs, as a reason; "" where there is none.
  [[nodiscard]] std::string unreadable() const;

  /// Of an iteration: as printed, else as derived, else from tokens per second.
  [[nodiscard]] std::optional<Seconds> iteration_time() const;
  [[nodiscard]] std::optional<Bytes> memory() const;
  [[nodiscard]] MemoryCount memory_count() const;
  /// Whether it is the first pipeline rank's, and not the fullest one's.
  [[nodiscard]] bool is_memory_of_first() const { return says("mem_kind", "rank 0"); }
  /// Rows that differ in plan and micro-batch only have the same.
  [[nodiscard]] std::string sweep() const;
  /// What of these rows differs.
  [[nodiscard]] std::string plan() const;

 private:
  [[nodiscard]] std::string derived(std::string_view column) const;
  [[nodiscard]] std::string joined(std::span<const std::string_view> columns) const;

  const CsvTable* table_;
  std::size_t row_;
};

/// Throws InputError with the columns that the table must have and has not.
void check_run_table(const CsvTable& table);

}  // namespace titer
