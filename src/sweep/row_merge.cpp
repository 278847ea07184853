#include "titer/sweep/row_merge.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "titer/input/reader.hpp"
#include "titer/sweep/row_file.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOpenFiles = 256;

/// Numbers from 1 in order, runs of them shortened: "1, 4-6".
std::string number_list(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    add_listed(text, std::to_string(numbers[i]));
    if (last > i) {
      text += fmt::format("-{}", numbers[last]);
    }
    i = last + 1;
  }
  return text;
}

/// "shard 3 is missing", "shards 3, 7-9 are missing", and how to make them.
std::string missing_text(const std::vector<std::size_t>& missing, std::size_t size) {
  const bool one = missing.size() == 1;
  return fmt::format("{} {} of {} {} missing; run the sweep with --shard {}/{}{}",
                     one ? "shard" : "shards",
                     number_list(missing),
                     size,
                     one ? "is" : "are",
                     missing.front(),
                     size,
                     one ? "" : " and so on");
}

std::string incomplete_text(const fs::path& path, const RowLogReader& log) {
  const Shard& shard = log.head()->shard;
  return fmt::format(
      "{}: is not complete ({} of {} chunks); run the sweep with --shard {}/{} "
      "--resume",
      path.string(),
      log.tally().chunks,
      shard.count(log.head()->origin.chunks.count()),
      shard.rank + 1,
      shard.size);
}

/// The shards of a file as its folder has them: by number of shards, by rank.
using ShardNames = std::map<std::size_t, std::map<std::size_t, fs::path>>;

/// What stands between `before` and whatever follows the number; 0 where it is none.
std::size_t take_behind(std::string_view before, std::string_view& text) {
  if (!text.starts_with(before)) {
    return 0;
  }
  text.remove_prefix(before.size());
  return take_number<std::size_t>(text).value_or(0);
}

ShardNames names_beside(const fs::path& file) {
  ShardNames names;
  const std::string stem = file.filename().string();
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    std::string_view ending = name;
    ending.remove_prefix(name.starts_with(stem) ? stem.size() : name.size());
    const std::size_t number = take_behind(".shard-", ending);
    const std::size_t size = take_behind("-of-", ending);
    if (number < 1 || number > size || (!ending.empty() && ending != ".partial")) {
      continue;
    }
    fs::path& known = names[size][number];
    if (known.empty() || ending.empty()) {  // a whole one rather than one that is begun again
      known = shard_file(file, {.rank = number - 1, .size = size});
      known += ending;
    }
  }
  return names;
}

std::string sizes_text(const ShardNames& names) {
  std::vector<std::size_t> sizes = each_of(names, [](const auto& one) { return one.first; });
  return number_list(sizes);
}

/// One shard that is being read.
struct OpenShard {
  fs::path path;
  RowLogReader log;
};

OpenShard open_shard(const fs::path& path) {
  OpenShard shard{.path = path, .log = {path, RowLogReader::Rows::inside}};
  if (!shard.log.head()) {
    throw InputError(path.string() +
                     ": is no shard of a table; expected a file that `titer sweep` wrote with "
                     "--shard, or as one of several processes");
  }
  return shard;
}

/// Why `other` is no shard of the table that `shard` is of; empty where it is one.
std::string foreign_text(const RowHead& shard, const RowHead& other) {
  std::string what = difference(shard, other);
  if (what.empty() && other.shard.size != shard.shard.size) {
    what = fmt::format("a division in {}, not in {}", other.shard.size, shard.shard.size);
  }
  return what;
}

/// Those of all ranks, in order; InputError where some are missing.
std::vector<OpenShard> in_order(std::map<std::size_t, OpenShard> by_rank, const fs::path& first) {
  const std::size_t size = by_rank.begin()->second.log.head()->shard.size;
  std::vector<OpenShard> shards;
  std::vector<std::size_t> missing;
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (const auto found = by_rank.find(rank); found != by_rank.end()) {
      shards.push_back(std::move(found->second));
    } else {
      missing.push_back(rank + 1);
    }
  }
  if (!missing.empty()) {
    throw InputError(fmt::format("{}: {}", first.string(), missing_text(missing, size)));
  }
  return shards;
}

