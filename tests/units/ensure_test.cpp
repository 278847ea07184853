#include "titer/units/ensure.hpp"

#include <gtest/gtest.h>

#include <string>

namespace titer {
namespace TITER_TEST_FILE {

TEST(Ensure, IsSilentWhenTheConditionHolds) { EXPECT_NO_THROW(ensure(true, "never said")); }

TEST(Ensure, NamesTheCallersFileAndLineWithoutItsFolder) {
  const int line = __LINE__ + 2;
  try {
    ensure(false, "two is even");
    FAIL() << "a broken promise must throw";
  } catch (const Defect& defect) {
    EXPECT_EQ(defect.what(), "ensure_test.cpp:" + std::to_string(line) + ": two is even");
  }
}

TEST(Ensure, AcceptsAFileNameWithoutFolder) {
  try {
    report_defect("a sentence", "plain.cpp", 7);
  } catch (const Defect& defect) {
    EXPECT_STREQ(defect.what(), "plain.cpp:7: a sentence");
  }
}

TEST(Ensure, DefectIsALogicError) { EXPECT_THROW(ensure(false, "broken"), std::logic_error); }

}  // namespace TITER_TEST_FILE
}  // namespace titer
