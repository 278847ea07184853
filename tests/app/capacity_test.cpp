// titer capacity, from the outside.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<std::string> asking(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"capacity", "gpt3-175b", "--devices", "768,1024,8200"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(AppCapacity, AnswersInEveryFormat) {
  const std::string text = data_of(titer(asking({})));
  EXPECT_TRUE(
      text.starts_with("devices for GPT-3 175B on NVIDIA A100 SXM4 80 GB (dgx-a100-80gb)\n"
                       "training: batch 1536 x 2048 tokens, fp16, "))
      << text;
  EXPECT_TRUE(contains(text, "\nfewest devices  ")) << text;
  EXPECT_TRUE(contains(text, "\nno plan\n  8200 devices: expected a multiple of "));
  EXPECT_TRUE(contains(text, "\nfewest devices in time, year by year: 3 times the tokens"));
  const auto rows = parse_csv(data_of(titer(asking({"--format", "csv"}))));
  ASSERT_EQ(rows.size(), 4u);
  const auto cell = [&](std::size_t row, const std::string& column) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), column);
    return at == rows[0].end() ? "no column" : rows[row][std::size_t(at - rows[0].begin())];
  };
  EXPECT_EQ(cell(1, "devices"), "768");
  EXPECT_EQ(cell(3, "status"), "no plan");
  for (std::size_t row = 1; row <= 3; ++row) {
    EXPECT_EQ(cell(row, "model"), "gpt3-175b");
    EXPECT_EQ(cell(row, "cluster"), "dgx-a100-80gb");
    EXPECT_EQ(cell(row, "chip"), "a100-sxm4-80gb");
    EXPECT_EQ(cell(row, "stack"), "megatron-lm");
    EXPECT_EQ(cell(row, "sequence"), "2048");
    EXPECT_EQ(cell(row, "global_batch"), "1536");
    EXPECT_EQ(cell(row, "precision"), "fp16");
    EXPECT_EQ(cell(row, "prices"), "owned-assumed");
    EXPECT_GT(std::stod(cell(row, "dollars_per_device_hour")), 0);
    EXPECT_EQ(cell(row, "deadline_s"), "3024000");
  }
  const Document json = parse_json(data_of(titer(asking({"--format", "json"}))), "out");
  EXPECT_EQ(json.at("answers.fewest")->integer, 768);
  EXPECT_EQ(json.at("prices")->text, "owned-assumed");
  EXPECT_GT(json.at("points.0.lost.checkpoints")->number, 0);
  EXPECT_EQ(json.at("years.0.devices")->integer, 768);
}

/// What is the fewest, the cheapest and the fastest at once is one row.
TEST(AppCapacity, SaysTheSameDevicesOnce) {
  const std::string text = data_of(titer({"capacity",
                                          "llama3-70b-64xh100",
                                          "--tokens=1T",
                                          "--deadline=60d",
                                          "--devices=512",
                                          "--prices=gpu-clouds-2026"}));
  EXPECT_TRUE(contains(
      text, " (also 90 % in time, cheapest within the deadline, fastest)\na network twice as fast"))
      << text;
  EXPECT_FALSE(contains(text, "\nfastest ")) << text;
}

TEST(AppCapacity, HasFiguresThatFollowFromOneAnother) {
  const Document json = parse_json(data_of(titer(asking({"--format", "json"}))), "out");
  for (const std::string point : {"points.0.", "points.1."}) {
    const auto number = [&](const std::string& key) { return json.at(point + key)->number; };
    const double hours = number("time_s") / 3600;
    EXPECT_NEAR(number("device_hours") / hours, number("devices"), 1e-6);
    EXPECT_NEAR(
        number("tokens_per_s") * number("goodput") * number("time_s") / number("tokens"), 1, 1e-9);
    for (const std::string end : {"low", "high"}) {
      EXPECT_NEAR(number("dollars_" + end) / number("dollars"),
                  number("time_" + end + "_s") / number("time_s"),
                  1e-9);
    }
    EXPECT_LT(number("dollars_low"), number("dollars_high"));
  }
}

