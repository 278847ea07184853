#include "titer/campaign/capacity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "temporary_folder.hpp"
#include "titer/estimate/model_state.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr double kDaySeconds = 86400;

constexpr double kDeviceRate = 100;  // tokens per second, of one device in the plans below

Seconds days(double count) { return Seconds::from_si(count * kDaySeconds); }

double count_days(Seconds time) { return time.si() / kDaySeconds; }

/// A plan for any number of devices up to 512, of which twice as many do 1.8 times as much.
PlannedStep steady_plan(const CapacityQuestion& question, std::int64_t devices) {
  if (devices > 512) {
    return {.scenario = {}, .step = {}, .problem = "too many"};
  }
  PlannedStep planned{.scenario = question.scenario};
  planned.scenario->plan.data = devices;
  planned.step.devices = devices;
  planned.step.iteration_time = 10_s;
  planned.step.breakdown.forward = 5_s;
  planned.step.tokens_per_s = kDeviceRate * std::pow(1.8, std::log2(static_cast<double>(devices)));
  return planned;
}

/// 64 to 512 devices, 64 of which take 100 days. No failures, no prices.
CapacityQuestion question_of() {
  CapacityQuestion question;
  question.scenario = ScenarioSource::load("llama3-70b-64xh100").read();
  question.scenario.plan = Plan{};
  question.devices = {64, 128, 256, 512, 1024};
  question.tokens = 100 * kDaySeconds * kDeviceRate * std::pow(1.8, 6);
  return question;
}

/// 2.67 dollars per hour and device.
Economy rent() { return load_economy("gpu-clouds-2026"); }

std::int64_t devices_at(const CapacityResult& result, const std::optional<std::size_t>& point) {
  return point ? result.points[*point].devices : 0;
}

CapacityResult answer_to(const CapacityQuestion& question) {
  return find_capacity(question, steady_plan);
}

TEST(Capacity, FindsTheFewestDevicesInTime) {
  CapacityQuestion question = question_of();
  question.deadline = days(40);
  const CapacityResult result = answer_to(question);
  ASSERT_EQ(result.points.size(), 5u);
  EXPECT_NEAR(count_days(result.points[1].time), 100 / 1.8, 1e-9);
  EXPECT_EQ(devices_at(result, result.fewest), 256);  // 100 / 1.8^2 = 30.9 days
  EXPECT_EQ(devices_at(result, result.fastest), 512);
  EXPECT_FALSE(result.cheapest);  // no prices
  EXPECT_EQ(devices_at(result, result.most), 512);
  EXPECT_NEAR(*result.points[3].possible / *question.tokens, 40 * std::pow(1.8, 3) / 100, 1e-9);
  EXPECT_TRUE(result.possible());
  EXPECT_EQ(result.points[4].planned.problem, "too many");
}

TEST(Capacity, PaysForDevicesAndTheirHours) {
  CapacityQuestion question = question_of();
  question.economy = rent();
  question.budget = 64 * 100 * 24 * 2.67 * 1.2;
  const CapacityResult result = answer_to(question);
  const CapacityPoint& first = result.points[0];
  EXPECT_NEAR(*first.bill->dollars, 64 * 100 * 24 * 2.67, 1e-3);
  // Half of the time devices compute.
  const double watts = 1.1 * ((0.1 + 0.9 * 0.5) * 700 + 350);
  EXPECT_NEAR(first.bill->energy->si(), 64 * 100 * kDaySeconds * watts, 1e6);
  // Every doubling costs 2 / 1.8 as much: two are beyond 1.2.
  EXPECT_EQ(devices_at(result, result.cheapest), 64);
  EXPECT_EQ(devices_at(result, result.fastest), 128);
  EXPECT_NEAR(*first.possible / *question.tokens, 1.2, 1e-9);
}

