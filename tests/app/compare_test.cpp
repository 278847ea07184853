// titer compare, from the outside.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/program.hpp"
#include "titer/input/document.hpp"
#include "view/csv.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

std::vector<std::string> comparing(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"compare",
                                        "--model",
                                        "megatron-1.7b",
                                        "--cluster",
                                        "dgx-a100-80gb,dgx-h100",
                                        "--tokens",
                                        "20B",
                                        "--batch",
                                        "256",
                                        "--sequence",
                                        "2048"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// No line of a text is wider.
std::size_t width_of_widest(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    widest = std::max(widest, end - begin);
    begin = end + 1;
  }
  return widest;
}

TEST(AppCompare, TakesJsonInItsLists) {
  const auto rows =
      parse_csv(data_of(titer({"compare",
                               "--model",
                               R"(megatron-1.7b,{"name": "megatron-1.7b", "layers": 12})",
                               "--cluster",
                               R"({"name": "dgx-h100", "chip": {"power_cap": "400 W"}},dgx-h100)",
                               "--tokens=20B",
                               "--batch=256",
                               "--sequence=2048",
                               "--devices=8",
                               "--format=csv"})));
  ASSERT_EQ(rows.size(), 1u + 2u * 2u);
  const auto at = std::find(rows[0].begin(), rows[0].end(), "iteration_time_s") - rows[0].begin();
  const auto seconds = [&](std::size_t row) { return std::stod(rows[row][std::size_t(at)]); };
  EXPECT_GT(seconds(1), 1.1 * seconds(2));  // with less power
  EXPECT_GT(seconds(2), 1.5 * seconds(4));  // with twice as many layers
  EXPECT_TRUE(contains(refusal_of(titer(comparing({"--stack", "{\"name\": \"megatron-core\""}))),
                       "not valid JSON"));
}

TEST(AppCompare, TellsModelsAndClustersOfOneNameApart) {
  const TemporaryFolder folder;
  const std::string deep = folder.file("deep.json", R"({"name": "megatron-1.7b", "layers": 48})");
  const std::string text =
      titer({"compare",
             "--model",
             deep + R"(,megatron-1.7b,{"name": "megatron-1.7b", "layers": 12})",
             "--cluster=dgx-h100,dgx-a100-80gb",
             "--tokens=20B",
             "--batch=256",
             "--sequence=2048",
             "--devices=8"})
          .out;
  EXPECT_TRUE(contains(text, "megatron-1.7b (" + deep + ")")) << text;
  EXPECT_TRUE(contains(text, "megatron-1.7b (2)"));
  EXPECT_TRUE(contains(text, "megatron-1.7b (3)"));
  EXPECT_FALSE(contains(text, "dgx-h100 (")) << "only one is called so";
}

TEST(AppCompare, HasARowForEachCombination) {
  const std::string text =
      data_of(titer(comparing({"--deadline", "7d,14d", "--prices", "cloud-lists-2026"})));
  EXPECT_TRUE(text.starts_with(
      "megatron-1.7b on 2 clusters: 20B tokens; the fewest devices, of usual sizes, that will do\n"
      "training: batch 256 x 2048 tokens, "))
      << text;
  const std::string tables = text.substr(text.find("\n\n"));
  EXPECT_LE(width_of_widest(tables), 100u) << tables;
  const auto rows = parse_csv(data_of(titer(
      comparing({"--deadline", "7d,14d", "--prices", "cloud-lists-2026", "--format", "csv"}))));
  ASSERT_EQ(rows.size(), 1u + 4u);
  const auto cell = [&](std::size_t row, const std::string& column) {
    const auto at = std::find(rows[0].begin(), rows[0].end(), column);
    return at == rows[0].end() ? "no column" : rows[row][std::size_t(at - rows[0].begin())];
  };
  for (std::size_t row = 1; row <= 4; ++row) {
    EXPECT_EQ(cell(row, "model"), "megatron-1.7b");
    EXPECT_EQ(cell(row, "cluster"), row <= 2 ? "dgx-a100-80gb" : "dgx-h100");
    EXPECT_EQ(cell(row, "deadline_s"), row % 2 == 1 ? "604800" : "1209600");
    EXPECT_EQ(cell(row, "possible"), "true");
    EXPECT_EQ(cell(row, "fits"), "true");
    EXPECT_LE(std::stod(cell(row, "time_s")), std::stod(cell(row, "deadline_s")));
    EXPECT_NEAR(
        std::stod(cell(row, "dollars")),
        std::stod(cell(row, "device_hours")) * std::stod(cell(row, "dollars_per_device_hour")),
        1e-6 * std::stod(cell(row, "dollars")));
    EXPECT_GT(std::stod(cell(row, "kilograms_co2e")), 0);
    EXPECT_NE(cell(row, "grade"), "");
  }
  EXPECT_GE(std::stoi(cell(1, "devices")), std::stoi(cell(2, "devices")));
}

