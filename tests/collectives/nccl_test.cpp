#include "titer/collectives/nccl/nccl.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "nccl_systems.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using enum NcclAlgorithm;
using enum Collective;
constexpr auto kLl = NcclProtocol::ll;
constexpr auto kLl128 = NcclProtocol::ll128;
constexpr auto kSimple = NcclProtocol::simple;

NcclCandidate candidate(const NcclChoice& choice, NcclAlgorithm algorithm, NcclProtocol protocol) {
  for (const NcclCandidate& pair : choice.candidates()) {
    if (pair.algorithm == algorithm && pair.protocol == protocol) {
      return pair;
    }
  }
  ADD_FAILURE() << "no such candidate";
  return {};
}

void expect_figures(const NcclCandidate& pair, double latency_us, double bandwidth_gbps) {
  EXPECT_EQ(pair.disabled, "") << name_of(pair.algorithm) << "/" << name_of(pair.protocol);
  EXPECT_NEAR(pair.latency.si(), latency_us * 1e-6, 1e-12);
  EXPECT_NEAR(pair.bandwidth.si(), bandwidth_gbps * 1e9, 1.0);
}

TEST(NcclGraph, OneNodeHasTwelveChannelsAtAListedSpeed) {
  const NcclGraph a100 = nccl_graph(ring, {8, 1}, dgx_a100());  // 12 x 20 of 240 GB/s
  EXPECT_EQ(a100.channels, 12);
  EXPECT_DOUBLE_EQ(a100.intra.si(), 20e9);
  const NcclGraph h100 = nccl_graph(ring, {8, 1}, dgx_h100());  // 371 / 12 = 30.9
  EXPECT_EQ(h100.channels, 12);
  EXPECT_DOUBLE_EQ(h100.intra.si(), 30e9);
  EXPECT_DOUBLE_EQ(nccl_graph(tree, {8, 1}, dgx_b200()).intra.si(), 60e9);  // 722 / 12 = 60.2
}

TEST(NcclGraph, ReductionInTheSwitchHasAChannelPerGpu) {
  const NcclGraph h100 = nccl_graph(nvls, {8, 1}, dgx_h100());  // 371 / 8 = 46.4
  EXPECT_EQ(h100.channels, 8);
  EXPECT_DOUBLE_EQ(h100.intra.si(), 40e9);
  EXPECT_DOUBLE_EQ(nccl_graph(nvls, {4, 1}, dgx_h100()).intra.si(), 60e9);  // the fastest listed
}

TEST(NcclGraph, BetweenNodesThereIsAChannelPerNic) {
  const NcclGraph a100 = nccl_graph(ring, {8, 2}, dgx_a100());  // 25 GB/s of NIC
  EXPECT_EQ(a100.channels, 8);
  EXPECT_DOUBLE_EQ(a100.inter.si(), 24e9);
  EXPECT_DOUBLE_EQ(a100.intra.si(), 24e9);
  // Trees may go faster inside, up to 240 / 8 = 30 here.
  EXPECT_DOUBLE_EQ(nccl_graph(tree, {8, 2}, dgx_a100()).intra.si(), 30e9);
  // The wires of the node limit: 371 / 8 = 46.4 below 50.
  EXPECT_DOUBLE_EQ(nccl_graph(ring, {8, 2}, dgx_h100()).inter.si(), 45e9);
  // A group of one GPU per node has one NIC, and no wires of the node in its way.
  const NcclGraph alone = nccl_graph(ring, {1, 4}, dgx_h100());
  EXPECT_EQ(alone.channels, 1);
  EXPECT_DOUBLE_EQ(alone.inter.si(), 48e9);
}

TEST(NcclGraph, OnAFewSlowNicsTreesUseTwiceTheNic) {
  NcclSystem system = dgx_a100();
  system.nics = 4;
  system.nic_bandwidth = 100_Gbps;
  EXPECT_DOUBLE_EQ(nccl_graph(ring, {8, 2}, system).intra.si(), 12e9);  // 12.5 of a NIC
  EXPECT_DOUBLE_EQ(nccl_graph(tree, {8, 2}, system).intra.si(), 24e9);  // 12, 15, 18, 20, 24
}

TEST(NcclGraph, TakesTheLogsChannelsWhenGiven) {
  NcclSystem system = dgx_a100();
  system.rings = NcclGraph{.channels = 16, .intra = 12_GBps, .inter = 11_GBps};
  EXPECT_EQ(nccl_graph(ring, {8, 2}, system).channels, 16);
  EXPECT_EQ(nccl_graph(tree, {8, 1}, system).intra, 12_GBps);
}

