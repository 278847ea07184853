#include "titer/engine/loads.hpp"

#include <gtest/gtest.h>

#include <array>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

TEST(Loads, KeepTheSharesThatTheyAreGiven) {
  Loads loads;
  const LoadResource a = loads.add_resource();
  const LoadResource b = loads.add_resource();
  EXPECT_EQ(loads.add(std::array{LoadShare{b, 0.25}, LoadShare{a, 1.0}}), 0u);
  EXPECT_EQ(loads.add({}), 1u);
  EXPECT_EQ(loads.size(), 2u);
  EXPECT_EQ(loads.resources(), 2u);
  ASSERT_EQ(loads.parts(0).size(), 2u);
  EXPECT_EQ(loads.parts(0)[0].resource, b);
  EXPECT_EQ(loads.parts(0)[0].units, Loads::unit / 4);
  EXPECT_EQ(loads.parts(0)[1].units, Loads::unit);
  EXPECT_TRUE(loads.parts(1).empty());
}

TEST(Loads, TakeEqualPartsOfAWholeAsNoMoreThanIt) {
  for (int n = 1; n <= 1000; ++n) {
    Loads loads;
    const LoadResource a = loads.add_resource();
    loads.add(std::array{LoadShare{a, 1.0 / n}});
    EXPECT_LE(static_cast<Loads::Units>(n) * loads.parts(0)[0].units, Loads::full);
    EXPECT_GT(static_cast<Loads::Units>(n + 1) * loads.parts(0)[0].units, Loads::full);
  }
}

TEST(Loads, LeaveOutWhatIsNextToNothing) {
  Loads loads;
  const LoadResource a = loads.add_resource();
  loads.add(std::array{LoadShare{a, 0.0}});
  EXPECT_TRUE(loads.parts(0).empty());
}

TEST(Loads, RefuseSharesThatCannotBe) {
  Loads loads;
  const LoadResource a = loads.add_resource();
  EXPECT_THROW(loads.add(std::array{LoadShare{a, 1.1}}), Defect);
  EXPECT_THROW(loads.add(std::array{LoadShare{a, -0.1}}), Defect);
  EXPECT_THROW(loads.add(std::array{LoadShare{a + 1, 0.5}}), Defect);
  EXPECT_THROW(loads.add(std::array{LoadShare{a, 0.5}, LoadShare{a, 0.25}}), Defect);
  EXPECT_EQ(loads.size(), 0u);
  EXPECT_EQ(loads.add(std::array{LoadShare{a, 0.5}}), 0u);
  EXPECT_EQ(loads.parts(0).size(), 1u);  // nothing of those that were refused
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