TEST(Capacity, PaysForWhatIsBesideDevices) {
  CapacityQuestion question = question_of();
  question.economy = rent();
  const double bytes = model_state(question.scenario).total().si();
  question.side_costs = SideCosts{.staff = 30'000,
                                  .network = 6000,
                                  .storage = 25,
                                  .stored = Bytes::from_si(200e12),
                                  .checkpoints = 10,
                                  .once = 1000};
  const double devices = 64 * 100 * 24 * 2.67;
  const double a_month = 30'000 + 6000 + 25 * (200 + 10 * bytes / 1e12);
  const double beside = a_month * 100 / 30 + 1000;
  CapacityPoint first = answer_to(question).points[0];
  EXPECT_NEAR(first.side_dollars, beside, 1e-6);
  EXPECT_NEAR(*first.bill->dollars, devices + beside, 1e-3);
  // For twice the running dollars and what is paid once, twice the time.
  question.budget = 2 * (devices + beside - 1000) + 1000;
  first = answer_to(question).points[0];
  EXPECT_NEAR(*first.possible / *question.tokens, 2, 1e-9);
  question.budget = 500;  // less than that alone
  EXPECT_EQ(*answer_to(question).points[0].possible, 0);
}

TEST(Capacity, LetsOtherRunsGoFirst) {
  CapacityQuestion question = question_of();
  question.economy = rent();
  question.other_runs = {{.name = "ablations", .count = 4, .devices = 32, .time = days(16)},
                         {.name = "evaluation", .count = 1, .devices = 64, .time = days(2)}};
  question.deadline = days(109);
  const CapacityResult result = answer_to(question);
  const CapacityPoint& first = result.points[0];
  EXPECT_NEAR(count_days(first.others), 4 * 32 * 16 / 64.0 + 2, 1e-9);  // 34
  EXPECT_NEAR(count_days(first.whole_time()), 134, 1e-9);
  EXPECT_FALSE(keeps_deadline(question, first));
  EXPECT_EQ(devices_at(result, result.fewest), 128);  // 17 + 55.6
  EXPECT_NEAR(*first.bill->dollars, 64 * 134 * 24 * 2.67, 1e-3);
  EXPECT_NEAR(first.fixed_dollars, 64 * 34 * 24 * 2.67, 1e-3);
  EXPECT_NEAR(*first.possible / *question.tokens, (109 - 34) / 100.0, 1e-9);
  question.other_runs[0].devices = 128;
  EXPECT_EQ(answer_to(question).points[0].planned.problem, "ablations beside it needs 128 devices");
}

