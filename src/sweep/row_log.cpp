#include "titer/sweep/row_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <tuple>

namespace titer {
namespace {

constexpr std::string_view kMark = "titer-rows";
constexpr std::size_t kLayout = 3;  // of the log itself
constexpr std::string_view kCheck = " line ";

/// With its own checksum and its end.
std::string checked_line(const std::string& text) {
  return fmt::format("{}{}{:016x}\n", text, kCheck, checksum(text));
}

/// The words of a line in pairs: "chunk 17 rows 64" is chunk: 17, rows: 64.
class LinePairs {
 public:
  explicit LinePairs(const std::string& line) {
    std::istringstream words(line);
    std::string key;
    std::string value;
    while (words >> key >> value) {
      values_[key] = value;
    }
  }

  [[nodiscard]] std::string text(const std::string& key) {
    const auto found = values_.find(key);
    sound_ = sound_ && found != values_.end();
    return found == values_.end() ? "" : found->second;
  }

  template <class Integer>
  void read(const std::string& key, Integer& into, int base = 10) {
    const std::string value = text(key);
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), into, base);
    sound_ = sound_ && error == std::errc() && end == value.data() + value.size();
  }

  [[nodiscard]] bool sound() const { return sound_; }

 private:
  std::map<std::string, std::string> values_;
  bool sound_ = true;
};

std::optional<RowHead> parse_head(const std::string& line) {
  LinePairs pairs(line);
  RowHead head;
  std::size_t layout = 0;
  std::size_t number = 0;
  pairs.read(std::string(kMark), layout);
  head.origin.version = pairs.text("version");
  pairs.read("inputs", head.origin.inputs, 16);
  head.origin.format = pairs.text("format");
  head.origin.fidelity = pairs.text("fidelity");
  pairs.read("points", head.origin.chunks.points);
  pairs.read("chunk", head.origin.chunks.size);
  pairs.read("shard", number);
  pairs.read("of", head.shard.size);
  pairs.read("columns", head.columns_bytes);
  pairs.read("sum", head.columns_sum, 16);
  head.shard.rank = number - 1;
  const bool sound = pairs.sound() && layout == kLayout && number >= 1 &&
                     number <= head.shard.size && head.origin.chunks.size >= 1;
  return sound ? std::optional(head) : std::nullopt;
}

std::optional<RowChunk> parse_chunk(const std::string& line) {
  LinePairs pairs(line);
  RowChunk chunk;
  pairs.read("chunk", chunk.number);
  pairs.read("rows", chunk.rows);
  pairs.read("bytes", chunk.bytes);
  pairs.read("sum", chunk.sum, 16);
  pairs.read("defects", chunk.defects.count);
  pairs.read("first", chunk.defects.first);
  pairs.read("beyond", chunk.beyond);
  return pairs.sound() ? std::optional(chunk) : std::nullopt;
}

}  // namespace

std::string difference(const RowHead& head, const RowHead& other_head) {
  const auto& [origin, other] = std::tie(head.origin, other_head.origin);
  if (origin.version != other.version) {
    return fmt::format("another version of titer ({}, not {})", other.version, origin.version);
  }
  if (origin.inputs != other.inputs || origin.chunks != other.chunks) {
    return "another sweep, or its files have changed since";
  }
  if (origin.fidelity != other.fidelity) {
    return fmt::format("another fidelity ({}, not {})", other.fidelity, origin.fidelity);
  }
  if (origin.format != other.format) {
    return fmt::format("another format ({}, not {})", other.format, origin.format);
  }
  return head.columns_sum == other_head.columns_sum ? "" : "a table with other columns";
}

std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t odd = 0x9e37'79b9'7f4a'7c15U;
  std::uint64_t sum = bytes.size() * odd;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof(word), bytes.size() - i));
    sum = (sum ^ word) * odd;
    sum ^= sum >> 29U;
  }
  return sum;
}

DefectRows& DefectRows::operator+=(const DefectRows& later) {
  first = count > 0 ? first : later.first;
  count += later.count;
  return *this;
}

RowTally& RowTally::operator+=(const RowChunk& later) {
  ++chunks;
  rows += later.rows;
  defects += later.defects;
  beyond += later.beyond;
  return *this;
}

