#include "titer/scenario/conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "scenario/scenarios.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using Lines = std::vector<std::string>;

/// 64 devices, 8 in a node, with these conditions.
ScenarioSource source_with(const std::string& conditions) {
  return scenarios::shipped_source({"conditions=" + conditions});
}
Conditions conditions_of(const std::string& text) { return source_with(text).read().conditions; }

Lines complaints(const std::string& conditions) {
  try {
    static_cast<void>(source_with(conditions).read());
  } catch (const InputError& error) {
    Lines lines;
    for (const std::string& line : error.lines) {
      lines.push_back(line.substr(line.find(" conditions.") + 1));  // less the place
    }
    return lines;
  }
  return {};
}

TEST(Conditions, LeaveDevicesAlikeWhereThereAreNone) {
  const Conditions none = scenarios::shipped_run().conditions;
  EXPECT_TRUE(none.uniform());
  EXPECT_FALSE(none.noisy());
  EXPECT_EQ(none.compute_factor(3, 1, 1), 1.0);
  EXPECT_EQ(none.transfer_factor(3, true), 1.0);
  EXPECT_EQ(none.transfer_noise(3, 1, 1), 1.0);
  EXPECT_EQ(none.chip_class(3), 0U);
  EXPECT_TRUE(conditions_of("{}").uniform());
  EXPECT_TRUE(conditions_of(R"({"devices": [{"devices": 1, "speed": 1}]})").uniform());
}

TEST(Conditions, SlowDownTheDevicesTheyName) {
  const Conditions read = conditions_of(
      R"({"devices": [{"devices": "8-15", "speed": 0.5},
                      {"nodes": 3, "network_bandwidth": 0.25, "node_bandwidth": 0.8},
                      {"devices": "0,40-41", "speed": 2}]})");
  EXPECT_FALSE(read.uniform());
  EXPECT_FALSE(read.noisy());
  for (std::int64_t device = 0; device < 64; ++device) {
    const bool slow = device / 8 == 1;
    const bool quick = device == 0 || device == 40 || device == 41;
    const bool far = device / 8 == 3;
    EXPECT_EQ(read.compute_factor(device, 0, 0), slow ? 1 / 0.5 : quick ? 1 / 2.0 : 1.0) << device;
    EXPECT_EQ(read.transfer_factor(device, true), far ? 1 / 0.25 : 1.0) << device;
    EXPECT_EQ(read.transfer_factor(device, false), far ? 1 / 0.8 : 1.0) << device;
  }
}

TEST(Conditions, MultiplyWhereTheyMeet) {
  const Conditions read = conditions_of(
      R"({"devices": [{"nodes": "0-1", "speed": 0.5}, {"devices": "4-11", "speed": 0.8},
                      {"devices": 5, "network_bandwidth": 0.1}]})");
  EXPECT_EQ(read.compute_factor(3, 0, 0), 1 / 0.5);
  EXPECT_EQ(read.compute_factor(5, 0, 0), 1 / 0.5 * (1 / 0.8));
  EXPECT_EQ(read.transfer_factor(5, true), 1 / 0.1);
  EXPECT_EQ(read.transfer_factor(6, true), 1.0);
  EXPECT_EQ(read.compute_factor(12, 0, 0), 1 / 0.5);
  EXPECT_EQ(read.compute_factor(16, 0, 0), 1.0);
}

