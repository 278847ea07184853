#include "titer/input/file.hpp"

#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/input/reader.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string refusal(const std::filesystem::path& path) {
  try {
    static_cast<void>(read_text(path));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ReadText, GivesEveryByteOfTheFile) {
  const testing::TemporaryFolder folder;
  const std::string text("one\r\n\0two", 9);
  EXPECT_EQ(read_text(folder.file("a.txt", text)), text);
  EXPECT_EQ(read_text(folder.file("empty.txt", "")), "") << "an empty file is a text";
}

TEST(ReadText, NamesWhatItCannotRead) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path missing = folder.path() / "missing.txt";
  EXPECT_EQ(refusal(missing), missing.string() + ": cannot be read");
  EXPECT_EQ(refusal(folder.path()), folder.path().string() + ": cannot be read") << "a folder";
}

TEST(ReadText, RefusesAFileThatNobodyWrote) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path large = folder.file("large.json", "{}");
  std::filesystem::resize_file(large, 2ULL << 30U);  // of zeros that take no space
  const std::string refused = ": expected a file of at most 256 MiB";
  EXPECT_EQ(refusal(large), large.string() + refused);
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero" + refused) << "which does not tell its size";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
