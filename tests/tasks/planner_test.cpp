// What whoever plans capacity asks.

#include <fmt/format.h>

#include "tasks/task.hpp"
#include "view/html.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr double kDay = 86400;

/// A year's questions of a planner, answered in one file: once, as some of them take a search of
/// seconds.
const Report& all_answers() {
  static const Outcome outcome = titer({"report", "llama3-70b-10t-tokens"});
  static const Report report(outcome.out);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return report;
}

/// Of the answer to one of these questions, what stands in a row of its table of all columns.
std::string told(int question, int row, const std::string& column) {
  const std::string table =
      fmt::format("//article[@id='answer-{}']//table[thead//th='time_s']", question);
  const std::string head = fmt::format("{}/thead/tr/th[.='{}']", table, column);
  EXPECT_EQ(all_answers().count(head.c_str()), 1u) << column;
  return all_answers().words(
      fmt::format("{}/tbody/tr[{}]/*[1+count({}/preceding-sibling::th)]", table, row, head)
          .c_str());
}

double told_number(int question, int row, const std::string& column) {
  return std::stod(told(question, row, column));
}

/// Models on clusters in one table, the soonest first, each row whole.
TEST(PlannerTasks, ModelsOnClustersInOneTable) {
  const Document table = answer({"compare",
                                 "--model=llama3-8b,llama3-70b",
                                 "--cluster=dgx-h100,dgx-b200",
                                 "--tokens=2T",
                                 "--deadline=60d",
                                 "--prices=cloud-lists-2026",
                                 "--sort=days"});
  const std::vector<Value>& rows = table.at("rows")->items;
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_GT(rows[i].find("dollars")->number, 0);
    EXPECT_LE(rows[i].find("time_s")->number, 60 * kDay);
    EXPECT_GE(rows[i].find("time_s")->number, rows[i == 0 ? 0 : i - 1].find("time_s")->number);
  }
}

/// A 70B model, 10 T tokens, 60 days on H100: the fewest that do are between numbers that do not
/// and those that do, and none of them is only a power of two.
TEST(PlannerTasks, DevicesForTokensByADeadline) {
  const Document capacity = answer({"capacity",
                                    "llama3-70b-64xh100",
                                    "--set=training.global_batch=1024",
                                    "--tokens=10T",
                                    "--deadline=60d",
                                    "--batch-slack=5%",
                                    "--devices=2048,2560,3072,4096"});
  EXPECT_EQ(text(capacity, "model"), "llama3-70b");
  EXPECT_EQ(text(capacity, "cluster"), "dgx-h100");
  const auto fewest = static_cast<std::int64_t>(number(capacity, "answers.fewest"));
  for (const Value& point : capacity.at("points")->items) {
    const bool in_time = point.find("time_s")->number <= 60 * kDay;
    EXPECT_EQ(in_time, point.find("devices")->integer >= fewest);
    EXPECT_DOUBLE_EQ(point.find("time_s")->number * point.find("devices")->number / 3600,
                     point.find("device_hours")->number);
  }
}

TEST(PlannerTasks, TheSameOnAnotherMachineWithTheBestPlans) {
  EXPECT_EQ(told(2, 1, "cluster"), "dgx-b200");
  EXPECT_LE(told_number(2, 1, "time_s"), 60 * kDay);
  EXPECT_LT(told_number(2, 1, "devices"), told_number(2, 2, "devices"));
  EXPECT_LT(told_number(2, 1, "memory_peak_bytes"), told_number(2, 1, "memory_capacity_bytes"));
}

/// The fewest of all slices, though some between have no plan: they share out neither layers nor
/// batch.
TEST(PlannerTasks, TheFewestTpusInTime) {
  const auto asked = [](const std::string& devices) {
    std::vector<std::string> arguments = {
        "compare", "--model=llama3-70b", "--cluster=tpu-v5p-pod", "--tokens=10T", "--deadline=63d"};
    if (!devices.empty()) {
      arguments.push_back("--devices=" + devices);
    }
    return arguments;
  };
  const Document fewest = answer(asked(""));
  EXPECT_LE(number(fewest, "rows.0.time_s"), 63 * kDay);
  EXPECT_LE(number(fewest, "rows.0.devices"), number(answer(asked("3584")), "rows.0.devices"));
  EXPECT_GT(number(answer(asked("3072"), 1), "rows.0.time_s"), 63 * kDay);
}

