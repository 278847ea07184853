#include <gtest/gtest.h>

#include "sweep/row_files.hpp"
#include "temporary_folder.hpp"
#include "titer/sweep/row_merge.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

using namespace row_files;

std::string whole_table() {
  std::string text(kColumns);
  for (std::size_t chunk = 0; chunk < 5; ++chunk) {
    text += rows_of(chunk);
  }
  return text;
}

/// Two shards of one table, and what is done to them.
class RowMergeOf : public ::testing::Test {
 protected:
  void SetUp() override {
    write_shard(path(), first_);
    write_shard(path(), second_);
  }
  [[nodiscard]] fs::path path() const { return folder_.path() / "rows.csv"; }
  [[nodiscard]] fs::path one() const { return shard_file(path(), first_); }
  [[nodiscard]] fs::path two() const { return shard_file(path(), second_); }
  [[nodiscard]] static std::string merged(const std::vector<fs::path>& files) {
    std::string text;
    const RowMerge merge = merge_shards(files, [&](std::string_view rows) { text += rows; });
    EXPECT_EQ(merge.tally.rows, 4u * 2u);
    EXPECT_EQ(merge.tally.chunks, 5u);
    return text;
  }
  /// Its one line.
  [[nodiscard]] static std::string refused(const std::vector<fs::path>& files) {
    const Lines lines =
        refusal([&] { static_cast<void>(merge_shards(files, [](std::string_view) {})); });
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? "" : lines[0];
  }
  [[nodiscard]] std::string not_found() const {
    const Lines lines = refusal([&] { static_cast<void>(find_shards(path())); });
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? "" : lines[0];
  }

  TemporaryFolder folder_;
  Shard first_{.rank = 0, .size = 2};
  Shard second_{.rank = 1, .size = 2};
};

TEST_F(RowMergeOf, IsWhatOneProcessWrites) {
  EXPECT_EQ(find_shards(path()), (std::vector{one(), two()}));
  EXPECT_EQ(merged({one(), two()}), whole_table());
  EXPECT_EQ(merged({two(), one()}), whole_table()) << "in whatever order they are given";
}

TEST_F(RowMergeOf, AcceptsShardsWithoutChunks) {
  const fs::path path = folder_.path() / "many.csv";
  std::vector<fs::path> files;
  for (std::size_t rank = 0; rank < 7; ++rank) {  // of five chunks
    write_shard(path, {.rank = rank, .size = 7});
    files.push_back(shard_file(path, {.rank = rank, .size = 7}));
  }
  EXPECT_EQ(merged(files), whole_table());
}

TEST_F(RowMergeOf, NamesMissingShards) {
  const fs::path path = folder_.path() / "many.csv";
  for (const std::size_t rank : {1U, 5U}) {
    write_shard(path, {.rank = rank, .size = 7});
  }
  EXPECT_EQ(refusal([&] { static_cast<void>(find_shards(path)); }),
            Lines{path.string() +
                  ": shards 1, 3-5, 7 of 7 are missing; run the sweep with --shard 1/7 and so on"});
  EXPECT_EQ(refused({two()}),
            two().string() + ": shard 1 of 2 is missing; run the sweep with --shard 1/2");
}

TEST_F(RowMergeOf, NamesAShardThatIsNotComplete) {
  fs::remove(two());
  interrupt(path(), 1, second_);
  const std::string partial = two().string() + ".partial";
  const std::string expected =
      partial + ": is not complete (1 of 2 chunks); run the sweep with --shard 2/2 --resume";
  EXPECT_EQ(not_found(), expected);
  EXPECT_EQ(refused({one(), partial}), expected);
}

// Without its last line nobody can tell that the rest is not missing.
TEST_F(RowMergeOf, NamesAShardThatIsCutOff) {
  const std::string text = file_text(two());
  for (std::size_t bytes = text.size() - 1; bytes > text.size() - 12; --bytes) {
    fs::resize_file(two(), bytes);
    EXPECT_TRUE(refused({one(), two()}).starts_with(two().string() + ": is not complete (2 of 2"));
  }
}

TEST_F(RowMergeOf, NamesADamagedChunk) {
  std::string text = file_text(two());
  text[text.find("6,x")] = '5';
  std::ofstream(two(), std::ios::binary) << text;
  EXPECT_EQ(
      refused({one(), two()}),
      two().string() + ": chunk 3 is damaged; remove the file and run the sweep with --shard 2/2");
}

TEST_F(RowMergeOf, NamesTwoOfOneShard) {
  const std::string copy = folder_.file("copy", file_text(one()));
  EXPECT_EQ(refused({one(), two(), copy}),
            copy + ": is shard 1 of 2, as is " + one().string() + "; expected each once");
}

TEST_F(RowMergeOf, NamesAShardOfAnotherTable) {
  RowOrigin sweep = origin();
  sweep.inputs = 1;
  RowOrigin version = origin();
  version.version = "1.3";
  const fs::path other = folder_.path() / "other.csv";
  const std::string expected = "; expected a shard of the same table as " + two().string();
  write_shard(other, first_, sweep);
  EXPECT_EQ(refused({two(), shard_file(other, first_)}),
            shard_file(other, first_).string() +
                ": is of another sweep, or its files have changed since" + expected);
  write_shard(other, first_, version);
  EXPECT_EQ(refused({two(), shard_file(other, first_)}),
            shard_file(other, first_).string() + ": is of another version of titer (1.3, not 1.2)" +
                expected);
  write_shard(other, {.rank = 0, .size = 3});
  const fs::path third = shard_file(other, {.rank = 0, .size = 3});
  EXPECT_EQ(refused({two(), third}),
            third.string() + ": is of a division in 3, not in 2" + expected);
  RowFile columns(other, origin(), first_, "a,c\n", Start::restart);
  append(columns, first_);
  columns.finish();
  EXPECT_EQ(refused({two(), shard_file(other, first_)}),
            shard_file(other, first_).string() + ": is of a table with other columns" + expected);
}

TEST_F(RowMergeOf, NamesWhatIsNoShard) {
  const std::string path = folder_.file("table.csv", whole_table());
  EXPECT_TRUE(refused({one(), path}).starts_with(path + ": is no shard of a table; expected "));
  EXPECT_TRUE(refused({"missing"}).starts_with("missing: is no shard"));
}

TEST_F(RowMergeOf, NamesDivisionsThatLieBesideOneAnother) {
  write_shard(path(), {.rank = 0, .size = 3});
  EXPECT_EQ(not_found(),
            path().string() +
                ": shards of 2-3 are here; expected those of one division, or the "
                "files by name and --out");
  const fs::path none = folder_.path() / "none.csv";
  EXPECT_EQ(refusal([&] { static_cast<void>(find_shards(none)); }).size(), 1u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
