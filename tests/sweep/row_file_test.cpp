// Tables written chunk by chunk: what is there after an interruption, and what shards make
// together.

#include "titer/sweep/row_file.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sweep/row_files.hpp"
#include "temporary_folder.hpp"
#include "titer/input/reader.hpp"
#include "titer/sweep/row_merge.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using namespace row_files;

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// What may happen to a file: the same byte another, some more, some fewer, the rest gone.
std::vector<std::string> damaged_at(const std::string& text, std::size_t at) {
  std::string flipped = text;
  flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
  std::string zeros = text;
  zeros.replace(at, zeros.size(), zeros.size() - at, '\0');
  std::string more = text;
  more.insert(at, "ab");
  std::string fewer = text;
  fewer.erase(at, 1);
  std::string doubled = text;
  doubled.insert(at, text);
  return {flipped, zeros, more, fewer, doubled, text.substr(0, at)};
}

class RowFileOf : public ::testing::TestWithParam<Shard> {
 protected:
  [[nodiscard]] fs::path path() const { return folder_.path() / "rows.csv"; }
  [[nodiscard]] fs::path target() const { return shard_file(path(), GetParam()); }
  [[nodiscard]] fs::path partial() const { return target().string() + ".partial"; }
  [[nodiscard]] fs::path journal() const { return target().string() + ".journal"; }
  [[nodiscard]] RowFile open(Start start) const {
    return {path(), origin(), GetParam(), kColumns, start};
  }
  /// What an uninterrupted run writes.
  [[nodiscard]] std::string expected() const {
    const TemporaryFolder other;
    write_shard(other.path() / "rows.csv", GetParam());
    return file_text(shard_file(other.path() / "rows.csv", GetParam()));
  }

 private:
  TemporaryFolder folder_;
};

TEST_P(RowFileOf, HasItsNameWhenItIsWholeAndNothingBeside) {
  {
    RowFile file = open(Start::fresh);
    append(file, GetParam());
    EXPECT_FALSE(fs::exists(target()));
    file.finish();
  }
  EXPECT_EQ(file_text(target()), expected());
  EXPECT_EQ(std::distance(fs::directory_iterator(path().parent_path()), {}), 1);
}

TEST_P(RowFileOf, GoesOnAfterAnyByteThatWasWrittenLast) {
  const std::string all = expected();
  interrupt(path(), 2, GetParam());
  const std::string before = file_text(partial());
  const std::string log = fs::exists(journal()) ? file_text(journal()) : "";
  for (std::size_t cut = 0; cut <= before.size(); ++cut) {
    if (!log.empty()) {
      put(journal(), log);
    }
    std::ofstream(partial(), std::ios::binary) << before.substr(0, cut);
    RowFile file = open(Start::resume);
    ASSERT_LE(file.tally().chunks, 2u);
    ASSERT_TRUE(cut < before.size() || file.tally().chunks == 2u);
    append(file, GetParam());
    file.finish();
    ASSERT_EQ(file_text(target()), all) << "cut at " << cut;
    fs::remove(target());
  }
}

// Whatever happens to a byte of what is left, wherever: the table is the undisturbed one, or
// refused.
TEST_P(RowFileOf, TakesNoDamagedByte) {
  const std::string all = expected();
  interrupt(path(), 3, GetParam());
  std::vector<fs::path> files = {partial()};
  if (GetParam().whole()) {
    files.push_back(journal());
  }
  std::map<fs::path, std::string> left;
  for (const fs::path& file : files) {
    left[file] = file_text(file);
  }
  std::size_t told = 0;
  for (const fs::path& file : files) {
    for (std::size_t at = 0; at < left[file].size(); at += 3) {
      for (const std::string& text : damaged_at(left[file], at)) {
        for (const fs::path& other : files) {
          put(other, other == file ? text : left[other]);
        }
        const Lines lines = refusal([&] {
          RowFile table = open(Start::resume);
          told += table.damage().empty() ? 0 : 1;
          append(table, GetParam());
          table.finish();
          ASSERT_EQ(file_text(target()), all) << file << " at " << at << ":\n" << text;
        });
        ASSERT_TRUE(lines.empty() || lines[0].find("--restart") != std::string::npos) << lines[0];
        fs::remove(target());
      }
    }
  }
  EXPECT_GT(told, left[files[0]].size() / 3) << "most of it is told";
}

