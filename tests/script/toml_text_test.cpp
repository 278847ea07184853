#include <gtest/gtest.h>

#include "titer/input/reader.hpp"
#include "titer/script/foreign_text.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string toml_refusal(const std::string& text) {
  try {
    static_cast<void>(parse_toml(text, "t.toml"));
    return "";
  } catch (const InputError& error) {
    return error.lines.front();
  }
}

/// The part, so often, with a dot between.
std::string dotted(const std::string& part, std::size_t parts) {
  std::string key = part;
  for (std::size_t i = 1; i < parts; ++i) {
    key += "." + part;
  }
  return key;
}

TEST(TomlKeys, OfMorePartsThanAnythingHasAreRefusedBeforeTheyOverflowAStack) {
  for (const std::string part : {"a", " a ", "\"\"", "'b'", "\"\\\"\"", "\"a.b\""}) {
    const std::string key = dotted(part, 20'001);
    EXPECT_EQ(toml_refusal("x = 1\n" + key + " = 1\n").find("t.toml:2:"), 0U) << part;
    EXPECT_NE(toml_refusal("[" + key + "]\n").find("expected keys of at most 200 parts"),
              std::string::npos)
        << part;
    EXPECT_NE(toml_refusal("x = [{" + key + " = 1}]\n").find("at most 200 parts"),
              std::string::npos)
        << part;
  }
}

TEST(TomlKeys, OfUsualDepthAndDotsElsewhereAreRead) {
  const std::string dots(1'000, '.');
  EXPECT_EQ(toml_refusal("# " + dots + "\na = \"" + dots + "\\\"" + dots + "\"\nb = '" + dots +
                         "'\nc = \"\"\"\n\"" + dots + "\"\"\"\nd = '''" + dots + "'''\n"),
            "");
  std::string numbers = "e = [";
  for (int i = 0; i < 1'000; ++i) {
    numbers += "1.5, ";
  }
  EXPECT_EQ(toml_refusal(numbers + "]\n" + dotted("k", 20) + " = 2.5\n"), "");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
