// Whole predictions, kept: tests/golden/<case>/{run.json,expected.csv,why.md}. A change of a figure
// or a formula shows here as what it does to real set-ups. scripts/update_golden.sh writes
// expected.csv anew; why.md says by hand what the main term must be.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"
#include "view/csv.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

const fs::path kFolder = testing::root() / "tests/golden";

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.is_directory()) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<double> number(const std::string& text) {
  double value = 0.0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last ? std::optional(value) : std::nullopt;
}

/// Numbers to 1e-9 of their size, or a picosecond: sums may be taken in another order. Texts
/// exactly.
::testing::AssertionResult same(const std::string& found, const std::string& expected) {
  const auto a = number(found);
  const auto b = number(expected);
  const bool equal = a && b ? std::abs(*a - *b) <= 1e-9 * std::abs(*b) + 1e-12 : found == expected;
  return equal ? ::testing::AssertionSuccess()
               : ::testing::AssertionFailure() << found << " instead of " << expected;
}

void expect_same(const std::string& found, const std::string& expected) {
  const auto now = testing::only_row(found);
  const auto then = testing::only_row(expected);
  for (const auto& [column, cell] : then) {
    ASSERT_TRUE(now.contains(column)) << column;
    EXPECT_TRUE(same(now.at(column), cell)) << column;
  }
  EXPECT_EQ(now.size(), then.size()) << "columns";
}

class Golden : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static fs::path file(const char* name) { return kFolder / GetParam() / name; }
  [[nodiscard]] static std::string predicted(Fidelity fidelity) {
    const Scenario scenario = ScenarioSource::load(file("run.json").string()).read();
    Estimator estimator;
    StepResult result;
    evaluate(scenario, fidelity, estimator, result);
    return step_view(scenario, result).as_csv();
  }
};

TEST_P(Golden, IsWhatItWas) {
  expect_same(predicted(Fidelity::closed), testing::file_text(file("expected.csv")));
}

TEST_P(Golden, IsTheSameByTheEventEngine) {
  expect_same(predicted(Fidelity::event), testing::file_text(file("expected.csv")));
}

TEST_P(Golden, SaysWhy) {
  const std::string why = testing::file_text(file("why.md"));
  EXPECT_TRUE(why.starts_with("# ")) << "a title";
  EXPECT_GT(std::count(why.begin(), why.end(), '\n'), 3);
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, ::testing::ValuesIn(cases()), [](const auto& param) {
  std::string name = param.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(GoldenCases, AreThere) { EXPECT_GE(cases().size(), 6u); }

TEST(GoldenComparison, TellsNumbersApart) {
  EXPECT_TRUE(same("1.0000000001", "1"));
  EXPECT_FALSE(same("1.00000001", "1"));
  EXPECT_TRUE(same("-2e-16", "0"));
  EXPECT_FALSE(same("0.001", "0"));
  EXPECT_FALSE(same("zero1", "none"));
  EXPECT_FALSE(same("", "0"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