TEST(AppCompare, TakesSoftwareThatThereIsForEachClustersChips) {
  const auto rows = parse_csv(data_of(titer({"compare",
                                             "--model",
                                             "llama3-8b",
                                             "--cluster",
                                             "dgx-h100,tpu-v5p-pod",
                                             "--tokens",
                                             "100B",
                                             "--devices",
                                             "64",
                                             "--batch",
                                             "256",
                                             "--format",
                                             "csv"})));
  ASSERT_EQ(rows.size(), 1u + 2u);
  const auto stack = std::find(rows[0].begin(), rows[0].end(), "stack");
  ASSERT_NE(stack, rows[0].end());
  const auto at = static_cast<std::size_t>(stack - rows[0].begin());
  EXPECT_EQ(rows[1][at], "megatron-core");
  EXPECT_EQ(rows[2][at], "maxtext");
}

/// A deadline that no size keeps, and one of which some do.
TEST(AppCompare, SaysWhyThereIsNoAnswer) {
  const auto some = titer(comparing({"--deadline", "1 min,30d"}));
  EXPECT_EQ(some.code, 0);
  EXPECT_TRUE(contains(some.out, " times as long\n") || contains(some.out, " % too slow\n"))
      << some.out;
  const auto none = titer(comparing({"--deadline", "1 min"}));
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(none.err, "");
}