TEST(Conditions, AsDisjointRangesMeanTheSame) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<DeviceCondition> written(1 + random() % 6);
    for (std::size_t i = 0; i < written.size(); ++i) {
      DeviceCondition& one = written[i];
      one.first = static_cast<std::int64_t>(random() % 20);
      one.last = one.first + static_cast<std::int64_t>(random() % 10);
      one.compute = static_cast<double>(1U << random() % 4);  // products are exact
      one.network = static_cast<double>(1U << random() % 4);
      if (random() % 3 == 0) {
        one.chip = random() % 2;
      }
      one.entry = i;
    }
    Conditions conditions;
    conditions.devices = disjoint(written);
    for (std::size_t i = 1; i < conditions.devices.size(); ++i) {
      ASSERT_LT(conditions.devices[i - 1].last, conditions.devices[i].first);
    }
    for (std::int64_t device = 0; device < 32; ++device) {
      double compute = 1;
      double network = 1;
      std::size_t chip = 0;
      for (const DeviceCondition& one : written) {
        if (one.first <= device && device <= one.last) {
          compute *= one.compute;
          network *= one.network;
          chip = one.chip ? *one.chip + 1 : chip;
        }
      }
      ASSERT_EQ(conditions.compute_factor(device, 0, 0), compute);
      ASSERT_EQ(conditions.transfer_factor(device, true), network);
      ASSERT_EQ(conditions.chip_class(device), chip);
    }
  }
}

TEST(Conditions, ParseRanges) {
  const auto text_of = [](std::string_view text) {
    std::string found;
    for (const DeviceRange& range : parse_ranges(text)) {
      found += std::to_string(range.first) + "-" + std::to_string(range.last) + ";";
    }
    return found;
  };
  EXPECT_EQ(text_of("3"), "3-3;");
  EXPECT_EQ(text_of(" 0 - 3, 8,10-10"), "0-3;8-8;10-10;");
  for (const char* wrong : {"", ",", "3,", "-3", "3-", "5-4", "a", "1.5", "1-2-3", "99999999999"}) {
    EXPECT_EQ(text_of(wrong), "") << wrong;
  }
}

constexpr const char* kNoise =
    R"({"seed": 11, "compute_jitter": {"distribution": "normal", "deviation": 0.05},
        "transfer_jitter": {"distribution": "gamma", "deviation": 0.2},
        "devices": [{"devices": 2, "speed": 0.5}]})";

TEST(Conditions, DrawTheSameFactorForTheSameNameOnly) {
  const Conditions read = conditions_of(kNoise);
  EXPECT_TRUE(read.noisy());
  EXPECT_EQ(read.compute_factor(1, 7, 3), read.compute_factor(1, 7, 3));
  EXPECT_EQ(read.transfer_noise(1, 7, 3), read.transfer_noise(1, 7, 3));
  EXPECT_NE(read.compute_factor(1, 7, 3), read.compute_factor(1, 8, 3));
  EXPECT_NE(read.compute_factor(1, 7, 3), read.compute_factor(1, 7, 4));
  EXPECT_NE(read.compute_factor(1, 7, 3), read.compute_factor(3, 7, 3));
  EXPECT_NE(read.compute_factor(1, 7, 3), read.transfer_noise(1, 7, 3));
  Conditions other = read;
  other.seed = 12;
  EXPECT_NE(read.compute_factor(1, 7, 3), other.compute_factor(1, 7, 3));
}

TEST(Conditions, PutNoiseOnTopOfWhatIsFixed) {
  const Conditions read = conditions_of(kNoise);
  Conditions alike = read;
  alike.devices.clear();
  EXPECT_EQ(read.compute_factor(2, 5, 1), 2 * alike.compute_factor(2, 5, 1));
  const Conditions quiet = read.quiet();
  EXPECT_FALSE(quiet.noisy());
  EXPECT_FALSE(quiet.uniform());
  EXPECT_EQ(quiet.compute_factor(2, 5, 1), 1 / 0.5);
  EXPECT_EQ(quiet.transfer_noise(2, 5, 1), 1.0);
}

TEST(Stragglers, AreAsManyAsTheirProbabilitySays) {
  Conditions conditions;
  conditions.stragglers = {.probability = 0.02, .slowdown = 3, .per = Stragglers::Per::pass};
  constexpr int count = 100'000;
  int slow = 0;
  for (int draw = 0; draw < count; ++draw) {
    const double factor = conditions.compute_factor(draw % 5, static_cast<std::uint64_t>(draw), 0);
    ASSERT_TRUE(factor == 1 || factor == 3);
    slow += factor == 3 ? 1 : 0;
  }
  const double error = std::sqrt(count * 0.02 * 0.98);
  EXPECT_NEAR(slow, count * 0.02, 4 * error);
}

