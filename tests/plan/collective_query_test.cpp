#include "titer/plan/place/collective_query.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "plan/shipped.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    EXPECT_EQ(error.lines.size(), 1U);
    return error.lines.empty() ? "" : error.lines.front();
  }
  return "nothing was refused";
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks: " << part;
}

CollectiveDesk desk(const Cluster& cluster,
                    const std::vector<std::string>& ranks,
                    int servers = 0) {
  std::vector<std::vector<int>> groups;
  for (const std::string& text : ranks) {
    groups.push_back(parse_devices(text));
  }
  return {cluster, groups, servers};
}

CollectiveQuery query(Collective collective,
                      Bytes size,
                      NetworkFidelity fidelity = NetworkFidelity::closed,
                      std::string algorithm = "") {
  return {.collective = collective,
          .size = size,
          .algorithm = std::move(algorithm),
          .fidelity = fidelity};
}

/// Protocols without start-ups, as fast as the wires: what is left is latency and contention.
Cluster plain(std::string_view name) {
  Cluster cluster = shipped::cluster(name);
  cluster.node_protocols = {{.name = "plain", .startup = {}, .latency = 2_us}};
  cluster.peer_protocols.clear();
  cluster.network_protocols = {{.name = "plain", .startup = {}, .latency = 10_us}};
  return cluster;
}

constexpr Collective kSum = Collective::all_reduce;

TEST(CollectiveDesk, TakesTheFastestOfTheLibrary) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  for (const char* ranks : {"0-7", "0-15", "0-1"}) {
    CollectiveDesk asked = desk(cluster, {ranks});
    for (const Collective collective :
         {kSum, Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all}) {
      for (const Bytes size : {1_KiB, 1_MiB, 1_GiB}) {
        const CollectiveAnswer answer = asked.answer(query(collective, size));
        const CollectiveTime best =
            collective_time(collective, size, asked.group().group, asked.group().fabric);
        ASSERT_NE(answer.algorithm, nullptr);
        EXPECT_EQ(answer.algorithm->name, best.algorithm);
        EXPECT_EQ(answer.time, best.time);
        EXPECT_EQ(answer.time, answer.closed_time);
        EXPECT_FALSE(answer.execution.has_value());
        for (const Candidate& candidate : answer.candidates) {
          EXPECT_TRUE(!candidate.time || !candidate.algorithm->in_library ||
                      *candidate.time >= answer.time);
        }
      }
    }
  }
}

TEST(CollectiveDesk, TakesTheAlgorithmAskedForOrSaysWhatItNeeds) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  CollectiveDesk eight = desk(cluster, {"0-7"});
  EXPECT_EQ(
      eight.answer(query(kSum, 1_MiB, NetworkFidelity::closed, "double-tree")).algorithm->name,
      "double-tree");
  CollectiveDesk six = desk(cluster, {"0-5"});
  const auto said = [&](std::string name, Collective collective = kSum) {
    return refusal([&] {
      (void)six.answer(query(collective, 1_MiB, NetworkFidelity::closed, std::move(name)));
    });
  };
  const std::string halving = said("recursive-halving", Collective::reduce_scatter);
  expect_in(halving, "algorithm recursive-halving: reduce-scatter by it needs ");
  expect_in(halving, "power of two");
  expect_in(halving, "; on these ranks these run: ring");
  expect_in(said("torus-bucket"), "ranks that are a torus");
  expect_in(said("rings"), "did you mean \"ring\"?");
  expect_in(refusal([&] { (void)six.answer(query(Collective::send_recv, 1_MiB)); }),
            "algorithm of the library: expected one that runs send-recv on these ranks: none does");
}

TEST(CollectiveDesk, ChoosesProtocolsBySize) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  CollectiveDesk asked = desk(cluster, {"0-15"});
  const CollectiveAnswer small = asked.answer(query(kSum, 1_KiB));
  EXPECT_EQ(small.protocols.node, "low-latency");
  EXPECT_EQ(small.protocols.network, "low-latency");
  const CollectiveAnswer large = asked.answer(query(kSum, 1_GiB));
  EXPECT_EQ(large.protocols.node, "simple");
  EXPECT_EQ(large.protocols.network, "simple");
}

TEST(CollectiveDesk, ExecutesWhatTheFormulaSaysWhereNothingIsShared) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  for (const char* ranks : {"0-7", "0-15", "0-31"}) {
    CollectiveDesk asked = desk(cluster, {ranks});
    for (const Bytes size : {64_KiB, 64_MiB}) {
      for (const char* name : {"ring", "hierarchical"}) {
        if (std::string_view(name) == "hierarchical" && asked.group().group.nodes == 1) {
          continue;
        }
        for (const auto fidelity : {NetworkFidelity::busiest, NetworkFidelity::flow}) {
          const CollectiveAnswer answer = asked.answer(query(kSum, size, fidelity, name));
          EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6) << ranks << " " << name;
        }
      }
    }
  }
}