TEST(NcclGraph, OverPcieThereIsOneChannel) {
  NcclSystem system = dgx_a100();
  system.medium = NcclMedium::pci;
  system.node_bandwidth = 12_GBps;
  EXPECT_EQ(nccl_graph(ring, {8, 1}, system).channels, 1);
  EXPECT_EQ(nccl_graph(ring, {8, 1}, system).intra, 12_GBps);
  system.node_bandwidth = 1_GBps;  // below the slowest listed speed
  EXPECT_EQ(nccl_graph(ring, {8, 1}, system).intra, 1_GBps);
}

TEST(Nccl, RingAllReduceOfOneNode) {
  const NcclChoice choice = choose(all_reduce, 1_MiB, {8, 1}, dgx_a100());
  // latency base + 2 (8-1) hops; bandwidth bus x 8 / 14; bus 12 x 20 = 240 GB/s.
  expect_figures(candidate(choice, ring, kLl), 6.6 + 14 * 0.6, 87.7 * 8 / 14);
  expect_figures(candidate(choice, ring, kLl128), 14.0 + 14 * 1.9, 0.92 * 240 * 8 / 14);
  expect_figures(candidate(choice, ring, kSimple), 8.4 + 14 * 3.4, 240.0 * 8 / 14);
}

TEST(Nccl, RingGatherAndScatterTakeHalfTheSteps) {
  for (const Collective function : {all_gather, reduce_scatter}) {
    const NcclChoice choice = choose(function, 1_MiB, {8, 1}, dgx_h100());
    expect_figures(candidate(choice, ring, kLl), 6.6 + 7 * 0.6, 141.0 * 8 / 7);
    expect_figures(candidate(choice, ring, kSimple), 8.4 + 7 * 3.4, 360.0 * 8 / 7);
  }
}

TEST(Nccl, BroadcastAndReduceShowOneHop) {
  for (const Collective function : {broadcast, reduce}) {
    const NcclChoice node = choose(function, 1_MiB, {8, 1}, dgx_a100());
    expect_figures(candidate(node, ring, kSimple), 8.4 + 3.4, 240.0);
    const NcclChoice nodes = choose(function, 1_MiB, {8, 2}, dgx_a100());
    expect_figures(candidate(nodes, ring, kSimple), 8.4 + 14.0, 8 * 24.0);
    EXPECT_EQ(candidate(nodes, tree, kSimple).disabled, "only for all-reduce");
    EXPECT_EQ(candidate(nodes, nvls, kSimple).disabled, "broadcast and reduce are rings");
  }
}

TEST(Nccl, RingBetweenNodesPaysTheNetworkTwicePerNode) {
  const NcclChoice choice = choose(all_reduce, 1_GiB, {8, 4}, dgx_a100());
  // 62 steps, 6 of them between nodes; AMD: no step under 2 us (6 us for Simple); inter-node
  // bandwidth from three nodes on; Simple stretched by 1.4 for its plateau.
  expect_figures(candidate(choice, ring, kLl), 6.6 + 56 * 2.0 + 6 * 2.7, 19.0 * 32 / 62);
  expect_figures(
      candidate(choice, ring, kSimple), 1.4 * (8.4 + 56 * 6.0 + 6 * 14.0), 8 * 24.0 * 32 / 62);
  NcclSystem intel = dgx_a100();
  intel.cpu = CpuVendor::intel;
  const NcclChoice other = choose(all_reduce, 1_GiB, {8, 4}, intel);
  expect_figures(candidate(other, ring, kLl), 6.6 + 56 * 1.0 + 6 * 2.7, 20.4 * 32 / 62);
}

TEST(Nccl, ThePlateauOfRingsStartsAt64BytesPerChannelAndRank) {
  const NcclSystem system = dgx_a100();
  const auto latency = [&](double bytes) {
    const auto choice = choose(all_reduce, Bytes::from_si(bytes), {8, 2}, system);
    return candidate(choice, ring, kSimple).latency.si();
  };
  const double start = 64.0 * 8 * 16;
  EXPECT_NEAR(latency(start) / latency(start - 1), 1.4, 1e-12);
  NcclSystem old = system;
  old.generation = GpuGeneration::volta;
  const auto before = choose(all_reduce, 1_KiB, {8, 2}, old);
  const auto after = choose(all_reduce, 1_GiB, {8, 2}, old);
  EXPECT_NEAR(candidate(after, ring, kSimple).latency / candidate(before, ring, kSimple).latency,
              1.9,
              1e-12);
}

