#pragma once
// Putting the shards of a table together.

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "titer/sweep/row_log.hpp"

namespace titer {

/// The shards of FILE beside it, FILE.shard-I-of-N. InputError where there are none, where some are
/// missing or not complete (which ones, and how to make them), or those of several N.
[[nodiscard]] std::vector<std::filesystem::path> find_shards(const std::filesystem::path& file);

struct RowMerge {
  std::size_t shards = 0;
  RowTally tally{};
};

/// Hands on the bytes of the whole table, as one process would have written them, a chunk at a
/// time. InputError unless the files are all shards of one table, each exactly once and complete,
/// of the same inputs and version, and undamaged: then every row is there exactly once.
[[nodiscard]] RowMerge merge_shards(const std::vector<std::filesystem::path>& files,
                                    const std::function<void(std::string_view)>& emit);

}  // namespace titer
