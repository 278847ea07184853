#include "titer/report/evidence/support_report.hpp"

#include <gtest/gtest.h>

namespace titer::testing {
namespace TITER_TEST_FILE {

const std::vector<SupportCell> kCells = {
    {.combination = {"dense", "fast", "good", "bf16"}, .runs = 1, .mean_error = 0.02, .bias = 0.02},
    {.combination = {"dense", "fast", "good", "fp8"}, .runs = 3, .mean_error = 0.1, .bias = -0.1},
    {.combination = {"dense", "slow", "good", "bf16"}, .runs = 12, .mean_error = 0.2, .bias = 0}};

std::string last_line(const Combination& asked) {
  View view;
  add_support(kCells, asked, view);
  return view.text.write();
}

TEST(AddSupport, TellsOfTheLikestRunsThatThereAre) {
  EXPECT_EQ(last_line({"dense", "fast", "good", "bf16"}),
            "measured: dense by good on fast in bf16: 1 public run, predicted 2.0 % off on "
            "average\n");
  // (1 x 2 % + 3 x 10 %) / 4
  EXPECT_EQ(last_line({"layered", "fast", "good", "bf16"}),
            "measured: layered by good on fast in bf16: no public run; of the software on the "
            "chip, any model and precision: 4 public runs, predicted 8.0 % off on average\n");
  EXPECT_NE(last_line({"dense", "new", "good", "bf16"}).find("on any chip: 16 public runs"),
            std::string::npos);
  EXPECT_NE(last_line({"dense", "slow", "other", "bf16"}).find("any software: 12 public runs"),
            std::string::npos);
  EXPECT_EQ(last_line({"dense", "new", "other", "bf16"}),
            "measured: dense by other on new in bf16: nothing of this software or chip\n");
}

TEST(AddSupport, GivesItToProgramsToo) {
  View view;
  add_support(kCells, {"dense", "fast", "good", "fp8"}, view);
  ASSERT_EQ(view.figures.size(), 1u);
  EXPECT_EQ(view.figures[0].key, "measured_runs");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
