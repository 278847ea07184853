#include "titer/plan/layers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;
using List = std::vector<std::int64_t>;

struct Read {
  LayerSplit split;
  Lines complaints;
};

/// Reads {"layers": <value>}; the value stands in column 12 of line 1.
Read read(const std::string& value) {
  const Document document = parse_json(R"({"layers": )" + value + "}", "run.json");
  Problems problems;
  Reader in(document, problems);
  Read result;
  result.split = read_layers(in);
  in.finish();
  try {
    problems.raise();
  } catch (const InputError& error) {
    result.complaints = error.lines;
  }
  return result;
}

List shares(const LayerSplit& split, std::int64_t layers, int stages) {
  List list;
  for (int stage = 0; stage < stages; ++stage) {
    list.push_back(layers_of(split, stage, layers, stages));
  }
  return list;
}

TEST(ReadLayers, TakesARuleOrAList) {
  EXPECT_EQ(read("null").split, LayerSplit(LayerRule::even));
  EXPECT_EQ(read(R"("even")").split, LayerSplit(LayerRule::even));
  EXPECT_EQ(read(R"("lighter-ends")").split, LayerSplit(LayerRule::lighter_ends));
  EXPECT_EQ(read("[0, 3, 2]").split, LayerSplit(List{0, 3, 2}));
  EXPECT_EQ(read("[0, 3, 2]").complaints, Lines());
}

TEST(ReadLayers, RefusesWhatIsNeither) {
  for (const std::string value : {"[]", "[1,-1]", "[1.5,2]", R"(["1","2"])", "12", "{}"}) {
    EXPECT_EQ(read(value).complaints,
              Lines{"run.json:1:12: layers: " + value +
                    ": expected \"even\", \"lighter-ends\" or an array of whole numbers, one for "
                    "each stage of the model"})
        << value;
  }
}

TEST(ReadLayers, SuggestsTheRuleMeant) {
  const Lines complaints = read(R"("lighter-end")").complaints;
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find("did you mean \"lighter-ends\"?"), std::string::npos);
}

TEST(LayersOf, AreAsManyOnEveryStageOfAnEvenSplit) {
  EXPECT_EQ(shares(LayerRule::even, 24, 4), List(4, 24 / 4));
}

// Llama 3 2024, section 3.3.2: 126 layers over 16 pipeline ranks, one less at both ends.
TEST(LayersOf, AreOneLessAtLighterEnds) {
  List ranks(16, 8);
  ranks.front() = ranks.back() = 8 - 1;
  EXPECT_EQ(shares(LayerRule::lighter_ends, 126, 16), ranks);
  List chunks(16 * 8, 1);
  chunks.front() = chunks.back() = 0;
  EXPECT_EQ(shares(LayerRule::lighter_ends, 126, 16 * 8), chunks);
}

TEST(LayersOf, OfOneStageAreAllByAnyRule) {
  EXPECT_EQ(shares(LayerRule::even, 7, 1), List{7});
  EXPECT_EQ(shares(LayerRule::lighter_ends, 7, 1), List{7});
  EXPECT_EQ(shares(List{7}, 7, 1), List{7});
}

TEST(LayersOf, AddUpToTheModelWhereverTheSplitIsNotRefused) {
  int splits = 0;
  for (const LayerRule rule : {LayerRule::even, LayerRule::lighter_ends}) {
    for (int stages = 1; stages <= 20; ++stages) {
      for (std::int64_t layers = 1; layers <= 40; ++layers) {
        if (refusal(rule, layers, stages)) {
          continue;
        }
        ++splits;
        const List list = shares(rule, layers, stages);
        EXPECT_EQ(std::accumulate(list.begin(), list.end(), std::int64_t{0}), layers);
        EXPECT_GE(*std::min_element(list.begin(), list.end()), 0);
        EXPECT_EQ(refusal(list, layers, stages), std::nullopt) << "the same as a list";
      }
    }
  }
  EXPECT_GT(splits, 100);
}

TEST(LayerSplit, IsRefusedWithWhatWouldDo) {
  EXPECT_EQ(refusal(LayerRule::even, 126, 16),
            "expected the 16 stages to divide the 126 layers; or \"layers\": \"lighter-ends\"");
  EXPECT_EQ(refusal(LayerRule::even, 96, 10),
            "expected the 10 stages to divide the 96 layers; or \"layers\": a list of 10 numbers "
            "such as 6 x 10 and 4 x 9");
  EXPECT_EQ(refusal(LayerRule::lighter_ends, 96, 8),
            "expected the 96 layers and 2 more to be a multiple of the 8 stages; or \"layers\": a "
            "list of 8 numbers such as 8 x 12");
  EXPECT_EQ(refusal(List{5, 5}, 10, 3),
            "expected 3 numbers, one for each stage of the model, got 2");
  EXPECT_EQ(refusal(List{5, 5, 1}, 10, 3),
            "expected numbers that add up to the 10 layers, got 11, such as 1 x 4 and 2 x 3");
  EXPECT_EQ(refusal(List{0, 10, 0}, 10, 3), std::nullopt);
}

// One layer over two stages with lighter ends would leave one of them half a layer.
TEST(LayerSplit, OfferAListWhereTheRuleWouldNotWorkOut) {
  EXPECT_EQ(uneven_offer(1, 2), "\"layers\": a list of 2 numbers such as 1 x 1 and 1 x 0");
}

TEST(LayerSplit, IsWrittenAsItIsRead) {
  EXPECT_EQ(text_of(LayerRule::even), "even");
  EXPECT_EQ(text_of(LayerRule::lighter_ends), "lighter-ends");
  EXPECT_EQ(text_of(List{7, 8, 7}), "[7, 8, 7]");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
