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
  EXPECT_EQ(read(R"({"first": 3})").split, LayerSplit(EndLayers{.first = 3}));
  EXPECT_EQ(read(R"({"first": 3, "last": 0})").split, LayerSplit(EndLayers{.first = 3, .last = 0}));
  EXPECT_EQ(read(R"("Ett|t|L")").split, LayerSplit(List{2, 1, 0}));
  EXPECT_EQ(read("[0, 3, 2]").complaints, Lines());
}

TEST(ReadLayers, RefusesWhatIsNeither) {
  for (const std::string value : {"[]", "[1,-1]", "[1.5,2]", R"(["1","2"])", "12", "{}"}) {
    EXPECT_EQ(read(value).complaints,
              Lines{"run.json:1:12: layers: " + value +
                    ": expected \"even\", \"lighter-ends\", an object with \"first\" or \"last\", "
                    "an array of whole numbers, one for each stage of the model, or a layout such "
                    "as \"Et|(tt|)*30mL\""})
        << value;
  }
}

// DeepSeek-V3's 61 layers on 32 and on 31 stages, as Megatron-Core's documents write them.
TEST(ReadLayout, WritesRepetitionsOut) {
  List thirty(30, 2);
  thirty.front() = 3;
  thirty.push_back(0);
  EXPECT_EQ(read_layout("Et*3|(tt|)*29,mL").of_stages, thirty);
  List ends(32, 2);
  ends.front() = 1;
  ends.back() = 0;
  EXPECT_EQ(read_layout("Et|(tt|)*30mL").of_stages, ends);
  EXPECT_EQ(read_layout("E|(t*2|)*2L").of_stages, (List{0, 2, 2, 0}));
  EXPECT_EQ(read_layout("E|*2tL").of_stages, (List{0, 0, 1}));
  EXPECT_EQ(read_layout("EtmL").of_stages, List{1});
}

TEST(ReadLayout, RefusesWhatIsNone) {
  for (const std::string_view layout : {"",
                                        "E",
                                        "Et",
                                        "tL",
                                        "EtLt",
                                        "EtE|L",
                                        "Et*|L",
                                        "Et*0L",
                                        "Et*9999999L",
                                        "E(ttL",
                                        "E(t(t)*2)*2L",
                                        "Et)L",
                                        "Ex|L",
                                        "E(t*999999)*999999L",
                                        "E*2L",
                                        "Et*-1L"}) {
    EXPECT_EQ(read_layout(layout).problem.substr(0, 28), "expected a layout such as \"E") << layout;
  }
  EXPECT_EQ(read_layout("Et|m|L").problem,
            "expected m beside L: the modules for further tokens are on the stage of the output "
            "head");
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

TEST(LayersOf, AreOneMoreOnTheFirstStagesWhereSomeAreLeftOver) {
  EXPECT_EQ(shares(LayerRule::even, 61, 8), (List{8, 8, 8, 8, 8, 7, 7, 7}));
  // 61 and two more are 8 x 7 + 7.
  EXPECT_EQ(shares(LayerRule::lighter_ends, 61, 8), (List{7, 8, 8, 8, 8, 8, 8, 6}));
  EXPECT_EQ(shares(EndLayers{.first = 4}, 61, 4), (List{4, 19, 19, 19}));
  EXPECT_EQ(shares(EndLayers{.first = 4, .last = 0}, 61, 4), (List{4, 29, 28, 0}));
  EXPECT_EQ(shares(EndLayers{.last = 11}, 61, 2), (List{50, 11}));
  EXPECT_EQ(left_over(LayerRule::even, 61, 8), 5);
  EXPECT_EQ(left_over(LayerRule::lighter_ends, 61, 8), 7);
  EXPECT_EQ(left_over(EndLayers{.first = 4}, 61, 4), 0);
  EXPECT_EQ(left_over(List{60, 1}, 61, 2), 0);
  EXPECT_EQ(shares_text(LayerRule::even, 61, 8), "5 x 8, 3 x 7");
  EXPECT_EQ(shares_text(LayerRule::lighter_ends, 61, 8), "1 x 7, 6 x 8, 1 x 6");
}

TEST(LayersOf, OfOneStageAreAllByAnyRule) {
  EXPECT_EQ(shares(LayerRule::even, 7, 1), List{7});
  EXPECT_EQ(shares(LayerRule::lighter_ends, 7, 1), List{7});
  EXPECT_EQ(shares(List{7}, 7, 1), List{7});
}

TEST(LayersOf, AddUpToTheModelWhereverTheSplitIsNotRefused) {
  int splits = 0;
  for (const LayerSplit& rule : {LayerSplit(LayerRule::even),
                                 LayerSplit(LayerRule::lighter_ends),
                                 LayerSplit(EndLayers{.first = 2}),
                                 LayerSplit(EndLayers{.first = 1, .last = 3})}) {
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
  EXPECT_EQ(refusal(LayerRule::even, 126, 128),
            "expected the 126 layers to be no fewer than the 128 stages; or \"layers\": "
            "\"lighter-ends\"");
  EXPECT_EQ(refusal(LayerRule::even, 6, 10),
            "expected the 6 layers to be no fewer than the 10 stages; or \"layers\": a list of 10 "
            "numbers such as 6 x 1 and 4 x 0");
  EXPECT_EQ(refusal(LayerRule::lighter_ends, 6, 10),
            "expected the 6 layers and 2 more to be no fewer than the 10 stages; or \"layers\": a "
            "list of 10 numbers such as 6 x 1 and 4 x 0");
  EXPECT_EQ(refusal(EndLayers{.first = 5, .last = 4}, 10, 3), std::nullopt);
  EXPECT_EQ(refusal(EndLayers{.first = 5, .last = 5}, 10, 3),
            "expected first and last to leave one of the 10 layers or more for each of the other 1 "
            "stage");
  EXPECT_EQ(refusal(EndLayers{.first = 5, .last = 5}, 10, 2), std::nullopt);
  EXPECT_NE(refusal(EndLayers{.first = 5, .last = 4}, 10, 2), std::nullopt);
  EXPECT_NE(refusal(EndLayers{.first = 5, .last = 5}, 10, 1), std::nullopt);
  EXPECT_EQ(refusal(List{5, 5}, 10, 3),
            "expected 3 numbers, one for each stage of the model, got 2");
  EXPECT_EQ(refusal(List{5, 5, 1}, 10, 3),
            "expected numbers that add up to the 10 layers, got 11, such as 1 x 4 and 2 x 3");
  EXPECT_EQ(refusal(List{0, 10, 0}, 10, 3), std::nullopt);
}

// One layer and two ends would leave one of four stages less than nothing.
TEST(LayerSplit, OfferAListWhereTheRuleWouldNotWorkOut) {
  EXPECT_EQ(uneven_offer(1, 4), "\"layers\": a list of 4 numbers such as 1 x 1 and 3 x 0");
}

TEST(LayerSplit, IsWrittenAsItIsRead) {
  EXPECT_EQ(text_of(LayerRule::even), "even");
  EXPECT_EQ(text_of(LayerRule::lighter_ends), "lighter-ends");
  EXPECT_EQ(text_of(List{7, 8, 7}), "[7, 8, 7]");
  EXPECT_EQ(text_of(EndLayers{.first = 7, .last = 8}), R"({"first": 7, "last": 8})");
  EXPECT_EQ(text_of(EndLayers{.last = 8}), R"({"last": 8})");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