/// Slices of TPUs at a price of one's own; no number of them keeps the deadline, which is said.
TEST(PlannerTasks, TheSameOnTpusAtAPriceOfOnesOwn) {
  const double hours = told_number(3, 1, "device_hours");
  EXPECT_LE(told_number(3, 1, "dollars_low"), 4.2 * hours);
  EXPECT_GE(told_number(3, 1, "dollars_high"), 4.2 * hours);
}

TEST(PlannerTasks, AMixtureOfExpertsOnTwoMachines) {
  for (const int row : {1, 2}) {
    EXPECT_EQ(told(4, row, "model"), "mixtral-8x22b");
    EXPECT_LE(told_number(4, row, "time_s"), 60 * kDay);
  }
}

/// Hundreds of experts, 61 layers: a pipeline of stages that are not alike is among what is
/// searched.
TEST(PlannerTasks, HundredsOfExpertsByTheBestPlan) {
  EXPECT_EQ(told(5, 1, "model"), "deepseek-v3");
  EXPECT_GT(told_number(5, 1, "pipeline"), 1);
  EXPECT_GT(told_number(5, 1, "expert"), 1);
}

TEST(PlannerTasks, EnergyAndCarbonOnAnotherGrid) {
  const Document here = answer({"capacity", "llama3-405b"});
  const Document there = answer({"capacity", "llama3-405b", "--grid=france"});
  EXPECT_EQ(number(there, "points.0.energy_j"), number(here, "points.0.energy_j"));
  EXPECT_LT(number(there, "points.0.kilograms_co2e"), number(here, "points.0.kilograms_co2e"));
}

/// A budget and an answer in euros, with what leaves the cloud and rents that fall until the run
/// begins: the same dollars, and each further part in the bill.
TEST(PlannerTasks, ABillInAnotherCurrency) {
  const auto asked = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"capacity",
                                          "llama3-70b-64xh100",
                                          "--tokens=1T",
                                          "--devices=256",
                                          "--prices=gpu-clouds-2026"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const Document dollars = answer(asked({}));
  const Document euros = answer(asked({"--currency=EUR=1.25@2026-10"}));
  EXPECT_EQ(number(euros, "points.0.dollars"), number(dollars, "points.0.dollars"));
  EXPECT_EQ(text(euros, "currency"), "EUR");
  EXPECT_EQ(number(euros, "dollars_per_currency"), 1.25);
  const Document more =
      answer(asked({"--set=costs.egress=0.08", "--set=costs.moved_out=\"100 TB\""}));
  EXPECT_NEAR(
      number(more, "points.0.dollars") - number(dollars, "points.0.dollars"), 100e3 * 0.08, 1e-3);
  const Document later =
      answer(asked({"--set=escalation.rent=-20%", "--set=escalation.begins=\"1 year\""}));
  EXPECT_LT(number(later, "points.0.dollars"), 0.8 * number(dollars, "points.0.dollars"));
  const Outcome words = titer(asked({"--currency=EUR=1.25@2026-10", "--budget=1M"}));
  EXPECT_NE(words.out.find("for 1M EUR"), std::string::npos) << words.out;
  EXPECT_NE(words.out.find("EUR, each 1.25 dollars (2026-10)"), std::string::npos);
  EXPECT_EQ(words.out.find("M dollars"), std::string::npos);
}

TEST(PlannerTasks, RiskOfFailures) {
  const Document capacity = answer({"capacity",
                                    "llama3-70b-64xh100",
                                    "--set=training.global_batch=1024",
                                    "--tokens=1T",
                                    "--deadline=60d",
                                    "--reliability=llama3-16k-h100-2024",
                                    "--devices=512,1024"});
  for (const Value& point : capacity.at("points")->items) {
    EXPECT_LT(point.find("goodput")->number, 1);
    EXPECT_LT(point.find("time_low_s")->number, point.find("time_s")->number);
    EXPECT_GT(point.find("time_high_s")->number, point.find("time_s")->number);
  }
  // Twice the devices fail twice as often.
  EXPECT_NEAR(number(capacity, "points.0.mtbf_s") / number(capacity, "points.1.mtbf_s"), 2, 0.1);
}

