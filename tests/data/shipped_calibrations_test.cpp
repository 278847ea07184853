// What the shipped files make of their fits.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "paths.hpp"
#include "titer/calibrate/calibration.hpp"
#include "titer/hardware/evidence.hpp"
#include "titer/input/file.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;

/// The largest of what a fit leaves open, in sample and on groups left out.
double error_of(const Document& document) {
  double most = 0;
  for (const char* of : {"fitted", "extrapolated"}) {
    const Value* p90 = document.at("calibration.accuracy." + std::string(of) + ".p90");
    most = p90 == nullptr ? most : std::max(most, p90->number);
  }
  return most;
}

std::vector<std::string> fitted_paths(const Document& document) {
  std::vector<std::string> paths;
  for (const Value& parameter : document.at("calibration.parameters")->items) {
    paths.push_back(parameter.find("path")->text);
    if (const Value* same = parameter.find("same"); same != nullptr) {
      for (const Value& path : same->items) {
        paths.push_back(path.text);
      }
    }
  }
  return paths;
}

double number_at(const Document& document, const std::string& path) {
  const Value* figure = document.at(path + ".value");
  figure = figure == nullptr ? document.at(path) : figure;
  EXPECT_NE(figure, nullptr) << path;
  return figure == nullptr ? 0 : figure->number;
}

void expect_bars_at_least_as_wide(const Document& document, const std::string& bars) {
  // Files say four digits of quantiles, and stacks' bars two.
  EXPECT_LE(number_at(document, bars + ".low"),
            number_at(document, "calibration.accuracy.fitted.q10") + 0.005);
  EXPECT_GE(number_at(document, bars + ".high"),
            number_at(document, "calibration.accuracy.fitted.q90") - 0.005);
}

TEST(ShippedCalibrations, ThatWouldBeRejectedNowCountAsAssumedWithTheirResidualsAsBars) {
  std::size_t fits = 0;
  std::size_t rejected = 0;
  for (const std::string folder : {"chips", "clusters", "networks", "stacks"}) {
    for (const auto& entry : fs::directory_iterator(testing::root() / "configs" / folder)) {
      const Document document = load_json(entry.path());
      if (document.at("calibration") == nullptr) {
        continue;
      }
      ++fits;
      if (error_of(document) <= kMostError) {
        continue;
      }
      ++rejected;
      SCOPED_TRACE(entry.path().string());
      for (const std::string& path : fitted_paths(document)) {
        EXPECT_TRUE(document.at(path + ".source")->text.starts_with("assumed")) << path;
      }
      if (folder != "stacks") {
        expect_bars_at_least_as_wide(document, "error_bars");
        continue;
      }
      for (const Grade grade : {Grade::fitted, Grade::extrapolated, Grade::datasheet}) {
        expect_bars_at_least_as_wide(document, "error_bars." + std::string(name(grade)));
      }
    }
  }
  EXPECT_GE(fits, 18U);
  EXPECT_EQ(rejected, 1U);  // the L40S
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