TEST(AppCompare, PutsCostsOnClusters) {
  const auto dollars = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = comparing({"--devices", "8", "--format", "json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Document json = parse_json(data_of(titer(arguments)), "out");
    std::vector<double> list;
    for (const std::string row : {"rows.0.", "rows.1."}) {
      const Value* figure = json.at(row + "dollars");
      list.push_back(figure == nullptr ? 0
                                       : figure->number / json.at(row + "device_hours")->number);
    }
    return list;
  };
  const auto given = dollars({"--dollars-per-hour", "2,3"});
  EXPECT_NEAR(given[0], 2, 1e-9);
  EXPECT_NEAR(given[1], 3, 1e-9);
  const auto mixed = dollars({"--dollars-per-hour", "2,-", "--prices", "cloud-lists-2026"});
  EXPECT_NEAR(mixed[0], 2, 1e-9);
  EXPECT_NEAR(mixed[1], 3.99, 1e-9);
}

TEST(AppCompare, ShowsTheSparesThatArePaid) {
  const auto said = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = comparing({"--devices", "16", "--format", "text"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return data_of(titer(arguments));
  };
  EXPECT_TRUE(contains(said({"--reliability", "assumed"}), "devices  spare  days"));
  EXPECT_TRUE(contains(said({}), "devices  days"));
}

TEST(AppCompare, SortsAndKeepsTheBest) {
  const auto first_cluster = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = comparing({"--devices", "8", "--format", "json"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Document json = parse_json(data_of(titer(arguments)), "out");
    return json.at("rows.0.cluster")->text + " of " + std::to_string(json.at("rows")->items.size());
  };
  EXPECT_EQ(first_cluster({}), "dgx-a100-80gb of 2");
  EXPECT_EQ(first_cluster({"--sort", "days"}), "dgx-h100 of 2");
  EXPECT_EQ(first_cluster({"--best-of", "model"}), "dgx-h100 of 1");
}

TEST(AppCompare, TakesAFile) {
  const TemporaryFolder folder;
  const std::string file = folder.file("table.json", R"({
    "models": ["megatron-1.7b"], "clusters": "dgx-a100-80gb", "tokens": "20B", "devices": 8,
    "scenario": {"training": {"global_batch": 256, "sequence": 2048, "precision": "bf16"}}})");
  const std::string text = data_of(titer({"compare", file}));
  EXPECT_TRUE(text.starts_with("megatron-1.7b on dgx-a100-80gb: 20B tokens\n")) << text;
}

TEST(AppCompare, ComparesNetworksOfARun) {
  const std::vector<std::string> arguments = {"compare",
                                              "llama3-70b-64xh100",
                                              "--topology",
                                              "fat-tree-2-level-1024,dragonfly-1056",
                                              "--oversubscription",
                                              "1,4"};
  const std::string text = data_of(titer(arguments));
  EXPECT_TRUE(contains(text, "leaf - spine ")) << text;
  EXPECT_TRUE(contains(text, "down:up -: only fat trees and rails have an oversubscription"));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Document json = parse_json(data_of(titer(as_json)), "out");
  ASSERT_EQ(json.at("networks")->items.size(), 3u) << "the dragonfly once, without a ratio";
  EXPECT_EQ(json.at("networks.2.oversubscription"), nullptr);
  const auto busy = [&](const std::string& network) {
    const double step = json.at(network + "iteration_time_s")->number;
    for (const Value& tier : json.at(network + "tiers")->items) {
      if (tier.find("tier")->text == "leaf - spine") {
        return tier.find("busy_most")->number * step;
      }
    }
    return 0.0;
  };
  EXPECT_GE(json.at("networks.1.iteration_time_s")->number,
            json.at("networks.0.iteration_time_s")->number);
  // Four times less bandwidth between leaves and spines makes them four times as busy.
  EXPECT_GT(busy("networks.0."), 0);
  EXPECT_NEAR(busy("networks.1.") / busy("networks.0."), 4, 1e-6);
}

/// Who buys racks pays for what is not used of them, too.
TEST(AppCompare, SaysThatPartsOfRacksArePaidFor) {
  const auto notes_of = [](const char* devices) {
    const Outcome outcome = titer({"compare",
                                   "--model",
                                   "megatron-1.7b",
                                   "--cluster",
                                   "gb200-nvl72",
                                   "--tokens",
                                   "20B",
                                   "--devices",
                                   devices,
                                   "--prices",
                                   "cloud-lists-2026"});
    return contains(outcome.out + outcome.err,
                    "note: dollars, energy and carbon are of the devices that are used, not of "
                    "whole nodes");
  };
  EXPECT_TRUE(notes_of("128"));
  EXPECT_FALSE(notes_of("144"));
}

/// Links are as busy as the algorithms make them that the step takes there: never longer than it,
/// and those of a starved network no more than the way inside the nodes needs of them.
TEST(AppCompare, LoadsOfLinksAreOfTheAlgorithmsThatAreTaken) {
  const TemporaryFolder folder;
  const std::string rails =
      folder.file("rails.json",
                  R"({"family": "rails", "nodes": 8, "nodes_per_group": 4, "rails": 8, "spines": 4,
          "bandwidth": "50 GB/s"})");
  const Document json = parse_json(data_of(titer({"compare",
                                                  "mixtral-8x7b-64xh100",
                                                  "--topology",
                                                  rails,
                                                  "--oversubscription=1,16,64",
                                                  "--format=json"})),
                                   "out");
  ASSERT_EQ(json.at("networks")->items.size(), 3u);
  for (const Value& network : json.at("networks")->items) {
    ASSERT_FALSE(network.find("tiers")->items.empty());
    for (const Value& tier : network.find("tiers")->items) {
      EXPECT_GT(tier.find("busy_mean")->number, 0);
      EXPECT_LE(tier.find("busy_most")->number, 1 + 1e-9);
    }
  }
}

/// Which of two networks is slower may be their links' doing alone.
TEST(AppCompare, SaysWherePortsAreNarrowerThanNics) {
  const std::string text = data_of(titer(
      {"compare", "mixtral-8x7b-64xh100", "--topology=fat-tree-2-level-1024,dragonfly-1056"}));
  EXPECT_TRUE(
      contains(text, "\n  dragonfly-1056: NICs of 400 Gbps, limited by ports of 200 Gbps\n"))
      << text;
  EXPECT_FALSE(contains(text, "fat-tree-2-level-1024: NICs"));
}

TEST(AppCompare, TakesATopologyAsJson) {
  const std::string written =
      R"({"name": "mine", "family": "fat-tree", "down": [32, 8], "bandwidth": "50 GB/s",)"
      R"( "oversubscription": 1})";
  const TemporaryFolder folder;
  const std::string file = folder.file("mine.json", written);
  const auto rows = parse_csv(data_of(titer(
      {"compare", "llama3-70b-64xh100", "--topology", written + "," + file, "--format=csv"})));
  ASSERT_EQ(rows.size(), 3u);
  const auto figure = [&](std::size_t row, const char* name) {
    return rows[row].at(
        static_cast<std::size_t>(std::ranges::find(rows[0], name) - rows[0].begin()));
  };
  EXPECT_EQ(figure(1, "topology"), "mine");
  EXPECT_EQ(figure(1, "iteration_time_s"), figure(2, "iteration_time_s"));
  EXPECT_EQ(figure(1, "hottest_busy"), figure(2, "hottest_busy"));
}

/// A fat tree of 1,024 ports of 400 Gbps has as many links up as down: 4 times 1,024 units of
/// 100 Gbps each of NIC links and of links between switches, and three switch ports for both.
TEST(AppCompare, SaysWhatNetworksCost) {
  const TemporaryFolder folder;
  const std::string prices = folder.file("prices.json", R"({
    "name": "mine", "date": "2026-10", "currency": {"name": "EUR", "dollars": 2, "date": "2026-10"},
    "devices": {}, "power": {"idle": 0.1, "busy": 1, "host": "100 W", "pue": 1},
    "grid": "united-states",
    "network": {"switch_port": 10, "switch_port_power": "1 W", "switch_link": 20,
                "switch_link_power": "2 W", "nic_link": 5, "nic_link_power": "3 W"}})");
  const std::vector<std::string> asked = {"compare",
                                          "llama3-70b-64xh100",
                                          "--topology=fat-tree-2-level-1024",
                                          "--oversubscription=1,2",
                                          "--failed-links=0,10",
                                          "--prices=" + prices};
  std::vector<std::string> as_json = asked;
  as_json.emplace_back("--format=json");
  const Document json = parse_json(data_of(titer(as_json)), "out");
  const auto figure = [&](const std::string& path) { return json.at("networks." + path)->number; };
  const double units = 4 * 1024;
  EXPECT_NEAR(figure("0.network_dollars"), 2 * units * (3 * 10 + 20 + 5), 1e-3);
  EXPECT_NEAR(figure("0.network_power_w"), units * (3 * 1 + 2 + 3), 1e-6);
  EXPECT_NEAR(figure("0.dollars_per_port"), figure("0.network_dollars") / 1024, 1e-9);
  EXPECT_NEAR(figure("0.bisection_Bps"), 512 * 50e9, 1);
  EXPECT_NEAR(
      figure("0.dollars_per_bisection_GBps"), figure("0.network_dollars") / (512 * 50), 1e-9);
  // The run's 64 devices have 64 of its ports.
  EXPECT_NEAR(figure("0.dollars_per_token_per_s") * (128 * 8192.0) / figure("0.iteration_time_s"),
              figure("0.network_dollars") * 64 / 1024,
              1e-3);
  // What has failed was bought all the same; half the links up cost less.
  EXPECT_EQ(figure("1.network_dollars"), figure("0.network_dollars"));
  EXPECT_NEAR(figure("2.network_dollars"), 2 * units * (2 * 10 + 0.5 * 20 + 5), 1e-3);
  const std::string text = data_of(titer(asked));
  EXPECT_TRUE(contains(text, "what all of each network costs")) << text;
  EXPECT_TRUE(contains(text, "basis: ")) << text;
  EXPECT_TRUE(contains(refusal_of(titer({"compare",
                                         "llama3-70b-64xh100",
                                         "--topology=fat-tree-2-level-1024",
                                         "--prices=gpu-clouds-2026"})),
                       "expected \"network\" in them"));
}

