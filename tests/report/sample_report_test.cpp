#include "titer/report/step/sample_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "titer/units/text.hpp"
#include "view/csv.hpp"

namespace titer {
namespace TITER_TEST_FILE {

SampleStatistics distinct_samples() {
  SampleStatistics samples;
  samples.count = 16;
  samples.quiet = 4_s;
  samples.mean = 5_s;
  samples.deviation = 2_s;
  samples.least = 3_s;
  samples.p50 = 6_s;
  samples.p95 = 7_s;
  samples.most = 8_s;
  samples.expected_slowdown = 1.125;
  return samples;
}

double number_at(const Value& json, std::string_view key) {
  const Value* value = json.find(key);
  EXPECT_NE(value, nullptr) << key;
  return value == nullptr ? 0 : value->number;
}

TEST(SampleJson, HoldsTheFigures) {
  const Value json = json_of(sample_figures(distinct_samples()));
  EXPECT_EQ(number_at(json, "n"), 16.0);
  EXPECT_EQ(number_at(json, "quiet_s"), 4.0);
  EXPECT_EQ(number_at(json, "mean_s"), 5.0);
  EXPECT_EQ(number_at(json, "standard_error_s"), 2 / std::sqrt(16.0));
  EXPECT_EQ(number_at(json, "deviation_s"), 2.0);
  EXPECT_EQ(number_at(json, "min_s"), 3.0);
  EXPECT_EQ(number_at(json, "p50_s"), 6.0);
  EXPECT_EQ(number_at(json, "p95_s"), 7.0);
  EXPECT_EQ(number_at(json, "max_s"), 8.0);
  EXPECT_EQ(number_at(json, "slowdown"), 5.0 / 4);
  EXPECT_EQ(number_at(json, "expected_slowdown"), 1.125);
}

TEST(SampleJson, HasNullForWhatThereIsNot) {
  SampleStatistics samples = distinct_samples();
  samples.deviation.reset();
  samples.expected_slowdown.reset();
  const Value json = json_of(sample_figures(samples));
  for (const char* key : {"deviation_s", "standard_error_s", "expected_slowdown"}) {
    ASSERT_NE(json.find(key), nullptr) << key;
    EXPECT_EQ(json.find(key)->kind, Value::Kind::null) << key;
  }
}

TEST(SampleColumns, AreTheFiguresByLongerNames) {
  const Figures figures = sample_figures(distinct_samples());
  const Figures columns = sample_columns(figures);
  ASSERT_EQ(columns.size(), figures.size());
  EXPECT_EQ(columns[0].key, "samples");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ(columns[i].datum.value().number, figures[i].datum.value().number);
    EXPECT_TRUE(i == 0 || columns[i].key == "samples_" + figures[i].key) << columns[i].key;
  }
}

TEST(SampleColumns, AreEmptyForWhatThereIsNot) {
  SampleStatistics samples = distinct_samples();
  samples.deviation.reset();
  const std::string csv = csv_of({sample_columns(sample_figures(samples))});
  const auto cells = testing::only_row(csv);
  EXPECT_EQ(cells.at("samples_deviation_s"), "");
  EXPECT_EQ(cells.at("samples_standard_error_s"), "");
  EXPECT_EQ(cells.at("samples_p95_s"), "7");
  EXPECT_EQ(cells.size(), sample_figures(samples).size());
}

TEST(SampleText, TellsTheFiguresOverTheStepWithoutNoise) {
  const std::string text = sample_text(distinct_samples()).write();
  for (const std::string& part : {std::string("16 samples"),
                                  format(4_s),
                                  format(5_s) + " (+25.00 %)",
                                  "standard error " + format(2_s / 4.0),
                                  format(3_s) + " (-25.00 %)",
                                  format(7_s) + " (+75.00 %)",
                                  std::string("+12.50 %")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(SampleText, LeavesOutTheLawWhereItDoesNotHold) {
  SampleStatistics samples = distinct_samples();
  samples.expected_slowdown.reset();
  EXPECT_EQ(sample_text(samples).write().find("slowest"), std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
