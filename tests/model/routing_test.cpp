#include "titer/model/routing/routing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <string>

#include "repetitions.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// Experts, and a batch for them.
struct Batch {
  std::int64_t experts;
  std::int64_t per_token;
  std::int64_t ranks;
  std::int64_t tokens;
};

ExpertLoad load_of(const Routing& routing, const Batch& batch) {
  EXPECT_EQ(refusal(routing, batch.experts, batch.per_token, batch.ranks), std::nullopt);
  return expert_load(routing, batch.experts, batch.per_token, batch.ranks, batch.tokens);
}

double uniform(std::mt19937_64& random) {
  return (static_cast<double>(random() >> 12U) + 0.5) * 0x1p-52;
}

/// k different experts such that each is among them as often as its weight says; the weights add up
/// to k. [Madow 1949, systematic sampling in a random order]
std::vector<std::size_t> draw_experts(std::mt19937_64& random,
                                      std::vector<std::size_t>& order,
                                      const std::vector<double>& weights) {
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[random() % (i + 1)]);
  }
  std::vector<std::size_t> drawn;
  double next = uniform(random);
  double sum = 0;
  for (const std::size_t expert : order) {
    sum += weights[expert];
    if (next < sum) {
      drawn.push_back(expert);
      next += 1;
    }
  }
  return drawn;
}

/// A token's experts as DeepSeek-V3 picks them, on random scores: the groups whose two best experts
/// score highest together, then the best experts of these.
std::vector<std::size_t> pick_experts(std::mt19937_64& random,
                                      const Routing& routing,
                                      const Batch& batch) {
  const auto size = static_cast<std::ptrdiff_t>(batch.experts / routing.groups);
  std::vector<std::pair<double, std::ptrdiff_t>> groups;
  std::vector<double> scores(static_cast<std::size_t>(batch.experts));
  std::generate(scores.begin(), scores.end(), [&] { return uniform(random); });
  for (std::ptrdiff_t group = 0; group < routing.groups; ++group) {
    std::vector<double> own(scores.begin() + group * size, scores.begin() + (group + 1) * size);
    std::partial_sort(own.begin(), own.begin() + 2, own.end(), std::greater<>());
    groups.emplace_back(own[0] + own[1], group);
  }
  std::sort(groups.rbegin(), groups.rend());
  std::vector<std::pair<double, std::size_t>> open;
  for (std::ptrdiff_t i = 0; i < routing.groups_chosen; ++i) {
    const auto first = static_cast<std::size_t>(groups[static_cast<std::size_t>(i)].second * size);
    for (std::size_t e = first; e < first + static_cast<std::size_t>(size); ++e) {
      open.emplace_back(scores[e], e);
    }
  }
  std::partial_sort(open.begin(), open.begin() + batch.per_token, open.end(), std::greater<>());
  std::vector<std::size_t> picked;
  for (std::int64_t i = 0; i < batch.per_token; ++i) {
    picked.push_back(open[static_cast<std::size_t>(i)].second);
  }
  return picked;
}

/// A mean over some batches, and its standard error.
class Average {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  [[nodiscard]] double mean() const { return sum_ / count_; }
  [[nodiscard]] double error() const {
    return std::sqrt(std::max(0.0, squares_ / count_ - mean() * mean()) / count_);
  }