TEST(AppCompare, TellsRowsOfSeveralPricesApart) {
  const std::string text = data_of(titer({"compare",
                                          "llama3-70b-64xh100",
                                          "--cluster=dgx-h100,dgx-h100",
                                          "--prices=gpu-clouds-2026,owned-assumed",
                                          "--tokens=1T",
                                          "--devices=64"}));
  EXPECT_TRUE(contains(text, "prices: of each row its own"));
  EXPECT_TRUE(contains(text, "dgx-h100 (1)  gpu-clouds-2026")) << text;
  EXPECT_TRUE(contains(text, "dgx-h100 (2)  owned-assumed")) << text;
}

TEST(AppCompare, RefusesWhatItCannotCompare) {
  EXPECT_TRUE(contains(
      refusal_of(titer({"compare", "--model", "llama3-8b", "--tokens", "1T", "--deadline", "60d"})),
      "expected models and clusters (--model A,B --cluster X,Y)"));
  EXPECT_TRUE(contains(refusal_of(titer(comparing({}))), "expected a deadline (--deadline 60d)"));
  EXPECT_TRUE(contains(refusal_of(titer(comparing({"--deadline", "60 dys"}))), "known units: "));
  EXPECT_TRUE(
      contains(refusal_of(titer(comparing({"--deadline", "9d", "--sort", "price"}))), "--sort: "));
  EXPECT_TRUE(contains(refusal_of(titer(comparing({"--deadline", "9d", "--watts", "1,2,3"}))),
                       "power: expected one for all, or one for each of the 2 clusters, got 3"));
  EXPECT_TRUE(contains(refusal_of(titer({"compare", "--oversubscription", "2"})),
                       "compare networks of one RUN"));
  EXPECT_TRUE(
      contains(refusal_of(titer({"compare", "llama3-70b-64xh100", "--oversubscription", "two"})),
               "expected numbers with commas"));
  EXPECT_TRUE(
      contains(refusal_of(titer({"compare", "llama3-70b-64xh100", "--oversubscription", "2"})),
               "one ideal switch"));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
