#include "titer/plan/batch_shares.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace TITER_TEST_FILE {

using Numbers = std::vector<std::int64_t>;

BatchShares read(const std::string& json, std::vector<std::string>* lines = nullptr) {
  const Document document = parse_json(json, "plan.json");
  Problems problems;
  Reader in(document, problems);
  BatchShares shares = read_batch_shares(in);
  try {
    problems.raise();
  } catch (const InputError& error) {
    EXPECT_NE(lines, nullptr) << error.what();
    *lines = error.lines;
  }
  return shares;
}

TEST(BatchShares, AreWholeWeightsOfTheRanks) {
  EXPECT_EQ(read(R"({"batch_shares": [1, 2]})").weights, (Numbers{1, 2}));
  EXPECT_TRUE(read("{}").weights.empty());
  for (const char* wrong : {"[0, 1]", "[1.5, 1]", "[]", "\"even\"", "2"}) {
    std::vector<std::string> lines;
    read(std::string(R"({"batch_shares": )") + wrong + "}", &lines);
    ASSERT_EQ(lines.size(), 1U) << wrong;
    EXPECT_TRUE(
        lines[0].ends_with("expected an array of whole numbers from 1 to 1000000, one for "
                           "each data-parallel rank"))
        << lines[0];
  }
}

TEST(BatchShares, ShareOutTheBatchOfAllRanks) {
  const BatchShares thirds{.weights = {1, 2}};
  // 2 ranks x 3 sequences: a third and two thirds of 6.
  EXPECT_EQ(thirds.by_rank(3, 2), (Numbers{2, 4}));
  EXPECT_EQ(thirds.sizes(3), (Numbers{4, 2}));
  EXPECT_EQ((BatchShares{.weights = {10, 20, 20, 30}}.by_rank(8, 4)), (Numbers{4, 8, 8, 12}));
  EXPECT_EQ((BatchShares{.weights = {10, 20, 20, 30}}.sizes(8)), (Numbers{12, 8, 4}));
  EXPECT_EQ(BatchShares().by_rank(5, 3), (Numbers{5, 5, 5}));
  EXPECT_EQ(BatchShares().sizes(5), Numbers{5});
}

TEST(BatchShares, AreEvenWhereAllWeightsAre) {
  EXPECT_TRUE(BatchShares().even());
  EXPECT_TRUE((BatchShares{.weights = {3, 3, 3}}.even()));
  EXPECT_FALSE((BatchShares{.weights = {3, 3, 4}}.even()));
  EXPECT_EQ((BatchShares{.weights = {3, 3, 3}}.sizes(2)), Numbers{2});
}

TEST(BatchShares, AreRefusedWhereTheyGiveNoWholeSequences) {
  const BatchShares thirds{.weights = {1, 2}};
  EXPECT_EQ(thirds.refusal(3, 2), std::nullopt);
  EXPECT_EQ(thirds.refusal(2, 2),
            "expected micro-batches of whole sequences: micro_batch x data = 2 x 2 cannot be "
            "shared out by these of 3");
  EXPECT_EQ(thirds.refusal(3, 4), "expected a weight for each of the 4 data-parallel ranks, got 2");
  EXPECT_EQ(BatchShares().refusal(1, 7), std::nullopt);
  EXPECT_EQ((BatchShares{.weights = {3, 6}}.refusal(3, 2)), std::nullopt) << "as 1 and 2";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
