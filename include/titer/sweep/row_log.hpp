#pragma once
// The record of which rows are written: a line that says of what they are, then one line per chunk
// of rows, then one that says that all are there. The log of a whole table lies beside it
// (FILE.journal); in the file of a shard the lines stand between the rows.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "titer/sweep/partition.hpp"

namespace titer {

/// What rows are of: tables of equal origins are the same table.
struct RowOrigin {
  std::string version;  // the program's
  std::uint64_t inputs = 0;
  std::string format;
  std::string fidelity;
  Chunks chunks;
};

/// Notices damage: of 64-bit words as this machine orders their bytes, not against malice.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

/// The first line of a log. The first row of a table, with its columns' names, is no chunk's.
struct RowHead {
  RowOrigin origin;
  Shard shard;
  std::size_t columns_bytes = 0;
  std::uint64_t columns_sum = 0;
};
/// Why rows of `other` cannot stand in a table of this one: "another sweep, or its files have
/// changed"; empty where they can.
[[nodiscard]] std::string difference(const RowHead& head, const RowHead& other);

/// Rows of points that a defect of the program left without a result.
struct DefectRows {
  std::size_t count = 0;
  std::size_t first = 0;  // point, where there are any

  DefectRows& operator+=(const DefectRows& later);
};

/// The rows of one chunk; there may be none.
struct RowChunk {
  std::size_t number = 0;
  std::size_t rows = 0;
  std::size_t bytes = 0;
  std::uint64_t sum = 0;
  DefectRows defects{};
  std::size_t beyond = 0;  // rows with what their software does not have
};

/// What chunks hold together.
struct RowTally {
  std::size_t chunks = 0;
  std::size_t rows = 0;
  DefectRows defects{};
  std::size_t beyond = 0;  // rows with what their software does not have

  RowTally& operator+=(const RowChunk& later);
};

// Each line ends with its own checksum.
[[nodiscard]] std::string head_line(const RowHead& head);
[[nodiscard]] std::string chunk_line(const RowChunk& chunk);
[[nodiscard]] std::string end_line(const RowTally& tally);

/// Reads a log as far as it is whole: a line or rows torn off at its end do not count, nor anything
/// from the first line on that is not as it was written.
class RowLogReader {
 public:
  enum class Rows { inside, beside };

  /// A file that cannot be opened, or is not a log of this kind, has no head.
  RowLogReader(const std::filesystem::path& path, Rows rows);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] const std::optional<RowHead>& head() const { return head_; }
  [[nodiscard]] const std::string& columns() const { return columns_; }
  /// The next chunk, which must be the shard's next. With `text`, its rows as well (where they are
  /// inside). Nothing at the end.
  std::optional<RowChunk> next(std::string* text = nullptr);
  /// The log's last line was read: all chunks are there.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Reading ended at a line that is another than was written.
  [[nodiscard]] bool damaged() const { return damaged_; }
  /// What was read so far, the bytes of the log, and those of the table with its columns.
  [[nodiscard]] const RowTally& tally() const { return tally_; }
  [[nodiscard]] std::uintmax_t log_bytes() const { return log_bytes_; }
  [[nodiscard]] std::uintmax_t table_bytes() const { return table_bytes_; }
  /// Lets go of the file until it is read again, for whoever reads more than may be open.
  void close();

 private:
  [[nodiscard]] bool read_line(std::string& line);
  [[nodiscard]] bool take_chunk(const RowChunk& chunk, std::string* text);
  [[nodiscard]] bool take_rows(std::size_t bytes, std::string* text);
  void read_head();

  std::filesystem::path path_;
  std::ifstream file_;
  Rows place_;
  std::uintmax_t size_ = 0;
  std::optional<RowHead> head_;
  std::string columns_;
  RowTally tally_;
  std::size_t line_bytes_ = 0;  // of the line read last
  std::uintmax_t log_bytes_ = 0;
  std::uintmax_t table_bytes_ = 0;
  bool ended_ = false;
  bool damaged_ = false;
};

}  // namespace titer