TEST(CollectiveDesk, ExecutesInTheSwitchesThatAdd) {
  Cluster cluster = plain("dgx-a100-80gb");
  cluster.node_switch_protocols = {
      {.name = "nvls", .startup = 5_us, .latency = 3_us, .efficiency = 0.5}};
  cluster.network_switch_protocols = {
      {.name = "sharp", .startup = 7_us, .latency = 15_us, .efficiency = 0.8}};
  const auto check = [&](const char* ranks, const char* name) {
    CollectiveDesk asked = desk(cluster, {ranks});
    for (const auto fidelity : {NetworkFidelity::busiest, NetworkFidelity::flow}) {
      const CollectiveAnswer answer = asked.answer(query(kSum, 64_MiB, fidelity, name));
      EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6) << name;
    }
    return asked.answer(query(kSum, 64_MiB, NetworkFidelity::closed, name)).protocols;
  };
  EXPECT_EQ(check("8-15", "in-switch").node, "nvls");
  EXPECT_EQ(check("0-31:8", "network-tree").network, "sharp");
  EXPECT_EQ(check("0-31", "hierarchical-in-switch").node, "nvls");
  EXPECT_EQ(check("0-31", "hierarchical-network-tree").network, "sharp");
}

TEST(CollectiveDesk, RoutesBetweenDevicesOfANodeNeverGoThroughANicTheyShare) {
  Cluster cluster = plain("dgx-a100-80gb");
  cluster.nics = 4;  // one for two devices
  CollectiveDesk asked = desk(cluster, {"0-15"});
  const CollectiveAnswer answer =
      asked.answer(query(kSum, 64_MiB, NetworkFidelity::busiest, "hierarchical"));
  EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6);
}

TEST(CollectiveDesk, RoutesInsideANodeKeepToItsWiresWhereThereIsAHostToo) {
  Cluster cluster = plain("dgx-a100-80gb");
  cluster.host_path = Link{2_us, 10_GBps};
  CollectiveDesk asked = desk(cluster, {"8-15"});
  for (const auto fidelity : {NetworkFidelity::busiest, NetworkFidelity::flow}) {
    for (const char* name : {"ring", "hybrid-rings"}) {
      const CollectiveAnswer answer = asked.answer(query(kSum, 64_MiB, fidelity, name));
      EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6) << name;
    }
  }
}

TEST(CollectiveDesk, NamesTheBusiestLink) {
  Cluster cluster = plain("dgx-a100-80gb");
  CollectiveDesk asked = desk(cluster, {"0-15:8"});
  const CollectiveAnswer answer =
      asked.answer(query(kSum, 64_MiB, NetworkFidelity::busiest, "ring"));
  EXPECT_EQ(answer.busiest, "device 0 to NIC 0");
  ASSERT_TRUE(answer.execution && answer.execution->busiest);
  EXPECT_NEAR(answer.execution->busiest->bytes.si(), (64_MiB).si(), 1.0);  // two halves
  EXPECT_NEAR(answer.execution->busiest->time.si(), (64_MiB).si() / 25e9, 1e-9);
}

TEST(CollectiveDesk, GroupsThatShareANicTakeTurns) {
  Cluster cluster = plain("dgx-a100-80gb");
  cluster.nics = 1;
  const auto time = [&](const std::vector<std::string>& groups) {
    CollectiveDesk asked = desk(cluster, groups);
    return asked.answer(query(kSum, 64_MiB, NetworkFidelity::flow, "ring")).time.si();
  };
  const double alpha = 2 * 10e-6;
  const double once = (64_MiB).si() / 25e9;  // two halves of the vector
  EXPECT_NEAR(time({"0-15:8"}), alpha + once, 1e-9);
  EXPECT_NEAR(time({"0-15:8", "1-15:8"}), alpha + 2 * once, 1e-9);
  EXPECT_NEAR(time({"0-15:8", "1-15:8", "2-15:8", "3-15:8"}), alpha + 4 * once, 1e-9);
}

TEST(CollectiveDesk, GroupsKeepTheRingsOfTheirOwnWires) {
  const Cluster cluster = plain("dgx1-v100");
  // Every neighbour of these has other wires.
  CollectiveDesk asked = desk(cluster, {"0,1,4,5", "2,3,6,7"});
  const CollectiveAnswer answer =
      asked.answer(query(kSum, 64_MiB, NetworkFidelity::flow, "disjoint-rings"));
  EXPECT_NEAR(answer.time / answer.closed_time, 1.0, 1e-6);
}

TEST(CollectiveDesk, GroupsShareTheLinkBetweenSockets) {
  const Cluster cluster = plain("a100-pcie-8");
  for (const NetworkFidelity fidelity : {NetworkFidelity::closed, NetworkFidelity::flow}) {
    const auto time = [&](const std::vector<std::string>& groups) {
      CollectiveDesk asked = desk(cluster, groups);
      return asked.answer(query(kSum, 64_MiB, fidelity, "ring")).time.si();
    };
    const double alpha = 2 * 2e-6;
    const double once = (64_MiB).si() / 18e9;
    EXPECT_NEAR(time({"0,4"}), alpha + once, 1e-9);
    EXPECT_NEAR(time({"0,4", "1,5"}), alpha + 2 * once, 1e-9);
    EXPECT_NEAR(time({"0,4", "1,5", "2,6", "3,7"}), alpha + 4 * once, 1e-9);
    EXPECT_LT(time({"0-1", "2-3", "4-5", "6-7"}), alpha + once);  // each behind a switch
  }
}