TEST(Nccl, TheNicsLatencyCountsTwiceForSimple) {
  NcclSystem system = dgx_a100();
  system.nic_latency = 5_us;
  const NcclChoice with = choose(all_gather, 1_MiB, {8, 2}, system);
  const NcclChoice without = choose(all_gather, 1_MiB, {8, 2}, dgx_a100());
  for (const auto& [protocol, more] : {std::pair{kLl, 5e-6}, {kLl128, 5e-6}, {kSimple, 10e-6}}) {
    EXPECT_NEAR(
        (candidate(with, ring, protocol).latency - candidate(without, ring, protocol).latency).si(),
        more,
        1e-12);
  }
}

TEST(Nccl, TreeOfOneNodeIsAChain) {
  const NcclChoice choice = choose(all_reduce, 64_B, {8, 1}, dgx_h100());
  // 12 x 30 = 360 bus, x 0.92, x 0.5; corrections for 64 B are 1, 1, 0.9.
  const double bus = 0.92 * 360;
  expect_figures(candidate(choice, tree, kLl), 6.8 + 2 * 7 * 0.6, bus / 3.8 / 2);
  expect_figures(candidate(choice, tree, kLl128), 14.0 + 2 * 7 * 1.25, 7.0 / 9 * bus / 2);
  expect_figures(candidate(choice, tree, kSimple), 8.4 + 2 * 7 * 4.0, 0.9 * bus / 2);
}

TEST(Nccl, TreeBetweenNodesClimbsALogarithm) {
  const NcclChoice choice = choose(all_reduce, 1_GiB, {8, 4}, dgx_a100());
  // 8 x 24 GB/s x 0.92 over four nodes, capped at 8 x 17.8; 1 GiB is beyond the corrections.
  expect_figures(candidate(choice, tree, kSimple), 8.4 + 2 * (7 * 4.0 + 2 * 14.0), 8 * 17.8 / 2);
  expect_figures(candidate(choice, tree, kLl), 6.8 + 2 * (7 * 0.6 + 2 * 5.0), 19.0 / 2);
}

TEST(Nccl, OneGpuPerNodeSeesTheTreesNetworkLatency) {
  const NcclChoice choice = choose(all_gather, 1_MiB, {1, 8}, dgx_h100());
  expect_figures(candidate(choice, ring, kLl), 6.6 + 7 * 5.0, 19.0 * 8 / 7);
  // PAT: base + log2 N x 14 / 3.5 + 2.8 us per rank; three quarters of a channel of 48 GB/s.
  expect_figures(candidate(choice, pat, kSimple), 8.0 + 3 * 14.0 / 3.5 + 8 * 2.8, 0.75 * 48);
}

TEST(Nccl, NvlsOfOneNode) {
  const NcclChoice h100 = choose(all_reduce, 1_GiB, {8, 1}, dgx_h100());
  // 8 channels x 40 GB/s x 0.85 x 7/8 x 2, over 14/8.
  expect_figures(candidate(h100, nvls, kSimple), 25.0, 8 * 40 * 0.85 * 7 / 8 * 2 * 8 / 14);
  const NcclChoice gather = choose(all_gather, 1_GiB, {8, 1}, dgx_b200());
  expect_figures(candidate(gather, nvls, kSimple), 25.0, 8 * 90 * 0.74 * 7 / 8 * 7 / 8);
}

TEST(Nccl, NvlsTreeBetweenNodes) {
  const NcclChoice two = choose(all_reduce, 1_GiB, {8, 2}, dgx_h100());
  // Inside 8 x 45 x 0.85 x 7/8 x 2 = 535, NICs 2 x 8 x 45 = 720, cap 8 x 57.7 = 461.6.
  expect_figures(candidate(two, nvls_tree, kSimple), 25.0 + 2 * 20.9, 8 * 57.7 * 16 / 30);
  const NcclChoice four = choose(all_reduce, 1_GiB, {8, 4}, dgx_h100());
  expect_figures(candidate(four, nvls_tree, kSimple), 25.0 + 2 * 2 * 20.9, 8 * 45.0 * 32 / 62);
}

