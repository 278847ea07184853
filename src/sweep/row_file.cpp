#include "titer/sweep/row_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "titer/input/reader.hpp"

namespace titer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = std::size_t{1} << 18U;

/// Zero for a file that is not there.
std::uintmax_t bytes_of(const fs::path& path) {
  std::error_code missing;
  const std::uintmax_t bytes = fs::file_size(path, missing);
  return missing ? 0 : bytes;
}

bool there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void remove_file(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

fs::path with_ending(fs::path path, std::string_view ending) {
  path += ending;
  return path;
}

/// The first bytes of a file.
std::string beginning(const fs::path& path, std::size_t bytes) {
  std::ifstream file(path, std::ios::binary);
  std::string text(bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

fs::path shard_file(const fs::path& file, const Shard& shard) {
  return shard.whole()
             ? file
             : with_ending(file, fmt::format(".shard-{}-of-{}", shard.rank + 1, shard.size));
}

RowFile::RowFile(const fs::path& file,
                 const RowOrigin& origin,
                 const Shard& shard,
                 std::string_view columns,
                 Start start)
    : head_{.origin = origin,
            .shard = shard,
            .columns_bytes = columns.size(),
            .columns_sum = checksum(columns)},
      target_(shard_file(file, shard)),
      partial_(with_ending(target_, ".partial")),
      log_path_(shard.whole() ? with_ending(target_, ".journal") : partial_) {
  if (fs::is_directory(target_)) {
    throw InputError(target_.string() + ": is a folder; expected a file");
  }
  const bool interrupted = there(partial_);
  if (start == Start::resume && !interrupted && finished_before(columns)) {
    complete_ = true;
    return;
  }
  if (start == Start::fresh && interrupted) {
    throw InputError(partial_.string() +
                     ": an interrupted run left this; expected --resume to go on with it, or "
                     "--restart to begin again without it");
  }
  open_log();
  if (start == Start::resume && interrupted) {
    resume(columns);
    hold(whole() ? log_.get() : table_.get());  // having read the file has let go of it
  } else {
    begin(columns);
  }
}

RowFile::File RowFile::open(const fs::path& path) const {
  File file(std::fopen(path.c_str(), "ab"));
  if (!file) {
    throw InputError(target_.string() +
                     ": cannot be written; expected a path in a folder that exists");
  }
  return file;
}

/// Keeps other processes off until the file is closed; where files cannot be locked, nobody is.
void RowFile::hold(std::FILE* log) const {
  const bool held = lockf(fileno(log), F_TLOCK, 0) != 0 && (errno == EACCES || errno == EAGAIN);
  if (held) {
    throw InputError(log_path_.string() +
                     ": another process is writing it; wait for that one, or end it");
  }
}

void RowFile::open_log() {
  File log = open(log_path_);
  hold(log.get());
  if (whole()) {
    log_ = std::move(log);
    table_ = open(partial_);
  } else {
    table_ = std::move(log);
  }
  std::setvbuf(table_.get(), nullptr, _IOFBF, kBufferBytes);
}

void RowFile::cut(const fs::path& path, std::uintmax_t bytes) const {
  std::error_code error;
  fs::resize_file(path, bytes, error);
  if (error) {
    fail_full();
  }
}

void RowFile::begin(std::string_view columns) {
  cut(log_path_, 0);
  cut(partial_, 0);
  if (whole()) {
    write(log_.get(), head_line(head_));
    flush(log_.get());
  } else {
    write(table_.get(), head_line(head_));
  }
  write(table_.get(), columns);
  flush(table_.get());
}

void RowFile::expect_same(const fs::path& path, const RowHead& other) const {
  if (const std::string what = difference(head_, other); !what.empty()) {
    throw InputError(path.string() + ": is of " + what +
                     "; expected the same as now, or --restart to begin again without it");
  }
}

void RowFile::resume(std::string_view columns) {
  RowLogReader log(log_path_, whole() ? RowLogReader::Rows::beside : RowLogReader::Rows::inside);
  if (log.head()) {
    expect_same(partial_, *log.head());
    go_on(log, columns);
    return;
  }
  // Killed before the first line was whole: nothing was written but a part of what begins it.
  const std::string first = head_line(head_) + (whole() ? "" : std::string(columns));
  const bool began = bytes_of(log_path_) <= first.size() &&
                     first.starts_with(beginning(log_path_, first.size())) &&
                     (!whole() || bytes_of(partial_) <= columns.size());
  if (!began) {
    throw InputError(log_path_.string() +
                     ": does not tell what the interrupted run has written; expected its log, or "
                     "--restart to begin again without it");
  }
  begin(columns);
}

/// The next chunk whose line and rows are as they were written. Rows that are not in the log are
/// read from `table`.
std::optional<RowChunk> RowFile::next_sound(RowLogReader& log, std::ifstream* table) {
  const std::size_t number = head_.shard.chunk(log.tally().chunks);
  std::string rows;
  const std::optional<RowChunk> chunk = log.next(&rows);
  if (chunk && table != nullptr) {
    rows.resize(chunk->bytes);
    table->read(rows.data(), static_cast<std::streamsize>(rows.size()));
    rows.resize(static_cast<std::size_t>(table->gcount()));
  }
  if (chunk && checksum(rows) == chunk->sum) {
    return chunk;
  }
  if (chunk || log.damaged()) {
    const fs::path& path = table != nullptr && chunk ? partial_ : log.path();
    damage_ = fmt::format("{}: chunk {} is damaged", path.string(), number);
  }
  return std::nullopt;
}

/// Cuts off what the log does not know of, and of both what is not as it was written.
void RowFile::go_on(RowLogReader& log, std::string_view columns) {
  std::ifstream table;
  if (whole()) {
    const std::string first = beginning(partial_, columns.size());
    if (first != columns) {
      if (!columns.starts_with(first) || log.next()) {
        damage_ = partial_.string() + ": its first line is damaged";
      }
      begin(columns);
      return;
    }
    table.open(partial_, std::ios::binary);
    table.seekg(static_cast<std::streamoff>(columns.size()));
  }
  std::uintmax_t log_keeps = log.log_bytes();
  std::uintmax_t table_keeps = log.table_bytes();
  while (next_sound(log, whole() ? &table : nullptr)) {
    log_keeps = log.log_bytes();
    table_keeps = log.table_bytes();
    tally_ = log.tally();
  }
  cut(log_path_, log_keeps);
  if (whole()) {
    cut(partial_, table_keeps);
  }
}

/// Whether the table is there, and is the one wanted. A shard tells of what it is; of a whole table
/// no more is known than its columns.
bool RowFile::finished_before(std::string_view columns) {
  if (!there(target_)) {
    return false;
  }
  if (whole()) {
    if (beginning(target_, columns.size()) != columns) {
      throw InputError(target_.string() +
                       ": is no table of this sweep; expected one, or no --resume to replace it");
    }
    remove_file(log_path_);  // killed after the table had its name
    return true;
  }
  RowLogReader log(target_, RowLogReader::Rows::inside);
  if (!log.head()) {
    throw InputError(target_.string() +
                     ": is no shard; expected one, or no --resume to replace it");
  }
  expect_same(target_, *log.head());
  while (next_sound(log, nullptr)) {
  }
  if (!log.ended() || !damage_.empty()) {
    return false;
  }
  tally_ = log.tally();
  return true;
}

void RowFile::append(const RowChunk& chunk, std::string_view rows) {
  if (whole()) {
    log_text_ += chunk_line(chunk);
  } else {
    write(table_.get(), chunk_line(chunk));
  }
  write(table_.get(), rows);
  tally_ += chunk;
}

void RowFile::flush() {
  flush(table_.get());
  synchronise(table_.get());
  if (whole()) {  // what the log tells of is in the table
    write(log_.get(), log_text_);
    flush(log_.get());
    log_text_.clear();
  }
}

void RowFile::finish() {
  if (!whole()) {
    write(table_.get(), end_line(tally_));
  }
  flush();
  if (std::fclose(table_.release()) != 0) {
    fail_full();
  }
  std::error_code error;
  fs::rename(partial_, target_, error);
  if (error) {
    throw InputError(target_.string() + ": cannot be replaced; the table is " + partial_.string());
  }
  if (whole()) {
    remove_file(log_path_);
  }
}

void RowFile::discard() {
  table_.reset();
  remove_file(partial_);
  remove_file(log_path_);
}

void RowFile::write(std::FILE* file, std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) {
    fail_full();
  }
}

void RowFile::flush(std::FILE* file) const {
  if (std::fflush(file) != 0) {
    fail_full();
  }
}

/// Where a file system has no such thing, what is written is as safe as it will be.
void RowFile::synchronise(std::FILE* file) const {
  if (fdatasync(fileno(file)) != 0 && errno != EINVAL && errno != ENOTSUP && errno != ENOSYS) {
    fail_full();
  }
}

void RowFile::fail_full() const {
  throw InputError(partial_.string() +
                   ": cannot be written any further; is the disk full? What is there is kept for "
                   "--resume");
}

}  // namespace titer