/// In the words of a search, which is what finds plans with --search.
TEST(AppCapacity, NamesTheMemoryThatPlansLeaveFree) {
  const TemporaryFolder folder;
  const std::string run = folder.file("run.json", R"({
    "model": "megatron-1.7b", "cluster": "dgx-a100-80gb", "plan": {"data": 8},
    "training": {"global_batch": 16, "sequence": 2048, "precision": "bf16"}})");
  const auto in = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"capacity", run, "--tokens", "1B", "--devices", "8"});
    return data_of(titer(more));
  };
  EXPECT_TRUE(contains(
      in({}), "\nplans: no memory kept free, though predicted memory is 7 % off on average\n"));
  EXPECT_TRUE(contains(in({"--search"}),
                       "\nplans: keeps 7 % of memory free, the error of predicted memory\n"));
  const auto margin = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--format", "json"});
    return parse_json(in(more), "out").at("memory_margin")->number;
  };
  EXPECT_EQ(margin({}), 0);
  EXPECT_EQ(margin({"--search"}), 0.07);
}

TEST(AppCapacity, SaysTheSameEveryTime) {
  const std::vector<std::string> arguments = asking({"--format", "csv"});
  EXPECT_EQ(data_of(titer(arguments)), data_of(titer(arguments)));
}