TEST(Nccl, CollnetDividesByTheGpusOfANic) {
  NcclSystem system = dgx_a100();
  system.collnet = true;
  system.nics = 4;
  const NcclChoice choice = choose(all_reduce, 1_GiB, {8, 4}, system);
  // Four channels of 24 (raised to 28, 30, 48 <= 60 inside), 8/4 GPUs per channel: / (2 - 1/2).
  expect_figures(
      candidate(choice, collnet_direct, kSimple), 2 * (3.7 + 7 * 0.4) + 31.0, 0.5 * 4 * 48 / 1.5);
  expect_figures(candidate(choice, collnet_chain, kSimple), 2 * 7 * 2.8 + 30.0, 0.5 * 4 * 48);
  const NcclChoice gather = choose(all_gather, 1_GiB, {8, 4}, system);
  expect_figures(
      candidate(gather, collnet_direct, kSimple), 2 * (3.7 + 7 * 0.4) + 31.0, 8 * 0.9 * 24);
}

TEST(Nccl, CollnetIsSlowerOnHopper) {
  NcclSystem system = dgx_h100();
  system.collnet = true;
  const NcclChoice choice = choose(all_reduce, 1_GiB, {8, 4}, system);
  expect_figures(
      candidate(choice, collnet_direct, kSimple), 2 * (3.7 + 7 * 0.4) + 31.0, 0.5 * 8 * 45 * 0.85);
  EXPECT_EQ(candidate(choice, nvls, kSimple).disabled, "");
}

TEST(Nccl, AllToAllServesTheNodeAndTheNetworkAtOnce) {
  const NcclSystem system = dgx_a100();
  const NcclChoice node = choose(all_to_all, 1_GiB, {8, 1}, system);
  expect_figures(candidate(node, p2p, kSimple), 8.4 + 3.4, 240.0 * 8 / 7);
  const NcclChoice nodes = choose(all_to_all, 1_GiB, {8, 2}, system);
  // 8 of 16 parts leave the node at 25 GB/s a rank; 15 peers are two batches of eight.
  expect_figures(candidate(nodes, p2p, kSimple), 8.4 + 2 * 14.0, 25.0 * 16 / 8);
  expect_figures(candidate(nodes, p2p, kLl), 6.6 + 2 * 2.7, 0.5 * 25.0 * 16 / 8);
}

TEST(Nccl, ASendGoesThroughOneWire) {
  const NcclChoice node = choose(send_recv, 1_GiB, {2, 1}, dgx_a100());
  expect_figures(candidate(node, p2p, kSimple), 8.4 + 3.4, 240.0);
  const NcclChoice nodes = choose(send_recv, 1_GiB, {1, 2}, dgx_a100());
  expect_figures(candidate(nodes, p2p, kSimple), 8.4 + 14.0, 25.0);
}

TEST(Nccl, SwitchesFromLlOverLl128ToSimpleWithTheSize) {
  const auto protocol = [](Bytes size) {
    return choose(all_reduce, size, {8, 1}, dgx_a100()).protocol;
  };
  EXPECT_EQ(protocol(1_KiB), kLl);
  EXPECT_EQ(protocol(8_MiB), kLl128);
  EXPECT_EQ(protocol(1_GiB), kSimple);
}

TEST(Nccl, TreesTakeOverFromRingsAsNodesAreAdded) {
  const auto algorithm = [](int nodes) {
    return choose(all_reduce, 64_KiB, {8, nodes}, dgx_a100()).algorithm;
  };
  EXPECT_EQ(algorithm(1), ring);
  for (const int nodes : {2, 4, 64, 1024}) {
    EXPECT_EQ(algorithm(nodes), tree) << nodes;
  }
  EXPECT_EQ(choose(all_reduce, 8_GiB, {8, 2}, dgx_a100()).algorithm, ring);
}

TEST(Nccl, LargeAllReducesOnHopperAreReducedInTheSwitch) {
  EXPECT_EQ(choose(all_reduce, 512_MiB, {8, 1}, dgx_h100()).algorithm, nvls);
  EXPECT_EQ(choose(all_reduce, 1_KiB, {8, 1}, dgx_h100()).algorithm, ring);
  EXPECT_EQ(choose(all_gather, 512_MiB, {8, 1}, dgx_h100()).algorithm, ring);
  EXPECT_EQ(choose(all_reduce, 512_MiB, {8, 2}, dgx_h100()).algorithm, nvls_tree);
  NcclSystem plain = dgx_h100();
  plain.nvls = false;
  EXPECT_EQ(choose(all_reduce, 512_MiB, {8, 1}, plain).algorithm, ring);
}

