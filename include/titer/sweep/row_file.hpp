#pragma once
// A table that is written chunk by chunk, and can be gone on with after any interruption.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "titer/sweep/row_log.hpp"

namespace titer {

/// "rows.csv.shard-3-of-64"; the file itself for a shard that is the whole.
[[nodiscard]] std::filesystem::path shard_file(const std::filesystem::path& file,
                                               const Shard& shard);

/// Writes FILE.partial and its log, FILE.journal, or FILE.shard-I-of-N.partial with its log inside;
/// finish() gives the table its name, so that what has it is whole. After each flush() nothing that
/// was appended before is lost, whether the process or the machine ends. All members throw
/// InputError where a file cannot be written; what is there can still be gone on with.
class RowFile {
 public:
  /// fresh refuses to touch what an interrupted run left, restart removes it, resume goes on with
  /// it, or begins where there is nothing.
  enum class Start { fresh, resume, restart };

  /// `columns` is the table's first row, or empty. Of what is resumed every chunk is held against
  /// its checksum; nothing is kept from the first on that is not as it was written. InputError
  /// where the interrupted run is of another sweep, version or format, or a process is at work on
  /// it.
  RowFile(const std::filesystem::path& file,
          const RowOrigin& origin,
          const Shard& shard,
          std::string_view columns,
          Start start);

  /// Resumed, and found all done: there is nothing to append or finish.
  [[nodiscard]] bool complete() const { return complete_; }
  /// Chunks (the shard's own) and rows that are written, those of the run before included.
  [[nodiscard]] const RowTally& tally() const { return tally_; }
  /// Resumed, and some of it was not as it was written: "rows.csv.partial: chunk 7 is damaged".
  [[nodiscard]] const std::string& damage() const { return damage_; }
  /// The file that finish() makes.
  [[nodiscard]] const std::filesystem::path& target() const { return target_; }

  void append(const RowChunk& chunk, std::string_view rows);
  /// Gives the rows to the system, so that those of a shard outlive this process.
  void hand_over() const { flush(table_.get()); }
  /// Waits for the disk.
  void flush();
  void finish();
  /// Removes what is written, for a table that nobody wants.
  void discard();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  [[nodiscard]] bool whole() const { return head_.shard.whole(); }
  [[nodiscard]] File open(const std::filesystem::path& path) const;
  void open_log();
  void begin(std::string_view columns);
  void resume(std::string_view columns);
  void go_on(RowLogReader& log, std::string_view columns);
  [[nodiscard]] std::optional<RowChunk> next_sound(RowLogReader& log, std::ifstream* table);
  void hold(std::FILE* log) const;
  void cut(const std::filesystem::path& path, std::uintmax_t bytes) const;
  [[nodiscard]] bool finished_before(std::string_view columns);
  void expect_same(const std::filesystem::path& path, const RowHead& other) const;
  void write(std::FILE* file, std::string_view text) const;
  void flush(std::FILE* file) const;
  void synchronise(std::FILE* file) const;
  [[noreturn]] void fail_full() const;

  RowHead head_;
  std::filesystem::path target_;
  std::filesystem::path partial_;
  std::filesystem::path log_path_;  // the partial itself where the log is inside
  File table_;                      // the partial
  File log_;                        // beside it, or none
  std::string log_text_;            // lines whose rows are not flushed yet
  RowTally tally_;
  std::string damage_;
  bool complete_ = false;
};

}  // namespace titer
