#include "titer/engine/load_rates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace titer {
namespace TITER_TEST_FILE {

using Rates = std::vector<double>;

constexpr double kUnits = 0.1256;  // of a device's arithmetic units, that a collective takes
constexpr double kNear = 1e-9;     // of an exact division: shares are kept in units of 2^-40

Rates rates_of(const Loads& loads, const std::vector<LoadId>& set) {
  LoadRates rates;
  rates.reset(loads);
  const std::span<const double> found = rates.of(set);
  return {found.begin(), found.end()};
}

TEST(LoadRates, AreOneWhileThereIsEnoughForAll) {
  Loads loads;
  const LoadResource a = loads.add_resource();
  loads.add(std::array{LoadShare{a, 0.5}});
  loads.add(std::array{LoadShare{a, 0.25}});
  loads.add({});
  EXPECT_EQ(rates_of(loads, {0, 1, 1, 2}), (Rates{1, 1, 1, 1}));
  EXPECT_EQ(rates_of(loads, {}), Rates{});
}

TEST(LoadRates, SlowComputeAndACollectiveByTheirSum) {
  Loads loads;
  const LoadResource units = loads.add_resource();
  loads.add(std::array{LoadShare{units, 1.0}});
  loads.add(std::array{LoadShare{units, kUnits}});
  const Rates rates = rates_of(loads, {0, 1});
  EXPECT_NEAR(rates[0], 1 / (1 + kUnits), kNear);
  EXPECT_EQ(rates[0], rates[1]);
}

TEST(LoadRates, HalveTwoThatTakeAllOfALink) {
  Loads loads;
  const LoadResource link = loads.add_resource();
  loads.add(std::array{LoadShare{link, 1.0}});
  EXPECT_EQ(rates_of(loads, {0, 0}), (Rates{0.5, 0.5}));
  EXPECT_EQ(rates_of(loads, {0, 0, 0, 0}), (Rates{0.25, 0.25, 0.25, 0.25}));
}

TEST(LoadRates, GiveWhatOneCannotUseToTheOthers) {
  // x is held to a third on the first link, so y gets two thirds of the second.
  Loads loads;
  const LoadResource first = loads.add_resource();
  const LoadResource second = loads.add_resource();
  const LoadId elsewhere = loads.add(std::array{LoadShare{first, 1.0}});
  const LoadId x = loads.add(std::array{LoadShare{first, 1.0}, LoadShare{second, 1.0}});
  const LoadId y = loads.add(std::array{LoadShare{second, 1.0}});
  const Rates rates = rates_of(loads, {elsewhere, elsewhere, x, y});
  EXPECT_NEAR(rates[0], 1.0 / 3, kNear);
  EXPECT_NEAR(rates[1], 1.0 / 3, kNear);
  EXPECT_NEAR(rates[2], 1.0 / 3, kNear);
  EXPECT_NEAR(rates[3], 1 - 1.0 / 3, kNear);
}

struct Case {
  Loads loads{};
  std::vector<LoadId> set{};
};

Case random_case(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0.0, 1.0);
  Case result;
  const auto resources = 1 + random() % 8;
  for (std::size_t i = 0; i < resources; ++i) {
    result.loads.add_resource();
  }
  const bool ties = random() % 2 == 0;
  const auto loads = 1 + random() % 12;
  for (std::size_t i = 0; i < loads; ++i) {
    std::vector<LoadResource> on(resources);
    std::iota(on.begin(), on.end(), 0u);
    std::ranges::shuffle(on, random);
    on.resize(random() % (std::min<std::size_t>(resources, 4) + 1));
    std::vector<LoadShare> shares;
    for (const LoadResource resource : on) {
      shares.push_back(
          {resource, ties ? 0.25 * static_cast<double>(1 + random() % 4) : share(random)});
    }
    result.loads.add(shares);
    for (auto times = random() % 4; times > 0; --times) {
      result.set.push_back(static_cast<LoadId>(i));
    }
  }
  return result;
}

/// What the tasks with these rates use of a resource.
double used(const Case& c, const Rates& rates, LoadResource resource) {
  double sum = 0.0;
  for (std::size_t i = 0; i < c.set.size(); ++i) {
    for (const Loads::Part& part : c.loads.parts(c.set[i])) {
      if (part.resource == resource) {
        sum += rates[i] * static_cast<double>(part.units) / static_cast<double>(Loads::unit);
      }
    }
  }
  return sum;
}

bool fits(const Case& c, const Rates& rates) {
  for (LoadResource resource = 0; resource < c.loads.resources(); ++resource) {
    if (used(c, rates, resource) > 1 + kNear) {
      return false;
    }
  }
  return true;
}

