// tests/errors/<case>.json: a run file with a mistake; <case>.txt: the lines that a user gets.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "paths.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

const fs::path kErrors = fs::path("tests") / "errors";

std::vector<std::string> error_cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(testing::root() / kErrors)) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The lines of a text with every mention of the source tree's own folder left out.
std::string portable(std::string text) {
  const std::string root = testing::root().string() + "/";
  for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root)) {
    text.erase(at, root.size());
  }
  return text;
}

class ErrorText : public ::testing::TestWithParam<std::string> {};

TEST_P(ErrorText, IsAsWritten) {
  const fs::path file = testing::root() / kErrors / (GetParam() + ".json");
  std::ifstream expected(fs::path(file).replace_extension(".txt"));
  ASSERT_TRUE(expected) << "every case has its text";
  std::ostringstream lines;
  lines << expected.rdbuf();
  std::string found;
  try {
    static_cast<void>(ScenarioSource::load(file.string()).read());
  } catch (const InputError& error) {
    for (const std::string& line : error.lines) {
      found += portable(line) + "\n";
    }
  }
  EXPECT_EQ(found, lines.str());
}

INSTANTIATE_TEST_SUITE_P(Cases,
                         ErrorText,
                         ::testing::ValuesIn(error_cases()),
                         [](const auto& param_info) {
                           std::string name = param_info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace TITER_TEST_FILE
}  // namespace titer