std::string head_line(const RowHead& head) {
  return checked_line(fmt::format(
      "{} {} version {} inputs {:016x} format {} fidelity {} points {} chunk {} shard {} of {} "
      "columns {} sum {:016x}",
      kMark,
      kLayout,
      head.origin.version,
      head.origin.inputs,
      head.origin.format,
      head.origin.fidelity,
      head.origin.chunks.points,
      head.origin.chunks.size,
      head.shard.rank + 1,
      head.shard.size,
      head.columns_bytes,
      head.columns_sum));
}

std::string chunk_line(const RowChunk& chunk) {
  return checked_line(
      fmt::format("chunk {} rows {} bytes {} sum {:016x} defects {} first {} beyond {}",
                  chunk.number,
                  chunk.rows,
                  chunk.bytes,
                  chunk.sum,
                  chunk.defects.count,
                  chunk.defects.first,
                  chunk.beyond));
}

std::string end_line(const RowTally& tally) {
  return checked_line(fmt::format("end {} rows {}", tally.chunks, tally.rows));
}

RowLogReader::RowLogReader(const std::filesystem::path& path, Rows rows)
    : path_(path), place_(rows) {
  std::error_code missing;
  size_ = std::filesystem::file_size(path_, missing);
  if (!missing) {
    read_head();
  }
}

void RowLogReader::close() { file_.close(); }

void RowLogReader::read_head() {
  std::string line;
  if (!read_line(line)) {
    return;
  }
  const std::optional<RowHead> head = parse_head(line);
  if (!head || !take_rows(head->columns_bytes, &columns_) ||
      (place_ == Rows::inside && checksum(columns_) != head->columns_sum)) {
    return;
  }
  log_bytes_ += line_bytes_ + (place_ == Rows::inside ? head->columns_bytes : 0);
  table_bytes_ += head->columns_bytes;
  head_ = head;
}

/// The next line, without its checksum.
bool RowLogReader::read_line(std::string& line) {
  if (!file_.is_open()) {
    file_.clear();
    file_.open(path_, std::ios::binary);
    file_.seekg(static_cast<std::streamoff>(log_bytes_));
  }
  if (!std::getline(file_, line) || file_.eof()) {
    return false;  // torn off before its newline
  }
  line_bytes_ = line.size() + 1;
  const std::string whole = line + "\n";
  line.resize(std::min(line.rfind(kCheck), line.size()));
  damaged_ = checked_line(line) != whole;
  return !damaged_;
}

/// Reads or skips rows that stand in this file.
bool RowLogReader::take_rows(std::size_t bytes, std::string* text) {
  if (place_ == Rows::beside) {
    return true;
  }
  const auto here = static_cast<std::uintmax_t>(file_.tellg());
  if (bytes > size_ - std::min(size_, here)) {
    return false;
  }
  if (text == nullptr) {
    return static_cast<bool>(file_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur));
  }
  text->resize(bytes);
  return static_cast<bool>(file_.read(text->data(), static_cast<std::streamsize>(bytes)));
}

std::optional<RowChunk> RowLogReader::next(std::string* text) {
  std::string line;
  if (!head_ || ended_ || !read_line(line)) {
    return std::nullopt;
  }
  const std::size_t own = head_->shard.count(head_->origin.chunks.count());
  if (tally_.chunks == own) {
    ended_ = checked_line(line) == end_line(tally_);
    damaged_ = !ended_;
    log_bytes_ += ended_ ? line_bytes_ : 0;
    return std::nullopt;
  }
  const std::optional<RowChunk> chunk = parse_chunk(line);
  damaged_ = !chunk || chunk->number != head_->shard.chunk(tally_.chunks);
  return !damaged_ && take_chunk(*chunk, text) ? chunk : std::nullopt;
}

bool RowLogReader::take_chunk(const RowChunk& chunk, std::string* text) {
  if (!take_rows(chunk.bytes, text)) {
    return false;
  }
  tally_ += chunk;
  log_bytes_ += line_bytes_ + (place_ == Rows::inside ? chunk.bytes : 0);
  table_bytes_ += chunk.bytes;
  return true;
}

}  // namespace titer
