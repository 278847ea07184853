// titer capacity, from the outside.

#include <gtest/gtest.h>

#include "app/program.hpp"
#include "report/csv.hpp"
#include "titer/input/document.hpp"

namespace titer {
namespace {

using testing::contains;
using testing::data_of;
using testing::parse_csv;
using testing::refusal_of;
using testing::titer;

std::vector<std::string> asking(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"capacity", "gpt3-175b", "--devices", "768,1024,8200"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(AppCapacity, AnswersInEveryFormat) {
  const std::string text = data_of(titer(asking({})));
  EXPECT_TRUE(contains(text, "\nfewest devices   768 devices, "));
  EXPECT_TRUE(contains(text, "\nno plan\n  8200 devices: expected a multiple of "));
  EXPECT_TRUE(contains(text, "\nfewest devices in time, year by year: 3 times the tokens"));
  const auto rows = parse_csv(data_of(titer(asking({"--format", "csv"}))));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1][0], "768");
  EXPECT_EQ(rows[3][3], "no plan");
  const Document json = parse_json(data_of(titer(asking({"--format", "json"}))), "out");
  EXPECT_EQ(json.at("answers.fewest")->integer, 768);
  EXPECT_EQ(json.at("prices")->text, "owned-assumed");
  EXPECT_GT(json.at("points.0.lost.checkpoints")->number, 0);
  EXPECT_EQ(json.at("years.0.devices")->integer, 768);
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

TEST(AppCapacity, RefusesWhatItCannotAnswer) {
  EXPECT_TRUE(contains(refusal_of(titer(asking({"--deadline", "60 dys"}))), "known units: "));
  EXPECT_TRUE(contains(refusal_of(titer(asking({"--prices", "owned"}))), "no shipped price"));
  EXPECT_TRUE(contains(refusal_of(titer(asking({"--set", "cluster.chip.power=null"}))),
                       "cluster.chip.power: missing; the energy of "));
  EXPECT_TRUE(contains(refusal_of(titer({"capacity", "tpu-v9"})), "no shipped capacity"));
}

}  // namespace
}  // namespace titer