TEST_P(RowFileOf, GoesOnFromTheFirstDamagedChunkAndSaysSo) {
  interrupt(path(), 3, GetParam());
  std::string text = file_text(partial());
  text[text.find("4,x")] = '5';
  put(partial(), text);
  RowFile file = open(Start::resume);
  EXPECT_EQ(file.tally().chunks, GetParam().whole() ? 2u : 1u);
  EXPECT_EQ(file.tally().rows, 2u);
  EXPECT_EQ(file.damage(), partial().string() + ": chunk 2 is damaged");
  append(file, GetParam());
  file.finish();
  EXPECT_EQ(file_text(target()), expected());
}

TEST_P(RowFileOf, SaysNothingOfWhatAKillTearsOff) {
  interrupt(path(), 2, GetParam());
  fs::resize_file(GetParam().whole() ? journal() : partial(),
                  fs::file_size(GetParam().whole() ? journal() : partial()) - 3);
  const RowFile file = open(Start::resume);
  EXPECT_EQ(file.tally().chunks, 1u);
  EXPECT_EQ(file.damage(), "");
}

TEST_P(RowFileOf, RemembersDefects) {
  {
    RowFile file = open(Start::fresh);
    const std::string rows = rows_of(0);
    file.append({.number = 0, .rows = 2, .bytes = rows.size(), .sum = checksum(rows)}, rows);
    const std::size_t next = GetParam().chunk(1);
    const std::string more = rows_of(next);
    file.append({.number = next,
                 .rows = more.empty() ? 0U : 2U,
                 .bytes = more.size(),
                 .sum = checksum(more),
                 .defects = {.count = 2, .first = 7}},
                more);
    file.flush();
  }
  RowFile file = open(Start::resume);
  EXPECT_EQ(file.tally().defects.count, 2u);
  EXPECT_EQ(file.tally().defects.first, 7u);
  const std::string rows = rows_of(GetParam().chunk(2));
  file.append({.number = GetParam().chunk(2),
               .rows = 2,
               .bytes = rows.size(),
               .sum = checksum(rows),
               .defects = {.count = 1, .first = 9}},
              rows);
  EXPECT_EQ(file.tally().defects.count, 3u);
  EXPECT_EQ(file.tally().defects.first, 7u);
}

TEST_P(RowFileOf, ComputesNothingAgainThatIsThere) {
  interrupt(path(), 2, GetParam());
  // What a torn write after the last chunk looks like.
  std::ofstream(partial(), std::ios::binary | std::ios::app) << "chunk 4 rows 2 bytes 10";
  RowFile file = open(Start::resume);
  EXPECT_FALSE(file.complete());
  EXPECT_EQ(file.tally().chunks, 2u);
  EXPECT_EQ(file.tally().rows, GetParam().whole() ? 2u : 4u) << "chunk 1 has none";
}

TEST_P(RowFileOf, BeginsWhereThereIsNothingToGoOnWith) {
  RowFile file = open(Start::resume);
  EXPECT_EQ(file.tally().chunks, 0u);
  append(file, GetParam());
  file.finish();
  EXPECT_EQ(file_text(target()), expected());
}

TEST_P(RowFileOf, KeepsWhatAnInterruptedRunLeft) {
  interrupt(path(), 2, GetParam());
  const std::string before = file_text(partial());
  EXPECT_EQ(refusal([&] { static_cast<void>(open(Start::fresh)); }),
            Lines{partial().string() +
                  ": an interrupted run left this; expected --resume to go on with it, or "
                  "--restart to begin again without it"});
  EXPECT_EQ(file_text(partial()), before);
  EXPECT_EQ(open(Start::restart).tally().chunks, 0u);
}

