#include "titer/units/shell_word.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

using Words = std::vector<std::string>;

TEST(ShellWords, AreThoseThatShellWordMade) {
  const Words words = {
      "titer", "run", "my run.json", "it's", "", "a\"b", "\\", "$HOME", "x=[1,2]", "a\nb"};
  std::string command;
  for (const std::string& word : words) {
    command += (command.empty() ? "" : "  ") + shell_word(word);
  }
  EXPECT_EQ(shell_words(command), words);
}

TEST(ShellWords, AreTakenApartAsAShellDoes) {
  EXPECT_EQ(shell_words(R"(a "b c"d  'e "f"' g\ h "i\"j\k" '')"),
            (Words{"a", "b cd", "e \"f\"", "g h", "i\"j\\k", ""}));
  EXPECT_EQ(shell_words(" \t "), Words());
  EXPECT_EQ(shell_words("space.pipeline=[4,8]"), Words{"space.pipeline=[4,8]"});
}

TEST(ShellWords, AreNoneWhereAShellWouldDoMore) {
  for (const char* command : {"a | b",
                              "a > b",
                              "a; b",
                              "a & b",
                              "$HOME",
                              "\"$HOME\"",
                              "`a`",
                              "a\nb",
                              "(a)",
                              "a # b",
                              "'a",
                              "\"a",
                              "a\\"}) {
    EXPECT_EQ(shell_words(command), std::nullopt) << command;
  }
  EXPECT_EQ(shell_words("'a | $b'"), Words{"a | $b"});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