TEST(Nccl, TakesTheAlgorithmsThatWereSeenOnH200AndB200) {
  // stas00/ml-engineering@744d01e18b, network/README.md: all-reduce of 8 GiB, NVLS enabled.
  for (const int gpus : {4, 5, 6, 7, 8}) {
    EXPECT_EQ(choose(all_reduce, 8_GiB, {gpus, 1}, dgx_h100()).algorithm, gpus == 4 ? ring : nvls)
        << gpus;
  }
  for (const int gpus : {4, 5, 7, 8}) {  // 6: ring here by 720 to 666 GB/s, NVLS there
    EXPECT_EQ(choose(all_reduce, 8_GiB, {gpus, 1}, dgx_b200()).algorithm, gpus < 6 ? ring : nvls)
        << gpus;
  }
}

TEST(Nccl, SaysWhyACandidateIsDisabled) {
  const auto why = [](Collective function, Group group, const NcclSystem& system) {
    return [=](NcclAlgorithm algorithm, NcclProtocol protocol) {
      return std::string(
          candidate(choose(function, 1_MiB, group, system), algorithm, protocol).disabled);
    };
  };
  const auto a100 = why(all_reduce, {8, 1}, dgx_a100());
  EXPECT_EQ(a100(nvls, kSimple), "the node's switch does not reduce");
  EXPECT_EQ(a100(collnet_direct, kSimple), "one node");
  EXPECT_EQ(a100(pat, kSimple), "only for all-gather and reduce-scatter");
  EXPECT_EQ(a100(p2p, kSimple), "only for all-to-all and send-recv");
  EXPECT_EQ(why(all_reduce, {8, 1}, dgx_h100())(nvls_tree, kSimple), "one node");
  const auto h100 = why(all_reduce, {8, 2}, dgx_h100());
  EXPECT_EQ(h100(nvls, kSimple), "the network does not reduce");
  EXPECT_EQ(h100(nvls_tree, kLl), "the algorithm has no such protocol");
  EXPECT_EQ(h100(collnet_chain, kSimple), "the network does not reduce");
  const auto gather = why(all_gather, {8, 2}, dgx_h100());
  EXPECT_EQ(gather(tree, kSimple), "only for all-reduce");
  EXPECT_EQ(gather(pat, kSimple), "more than one GPU per node");
  EXPECT_EQ(why(all_reduce, {1, 2}, dgx_h100())(nvls_tree, kSimple), "one GPU per node");
  EXPECT_EQ(why(all_to_all, {8, 1}, dgx_h100())(ring, kSimple), "made of sends and receives");
  NcclSystem system = dgx_h100();
  system.ll128 = false;
  EXPECT_EQ(why(all_reduce, {8, 1}, system)(ring, kLl128),
            "the path does not keep the order of its stores");
  system.ll128 = true;
  system.medium = NcclMedium::pci;
  EXPECT_EQ(why(all_reduce, {8, 1}, system)(tree, kLl128), "needs NVLink inside the node");
  system.version = {16};
  EXPECT_EQ(why(all_reduce, {8, 1}, system)(nvls, kSimple), "came with a later release");
  EXPECT_EQ(why(all_gather, {1, 8}, system)(pat, kSimple), "came with a later release");
}

TEST(Nccl, OldReleasesHadOtherLatencies) {
  const auto at = [](int minor, NcclAlgorithm algorithm, NcclProtocol protocol) {
    NcclSystem system = dgx_a100();
    system.version = {minor};
    return candidate(choose(all_reduce, 64_B, {8, 2}, system), algorithm, protocol).latency;
  };
  // Tree Simple: 2 log2 2 hops of 28 instead of 14 us up to 2.17 and in 2.21 and 2.22.
  for (const int minor : {12, 17, 21, 22}) {
    EXPECT_NEAR((at(minor, tree, kSimple) - at(30, tree, kSimple)).si(), 2 * (28e-6 - 14e-6), 1e-12)
        << minor;
  }
  for (const int minor : {18, 20, 23, 29}) {
    EXPECT_EQ(at(minor, tree, kSimple), at(30, tree, kSimple)) << minor;
  }
  // Ring Simple: two network steps of 9.6, then 28, then 14 us.
  EXPECT_NEAR((at(30, ring, kSimple) - at(8, ring, kSimple)).si(), 2 * (14e-6 - 9.6e-6), 1e-12);
  EXPECT_NEAR((at(12, ring, kSimple) - at(18, ring, kSimple)).si(), 2 * (28e-6 - 14e-6), 1e-12);
  EXPECT_NEAR((at(18, ring, kLl) - at(17, ring, kLl)).si(), 6.6e-6 - 3.6e-6, 1e-12);
  EXPECT_NEAR((at(18, tree, kLl) - at(17, tree, kLl)).si(), 6.8e-6 - 4.4e-6, 1e-12);
}

