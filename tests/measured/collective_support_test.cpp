#include "titer/measured/collective/collective_support.hpp"

#include <gtest/gtest.h>

#include "titer/input/input_error.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr std::string_view kHead = "chip,collective,tier,sizes,timings,low,high\n";

std::vector<CollectiveSupport> read(const std::string& rows) {
  return read_collective_support(CsvTable::parse(std::string(kHead) + rows, "t.csv"));
}

TEST(CollectiveSupport, IsOfAChipATierAndAClassOfSizes) {
  const auto all = read(
      "a,all-reduce,node,small,12,0.9,1.5\n"
      "a,all-reduce,node,large,30,0.95,1.1\n"
      "a,all-reduce,network,large,11,0.8,1.2\n");
  const auto high = [&](const char* chip, Collective collective, bool across, double bytes) {
    const auto found = support_of(all, chip, collective, across, Bytes::from_si(bytes));
    return found ? found->high : 0.0;
  };
  const double mebibyte = 1024 * 1024;
  EXPECT_EQ(high("a", Collective::all_reduce, false, mebibyte - 1), 1.5);
  EXPECT_EQ(high("a", Collective::all_reduce, false, mebibyte), 1.1);
  EXPECT_EQ(high("a", Collective::all_reduce, true, mebibyte), 1.2);
  EXPECT_EQ(high("a", Collective::all_reduce, true, 1), 0.0);
  EXPECT_EQ(high("a", Collective::all_gather, false, mebibyte), 0.0);
  EXPECT_EQ(high("b", Collective::all_reduce, false, mebibyte), 0.0);
}

TEST(CollectiveSupport, SaysWhatIsWrongWithATable) {
  try {
    static_cast<void>(read("a,all-reduce,rack,huge,0,x,1\n"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.size(), 4U);
    EXPECT_EQ(error.lines.front(), "t.csv:2: tier: expected node or network");
  }
}

/// Every collective and chip of it is one that there is, and most of what is measured is near.
TEST(CollectiveSupport, IsShipped) {
  const auto all = shipped_collective_support();
  EXPECT_GT(all.size(), 60U);
  for (const CollectiveSupport& one : all) {
    const bool is_known = std::ranges::any_of(
        kCollectives, [&](Collective collective) { return name_of(collective) == one.collective; });
    EXPECT_TRUE(is_known) << one.collective;
    EXPECT_GE(one.timings, 10U);
    EXPECT_LE(one.low, one.high);
  }
  const auto h100 =
      support_of(all, "h100-sxm5-80gb", Collective::all_reduce, false, Bytes::from_si(1e9));
  ASSERT_TRUE(h100);
  EXPECT_LT(h100->high / h100->low, 1.3);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