/// Slow and plain: raise all that can still rise together, by bisection, then see who is stuck.
Rates reference(const Case& c) {
  Rates rates(c.set.size(), 0.0);
  std::vector<bool> rising(c.set.size(), true);
  const auto raised = [&](double level) {
    Rates result = rates;
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = rising[i] ? level : rates[i];
    }
    return result;
  };
  while (std::ranges::find(rising, true) != rising.end()) {
    double low = 0.0;
    double high = 1.0;
    if (fits(c, raised(1.0))) {
      return raised(1.0);
    }
    for (int i = 0; i < 60; ++i) {
      (fits(c, raised((low + high) / 2)) ? low : high) = (low + high) / 2;
    }
    rates = raised(low);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      Rates more = rates;
      more[i] += 1e-6;
      rising[i] = rising[i] && fits(c, more);
    }
  }
  return rates;
}

TEST(LoadRates, EqualThoseOfASlowSearchOnRandomSets) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    const Case c = random_case(seed);
    const Rates rates = rates_of(c.loads, c.set);
    const Rates expected = reference(c);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      ASSERT_NEAR(rates[i], expected[i], 2e-6) << seed;
    }
  }
}

TEST(LoadRates, LeaveNobodyWhoCouldRiseWithoutAnotherThatIsSlowerFalling) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    const Case c = random_case(seed);
    const Rates rates = rates_of(c.loads, c.set);
    ASSERT_TRUE(fits(c, rates)) << seed;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      ASSERT_GT(rates[i], 0.0);
      ASSERT_LE(rates[i], 1.0);
      bool held = rates[i] == 1.0;
      for (const Loads::Part& mine : c.loads.parts(c.set[i])) {
        bool highest = used(c, rates, mine.resource) > 1 - kNear;
        for (std::size_t j = 0; j < rates.size(); ++j) {
          highest = highest && (rates[j] <= rates[i] * (1 + kNear) ||
                                std::ranges::none_of(c.loads.parts(c.set[j]), [&](auto part) {
                                  return part.resource == mine.resource;
                                }));
        }
        held = held || highest;
      }
      ASSERT_TRUE(held) << seed;
    }
  }
}

TEST(LoadRates, DoNotDependOnTheNumbersOfLoadsAndResources) {
  for (std::uint32_t seed = 0; seed < 1000; ++seed) {
    const Case c = random_case(seed);
    std::mt19937 random(seed);
    std::vector<LoadResource> resource(c.loads.resources());
    std::vector<LoadId> load(c.loads.size());  // the load that is the i-th one now
    std::iota(resource.begin(), resource.end(), 0u);
    std::iota(load.begin(), load.end(), 0u);
    std::ranges::shuffle(resource, random);
    std::ranges::shuffle(load, random);
    Case other;
    for (std::size_t i = 0; i < resource.size(); ++i) {
      other.loads.add_resource();
    }
    std::vector<std::size_t> place;  // in c.set
    for (LoadId now = 0; now < load.size(); ++now) {
      std::vector<LoadShare> shares;
      for (const Loads::Part& part : c.loads.parts(load[now])) {
        shares.push_back({resource[part.resource],
                          static_cast<double>(part.units) / static_cast<double>(Loads::unit)});
      }
      std::ranges::shuffle(shares, random);
      other.loads.add(shares);
      for (std::size_t i = 0; i < c.set.size(); ++i) {
        if (c.set[i] == load[now]) {
          other.set.push_back(now);
          place.push_back(i);
        }
      }
    }
    const Rates rates = rates_of(c.loads, c.set);
    const Rates others = rates_of(other.loads, other.set);
    for (std::size_t i = 0; i < place.size(); ++i) {
      ASSERT_EQ(others[i], rates[place[i]]) << seed;  // to the last bit
    }
  }
}

TEST(LoadRates, AreRememberedAndForgottenWithoutADifference) {
  const Case c = random_case(17);
  std::mt19937 random(3);
  LoadRates all;
  LoadRates few(20);
  LoadRates none(0);
  for (LoadRates* rates : {&all, &few, &none}) {
    rates->reset(c.loads);
  }
  for (int i = 0; i < 5000; ++i) {
    std::vector<LoadId> set(1 + random() % 4);
    std::ranges::generate(set, [&] { return static_cast<LoadId>(random() % c.loads.size()); });
    std::ranges::sort(set);
    const std::span<const double> known = all.of(set);
    ASSERT_TRUE(std::ranges::equal(known, few.of(set)));
    ASSERT_TRUE(std::ranges::equal(known, none.of(set)));
  }
  EXPECT_EQ(all.patterns().found + all.patterns().known, 5000u);
  EXPECT_GT(all.patterns().known, all.patterns().found);
  EXPECT_LT(few.patterns().known, all.patterns().known);
  EXPECT_GT(few.patterns().known, 0u);
  EXPECT_EQ(none.patterns().known, 0u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
