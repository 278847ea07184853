#include "titer/campaign/capacity_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "temporary_folder.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kDaySeconds = 86400;

/// So few tokens that what SteadyPlans do is within the chips' peaks.
Document asked(const std::string& more) {
  return parse_json(R"({"models": ["llama3-8b", "gpt3-175b"], "clusters": "dgx-a100-80gb,dgx-h100",
      "tokens": "300B")" +
                        more + "}",
                    "table.json");
}

std::vector<Assignment> changes(const std::vector<std::string>& sets) {
  return parse_assignments(sets);
}

std::vector<std::string> problems_of(const std::string& more) {
  try {
    static_cast<void>(read_capacity_table(asked(more)));
  } catch (const InputError& error) {
    return error.lines;
  }
  return {};
}

/// Of `days` on one device, and so many times faster on more, however many.
struct SteadyPlans {
  double days = 1000;
  std::int64_t least = 1;  // devices that it fits on
  double gain = 2;         // of twice as many
  std::vector<std::int64_t>* tried = nullptr;

  PlannedStep operator()(const CapacityQuestion& question, std::int64_t devices) const {
    if (tried != nullptr) {
      tried->push_back(devices);
    }
    if (devices < least) {
      return {.scenario = {}, .step = {}, .problem = "too large", .over_memory = true};
    }
    PlannedStep planned{.scenario = question.scenario};
    planned.scenario->plan = Plan{};
    planned.scenario->plan.data = devices;
    planned.step.iteration_time = 10_s;
    planned.step.breakdown.forward = 5_s;
    planned.step.tokens_per_s = *question.tokens / (days * kDaySeconds) *
                                std::pow(gain, std::log2(static_cast<double>(devices)));
    return planned;
  }
};

TEST(CapacityTableFile, MakesAQuestionOfEachCombination) {
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": ["60d", "8 weeks"])"));
  ASSERT_EQ(table.cases.size(), 2u * 2u * 2u);
  EXPECT_EQ(table.cases[2].model, "llama3-8b");
  EXPECT_EQ(table.cases[2].cluster, "dgx-h100");
  EXPECT_EQ(table.cases[2].question->pair, 1u);
  EXPECT_EQ(table.cases[3].question->deadline->si(), 8 * 7 * kDaySeconds);
  EXPECT_TRUE(table.cases[3].question->devices.empty());
  EXPECT_FALSE(table.has_run);
}

TEST(CapacityTableFile, SaysWhatItTakesForTheTraining) {
  const CapacityTable usual = read_capacity_table(asked(R"(, "deadlines": "60d")"));
  // 16 Mi tokens in sequences of 8192, and of 2048, the longest of GPT-3.
  EXPECT_EQ(usual.cases[0].question->scenario.training.global_batch, 2048);
  EXPECT_EQ(usual.cases[2].question->scenario.training.sequence, 2048);
  EXPECT_EQ(usual.cases[2].question->scenario.training.global_batch, 16 * 1024 * 1024 / 2048);
  EXPECT_EQ(usual.assumed.size(), 2u);
  const CapacityTable given = read_capacity_table(
      asked(R"(, "deadlines": "60d")"),
      changes({"training.sequence=1024", "training.global_batch=64", "training.precision=fp16"}));
  EXPECT_EQ(given.cases[3].question->scenario.training.sequence, 1024);
  EXPECT_EQ(given.cases[3].question->scenario.training.global_batch, 64);
  EXPECT_EQ(given.cases[3].question->scenario.training.precision, DataType::fp16);
  EXPECT_TRUE(given.assumed.empty());
}

TEST(CapacityTableFile, TakesARunsOwn) {
  const std::vector<Assignment> asked = {{"tokens", Value("1T"), "t"},
                                         {"deadlines", Value("60d"), "d"},
                                         {"clusters", Value("dgx-h100,dgx-b200"), "c"}};
  const CapacityTable table = load_capacity_table("llama3-70b-64xh100", asked);
  ASSERT_EQ(table.cases.size(), 2u);
  EXPECT_TRUE(table.has_run);
  EXPECT_EQ(table.cases[1].model, "llama3-70b");
  EXPECT_EQ(table.cases[1].cluster, "dgx-b200");
  EXPECT_EQ(table.cases[1].question->scenario.plan.tensor, 8);
  EXPECT_TRUE(table.assumed.empty());
}