/// Opens all of them, having checked that they belong together.
std::vector<OpenShard> open_shards(const std::vector<fs::path>& files) {
  std::map<std::size_t, OpenShard> by_rank;
  std::optional<RowHead> first;
  for (const fs::path& path : files) {
    OpenShard next = open_shard(path);
    const RowHead head = *next.log.head();
    first = first.value_or(head);
    if (const std::string what = foreign_text(*first, head); !what.empty()) {
      throw InputError(fmt::format("{}: is of {}; expected a shard of the same table as {}",
                                   path.string(),
                                   what,
                                   files.front().string()));
    }
    if (files.size() > kMostOpenFiles) {
      next.log.close();
    }
    const auto [found, fresh] = by_rank.try_emplace(head.shard.rank, std::move(next));
    if (!fresh) {
      throw InputError(fmt::format("{}: is shard {} of {}, as is {}; expected each once",
                                   path.string(),
                                   head.shard.rank + 1,
                                   head.shard.size,
                                   found->second.path.string()));
    }
  }
  return in_order(std::move(by_rank), files.front());
}

/// Of a shard that was interrupted, wherever.
std::string begun_text(const fs::path& path, const Shard& shard) {
  RowLogReader log(path, RowLogReader::Rows::inside);
  while (log.next()) {
  }
  return log.head() ? incomplete_text(path, log) : missing_text({shard.rank + 1}, shard.size);
}

/// After its last chunk: a log that does not say so was cut off there.
void expect_end(OpenShard& shard) {
  static_cast<void>(shard.log.next());
  if (!shard.log.ended()) {
    throw InputError(incomplete_text(shard.path, shard.log));
  }
}

}  // namespace

std::vector<fs::path> find_shards(const fs::path& file) {
  const ShardNames names = names_beside(file);
  if (names.empty()) {
    throw InputError(
        fmt::format("{0}: none of its shards is here; expected {0}.shard-1-of-N and so "
                    "on, which `titer sweep` writes with --shard 1/N --out {0}",
                    file.string()));
  }
  if (names.size() > 1) {
    throw InputError(
        fmt::format("{}: shards of {} are here; expected those of one division, or "
                    "the files by name and --out",
                    file.string(),
                    sizes_text(names)));
  }
  const auto& [size, by_rank] = *names.begin();
  std::vector<fs::path> files;
  std::vector<std::size_t> missing;
  Problems problems;
  for (std::size_t number = 1; number <= size; ++number) {
    const auto found = by_rank.find(number);
    if (found == by_rank.end()) {
      missing.push_back(number);
      continue;
    }
    files.push_back(found->second);
    if (files.back().extension() == ".partial") {
      problems.add(begun_text(files.back(), {.rank = number - 1, .size = size}));
    }
  }
  if (!missing.empty()) {
    problems.add(fmt::format("{}: {}", file.string(), missing_text(missing, size)));
  }
  problems.raise();
  return files;
}

RowMerge merge_shards(const std::vector<fs::path>& files,
                      const std::function<void(std::string_view)>& emit) {
  std::vector<OpenShard> shards = open_shards(files);
  const std::size_t chunks = shards.front().log.head()->origin.chunks.count();
  RowMerge merge{.shards = shards.size()};
  emit(shards.front().log.columns());
  std::string rows;
  for (std::size_t k = 0; k < chunks; ++k) {
    OpenShard& shard = shards[k % shards.size()];
    const std::optional<RowChunk> chunk = shard.log.next(&rows);
    if (!chunk) {
      throw InputError(incomplete_text(shard.path, shard.log));
    }
    if (checksum(rows) != chunk->sum) {
      throw InputError(
          fmt::format("{}: chunk {} is damaged; remove the file and run the sweep with "
                      "--shard {}/{}",
                      shard.path.string(),
                      k,
                      shard.log.head()->shard.rank + 1,
                      shards.size()));
    }
    emit(rows);
    merge.tally += *chunk;
    if (shards.size() > kMostOpenFiles) {
      shard.log.close();
    }
  }
  for (OpenShard& shard : shards) {
    expect_end(shard);
    shard.log.close();
  }
  return merge;
}

}  // namespace titer
