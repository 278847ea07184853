#pragma once
// Small tables of rows as files, whole and interrupted.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/input_error.hpp"
#include "titer/sweep/row_file.hpp"

namespace titer::testing::row_files {

namespace fs = std::filesystem;
using Start = RowFile::Start;
using Lines = std::vector<std::string>;

inline constexpr std::string_view kColumns = "a,b\n";

/// Ten points in chunks of two.
inline RowOrigin origin() {
  return {.version = "1.2",
          .inputs = 0xabcdef,
          .format = "csv",
          .fidelity = "closed",
          .chunks = {.points = 10, .size = 2}};
}

/// Chunk 3 has the rows 6 and 7; chunk 1 has none.
inline std::string rows_of(std::size_t chunk) {
  if (chunk == 1) {
    return "";
  }
  return std::to_string(2 * chunk) + ",x\n" + std::to_string(2 * chunk + 1) + ",y\n";
}

/// Appends the shard's chunks that are not there yet, `most` of them.
inline void append(RowFile& file, const Shard& shard, std::size_t most = 99) {
  for (std::size_t nth = file.tally().chunks; nth < shard.count(5) && most > 0; ++nth, --most) {
    const std::string rows = rows_of(shard.chunk(nth));
    file.append({.number = shard.chunk(nth),
                 .rows = rows.empty() ? 0U : 2U,
                 .bytes = rows.size(),
                 .sum = checksum(rows)},
                rows);
  }
  file.flush();
}

inline void write_shard(const fs::path& path, const Shard& shard, const RowOrigin& of = origin()) {
  RowFile file(path, of, shard, kColumns, Start::fresh);
  append(file, shard);
  file.finish();
}

/// Leaves what an interrupted run leaves after `chunks`.
inline void interrupt(const fs::path& path, std::size_t chunks, const Shard& shard = {}) {
  RowFile file(path, origin(), shard, kColumns, Start::fresh);
  append(file, shard, chunks);
}

template <class Action>
inline std::vector<std::string> refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

}  // namespace titer::testing::row_files
