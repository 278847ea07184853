#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/campaign/capacity.hpp"

namespace titer {
namespace TITER_TEST_FILE {

TEST(CapacityFile, CountsSpotServersAsFailures) {
  const testing::TemporaryFolder folder;
  const auto prices = [&](const std::string& more) {
    return folder.file("spot.json",
                       R"({"name": "spot", "date": "2026", "sources": {},
"devices": {"h100-sxm5-80gb": {"dollars_per_hour": 1)" +
                           more + R"(}},
"power": {"idle": 0.1, "busy": 1, "host": "350 W", "pue": 1.1}, "grid": "france"})");
  };
  const auto question = [](const std::string& file, const char* record) {
    std::vector<Assignment> changes = {{"tokens", Value("1T"), "t"}, {"prices", Value(file), "p"}};
    if (record != nullptr) {
      changes.push_back({"reliability", Value(record), "r"});
    }
    return load_capacity("llama3-70b-64xh100", changes);
  };
  const std::string file = prices(R"(, "spot_lifetime": "20 d", "spot_replacement": "30 min")");
  const Reliability without = load_reliability("assumed");
  const Reliability with = *question(file, "assumed").reliability;
  const Frequency broken = failure_rates(without, 8, 1).hardware;
  const Frequency all = failure_rates(with, 8, 1).hardware;
  EXPECT_NEAR((all - broken) * (20 * 24 * kHour), 1, 1e-9);
  // As many servers are missing as of both kinds.
  EXPECT_NEAR(
      all * with.spares.repair, broken * without.spares.repair + 30.0 * 60 / (20 * 86400.0), 1e-9);
  EXPECT_THROW(question(file, nullptr), InputError);
  EXPECT_THROW(question(prices(R"(, "spot_lifetime": "20 d")"), "assumed"), InputError);
}

TEST(CapacityFile, ReadsWhatIsBesideTheRun) {
  const auto question = [](const std::string& more) {
    return read_capacity(parse_json(R"({"scenario": "llama3-70b-64xh100", "tokens": "1T",
        "devices": 64, "prices": "gpu-clouds-2026", )" +
                                        more + "}",
                                    "q.json"));
  };
  const auto refusal = [&](const std::string& more) -> std::string {
    try {
      question(more);
    } catch (const InputError& error) {
      return error.lines.front();
    }
    return "";
  };
  const CapacityQuestion asked =
      question(R"("costs": {"staff": 5, "stored": "2 TB", "checkpoints": 3},
      "other_runs": [{"name": "small", "scenario": "llama3-70b-64xh100", "set": {"cluster.nodes": 4},
                      "tokens": "10B", "count": 3}])");
  EXPECT_EQ(asked.side_costs->staff, 5);
  EXPECT_EQ(asked.side_costs->stored, Bytes::from_si(2e12));
  ASSERT_EQ(asked.other_runs.size(), 1u);
  EXPECT_EQ(asked.other_runs[0].devices, 32);
  EXPECT_EQ(asked.other_runs[0].device_time(), 3 * 32 * asked.other_runs[0].time);
  EXPECT_TRUE(
      refusal(R"("other_runs": [{"name": "v", "scenario": "gpt3-175b-64xa100", "tokens": 9}])")
          .starts_with("v: on a100-sxm4-80gb: expected a run on h100-sxm5-80gb"));
  EXPECT_TRUE(refusal(R"("other_runs": [{"scenario": "llama3-70b-64xh100"}])")
                  .ends_with(R"(tokens: missing; expected a number of tokens, such as "15T")"))
      << refusal(R"("other_runs": [{"scenario": "llama3-70b-64xh100"}])");
  EXPECT_TRUE(refusal(R"("costs": {"stuff": 5})").find("costs.stuff: unknown key") !=
              std::string::npos);
  EXPECT_TRUE(refusal(R"("against": "aws-capacity-blocks-2024", "set": 1)").find("set") !=
              std::string::npos);
}

using Lines = std::vector<std::string>;

/// The problems of a question with these keys beside a shipped run.
Lines problems_of(const std::string& rest) {
  const testing::TemporaryFolder folder;
  const std::string file =
      folder.file("question.json", R"({"scenario": "llama3-70b-64xh100")" + rest + "}");
  try {
    static_cast<void>(load_capacity(file));
  } catch (const InputError& error) {
    Lines lines = error.lines;
    for (std::string& line : lines) {
      const std::size_t at = line.find("question.json");
      line.erase(0, at == std::string::npos ? 0 : at);
    }
    return lines;
  }
  return {};
}

TEST(CapacityFile, OfEveryShippedNameIsAnswered) {
  for (const std::string& name : shipped_names(kCapacityData)) {
    CapacityQuestion question = load_capacity(name);
    question.samples = 5;
    EXPECT_TRUE(find_capacity(question).possible()) << name;
  }
}

TEST(CapacityFile, MayBeARunThatChangesComplete) {
  const std::vector<Assignment> changes = {{"tokens", Value("2B"), "--tokens 2B"},
                                           {"plan.pipeline", Value(2), "--set"}};
  const CapacityQuestion question = load_capacity("llama3-70b-64xh100", changes);
  EXPECT_EQ(question.tokens, 2e9);
  EXPECT_EQ(question.scenario.plan.pipeline, 2);
  // All divisors of the batch, 8 x 2 devices each.
  EXPECT_EQ(question.devices.front(), 16);
  EXPECT_EQ(question.devices.back(), 16 * question.scenario.training.global_batch);
}

TEST(CapacityFile, TakesAnotherClusterHoweverManyDevicesTheRunHas) {
  const auto question = [](const std::string& batch) {
    const std::vector<Assignment> changes = {{"tokens", Value("1T"), "t"},
                                             {"batch", Value(batch), "b"},
                                             {"devices", Value("288"), "d"},
                                             {"cluster", Value("gb200-nvl72"), "--set cluster"}};
    return load_capacity("llama3-70b-64xh100", changes);
  };
  EXPECT_EQ(question("fixed").scenario.cluster.devices_per_node, 72);
  // But its batch is that of its 64 devices.
  EXPECT_THROW(static_cast<void>(question("scaled")), InputError);
}

// Racks of 72 are used by 72 or by 64.
TEST(CapacityFile, TriesWhatIsNearlyAllOfARack) {
  const std::vector<Assignment> changes = {{"tokens", Value("1T"), "t"},
                                           {"plan.tensor", Value(4), "p"},
                                           {"plan.pipeline", Value(1), "p"},
                                           {"cluster", Value("gb200-nvl72"), "c"}};
  const std::vector<std::int64_t> tried = load_capacity("llama3-70b-64xh100", changes).devices;
  for (const std::int64_t number : {4, 8, 64, 128, 512}) {
    EXPECT_NE(std::find(tried.begin(), tried.end(), number), tried.end()) << number;
  }
}

TEST(CapacityFile, TakesPriceAndPowerInPlaceOfThoseOfFiles) {
  std::vector<Assignment> changes = {{"tokens", Value("1T"), "t"},
                                     {"cluster", Value("tpu-v5p-pod"), "c"},
                                     {"plan.tensor", Value(2), "p"},
                                     {"prices", Value("gpu-clouds-2026"), "p"}};
  const auto gaps = [&] {
    const CapacityQuestion question = load_capacity("llama3-70b-64xh100", changes);
    return bill_gaps(*question.economy, question.scenario.cluster.chip);
  };
  ASSERT_EQ(gaps().size(), 2u);
  EXPECT_EQ(gaps()[0].figure, BillGap::Figure::price);
  EXPECT_EQ(gaps()[1].figure, BillGap::Figure::power);
  changes.push_back({"dollars_per_hour", Value("4.2"), "d"});
  ASSERT_EQ(gaps().size(), 1u);
  changes.push_back({"power", Value("450 W"), "w"});
  EXPECT_TRUE(gaps().empty());
  const CapacityQuestion question = load_capacity("llama3-70b-64xh100", changes);
  EXPECT_EQ(question.scenario.cluster.chip.power, 450_W);
  EXPECT_EQ(known_price(*question.economy, question.scenario.cluster.chip)->dollars_per_hour, 4.2);
}

TEST(CapacityFile, ScalesABatchByPowersOfTwo) {
  const std::vector<Assignment> changes = {{"tokens", Value("1T"), "t"},
                                           {"batch", Value("scaled"), "b"}};
  const std::vector<std::int64_t> devices = load_capacity("gpt3-175b", changes).devices;
  // 64 devices of 16 replicas: from 1 to 16 x 2^6 of them.
  EXPECT_EQ(devices.front(), 64);
  EXPECT_EQ(devices.back(), 64 * 16 * 64);
  EXPECT_EQ(devices.size(), 11u);
}

TEST(CapacityFile, ListsDevices) {
  const auto devices = [](const Value& value) {
    const std::vector<Assignment> changes = {{"tokens", Value(1e9), "t"}, {"devices", value, "d"}};
    return load_capacity("llama3-70b-64xh100", changes).devices;
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(devices(Value("64,32,64")), (Counts{32, 64}));
  EXPECT_EQ(devices(Value(64)), Counts{64});
  Value list = Value::make_array();
  list.push(128).push(64);
  EXPECT_EQ(devices(list), (Counts{64, 128}));
}

TEST(CapacityFile, ReadsCounts) {
  EXPECT_EQ(parse_count("15.6T"), 15.6e12);
  EXPECT_EQ(parse_count("300B"), 300e9);
  EXPECT_EQ(parse_count("10M"), 10e6);
  EXPECT_EQ(parse_count("5k"), 5e3);
  EXPECT_EQ(parse_count("1e9"), 1e9);
  for (const std::string_view wrong : {"", "T", "1X", "1TT", "-1T", "0", "inf", "1 T"}) {
    EXPECT_FALSE(parse_count(wrong)) << wrong;
  }
}

TEST(CapacityFile, NamesWhatIsWrong) {
  EXPECT_EQ(problems_of(R"(, "tokens": "1T")"), Lines{});
  EXPECT_EQ(problems_of(""),
            Lines{"question.json:1:1: expected tokens, a deadline or a budget (--tokens 15T, "
                  "--deadline \"60 days\", --budget 10M)"});
  EXPECT_EQ(problems_of(R"(, "tokens": "1X", "deadline": "0 s", "devices": [64, 0])").size(), 3u);
  EXPECT_EQ(problems_of(R"(, "tokens": "1T", "growth": {"years": 2, "demand": 2})").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "tokens": "1T", "grid": "france")").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "budget": "1M")"),
            Lines{"budget: expected prices too (--prices NAME; `titer list prices` shows them), "
                  "or --dollars-per-hour"});
  EXPECT_EQ(problems_of(R"(, "tokens": 1e30)"),
            Lines{"question.json:1:46: tokens: 1e+30: expected a number of tokens above zero, up "
                  "to 1e+24, such as \"15T\""});
  EXPECT_EQ(problems_of(R"(, "deadline": "1e308 days")"),
            Lines{"question.json:1:48: deadline: \"1e308 days\": expected a time above zero, up to "
                  "1000 years, such as \"60 days\""});
  EXPECT_EQ(problems_of(R"(, "deadline": "1e6 days")").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "deadline": "-5 days")").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "deadline": "2 months")"), Lines{});
  EXPECT_NE(problems_of(R"(, "deadline": 60)").at(0).find("unit"), std::string::npos);
  EXPECT_EQ(problems_of(R"(, "tokens": "1T", "reliability": "asumed")"),
            Lines{"asumed: no shipped reliability has this name; did you mean \"assumed\"? (a file "
                  "is given by a path with a slash or ending in .json)"});
  EXPECT_EQ(problems_of(R"(, "tokens": "1T", "tokns": 1)").size(), 1u);
}

TEST(CapacityFile, ReadsASlack) {
  const auto slack = [](const Value& value) {
    const std::vector<Assignment> changes = {{"tokens", Value("1T"), "t"},
                                             {"batch_slack", value, "s"}};
    return load_capacity("llama3-70b-64xh100", changes).batch_slack;
  };
  EXPECT_EQ(slack(Value("5%")), 0.05);
  EXPECT_EQ(slack(Value("5 %")), 0.05);
  EXPECT_EQ(slack(Value(0.05)), 0.05);
  for (const std::string wrong : {"5 percent", "-1%", "60%", "much"}) {
    EXPECT_EQ(problems_of(R"(, "tokens": "1T", "batch_slack": ")" + wrong + "\"").size(), 1u)
        << wrong;
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