/// Which of some devices are slow at a draw of a sample.
std::vector<bool> slow_devices(const Conditions& conditions, std::uint64_t draw, std::uint32_t n) {
  std::vector<bool> slow;
  for (std::int64_t device = 0; device < 1000; ++device) {
    slow.push_back(conditions.compute_factor(device, draw, n) > 1);
  }
  return slow;
}

TEST(Stragglers, StayOnesForAsLongAsTheySay) {
  Conditions conditions;
  conditions.stragglers = {.probability = 0.1, .slowdown = 2, .per = Stragglers::Per::device};
  EXPECT_EQ(slow_devices(conditions, 0, 0), slow_devices(conditions, 1, 0));
  EXPECT_EQ(slow_devices(conditions, 0, 0), slow_devices(conditions, 0, 1));
  conditions.stragglers->per = Stragglers::Per::step;
  EXPECT_EQ(slow_devices(conditions, 0, 0), slow_devices(conditions, 1, 0));
  EXPECT_NE(slow_devices(conditions, 0, 0), slow_devices(conditions, 0, 1));
  conditions.stragglers->per = Stragglers::Per::pass;
  EXPECT_NE(slow_devices(conditions, 0, 0), slow_devices(conditions, 1, 0));
}

TEST(Stragglers, AreNoneOrAllAtTheEnds) {
  Conditions conditions;
  conditions.stragglers = {.probability = 0, .slowdown = 2, .per = Stragglers::Per::step};
  EXPECT_EQ(slow_devices(conditions, 0, 0), std::vector<bool>(1000, false));
  conditions.stragglers->probability = 1;
  EXPECT_EQ(slow_devices(conditions, 0, 0), std::vector<bool>(1000, true));
}

// The book's case: a K80 is half as fast as a V100, so that a model of L layers is split 1/3 to 2/3
// among them, or a batch N to 2N. [F53]
TEST(MixedSpeeds, FinishTogetherWhereTheSlowHalfGetsAThirdOfTheWork) {
  const Conditions mixed = conditions_of(R"({"devices": [{"devices": 0, "speed": 0.5}]})");
  const auto time = [&](std::int64_t device, double work) {
    return work * mixed.compute_factor(device, 0, 0);
  };
  constexpr double layers = 96;
  EXPECT_EQ(time(0, layers / 3), time(1, 2 * layers / 3));
  // A synchronous step takes the slowest: even halves take half as long again. [F55]
  const double balanced = std::max(time(0, layers / 3), time(1, 2 * layers / 3));
  const double even = std::max(time(0, layers / 2), time(1, layers / 2));
  EXPECT_EQ(even / balanced, 1.5);
}

TEST(ReadConditions, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(complaints(R"({"sed": 1})"),
            Lines{R"(conditions.sed: unknown key; did you mean "seed"?)"});
  EXPECT_EQ(complaints(R"({"devices": [{"devices": 1, "sped": 2}]})"),
            Lines{R"(conditions.devices.0.sped: unknown key; did you mean "speed"?)"});
  EXPECT_EQ(
      complaints(R"({"stragglers": {"probability": 0.1, "slowdown": 2, "whenever": 1}})"),
      Lines{"conditions.stragglers.whenever: unknown key; known keys: probability, slowdown, per"});
  const Lines lines =
      complaints(R"({"compute_jitter": {"distribution": "norml", "deviation": 0.1}})");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("normal, lognormal, gamma, uniform, exponential"), std::string::npos);
  EXPECT_NE(lines[0].find("did you mean \"normal\"?"), std::string::npos);
}

TEST(ReadConditions, RefusesFiguresOutOfRange) {
  for (const char* wrong : {R"({"seed": -1})",
                            R"({"devices": [{"devices": 1, "speed": 0}]})",
                            R"({"devices": [{"devices": 1, "network_bandwidth": -1}]})",
                            R"({"compute_jitter": {"distribution": "normal", "deviation": 0.2}})",
                            R"({"compute_jitter": {"distribution": "gamma", "deviation": 1.5}})",
                            R"({"compute_jitter": {"distribution": "gamma"}})",
                            R"({"transfer_jitter": {"deviation": 0.1}})",
                            R"({"stragglers": {"probability": 1.1, "slowdown": 2}})",
                            R"({"stragglers": {"probability": 0.1, "slowdown": 0.5}})",
                            R"({"stragglers": {"probability": 0.1}})"}) {
    EXPECT_EQ(complaints(wrong).size(), 1U) << wrong;
  }
}