TEST(CollectiveDesk, RefusesGroupsThatDifferOrOverlap) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  const auto said = [&](const std::vector<std::string>& groups) {
    return refusal([&] { (void)desk(cluster, groups); });
  };
  expect_in(said({"0-3", "3-6"}), "ranks: device 3 is in two groups");
  expect_in(said({"0-3", "4-6"}), "groups that run at once must be alike");
  expect_in(said({"0-3", "4,5,8,9"}), "groups that run at once must be alike");
}

TEST(CollectiveDesk, PutsServersOnNodesOfTheirOwn) {
  Cluster cluster = plain("dgx-a100-80gb");
  for (const int servers : {1, 2, 4}) {
    CollectiveDesk asked = desk(cluster, {"0-31:8"}, servers);
    const CollectiveAnswer answer =
        asked.answer(query(kSum, 64_MiB, NetworkFidelity::flow, "parameter-server"));
    const double load = 4.0 / servers;  // vectors through the port of a server
    EXPECT_NEAR(answer.time.si(), 2 * 10e-6 + 2 * load * (64_MiB).si() / 25e9, 1e-9);
  }
  // Also those of ranks of one node, which are then no group of the node.
  CollectiveDesk inside = desk(cluster, {"0-3"}, 4);
  const CollectiveAnswer there =
      inside.answer(query(kSum, 64_MiB, NetworkFidelity::flow, "parameter-server"));
  EXPECT_NEAR(there.time / there.closed_time, 1.0, 1e-6);
  expect_in(inside.group().remark, "every message is taken through the network");
  cluster.nodes = 4;
  expect_in(refusal([&] { (void)desk(cluster, {"0-31:8"}, 1); }),
            "ranks and servers take 5 nodes, but dgx-a100-80gb has 4");
  cluster.nodes.reset();
  cluster.network_protocols.clear();
  expect_in(refusal([&] { (void)desk(cluster, {"0-7"}, 1); }), "parameter servers are on nodes");
}

TEST(CollectiveDesk, ANetworkOfItsOwnHasSoManyPorts) {
  Cluster cluster = plain("dgx-a100-80gb");
  // Leaves of 16 ports, two nodes each, with a quarter as many links up.
  cluster.network_topology =
      NamedTopology{.family = FatTree{.levels = {{.down = 16, .up = 1, .bandwidth = 25_GBps},
                                                 {.down = 2, .up = 4, .bandwidth = 25_GBps}}}};
  EXPECT_EQ(cluster.nodes_of_network(), 4);
  expect_in(refusal([&] { (void)desk(cluster, {"0-39:8"}); }), "device 32 is not in");
  CollectiveDesk two = desk(cluster, {"0-15"});
  CollectiveDesk four = desk(cluster, {"0-31"});
  const auto slower = [&](CollectiveDesk& asked) {
    const CollectiveAnswer answer =
        asked.answer(query(Collective::all_to_all, 64_MiB, NetworkFidelity::busiest, "direct"));
    return answer.time / answer.closed_time;
  };
  EXPECT_LE(slower(two), 1.0);  // at one leaf, and half of it inside the nodes
  // From a leaf goes 1/2 of what its 16 ports send, through 4 links.
  EXPECT_NEAR(
      slower(four),
      (10e-6 + (64_MiB).si() / 2 * 16 / 4 / 25e9) / (10e-6 + (64_MiB).si() * 31 / 32 / 25e9),
      1e-6);
  expect_in(refusal([&] { (void)desk(cluster, {"0-31:8"}, 1); }), "has ports for 4");
}

TEST(CollectiveDesk, OneExchangeIsWhatItsMessagesAre) {
  const Cluster cluster = plain("dgx-a100-80gb");
  for (const char* name : {"direct", "two-tier-direct"}) {
    CollectiveDesk asked = desk(cluster, {"0-15"});
    const auto time = [&](NetworkFidelity fidelity) {
      return asked.answer(query(Collective::all_to_all, 64_MiB, fidelity, name)).time;
    };
    EXPECT_NEAR(time(NetworkFidelity::busiest) / time(NetworkFidelity::flow), 1.0, 1e-6) << name;
  }
}

TEST(CollectiveDesk, OneRankSendsNothing) {
  const Cluster cluster = shipped::cluster("dgx-a100-80gb");
  CollectiveDesk asked = desk(cluster, {"5"});
  const CollectiveAnswer answer = asked.answer(query(kSum, 64_MiB, NetworkFidelity::flow));
  EXPECT_EQ(answer.algorithm, nullptr);
  EXPECT_EQ(answer.time, Seconds{});
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