 private:
  double count_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

struct Executed {
  Average busiest;
  Average kept;
  Average ranks_per_token;
};

/// Routes batches token by token. Every rank has a capacity of its own for its tokens.
Executed execute(const Routing& routing, const Batch& batch, const std::vector<double>& weights) {
  constexpr int batches = testing::repetitions(75);
  std::mt19937_64 random(7);
  const auto experts = static_cast<std::size_t>(batch.experts);
  const auto per_rank = experts / static_cast<std::size_t>(batch.ranks);
  const std::int64_t own = batch.tokens / batch.ranks;
  const double capacity =
      std::ceil(routing.capacity_factor.value_or(1e9) * static_cast<double>(own * batch.per_token) /
                static_cast<double>(batch.experts));
  const auto pairs = static_cast<double>(batch.tokens * batch.per_token);
  std::vector<std::size_t> order(experts);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Executed result;
  for (int i = 0; i < batches; ++i) {
    std::vector<double> of_rank(static_cast<std::size_t>(batch.ranks));
    std::int64_t reached = 0;
    for (std::int64_t source = 0; source < batch.ranks; ++source) {
      std::vector<double> used(experts);
      for (std::int64_t token = 0; token < own; ++token) {
        std::vector<bool> goes_to(of_rank.size());
        for (const std::size_t e : routing.groups > 1 ? pick_experts(random, routing, batch)
                                                      : draw_experts(random, order, weights)) {
          goes_to[e / per_rank] = true;
          of_rank[e / per_rank] += used[e] < capacity ? 1 : 0;
          used[e] += 1;
        }
        reached += std::count(goes_to.begin(), goes_to.end(), true);
      }
    }
    const double busiest = *std::max_element(of_rank.begin(), of_rank.end());
    result.busiest.add(busiest * static_cast<double>(batch.ranks) / pairs);
    result.kept.add(std::accumulate(of_rank.begin(), of_rank.end(), 0.0) / pairs);
    result.ranks_per_token.add(static_cast<double>(reached) / static_cast<double>(batch.tokens));
  }
  return result;
}

/// Weights in proportion to 1 / i^exponent, at most one, that add up to k.
std::vector<double> zipf_weights(const Batch& batch, double exponent) {
  std::vector<double> weights(static_cast<std::size_t>(batch.experts));
  double low = 0;
  double high = 1e9;
  for (int step = 0; step < 200; ++step) {  // the factor, by halving
    const double factor = (low + high) / 2;
    double sum = 0;
    for (std::size_t e = 0; e < weights.size(); ++e) {
      weights[e] = std::min(1.0, factor * std::pow(static_cast<double>(e + 1), -exponent));
      sum += weights[e];
    }
    (sum < static_cast<double>(batch.per_token) ? low : high) = factor;
  }
  return weights;
}

/// What an approximation may be off beside four standard errors, relative to what is executed.
struct Tolerance {
  double noise;  // of the busiest rank's excess over the mean
  double kept;
  double ranks;
};

void expect_executed(const Routing& routing, const Batch& batch, const Tolerance& tolerance) {
  SCOPED_TRACE(std::to_string(batch.experts) + " experts, " + std::to_string(batch.per_token) +
               " per token, on " + std::to_string(batch.ranks) + " ranks, exponent " +
               std::to_string(routing.exponent) + ", capacity " +
               std::to_string(routing.capacity_factor.value_or(0)));
  const double exponent = routing.shape == RoutingShape::zipf ? routing.exponent : 0;
  const Executed executed = execute(routing, batch, zipf_weights(batch, exponent));
  const ExpertLoad load = load_of(routing, batch);
  EXPECT_NEAR(load.busiest,
              executed.busiest.mean(),
              4 * executed.busiest.error() +
                  tolerance.noise * std::abs(executed.busiest.mean() - executed.kept.mean()));
  EXPECT_NEAR(load.kept, executed.kept.mean(), 4 * executed.kept.error() + tolerance.kept);
  EXPECT_NEAR(
      load.ranks_per_token,
      executed.ranks_per_token.mean(),
      4 * executed.ranks_per_token.error() + tolerance.ranks * executed.ranks_per_token.mean());
  EXPECT_EQ(load.per_token, static_cast<double>(batch.per_token));
}

TEST(ExpertLoad, OfUniformRoutingIsWhatTokensRoutedOneByOneGive) {
  for (const Batch& batch : {Batch{8, 2, 8, 2048},
                             Batch{64, 6, 8, 1024},
                             Batch{64, 1, 64, 4096},
                             Batch{60, 4, 3, 600},
                             Batch{32, 8, 2, 512},
                             Batch{16, 2, 1, 128}}) {
    expect_executed({}, batch, {.noise = 0.06, .kept = 1e-12, .ranks = 1e-12});
  }
}

TEST(ExpertLoad, KeepsWhatIsWithinCapacityOfEveryRanksTokens) {
  const Tolerance tolerance{.noise = 0.12, .kept = 0.001, .ranks = 1e-12};
  expect_executed({.capacity_factor = 1.0}, {16, 2, 4, 1024}, tolerance);
  expect_executed({.capacity_factor = 1.25}, {16, 2, 16, 2048}, tolerance);
  expect_executed({.capacity_factor = 1.0}, {4, 1, 2, 2048}, tolerance);
  expect_executed({.capacity_factor = 0.5}, {8, 2, 8, 1024}, tolerance);
}

// DeepSeek-V3's 256 experts, and groups that are too small for each to have an expert of a token.
TEST(ExpertLoad, GroupsSendATokenToFewerRanks) {
  const Routing routing{.groups = 8, .groups_chosen = 4};
  for (const std::int64_t ranks : {4, 32}) {
    const Batch large{256, 8, ranks, 128};
    const Batch small{64, 6, ranks, 128};
    expect_executed(routing, large, {.noise = 0.08, .kept = 1e-12, .ranks = 0.015});
    expect_executed(routing, small, {.noise = 0.08, .kept = 1e-12, .ranks = 0.06});
    EXPECT_LT(load_of(routing, large).ranks_per_token, load_of({}, large).ranks_per_token);
  }
}

TEST(ExpertLoad, OfZipfRoutingIsWhatTokensRoutedOneByOneGive) {
  const Tolerance tolerance{.noise = 0.06, .kept = 0.001, .ranks = 0.04};
  for (const double exponent : {0.1, 1.0, 2.0}) {
    for (const std::optional<double> capacity : {std::optional<double>{}, std::optional(1.5)}) {
      for (const Batch& batch : {Batch{16, 2, 4, 512}, Batch{64, 6, 16, 1024}}) {
        expect_executed(
            {.shape = RoutingShape::zipf, .exponent = exponent, .capacity_factor = capacity},
            batch,
            tolerance);
      }
    }
  }
}

TEST(ExpertLoad, SendsASkewedTokenToNoMoreRanksThanItsGroupsHave) {
  const Batch batch{256, 8, 32, 131072};
  for (const double exponent : {0.0, 0.5, 3.0}) {
    Routing routing{.shape = RoutingShape::zipf, .exponent = exponent};
    const double ungrouped = load_of(routing, batch).ranks_per_token;
    routing.groups = 8;
    routing.groups_chosen = 4;
    const double grouped = load_of(routing, batch).ranks_per_token;
    EXPECT_LE(grouped, ungrouped);
    EXPECT_LE(grouped, load_of({.groups = 8, .groups_chosen = 4}, batch).ranks_per_token);
    EXPECT_GE(grouped, 1.0);
  }
}

TEST(ExpertLoad, OfAFlatZipfIsThatOfUniformRouting) {
  for (const std::optional<double> capacity : {std::optional<double>{}, std::optional(1.1)}) {
    const Batch batch{64, 6, 16, 4096};
    const ExpertLoad flat =
        load_of({.shape = RoutingShape::zipf, .exponent = 0, .capacity_factor = capacity}, batch);
    const ExpertLoad uniform_load = load_of({.capacity_factor = capacity}, batch);
    EXPECT_NEAR(flat.busiest - flat.kept,
                uniform_load.busiest - uniform_load.kept,
                0.04 * (uniform_load.busiest - uniform_load.kept));  // Clark's approximation
    EXPECT_NEAR(flat.kept, uniform_load.kept, 1e-12);
    EXPECT_NEAR(flat.ranks_per_token, uniform_load.ranks_per_token, 1e-12);
  }
}

TEST(ExpertLoad, OfAHistogramIsItsBusiestRanks) {
  // Two experts to a rank, so many tokens that no noise is left.
  const Routing routing{.shape = RoutingShape::measured, .histogram = {30, 10, 20, 20, 5, 5, 5, 5}};
  const ExpertLoad load = load_of(routing, {8, 2, 4, 1'000'000'000});
  EXPECT_NEAR(load.busiest, 40.0 / 25.0, 1e-3);
  EXPECT_EQ(load.kept, 1.0);
  // With room for 1.2 x 12.5 tokens each, those of 30, 20 and 20 lose 15, 5 and 5 of 100.
  Routing capped = routing;
  capped.capacity_factor = 1.2;
  const ExpertLoad kept = load_of(capped, {8, 2, 4, 1'000'000'000});
  EXPECT_NEAR(kept.kept, (100.0 - 15 - 5 - 5) / 100.0, 1e-3);
  EXPECT_NEAR(kept.busiest, (15.0 + 15.0) / 25.0, 1e-3);
}

TEST(ExpertLoad, ThatIsBalancedHasNoNoise) {
  const Routing routing{.shape = RoutingShape::balanced};
  const ExpertLoad load = load_of(routing, {8, 2, 8, 64});
  EXPECT_DOUBLE_EQ(load.busiest, 1.0);
  EXPECT_DOUBLE_EQ(load.kept, 1.0);
  EXPECT_DOUBLE_EQ(load.ranks_per_token, 2.0);
  // 12 of 16 tokens that each expert wants of a rank's 64.
  const Routing tight{.shape = RoutingShape::balanced, .capacity_factor = 0.75};
  EXPECT_DOUBLE_EQ(load_of(tight, {8, 2, 8, 512}).kept, 12.0 / 16.0);
  EXPECT_DOUBLE_EQ(load_of(tight, {8, 2, 8, 512}).busiest, 12.0 / 16.0);
}

TEST(ExpertLoad, OfPaddedExpertsIsTheirCapacity) {
  // A rank's 100 tokens want 2 x 100 / 16 = 12.5 of an expert; its capacity is 16.
  const ExpertLoad load = load_of({.capacity_factor = 1.25, .padded = true}, {16, 2, 4, 400});
  EXPECT_DOUBLE_EQ(load.busiest, 16 / 12.5);
  EXPECT_LT(load.kept, 1.0);
}

TEST(ExpertLoad, NeverExceedsAllTokensOrAllCapacity) {
  for (const std::int64_t ranks : {1, 2, 8, 64}) {
    for (const std::int64_t tokens : {64, 640, 64000}) {
      for (const double exponent : {0.0, 3.0}) {
        const Batch batch{64, 4, ranks, tokens};
        const auto all = static_cast<double>(ranks);
        const Routing zipf{.shape = RoutingShape::zipf, .exponent = exponent};
        const ExpertLoad load = load_of(zipf, batch);
        EXPECT_GE(load.busiest, 1.0 - 1e-12);
        EXPECT_LE(load.busiest, std::min(all, all * std::min(64.0 / all, 4.0) / 4.0) + 1e-12);
        EXPECT_LE(load.ranks_per_token, std::min(all, 4.0) + 1e-12);
        EXPECT_GE(load.ranks_per_token, 1.0 - 1e-12);
      }
    }
  }
}

/// phi and Phi of the standard normal distribution.
double density(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }
double below(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

TEST(ExpectedMaximum, IsTheIntegralOfTheLargestNormalNumbersDensity) {
  EXPECT_EQ(expected_maximum(1), 0.0);
  EXPECT_NEAR(expected_maximum(2), 1 / std::sqrt(std::numbers::pi), 1e-6);
  for (const std::int64_t numbers : {2, 3, 6, 8, 12, 64, 96, 1024, 65536}) {
    constexpr double step = 0.01;
    double mean = 0;
    for (double x = -10; x < 10; x += step) {
      const auto n = static_cast<double>(numbers);
      mean += step * x * n * density(x) * std::pow(below(x), n - 1);
    }
    const bool tabulated = (numbers & (numbers - 1)) == 0;
    EXPECT_NEAR(expected_maximum(numbers), mean, tabulated ? 2e-6 : 0.012 * mean) << numbers;
  }
}

TEST(RandomSecond, IsTakenAsTheGapOfTheTwoLargestLogitsSays) {
  for (const std::int64_t experts : {2, 8, 48, 128, 2048}) {
    // The largest two of E normal logits, d apart: E (E-1) phi(x) phi(x+d) Phi(x)^(E-2).
    constexpr double step = 0.04;
    const auto e = static_cast<double>(experts);
    double taken = 0;
    for (double x = -7; x < 7; x += step) {
      const double weight = e * (e - 1) * density(x) * std::pow(below(x), e - 2) * step * step;
      for (double gap = step / 2; gap < 8; gap += step) {
        taken += weight * density(x + gap) * 2 / (1 + std::exp(gap));
      }
    }
    EXPECT_NEAR(random_second_probability(experts), taken, 1e-3) << experts;
  }
}

Routing read(const std::string& text) {
  const Document document = parse_json(text, "model.json");
  Problems problems;
  Reader in(document, problems);
  Routing routing;
  read_fields(routing_fields(), in, routing);
  problems.raise();
  return routing;
}

TEST(ReadRouting, TakesWhatIsLeftOutAsUniformAndDropless) {
  const Routing plain = read("{}");
  EXPECT_EQ(plain.shape, RoutingShape::uniform);
  EXPECT_FALSE(plain.capacity_factor);
  EXPECT_FALSE(plain.random_second || plain.padded);
  EXPECT_EQ(plain.groups, 1);
  EXPECT_EQ(plain.groups_chosen, 1);
}

TEST(ReadRouting, ReadsEveryKey) {
  const Routing zipf = read(R"({"shape": "zipf", "exponent": 0.5, "capacity_factor": 1.25,
      "padded": true, "random_second": true, "second_probability": 0.7,
      "groups": 8, "groups_chosen": 4, "dense_group": 1024})");
  EXPECT_EQ(zipf.dense_group, 1024);
  EXPECT_EQ(zipf.shape, RoutingShape::zipf);
  EXPECT_EQ(zipf.exponent, 0.5);
  EXPECT_EQ(zipf.capacity_factor, 1.25);
  EXPECT_TRUE(zipf.padded && zipf.random_second);
  EXPECT_EQ(zipf.second_probability, 0.7);
  EXPECT_EQ(zipf.groups, 8);
  EXPECT_EQ(zipf.groups_chosen, 4);
  EXPECT_EQ(read(R"({"shape": "measured", "histogram": [3, 0, 1.5]})").histogram,
            (std::vector<double>{3, 0, 1.5}));
  EXPECT_EQ(read(R"({"shape": "balanced"})").shape, RoutingShape::balanced);
}

TEST(ReadRouting, SaysWhatIsWrongInALineEach) {
  const std::string histogram =
      "expected a list of the tokens of each expert: numbers, none negative, one positive";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"shape": "even"})",
       "11: shape: \"even\": expected one of: uniform, zipf, measured, balanced"},
      {R"({"shape": "zipf"})", "1: exponent: missing; expected a number from 0 to 10"},
      {R"({"shape": "zipf", "exponent": -1})", "31: exponent: -1: expected a number from 0 to 10"},
      {R"({"exponent": 1})", "14: exponent: 1: expected none: only the shape \"zipf\" has one"},
      {R"({"histogram": [1]})",
       "15: histogram: [1]: expected none: only the shape \"measured\" has one"},
      {R"({"shape": "measured"})", "1: histogram: " + histogram},
      {R"({"shape": "measured", "histogram": 7})", "36: histogram: 7: " + histogram},
      {R"({"shape": "measured", "histogram": [0, 0]})", "36: histogram: [0,0]: " + histogram},
      {R"({"shape": "measured", "histogram": [1, -1]})", "36: histogram: [1,-1]: " + histogram},
      {R"({"shape": "measured", "histogram": ["a"]})", "36: histogram: [\"a\"]: " + histogram},
      {R"({"capacity_factor": 0})", "21: capacity_factor: 0: expected a number from 0.01 to 1000"},
      {R"({"padded": true})", "12: padded: true: expected a \"capacity_factor\" to pad to"},
      {R"({"dense_group": 64})",
       "17: dense_group: 64: expected \"padded\": true beside it, as masks have all places"},
      {R"({"second_probability": 0.5})",
       "24: second_probability: 0.5: expected \"random_second\": true beside it"},
      {R"({"groups": 8})", "1: groups_chosen: missing; expected an integer from 1 to 8"},
      {R"({"groups": 8, "groups_chosen": 9})",
       "32: groups_chosen: 9: expected an integer from 1 to 8"},
      {R"({"groups_chosen": 2})",
       "19: groups_chosen: 2: expected at most the number of \"groups\", which is 1"},
      {R"({"capacity": 1.25})",
       "2: capacity: unknown key; known keys: shape, exponent, histogram, capacity_factor, "
       "capacity_multiple, padded, dense_group, random_second, second_probability, groups, "
       "groups_chosen"},
  };
  for (const auto& [text, line] : cases) {
    try {
      (void)read(text);
      ADD_FAILURE() << "nothing wrong with " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.lines, std::vector<std::string>{"model.json:1:" + line}) << text;
    }
  }
}