TEST(AppCapacity, AnswersNo) {
  const auto outcome = titer(asking({"--deadline", "3 days"}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(contains(outcome.out, "the deadline is missed by "));
}

TEST(AppCapacity, TellsShortDeadlinesInTheirOwnUnits) {
  EXPECT_TRUE(contains(titer(asking({"--deadline", "1s"})).out, "tokens, in 1 s, "));
  EXPECT_TRUE(contains(titer(asking({"--deadline", "3 days"})).out, "tokens, in 3.0 days, "));
}

TEST(AppCapacity, TakesOtherFigures) {
  const auto dollars = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = asking({"--format", "json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_json(data_of(titer(arguments)), "out").at("points.0.dollars")->number;
  };
  EXPECT_GT(dollars({"--tokens", "310B"}), dollars({}));
  EXPECT_GT(dollars({"--grid", "germany"}), dollars({}));
  EXPECT_NE(dollars({"--prices", "gpu-clouds-2026"}), dollars({}));
  EXPECT_GT(dollars({"--set", "cluster.chip.power=500 W"}), dollars({}));
}

TEST(AppCapacity, IsTitledByWhatItComputes) {
  const std::vector<std::string> arguments = {"capacity",
                                              "llama3-70b-64xh100",
                                              "--tokens",
                                              "1T",
                                              "--deadline",
                                              "60d",
                                              "--devices",
                                              "64",
                                              "--set",
                                              "model=llama3-8b",
                                              "--set",
                                              "cluster=dgx-b200"};
  const std::string text = titer(arguments).out;
  EXPECT_TRUE(text.starts_with("devices for Llama 3 8B on ")) << text;
  EXPECT_TRUE(contains(text.substr(0, text.find('\n')), "(dgx-b200)"));
  EXPECT_FALSE(contains(text, "Llama 3 70B"));
}

TEST(AppCapacity, LeavesOpenWhatHasNoPriceOrPower) {
  const auto asked = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"capacity",
                                          "llama3-70b-64xh100",
                                          "--tokens",
                                          "1T",
                                          "--devices",
                                          "72",
                                          "--set",
                                          "cluster=gb200-nvl72",
                                          "--set",
                                          "plan.tensor=8",
                                          "--set",
                                          "plan.pipeline=1",
                                          "--set",
                                          "plan.sharding=zero3",
                                          "--set",
                                          "training.global_batch=144"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return data_of(titer(arguments));
  };
  const std::string unknown = asked({"--prices", "gpu-clouds-2026"});
  EXPECT_TRUE(contains(unknown, "  not known: dollars: gpu-clouds-2026: no price of gb200-nvl72"));
  EXPECT_TRUE(contains(unknown, "--dollars-per-hour X"));
  EXPECT_FALSE(contains(unknown, "cheapest"));
  const std::string known =
      asked({"--prices", "gpu-clouds-2026", "--dollars-per-hour", "4.2", "--watts", "1200"});
  EXPECT_FALSE(contains(known, "not known"));
  EXPECT_TRUE(contains(known, "; 4.2 dollars for an hour of a device; electricity of "));
  EXPECT_TRUE(contains(known, "(also cheapest, fastest)"));
  // A price alone: dollars, and a note that nothing is said of power.
  const std::string price_alone = asked({"--dollars-per-hour", "4.2"});
  EXPECT_TRUE(contains(price_alone, "  not known: energy and carbon: "));
  EXPECT_TRUE(contains(price_alone, "(also cheapest, fastest)"));
}

TEST(AppCapacity, SaysWhenBuyingPays) {
  const std::vector<std::string> arguments = {"capacity",
                                              "llama3-70b-64xh100",
                                              "--tokens=1T",
                                              "--devices=64",
                                              "--prices=gpu-clouds-2026",
                                              "--against=owned-assumed",
                                              "--set=costs.staff=30000"};
  const std::string text = data_of(titer(arguments));
  EXPECT_TRUE(contains(text, "\nbeside devices: 30k dollars a month for staff, 0 for the network"));
  EXPECT_TRUE(contains(text, "  64 devices at gpu-clouds-2026 (rented): "));
  EXPECT_TRUE(contains(text, "  to buy them costs 2.88M dollars: the cheaper way from "));
  std::vector<std::string> csv = arguments;
  csv.emplace_back("--format=csv");
  const std::string header = data_of(titer(csv));
  EXPECT_TRUE(
      contains(header, ",side_dollars,dollars_against,purchase_dollars,buying_pays_after_s,"));
  EXPECT_TRUE(contains(
      refusal_of(
          titer({"capacity", "llama3-70b-64xh100", "--tokens=1T", "--against=owned-assumed"})),
      "against: \"owned-assumed\": expected prices too"))
      << refusal_of(
             titer({"capacity", "llama3-70b-64xh100", "--tokens=1T", "--against=owned-assumed"}));
}

TEST(AppCapacity, SaysWhereTheDeadlineIsATossOfACoin) {
  const std::string text = data_of(titer({"capacity",
                                          "llama3-70b-64xh100",
                                          "--tokens",
                                          "1T",
                                          "--deadline",
                                          "60d",
                                          "--reliability",
                                          "assumed",
                                          "--set",
                                          "training.global_batch=1024"}));
  const std::string fewest = text.substr(text.find("\nfewest devices "));
  const std::string line = fewest.substr(0, fewest.find('\n', 1));
  EXPECT_TRUE(contains(line, ", only ") && line.ends_with(" % of the runs in time")) << text;
}

TEST(AppCapacity, RefusesWhatItCannotAnswer) {
  EXPECT_TRUE(contains(refusal_of(titer(asking({"--deadline", "60 dys"}))), "known units: "));
  EXPECT_TRUE(contains(refusal_of(titer(asking({"--prices", "owned"}))), "no shipped price"));
  EXPECT_TRUE(contains(refusal_of(titer(asking({"--watts", "much"}))), "power: \"much W\": "));
  EXPECT_TRUE(contains(refusal_of(titer(asking({"--dollars-per-hour", "-1"}))),
                       "dollars_per_hour: \"-1\": expected dollars above zero"));
  EXPECT_TRUE(contains(
      refusal_of(titer(asking(
          {"--prices", "gpu-clouds-2026", "--budget", "1M", "--set", "cluster=gb200-nvl72"}))),
      "budget: gpu-clouds-2026: no price of gb200-nvl72: expected one of "));
  EXPECT_TRUE(contains(refusal_of(titer({"capacity", "tpu-v9"})), "no shipped capacity"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