TEST(Capacity, ComparesRentWithAPurchase) {
  CapacityQuestion question = question_of();
  question.economy = rent();
  question.against = load_economy("owned-assumed");
  const CapacityPoint first = answer_to(question).points[0];
  const double kilowatts = 1.1 * ((0.1 + 0.9 * 0.5) * 0.7 + 0.35);
  const double electricity = kilowatts * *question.against->grid.dollars_per_kwh;
  const double written_off = 45'000 / (4 * 8760.0);
  ASSERT_TRUE(first.against && first.against->rent_or_buy);
  EXPECT_NEAR(*first.against->dollars, 64 * 100 * 24 * (written_off + electricity), 1e-3);
  const RentOrBuy& choice = *first.against->rent_or_buy;
  EXPECT_NEAR(choice.purchase, 64 * 45'000.0, 1e-6);
  EXPECT_NEAR(choice.use / kHour, 45'000 / (2.67 - electricity), 1e-6);
  EXPECT_NEAR(choice.share(), choice.use / kHour / (4 * 8760), 1e-12);
  // The other way round the same holds.
  std::swap(*question.economy, *question.against);
  EXPECT_NEAR(answer_to(question).points[0].against->rent_or_buy->use / choice.use, 1, 1e-12);
  // Two lists of rents have nothing of the kind, and cheap rent is never beaten.
  question.economy = rent();
  question.against = rent();
  EXPECT_FALSE(answer_to(question).points[0].against->rent_or_buy);
  EXPECT_FALSE(rent_or_buy({.dollars = 45'000, .years = 4}, 1, 0.05, written_off + electricity));
}

TEST(Capacity, PaysForACommitmentItDoesNotUse) {
  CapacityQuestion question = question_of();
  question.economy = rent();
  DevicePrice& price = question.economy->devices.front();
  price = {.chip = "h100-sxm5-80gb", .dollars_per_hour = 2, .commitment = days(150)};
  const CapacityPoint first = answer_to(question).points[0];  // 100 days
  EXPECT_NEAR(first.unused_dollars, 64 * 50 * 24 * 2.0, 1e-6);
  EXPECT_NEAR(*first.bill->dollars, 64 * 150 * 24 * 2.0, 1e-6);
  price.commitment = days(90);
  EXPECT_EQ(answer_to(question).points[0].unused_dollars, 0);
  // A budget that does not reach for it pays for nothing; one that does, for all that it reaches.
  question.budget = 64 * 89 * 24 * 2.0;
  EXPECT_EQ(*answer_to(question).points[0].possible, 0);
  question.budget = 64 * 91 * 24 * 2.0;
  EXPECT_NEAR(*answer_to(question).points[0].possible / *question.tokens, 0.91, 1e-9);
}

TEST(Capacity, SaysByHowMuchTheBestOneMisses) {
  CapacityQuestion question = question_of();
  question.deadline = days(10);
  const double fastest = 100 / std::pow(1.8, 3);  // 17.1
  EXPECT_EQ(answer_to(question).misses,
            std::vector<std::string>{"the deadline is missed by 7.1 days: the fastest, 512 "
                                     "devices, take 17.1"});
  EXPECT_NEAR(fastest, 17.1, 0.05);
  question.deadline.reset();
  question.economy = rent();
  question.budget = 400'000;
  EXPECT_EQ(answer_to(question).misses,
            std::vector<std::string>{"the budget is exceeded by 10112 dollars: the cheapest, 64 "
                                     "devices, cost 410112"});
  question.budget = 420'000;
  question.deadline = days(60);
  const std::vector<std::string> both = answer_to(question).misses;
  ASSERT_EQ(both.size(), 1u);
  EXPECT_TRUE(
      both.front().starts_with("deadline and budget are not met together: the cheapest in "
                               "time, 128 devices, cost "));
  question.devices = {1024};
  EXPECT_EQ(answer_to(question).misses,
            std::vector<std::string>{"no number of devices has a plan that fits"});
}

TEST(Capacity, WithoutTokensFindsTheMost) {
  CapacityQuestion question = question_of();
  question.tokens.reset();
  question.deadline = days(10);
  question.economy = rent();
  question.budget = 64 * 24 * 2.67 * 50;  // 50 days of 64 devices, 6.25 of 512
  const CapacityResult result = answer_to(question);
  // 512 devices for 6.25 days, 256 for 10 (12.5 paid for).
  EXPECT_EQ(devices_at(result, result.most), 512);
  EXPECT_NEAR(count_days(result.points[3].time), 6.25, 1e-6);
  EXPECT_NEAR(count_days(result.points[2].time), 10, 1e-6);
  EXPECT_FALSE(result.fewest);
}

TEST(Capacity, CountsFailuresAndSpares) {
  CapacityQuestion question = question_of();
  question.deadline = days(110);
  question.reliability = load_reliability("assumed");
  question.economy = rent();
  question.samples = 20;
  const CapacityResult result = answer_to(question);
  const CapacityPoint& first = result.points[0];
  EXPECT_NEAR(count_days(first.time), 100 / first.goodput.fraction, 1e-9);
  EXPECT_GT(count_days(first.time), 101);
  EXPECT_EQ(first.spare_devices, 8);  // 2 % of 8 nodes: one
  EXPECT_NEAR(*first.bill->dollars, (64 + 8) * count_days(first.time) * 24 * 2.67, 1e-3);
  ASSERT_TRUE(first.spread);
  EXPECT_LT(first.spread->low, first.spread->high);
  EXPECT_NEAR(first.spread->mean / first.time, 1, 0.03);
  // On average 64 devices are in time; with 90 % certainty it depends on the spread alone.
  EXPECT_EQ(devices_at(result, result.fewest), 64);
  EXPECT_EQ(devices_at(result, result.certain), first.spread->high <= days(110) ? 64 : 128);
}

TEST(Capacity, HasTheSpreadOfTheStepWhereNothingFails) {
  CapacityQuestion question = question_of();
  question.deadline = days(100);
  const PlanFinder plan = [](const CapacityQuestion& asked, std::int64_t devices) {
    PlannedStep planned = steady_plan(asked, devices);
    planned.step.error_bar = ErrorBar{.low = 9_s, .high = 12_s};  // of 10 s
    return planned;
  };
  const CapacityResult result = find_capacity(question, plan);
  const CapacityPoint& first = result.points[0];
  EXPECT_NEAR(count_days(first.spread->low), 100 * 0.9, 1e-9);
  EXPECT_NEAR(count_days(first.spread->high), 100 * 1.2, 1e-9);
  EXPECT_NEAR(*first.spread->in_time, 0.5, 1e-9);  // the mean is the deadline
  EXPECT_EQ(devices_at(result, result.fewest), 64);
  EXPECT_EQ(devices_at(result, result.certain), 128);
  question.chance = 0.6;
  const CapacityResult likely = find_capacity(question, plan);
  EXPECT_EQ(devices_at(likely, likely.fewest), 128);
  question.chance.reset();
  EXPECT_FALSE(answer_to(question).points[0].spread);
}

TEST(Capacity, SaysWhatAWeekMoreOrMoreDevicesChange) {
  CapacityQuestion question = question_of();
  question.deadline = days(50);
  const CapacityResult result = answer_to(question);
  EXPECT_EQ(devices_at(result, result.fewest), 256);
  EXPECT_EQ(devices_at(result, result.more), 512);
  EXPECT_EQ(devices_at(result, result.later), 128);  // 100 / 1.8 = 55.6 days
  question.deadline = days(48);
  EXPECT_FALSE(answer_to(question).later);
}

/// How many of the runs keep the later deadline, not the one that they miss.
TEST(Capacity, SaysHowSureAWeekMoreIs) {
  CapacityQuestion question =
      load_capacity("llama3-70b-64xh100",
                    parse_assignments(std::vector<std::string>{
                        "tokens=1T", "deadline=60d", "devices=[256, 512]"}));
  const CapacityResult result = find_capacity(question);
  ASSERT_TRUE(result.later);
  const CapacityPoint& point = result.points[*result.later];
  EXPECT_GT(point.time, *question.deadline);
  ASSERT_TRUE(result.later_spread && result.later_spread->in_time);
  EXPECT_GT(*result.later_spread->in_time, *point.spread->in_time);
  question.deadline = *question.deadline + kLater;
  EXPECT_EQ(*result.later_spread->in_time,
            chance_in_time(question, find_capacity(question).points[0]));
}

/// What the run would take with interfaces that are twice as fast, whose bytes take half as long.
TEST(Capacity, SaysWhatAFasterNetworkChanges) {
  const auto asked = [](const std::string& more) {
    return load_capacity("llama3-70b-64xh100",
                         parse_assignments(std::vector<std::string>{
                             "tokens=1T", "deadline=60d", "devices=[512]", more}));
  };
  const CapacityResult result = find_capacity(asked("seed=1"));
  ASSERT_TRUE(result.faster_network);
  EXPECT_LT(*result.faster_network, result.points[0].time);
  const CapacityResult faster = find_capacity(asked("cluster.node.nic_bandwidth=\"800 Gbps\""));
  const Plan& plan = faster.points[0].planned.scenario->plan;
  ASSERT_EQ(plan.micro_batch, result.points[0].planned.scenario->plan.micro_batch);
  ASSERT_EQ(plan.recompute, result.points[0].planned.scenario->plan.recompute);
  EXPECT_NEAR(*result.faster_network / faster.points[0].time, 1, 1e-9);
}

/// More replicas than the batch has sequences have nothing to do.
TEST(Capacity, SaysThatTheBatchIsWhatIsMissing) {
  const auto missed = [](const std::string& batch) {
    const CapacityResult result = find_capacity(load_capacity(
        "llama3-70b-64xh100",
        parse_assignments(std::vector<std::string>{
            "tokens=10T", "deadline=60d", "training.global_batch=" + batch, "devices=[1024]"})));
    return result.misses.at(0);
  };
  EXPECT_NE(missed("32").find("a batch of 32 has no work for more replicas"), std::string::npos);
  EXPECT_EQ(missed("128").find("has no work"), std::string::npos);
}

TEST(Capacity, CountsTheHostsOfATorus) {
  CapacityQuestion question = question_of();
  question.reliability = load_reliability("assumed");
  question.samples = 20;
  question.scenario.cluster.devices_per_node = 4096;
  const CapacityResult as_one = answer_to(question);
  question.scenario.cluster.devices_per_host = 4;
  const CapacityResult hosts = answer_to(question);
  EXPECT_EQ(as_one.points[0].nodes, 1);
  EXPECT_EQ(hosts.points[0].nodes, 64 / 4);
  EXPECT_EQ(hosts.points[0].spare_devices, 4);  // 2 % of 16 hosts: one
  EXPECT_EQ(hosts.points[3].spare_devices, 4 * 3);
}

TEST(Capacity, RefusesDevicesThatNeverTrain) {
  CapacityQuestion question = question_of();
  question.reliability = load_reliability("assumed");
  question.reliability->components = {{.name = "all", .mtbf = 0.1_s}};
  const CapacityResult result = answer_to(question);
  EXPECT_EQ(result.points[0].planned.problem, "fails faster than it starts again");
  EXPECT_FALSE(result.possible());
}

TEST(Capacity, FollowsDemandOverYears) {
  CapacityQuestion question = question_of();
  question.deadline = days(100);
  question.economy = rent();
  question.growth = CapacityGrowth{.years = 3, .demand = 3, .performance = 1.5};
  const CapacityResult result = answer_to(question);
  ASSERT_EQ(result.years.size(), 4u);
  EXPECT_EQ(devices_at(result, result.years[0].point), 64);
  EXPECT_EQ(devices_at(result, result.years[1].point), 256);  // twice the work: 1.8 is too little
  EXPECT_NEAR(count_days(result.years[1].time), 100 * 2 / (1.8 * 1.8), 1e-9);
  EXPECT_NEAR(*result.years[1].dollars, 2 * *result.points[2].bill->dollars, 1e-6);
  EXPECT_NEAR(result.years[2].tokens, 9 * *question.tokens, 1);
  EXPECT_EQ(devices_at(result, result.years[2].point), 512);  // 4 of 1.8^3 = 5.8
  EXPECT_FALSE(result.years[3].point);                        // 8
}

TEST(CapacityFacts, Gpt3TakesAboutAsLongAsWasEstimated) {
  // Narayanan et al. 2021, section 5.1: 8 T P / (n X) with X = 140 TFLOP/s: 34 days on 1,024 A100,
  // every layer recomputed.
  const double formula = 8 * 300e9 * 175e9 / (1024 * 140e12) / kDaySeconds;
  EXPECT_NEAR(formula, 34, 0.5);
  CapacityQuestion question = load_capacity("gpt3-175b");
  question.reliability.reset();
  question.scenario.plan.recompute = Recompute::full;
  question.scenario.plan.sequence_parallel = false;
  question.devices = {1024};
  const CapacityResult result = find_capacity(question);
  EXPECT_NEAR(count_days(result.points[0].time) / formula, 1, 0.15);
}

TEST(CapacityFacts, Llama3TakesAboutTheDeviceHoursReported) {
  CapacityQuestion question = load_capacity("llama3-405b");
  question.devices = {16384};
  question.samples = 20;
  const CapacityPoint point = find_capacity(question).points[0];
  const double reported = 30.84e6;  // hours, model card of Llama 3.1 405B
  EXPECT_NEAR(point.device_time().si() / 3600 / reported, 1, 0.15);
  // The card's 8,930 t CO2e take 700 W for a device and its grid; ours adds hosts and the site.
  EXPECT_NEAR(*point.bill->kilograms_co2e / 1000 / 8930, 1.35, 0.15);
}

TEST(Capacity, LeavesOpenWhatIsNotKnown) {
  CapacityQuestion question = question_of();
  question.deadline = days(60);
  question.economy = rent();
  question.scenario.cluster.chip.name = "another";
  const CapacityResult result = answer_to(question);
  EXPECT_EQ(devices_at(result, result.fewest), 128);
  EXPECT_FALSE(result.cheapest);
  ASSERT_TRUE(result.points[0].bill);
  EXPECT_FALSE(result.points[0].bill->dollars);
  EXPECT_GT(result.points[0].bill->energy->si(), 0);
  question.scenario.cluster.chip.power.reset();
  EXPECT_FALSE(answer_to(question).points[0].bill->energy);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