TEST(CapacityTableFile, HasStacksOfClusters) {
  const CapacityTable table =
      read_capacity_table(asked(R"(, "deadlines": "60d", "stacks": "megatron-core,nemo")"));
  EXPECT_EQ(table.cases[0].stack, "megatron-core");
  EXPECT_EQ(table.cases[1].stack, "nemo");
}

TEST(CapacityTableFile, HasPricesOfClusters) {
  const CapacityTable table = read_capacity_table(parse_json(
      R"({"models": "llama3-8b", "clusters": "dgx-h100,dgx-h100", "tokens": "300B",
          "deadlines": "60d", "prices": ["gpu-clouds-2026", "owned-assumed"]})",
      "table.json"));
  ASSERT_EQ(table.cases.size(), 2u);
  EXPECT_EQ(table.cases[0].question->economy->name, "gpu-clouds-2026");
  EXPECT_EQ(table.cases[1].question->economy->name, "owned-assumed");
}

TEST(CapacityTableFile, RefusesWhatNoRowCanAnswer) {
  EXPECT_EQ(problems_of(R"(, "deadlines": "60d")"), std::vector<std::string>());
  EXPECT_EQ(problems_of("").size(), 1u);  // neither a deadline nor devices
  EXPECT_EQ(problems_of(R"(, "deadlines": "60 dys")").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "deadlines": "60d", "deadline": "60d")").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "deadlines": "60d", "stacks": ["nemo", "fsdp", "nemo"])").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "deadlines": [60])").size(), 1u);
  EXPECT_EQ(problems_of(R"(, "deadlines": "60d", "tokns": 1)").size(), 1u);
  Document unknown = parse_json(
      R"({"models": "llama3-70c", "clusters": "dgx-h101", "tokens": "1T", "deadlines": "60d"})",
      "table.json");
  try {
    static_cast<void>(read_capacity_table(unknown));
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.size(), 2u);
  }
}

/// What is wrong of all rows is said once, and all of it.
TEST(CapacityTableFile, SaysAllThatIsWrongWithPrices) {
  const testing::TemporaryFolder folder;
  const std::string prices = folder.file("prices.json", R"({"name": "p", "grid": "france"})");
  const std::vector<std::string> problems =
      problems_of(", \"deadlines\": \"60d,90d\", \"prices\": \"" + prices + "\"");
  EXPECT_EQ(problems,
            (std::vector<std::string>{prices + ":1:1: date: missing; expected a text in quotes",
                                      prices + ":1:1: devices: missing; expected an object"}));
}

TEST(CapacityTable, LeavesACombinationThatCannotBeAskedInItsRow) {
  // No price of one of the chips, so that its budget says nothing.
  const CapacityTable table = read_capacity_table(
      asked(R"(, "deadlines": "60d", "budget": "10M", "prices": "aws-capacity-blocks-2024")"));
  const std::vector<CapacityRow> rows = find_rows(table, SteadyPlans{});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].miss, "not possible");
  EXPECT_NE(rows[0].reason.find("no price of a100-sxm4-80gb"), std::string::npos) << rows[0].reason;
  EXPECT_TRUE(rows[1].possible()) << rows[1].miss;
}

TEST(CapacityTable, FindsTheFewestDevicesOfUsualSizes) {
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "8d,9d")"));
  std::vector<std::int64_t> tried;
  const std::vector<CapacityRow> rows =
      find_rows(table, SteadyPlans{.days = 1000, .tried = &tried});
  // 1000 days by twice as many devices in half the time: 125 devices in 8 days, 112 in 9.
  EXPECT_EQ(rows[0].point->devices, 128);
  EXPECT_EQ(rows[1].point->devices, 112);
  EXPECT_NEAR(rows[1].point->time.si() / kDaySeconds, 1000.0 / 112, 1e-9);
  EXPECT_LE(tried.size(), 4u * 8u);  // of some 80 sizes
}

/// Sizes that share nothing out have no plan, which says nothing of those beside them.
TEST(CapacityTable, FindsTheFewestDevicesBetweenSizesThatWillNotDo) {
  const auto fewest = [](const std::string& deadline, const std::vector<std::int64_t>& with_plan) {
    const PlanFinder plan = [&](const CapacityQuestion& question, std::int64_t devices) {
      return std::ranges::count(with_plan, devices) == 0
                 ? PlannedStep{.problem = "shares nothing out"}
                 : SteadyPlans{.days = 1000}(question, devices);
    };
    const CapacityTable table = read_capacity_table(asked(", \"deadlines\": \"" + deadline + "\""));
    return find_rows(table, plan)[0].point->devices;
  };
  EXPECT_EQ(fewest("8d", {96, 112, 160, 224, 640}), 160);   // 125 would do
  EXPECT_EQ(fewest("13d", {64, 80, 160, 192, 256}), 80);    // 77 would do
  EXPECT_EQ(fewest("13d", {64, 112, 160, 192, 256}), 112);  // of those with a plan
}