TEST(ReadConditions, RefusesDevicesThatAreNone) {
  const std::string expected = ": expected numbers from 0, such as 3, \"8-15\" or \"0-3,8\"";
  for (const char* wrong : {"\"5-4\"", "\"x\"", "1.5", "-1", "[1]"}) {
    const Lines lines =
        complaints(std::string(R"({"devices": [{"speed": 2, "devices": )") + wrong + "}]}");
    ASSERT_EQ(lines.size(), 1U) << wrong;
    EXPECT_TRUE(lines[0].starts_with("conditions.devices.0.devices: ")) << lines[0];
    EXPECT_TRUE(lines[0].ends_with(expected)) << lines[0];
  }
  EXPECT_EQ(complaints(R"({"devices": [{"speed": 2}]})").size(), 1U);
  EXPECT_EQ(complaints(R"({"devices": [{"speed": 2, "nodes": 1, "devices": 1}]})").size(), 1U);
}

TEST(ReadConditions, RefusesDevicesBeyondThePlan) {
  EXPECT_EQ(complaints(R"({"devices": [{"devices": 63, "speed": 2}]})"), Lines());
  EXPECT_EQ(
      complaints(R"({"devices": [{"devices": 3, "speed": 2}, {"nodes": "7-8", "speed": 2}]})"),
      Lines{"conditions.devices.1: 71: expected devices of the plan's 64, numbered from 0"});
}

TEST(ReadConditions, RefusesTwoChipsForOneDevice) {
  const auto chips = [](const std::string& first, const std::string& second) {
    return complaints(R"({"devices": [{"devices": ")" + first + R"(", "chip": "v100-sxm2-32gb"},
                                      {"devices": ")" +
                      second + R"(", "chip": "h100-sxm5-80gb"},
                                      {"devices": "0-63", "speed": 0.5}]})");
  };
  EXPECT_EQ(chips("0-7", "8-15"), Lines());
  EXPECT_EQ(chips("8-15", "0-7,16"), Lines());
  for (const char* second : {"7", "0-3", "4-20", "63,5-5"}) {
    const Lines lines = chips("0-7", second);
    ASSERT_EQ(lines.size(), 1U) << second;
    EXPECT_TRUE(lines[0].starts_with("conditions.devices.1.devices: ")) << lines[0];
    EXPECT_TRUE(lines[0].ends_with(" has another one in conditions.devices.0")) << lines[0];
  }
  EXPECT_EQ(
      chips("0-7", "6-9"),
      Lines{"conditions.devices.1.devices: \"6-9\": expected one chip for each device: device 6 "
            "has another one in conditions.devices.0"});
}

TEST(ReadConditions, TakesEverySpreadAndEveryDurationOfStragglers) {
  for (const Choice<Spread>& spread : kSpreads) {
    const Conditions read = conditions_of(R"({"compute_jitter": {"distribution": ")" +
                                          std::string(spread.name) + R"(", "deviation": 0.1}})");
    ASSERT_TRUE(read.compute_jitter);
    EXPECT_EQ(read.compute_jitter->spread, spread.value);
    EXPECT_EQ(read.compute_jitter->deviation, 0.1);
  }
  for (const Choice<Stragglers::Per>& per : kStragglerPers) {
    const Conditions read =
        conditions_of(R"({"stragglers": {"probability": 0.001, "slowdown": 1.5, "per": ")" +
                      std::string(per.name) + "\"}}");
    ASSERT_TRUE(read.stragglers);
    EXPECT_EQ(read.stragglers->per, per.value);
    EXPECT_EQ(read.stragglers->slowdown, 1.5);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