TEST(Refusal, NamesWhatDoesNotFitTheExperts) {
  EXPECT_EQ(refusal({}, 8, 2, 8), std::nullopt);
  EXPECT_EQ(refusal({}, 8, 2, 3), "3 ranks do not divide 8 experts");
  EXPECT_EQ(refusal({}, 8, 9, 1), "a token cannot go to 9 of 8 experts");
  EXPECT_EQ(refusal({.groups = 3}, 8, 2, 1), "3 groups do not divide 8 experts");
  EXPECT_EQ(refusal({.groups = 8, .groups_chosen = 1}, 8, 2, 1),
            "1 of 8 groups have 1 experts, but a token goes to 2");
  EXPECT_EQ(refusal({.groups = 4, .groups_chosen = 3}, 8, 2, 1),
            "a token with 2 experts cannot go to 3 groups of them");
  EXPECT_EQ(refusal({.groups = 4, .groups_chosen = 2}, 24, 4, 6),
            "neither do 6 ranks divide the 4 groups of experts, nor the groups the ranks");
  EXPECT_EQ(refusal({.random_second = true}, 8, 1, 8),
            "a random second expert needs two experts per token, there is 1");
  EXPECT_EQ(refusal({.shape = RoutingShape::measured, .histogram = {1, 2}}, 8, 2, 8),
            "the histogram has 2 numbers for 8 experts");
  EXPECT_EQ(refusal({.shape = RoutingShape::measured, .histogram = {3, 1, 1, 0}}, 4, 2, 4),
            "an expert of the histogram has 60 % of all choices, but 2 different experts per token "
            "leave at most 50 % for one");
  EXPECT_THROW((void)expert_load({}, 8, 2, 3, 100), Defect);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