TEST_P(RowFileOf, IsCompleteWhenItIsResumedAfterItsEnd) {
  write_shard(path(), GetParam());
  EXPECT_TRUE(open(Start::resume).complete());
  EXPECT_EQ(file_text(target()), expected());
  EXPECT_EQ(std::distance(fs::directory_iterator(path().parent_path()), {}), 1);
}

TEST_P(RowFileOf, IsOneProcesss) {
  const RowFile file = open(Start::fresh);
  const pid_t child = fork();  // locks are between processes
  if (child == 0) {
    const Lines lines = refusal([&] { static_cast<void>(open(Start::resume)); });
    _exit(lines.size() == 1 && lines[0].ends_with("another process is writing it; wait for that "
                                                  "one, or end it")
              ? 0
              : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(RowFileOf, RefusesWhatIsOfSomethingElse) {
  const auto resumed_as = [&](const RowOrigin& other, std::string_view columns = kColumns) {
    const Lines lines =
        refusal([&] { RowFile(path(), other, GetParam(), columns, Start::resume); });
    return lines.empty() ? "" : lines.at(0).substr(0, lines.at(0).find(';'));
  };
  RowOrigin version = origin();
  version.version = "1.3";
  RowOrigin sweep = origin();
  sweep.inputs = 1;
  RowOrigin longer = origin();
  longer.chunks.points = 12;
  RowOrigin fidelity = origin();
  fidelity.fidelity = "event";
  RowOrigin format = origin();
  format.format = "jsonl";
  interrupt(path(), 2, GetParam());
  const std::string before = file_text(partial());
  const std::string name = partial().string() + ": is of ";
  EXPECT_EQ(resumed_as(version), name + "another version of titer (1.2, not 1.3)");
  EXPECT_EQ(resumed_as(sweep), name + "another sweep, or its files have changed since");
  EXPECT_EQ(resumed_as(longer), name + "another sweep, or its files have changed since");
  EXPECT_EQ(resumed_as(fidelity), name + "another fidelity (closed, not event)");
  EXPECT_EQ(resumed_as(format), name + "another format (csv, not jsonl)");
  EXPECT_EQ(resumed_as(origin(), "a,c\n"), name + "a table with other columns");
  EXPECT_EQ(file_text(partial()), before);
}

INSTANTIATE_TEST_SUITE_P(Kinds,
                         RowFileOf,
                         ::testing::Values(Shard{}, Shard{.rank = 0, .size = 2}),
                         [](const auto& kind) {
                           return kind.param.whole() ? std::string("Table") : std::string("Shard");
                         });

TEST(RowFileShard, IsMadeAgainWhereItIsDamaged) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "rows.csv";
  const Shard shard{.rank = 1, .size = 2};
  write_shard(path, shard);
  const fs::path target = shard_file(path, shard);
  const std::string whole = file_text(target);
  std::string text = whole;
  text[text.find("6,x")] = '5';
  put(target, text);
  RowFile file(path, origin(), shard, kColumns, Start::resume);
  EXPECT_FALSE(file.complete());
  EXPECT_EQ(file.damage(), target.string() + ": chunk 3 is damaged");
  append(file, shard);
  file.finish();
  EXPECT_EQ(file_text(target), whole);
}

TEST(RowFileJournal, IsNeededToGoOn) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "rows.csv";
  interrupt(path, 2);
  fs::remove(path.string() + ".journal");
  EXPECT_EQ(refusal([&] { RowFile(path, origin(), {}, kColumns, Start::resume); }),
            Lines{path.string() +
                  ".journal: does not tell what the interrupted run has written; expected its "
                  "log, or --restart to begin again without it"});
}

TEST(RowFileChecksum, NoticesAnyByte) {
  const std::string text = "0123456789abcdef,XYZ";
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] ^= 1;
    EXPECT_NE(checksum(other), checksum(text));
  }
  EXPECT_NE(checksum(std::string(7, '\0')), checksum(std::string(8, '\0')));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