/// Racks of 72 share out few batches; 64 of each do.
TEST(CapacityTable, FindsTheFewestDevicesOfRacksThatAreMostlyUsed) {
  const PlanFinder plan = [](const CapacityQuestion& question, std::int64_t devices) {
    return SteadyPlans{.days = devices % 64 == 0 ? 1000.0 : 4000.0}(question, devices);
  };
  const std::vector<Assignment> racks = changes({"models=llama3-8b", "clusters=gb200-nvl72"});
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "9d,4d")"), racks);
  const std::vector<CapacityRow> rows = find_rows(table, plan);
  EXPECT_EQ(rows[0].point->devices, 2 * 64);  // 111 would do
  EXPECT_EQ(rows[1].point->devices, 4 * 64);  // 250
}

/// As where only large numbers share a batch out well.
TEST(CapacityTable, GoesOnFromOneNumberOfDevicesThatIsSlowerThanFewer) {
  const PlanFinder plan = [](const CapacityQuestion& question, std::int64_t devices) {
    const bool is_bad = devices > 100 && devices < 1000;
    return SteadyPlans{.days = is_bad ? 20.0 * static_cast<double>(devices) : 1000.0}(question,
                                                                                      devices);
  };
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "2d")"));
  EXPECT_EQ(find_rows(table, plan)[0].point->devices, 1024);
}

TEST(CapacityTable, LeavesOutOnlyPlansThatAreTooSlowWhereItLooksForFewerDevices) {
  const PlanFinder plan = [](const CapacityQuestion& question, std::int64_t devices) {
    PlannedStep planned = SteadyPlans{.days = 1000}(question, devices);
    const double least = question.least_tokens_per_s;
    return planned.step.tokens_per_s < least ? PlannedStep{.problem = "too slow"} : planned;
  };
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "9d,8d,9d")"));
  const std::vector<CapacityRow> rows = find_rows(table, plan);
  EXPECT_EQ(rows[0].point->devices, 112);
  EXPECT_EQ(rows[1].point->devices, 128);
  EXPECT_EQ(rows[2].point->devices, 112) << "what is too slow for 8 days may do for 9";
}

TEST(CapacityTable, KeepsTheDeadlineWithTheChanceAskedFor) {
  const PlanFinder plan = [](const CapacityQuestion& question, std::int64_t devices) {
    PlannedStep planned = SteadyPlans{.days = 1000}(question, devices);
    planned.step.error_bar = ErrorBar{.low = 8_s, .high = 12_s};  // of 10 s
    return planned;
  };
  const auto devices = [&](const std::string& more) {
    return find_rows(read_capacity_table(asked(R"(, "deadlines": "10d")" + more)), plan)[0]
        .point->devices;
  };
  EXPECT_EQ(devices(""), 112);                      // 100 would do
  EXPECT_EQ(devices(R"(, "chance": "90%")"), 128);  // 120 would do
  const CapacityTable table =
      read_capacity_table(asked(R"(, "deadlines": "10d", "chance": "90%", "devices": 112)"));
  const CapacityRow row = find_rows(table, plan)[0];
  EXPECT_TRUE(row.miss.ends_with(" % in time")) << row.miss;
  EXPECT_NE(row.reason.find("the deadline is kept by "), std::string::npos) << row.reason;
}

TEST(CapacityTable, RemembersPlansFromDeadlineToDeadline) {
  std::vector<std::int64_t> tried;
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "8d,8d")"));
  static_cast<void>(find_rows(table, SteadyPlans{.tried = &tried}));
  std::vector<std::int64_t> once;
  const CapacityTable one = read_capacity_table(asked(R"(, "deadlines": "8d")"));
  static_cast<void>(find_rows(one, SteadyPlans{.tried = &once}));
  EXPECT_EQ(tried, once);
}

TEST(CapacityTable, StartsWhereAPlanFits) {
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "900d")"));
  const std::vector<CapacityRow> rows = find_rows(table, SteadyPlans{.least = 20});
  EXPECT_EQ(rows[0].point->devices, 24);
  EXPECT_TRUE(rows[0].possible());
}