/// A week, more devices, a faster network: each with days of its own.
TEST(PlannerTasks, WhatALittleMoreWouldChange) {
  const std::vector<std::string> asked = {
      "capacity", "llama3-70b-64xh100", "--tokens=1T", "--deadline=60d", "--devices=256,512,1024"};
  const Document capacity = answer(asked);
  EXPECT_EQ(number(capacity, "answers.fewest"), 512);
  EXPECT_EQ(number(capacity, "answers.fewest_a_week_later"), 256);
  EXPECT_EQ(number(capacity, "answers.next_more"), 1024);
  EXPECT_LT(number(capacity, "answers.faster_network_time_s"), number(capacity, "points.1.time_s"));
  const std::string words = titer(asked).out;
  for (const char* line : {"a week later", "100 % more devices", "a network twice as fast"}) {
    EXPECT_TRUE(contains(words, line)) << words;
  }
}

TEST(PlannerTasks, DeadlinesAsPeopleSayThem) {
  const auto deadline = [](const std::string& said) {
    return number(answer({"capacity", "gpt3-175b", "--deadline=" + said}), "deadline_s");
  };
  EXPECT_EQ(deadline("60d"), 60 * kDay);
  EXPECT_EQ(deadline("2 months"), 60 * kDay);
  EXPECT_EQ(deadline("8w"), 56 * kDay);
}

TEST(PlannerTasks, TheCheapestPlanOfAThousandDevices) {
  const Document search = answer({"search",
                                  "llama3-70b-64xh100",
                                  "--set=cluster=dgx-b200",
                                  "--set=devices=1024",
                                  "--set=training.global_batch=1024",
                                  "--set=economy=gpu-clouds-2026",
                                  "--objective=cost",
                                  "--top=3"});
  EXPECT_EQ(number(search, "plans.0.devices"), 1024);
  EXPECT_LE(number(search, "plans.0.iteration_dollars"),
            number(search, "plans.1.iteration_dollars"));
}

TEST(PlannerTasks, TheFrontOfTimeAndCost) {
  const Document search = answer({"search", "llama3-70b-time-and-cost"});
  const std::vector<Value>& plans = search.at("plans")->items;
  ASSERT_GT(plans.size(), 1u);
  for (std::size_t i = 1; i < plans.size(); ++i) {
    EXPECT_GT(plans[i].find("iteration_time_s")->number,
              plans[i - 1].find("iteration_time_s")->number);
    EXPECT_LT(plans[i].find("iteration_dollars")->number,
              plans[i - 1].find("iteration_dollars")->number);
  }
}

/// All of these in one file, for whoever has to decide and has no Titer: what matters of each
/// first.
TEST(PlannerTasks, AllAnswersInOneFileThatNeedsNoOtherWords) {
  const Report& report = all_answers();
  const std::size_t questions = report.count("//article");
  EXPECT_EQ(questions, 12u);
  for (std::size_t i = 1; i <= questions; ++i) {
    const std::string number = std::to_string(i);
    const std::string in_short = "//nav//li[" + number + "]";
    const std::string article = "//article[@id='answer-" + number + "']";
    EXPECT_EQ(report.words((in_short + "/a").c_str()), report.words((article + "//h2").c_str()));
    EXPECT_GE(report.count((in_short + "//dd").c_str()), 1u) << number << ": a figure or more";
    EXPECT_GE(report.count((article + "//table").c_str()), 1u);
    EXPECT_TRUE(report.words((article + "/pre").c_str()).starts_with("titer ")) << number;
  }
  EXPECT_TRUE(contains(report.words("//nav//li[1]//dd[1]"), " devices"));
  EXPECT_TRUE(contains(report.words("//nav//li[1]//dd[1]"), " dollars"));
  EXPECT_TRUE(contains(report.words("//nav//li[2]"), "dgx-b200: "));
  EXPECT_TRUE(contains(report.words("//nav//li[8]"), "in time")) << "a risk";
  EXPECT_EQ(report.count("//@src") + report.count("//link"), 0u) << "no other file";
  EXPECT_EQ(report.count("//a[not(starts-with(@href, '#'))]"), 0u) << "no other page";
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
