// Routes and link loads on the command line.

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "app/program.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string only_error(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  const auto errors = outcome.errors();
  EXPECT_EQ(errors.size(), 1U) << outcome.err;
  return errors.empty() ? "" : errors.front();
}

class TrafficFile {
 public:
  explicit TrafficFile(const std::string& text) { std::ofstream(path()) << text; }
  [[nodiscard]] std::string path() const { return (folder_.path() / "traffic.csv").string(); }

 private:
  TemporaryFolder folder_;
};

TEST(AppRoutes, ShowsTheEqualRoutesThroughEverySpine) {
  const Outcome outcome =
      titer({"topology", "fat-tree-2-level-1024", "--from", "0", "--to", "1000"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "device 0 to device 1000: 4 links, more than 8 equal routes"))
      << outcome.out;
  EXPECT_TRUE(has(outcome.out, "device 0 - leaf 0 - spine 0 - leaf ")) << outcome.out;
}

TEST(AppRoutes, SettlesTheDimensionsOfATorusInOrder) {
  // Device 2 + 32 * 1: two links along the first dimension, then one along the second.
  const Outcome outcome = titer({"topology", "tpu-v3-pod", "--from", "0", "--to", "34"});
  EXPECT_TRUE(has(outcome.out, "3 links, 1 equal route\n")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "  device 0 - device 1 - device 2 - device 34\n")) << outcome.out;
}

TEST(AppRoutes, AreRowsAndObjectsToo) {
  const Outcome csv =
      titer({"topology", "dgx1-v100", "--from", "0", "--to", "5", "--format", "csv"});
  EXPECT_TRUE(has(
      csv.out, "devices,route,hop,from,to,notes\ndgx1-v100,dgx1-v100,edges,8,0,0,device 0,device "))
      << csv.out;
  const Outcome json =
      titer({"topology", "dgx1-v100", "--from", "0", "--to", "5", "--format", "json"});
  EXPECT_TRUE(has(json.out, "\"links\": 2")) << json.out;
}

TEST(AppRoutes, RefusesVerticesThatAreNotThere) {
  const std::string error =
      only_error(titer({"topology", "dgx1-v100", "--from", "0", "--to", "8"}));
  EXPECT_TRUE(has(error, "vertex 8 is not in dgx1-v100, whose vertices are 0 to 7")) << error;
  EXPECT_TRUE(has(only_error(titer({"topology", "dgx1-v100", "--from", "0"})),
                  "a route has both a begin and an end"));
  EXPECT_TRUE(has(only_error(titer({"topology", "dgx1-v100", "--from", "3", "--to", "3"})),
                  "expected two different vertices"));
  EXPECT_TRUE(has(
      only_error(titer({"topology", "dgx1-v100", "--from", "0", "--to", "1", "--format", "svg"})),
      "text, csv or json"));
}

TEST(AppLoads, OfAnAllToAllFillThePortsOfANonBlockingTree) {
  // Of 1024 MB, all but a device's own 1 MB leave through its port of 50 GB/s.
  const Outcome outcome = titer({"topology",
                                 "fat-tree-2-level-1024",
                                 "--all-to-all",
                                 "1024 MB",
                                 "--set",
                                 "bandwidth=50 GB/s",
                                 "--format",
                                 "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "\"busiest_link_time_s\": 0.02046")) << outcome.out.substr(0, 300);
}

TEST(AppLoads, OfAMatrixAddUpOnTheLinksThatItShares) {
  const TrafficFile traffic("from,to,bytes\n0,1,50 MB\n0,1,25000000\n1,0,1 MB\n");
  const Outcome outcome =
      titer({"topology", "dgx1-v100", "--traffic", traffic.path(), "--format", "csv"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  // One link of 25 GB/s: 75 MB take 3 ms.
  EXPECT_TRUE(has(outcome.out, "device 0,device 1,75000000,0.003,\n")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "device 1,device 0,1000000,4e-05,\n")) << outcome.out;
}

TEST(AppLoads, TakeTimeAsFlowsThatShareTheirLinks) {
  // 50 and 25 MB share a link of 25 GB/s until the smaller has passed; the other way is free.
  const TrafficFile traffic("from,to,bytes\n0,1,50 MB\n0,1,25 MB\n1,0,25 MB\n");
  const Outcome outcome =
      titer({"topology", "dgx1-v100", "--traffic", traffic.path(), "--time", "--format", "csv"});
  const std::string begin = "dgx1-v100,dgx1-v100,edges,8," + traffic.path() + ",device ";
  EXPECT_EQ(outcome.out,
            "asked,topology,family,devices,traffic,from,to,bytes,time_s,bytes_per_s,notes\n" +
                begin + "0,device 1,50000000,0.003,16666666666.666666,\n" + begin +
                "0,device 1,25000000,0.002,12500000000,\n" + begin +
                "1,device 0,25000000,0.001,25000000000,\n");
  const Outcome text = titer({"topology", "dgx1-v100", "--traffic", traffic.path(), "--time"});
  EXPECT_TRUE(has(text.out, "all have arrived after 3 ms\n")) << text.out;
  EXPECT_TRUE(
      has(only_error(titer({"topology", "dgx1-v100", "--time"})), "--time: expected --traffic"));
}

TEST(AppLoads, AreThoseOfTheRoutingAndOfTheLinksThatWork) {
  const std::vector<std::string> all = {
      "topology", "fat-tree-2-level-1024", "--all-to-all", "1024 MB"};
  const auto with = [&](const std::vector<std::string>& sets) {
    std::vector<std::string> arguments = all;
    for (const std::string& set : sets) {
      arguments.insert(arguments.end(), {"--set", set});
    }
    return titer(arguments).out;
  };
  EXPECT_FALSE(has(with({}), "  routing  ")) << "as ever";
  EXPECT_TRUE(has(with({"routing=ecmp"}), "routing            ecmp\n"));
  // Every leaf has two links to each of 16 spines: without one all that a leaf sends there takes
  // the other.
  const std::string failed = with({R"(failures.named=["spine 3"])"});
  EXPECT_TRUE(has(failed, "leaf 0")) << failed;
  EXPECT_FALSE(has(failed, "spine 3")) << failed;
  const std::string shown =
      titer({"topology", "fat-tree-2-level-1024", "--set", "failures.links=10"}).out;
  EXPECT_TRUE(has(shown, "failed     10 links (seed 0)\n")) << shown;
  EXPECT_TRUE(has(shown, "min cut between the halves")) << shown;
}

TEST(AppLoads, RefuseEveryWrongRowAtOnce) {
  const TrafficFile traffic("from,to,bytes\n0,8,1 MB\n0,1,much\n0.5,1,1 MB\n");
  const Outcome outcome = titer({"topology", "dgx1-v100", "--traffic", traffic.path()});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(has(outcome.err, "traffic.csv:2: to")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "traffic.csv:3: bytes: much: expected")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "traffic.csv:4: from")) << outcome.err;
}

TEST(AppLoads, RefuseASizeWithoutAUnitAndTwoTraffics) {
  EXPECT_TRUE(has(only_error(titer({"topology", "dgx1-v100", "--all-to-all", "64"})),
                  "--all-to-all: 64: expected"));
  const TrafficFile traffic("from,to,bytes\n0,1,1 MB\n");
  EXPECT_EQ(
      titer({"topology", "dgx1-v100", "--all-to-all", "64MiB", "--traffic", traffic.path()}).code,
      2);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