TEST(CapacityTable, SaysInAFewWordsWhyNot) {
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "8d", "devices": 100)"));
  EXPECT_EQ(find_rows(table, SteadyPlans{})[0].miss, "25 % too slow");  // 10 days
  EXPECT_EQ(find_rows(table, SteadyPlans{.days = 2000})[0].miss, "2.5 times as long");
  EXPECT_EQ(find_rows(table, SteadyPlans{.days = 801})[0].miss, "0.1 % too slow");
  EXPECT_EQ(find_rows(table, SteadyPlans{.days = 799})[0].miss, "");
  const CapacityRow full = find_rows(table, SteadyPlans{.least = 101})[0];
  EXPECT_EQ(full.miss, "does not fit");
  EXPECT_EQ(full.reason, "100 devices: too large");
  EXPECT_FALSE(full.point);
}

TEST(CapacityTable, EndsWhereMoreDevicesAreNoFaster) {
  std::vector<std::int64_t> tried;
  const CapacityTable table = read_capacity_table(asked(R"(, "deadlines": "8d")"));
  const std::vector<CapacityRow> rows = find_rows(table, SteadyPlans{.gain = 1, .tried = &tried});
  EXPECT_EQ(rows[0].miss, "125 times as long") << rows[0].miss;
  EXPECT_LE(tried.size(), 4u * (3u + 4u));
}

/// Odd numbers have plans that are no good, as those of whole pods do.
TEST(CapacityTable, LooksBetweenSizesWhereTheLargestWillNotDo) {
  const CapacityTable table = read_capacity_table(
      parse_json(R"({"models": "llama3-8b", "clusters": "tpu-v5p-pod", "tokens": "1T",
                     "deadlines": "8d"})",
                 "table.json"));
  const PlanFinder plan = [](const CapacityQuestion& question, std::int64_t devices) {
    const bool is_pod = devices == 8960;
    return SteadyPlans{.days = is_pod ? 500'000.0 : 40'000.0}(question, devices);
  };
  const std::vector<CapacityRow> rows = find_rows(table, plan);
  ASSERT_TRUE(rows[0].possible()) << rows[0].miss;
  EXPECT_GE(rows[0].point->devices, 5000);  // 40000 days of one device in 8
  EXPECT_LT(rows[0].point->devices, 8960);
}

TEST(CapacityTable, HasARowForEachNumberOfDevicesWithoutADeadline) {
  const CapacityTable table = read_capacity_table(asked(R"(, "devices": [64, 128])"));
  const std::vector<CapacityRow> rows = find_rows(table, SteadyPlans{});
  ASSERT_EQ(rows.size(), 2u * 2u * 2u);
  EXPECT_EQ(rows[0].point->devices, 64);
  EXPECT_EQ(rows[1].point->devices, 128);
}

TEST(CapacityTable, IsSortedAndCutToTheBest) {
  const CapacityTable table =
      read_capacity_table(asked(R"(, "deadlines": "8d", "prices": "aws-capacity-blocks-2024")"));
  const PlanFinder plan = [](const CapacityQuestion& question, std::int64_t devices) {
    const bool is_large = question.scenario.model.name() == "gpt3-175b";
    const bool is_old = question.scenario.cluster.name == "dgx-a100-80gb";
    return SteadyPlans{.days = (is_large ? 4000.0 : 1000.0) * (is_old ? 2 : 1)}(question, devices);
  };
  const auto names = [](const std::vector<CapacityRow>& rows) {
    std::string text;
    for (const CapacityRow& row : rows) {
      text += row.of->model + " " + row.of->cluster + "; ";
    }
    return text;
  };
  std::vector<CapacityRow> rows = find_rows(table, plan);
  sort_rows(RowOrder::devices, rows);
  EXPECT_EQ(names(rows),
            "llama3-8b dgx-h100; llama3-8b dgx-a100-80gb; gpt3-175b dgx-h100; gpt3-175b "
            "dgx-a100-80gb; ");
  sort_rows(RowOrder::dollars, rows);  // nobody says what an A100 of 80 GB costs
  EXPECT_EQ(names(rows),
            "llama3-8b dgx-h100; gpt3-175b dgx-h100; llama3-8b dgx-a100-80gb; gpt3-175b "
            "dgx-a100-80gb; ");
  keep_best(BestOf::model, RowOrder::devices, rows);
  EXPECT_EQ(names(rows), "llama3-8b dgx-h100; gpt3-175b dgx-h100; ");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