TEST(Nccl, TreesAreSlowedAtMiddleSizesOnly) {
  EXPECT_EQ(nccl_tree_correction(kLl, 1_B), 1.0);
  EXPECT_EQ(nccl_tree_correction(kSimple, 64_B), 0.9);
  EXPECT_EQ(nccl_tree_correction(kLl, 64_B * 4096.0), 0.4);                 // 2^12
  EXPECT_EQ(nccl_tree_correction(kLl, 64_B * 4095.0), 0.5);                 // still 2^11
  EXPECT_EQ(nccl_tree_correction(kSimple, 64_B * std::ldexp(1, 23)), 0.9);  // the last column
  EXPECT_EQ(nccl_tree_correction(kSimple, 64_B * std::ldexp(1, 24)), 1.0);
}

TEST(Nccl, TheChoiceIsTheLeastCandidateOfEveryRandomCall) {
  std::mt19937 random(11);
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  for (int round = 0; round < 3000; ++round) {
    NcclSystem system =
        switched_node(static_cast<GpuGeneration>(draw(0, 3)), draw(1, 18), 100_Gbps);
    system.nics = draw(1, 16);
    system.cpu = static_cast<CpuVendor>(draw(0, 1));
    system.medium = static_cast<NcclMedium>(draw(0, 1));
    system.nvls = draw(0, 1) == 1;
    system.collnet = draw(0, 1) == 1;
    system.version = {draw(4, 30)};
    const Group group{draw(1, 8), draw(2, 300)};
    const auto function = static_cast<Collective>(draw(0, 6));
    const Bytes size = Bytes::from_si(std::ldexp(1.0, draw(0, 36)));
    const NcclChoice choice = choose(function, size, group, system);
    ASSERT_GT(choice.time, Seconds{});
    ASSERT_TRUE(std::isfinite(choice.time.si()));
    for (const NcclCandidate& pair : choice.candidates()) {
      if (pair.disabled.empty()) {
        ASSERT_GE(pair.time(size), choice.time);
        ASSERT_GE(pair.channels, 1);
        ASSERT_GT(pair.bandwidth, BytesPerSecond{});
      }
    }
    EXPECT_EQ(candidate(choice, choice.algorithm, choice.protocol).time(size), choice.time);
    EXPECT_EQ(choice.candidates().size(), kNcclAlgorithms * kNcclProtocols);
  }
}

TEST(Nccl, ACollectiveIsTheFunctionOfItsName) {
  for (const Collective collective : kCollectives) {
    const Group group = collective == Collective::send_recv ? Group{2, 1} : Group{8, 1};
    const NcclChoice choice = choose(collective, 1_MiB, group, dgx_h100());
    EXPECT_GT(choice.time, Seconds{});
  }
  EXPECT_EQ(choose(Collective::all_gather, 1_MiB, {8, 1}, dgx_h100()).time,
            choose(all_gather, 1_MiB, {8, 1}, dgx_h100()).time);
}

TEST(Nccl, NonsenseIsADefect) {
  EXPECT_THROW((void)choose(all_reduce, 1_MiB, {1, 1}, dgx_a100()), Defect);
  EXPECT_THROW((void)choose(all_reduce, 1_MiB, {9, 1}, dgx_a100()), Defect);
  EXPECT_THROW((void)choose(all_reduce, Bytes::from_si(-1), {8, 1}, dgx_a100()), Defect);
  const NcclChoice nothing = choose(all_reduce, Bytes{}, {8, 1}, dgx_a100());
  EXPECT_EQ(nothing.protocol, kLl);
  EXPECT_NEAR(nothing.time.si(), 6.6e-6 + 14 * 0.6e-6, 1e-12);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
