// What other programs write of nodes and networks: rocm-smi, ibnetdiscover, Slurm.

#include "titer/topology/import/fabric_files.hpp"

#include <gtest/gtest.h>

#include "titer/topology/properties.hpp"
#include "titer/topology/routes.hpp"
#include "topology/graphs.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr LinkFigures kFigures = {.link = 64_GBps, .pcie = 31_GBps, .socket = 20_GBps};

std::string line_of(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

int links(const Topology& topology, int a, int b) {
  int sum = 0;
  for (const Wire& wire : topology.wires) {
    sum += (wire.a == a && wire.b == b) || (wire.a == b && wire.b == a) ? wire.count : 0;
  }
  return sum;
}

/// A table of rocm-smi: its title, the names, and rows of so many cells each.
std::string table(const std::string& title, const std::vector<std::vector<std::string>>& rows) {
  std::string text = "============ " + title + " ============\n      ";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += " GPU" + std::to_string(i);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "\nGPU" + std::to_string(i);
    for (const std::string& cell : rows[i]) {
      text += "   " + cell;
    }
  }
  return text + "\n\n";
}

// Four in a circle of xGMI; the pairs across are two hops apart.
const std::string kCircle =
    "====== ROCm System Management Interface ======\n" +
    table("Weight between two GPUs",
          {{"0", "15", "30", "15"},
           {"15", "0", "15", "30"},
           {"30", "15", "0", "15"},
           {"15", "30", "15", "0"}}) +
    table(
        "Hops between two GPUs",
        {{"0", "1", "2", "1"}, {"1", "0", "1", "2"}, {"2", "1", "0", "1"}, {"1", "2", "1", "0"}}) +
    table("Link Type between two GPUs",
          {{"0", "XGMI", "XGMI", "XGMI"},
           {"XGMI", "0", "XGMI", "XGMI"},
           {"XGMI", "XGMI", "0", "XGMI"},
           {"XGMI", "XGMI", "XGMI", "0"}}) +
    "GPU[0]\t\t: (Topology) Numa Node: 0\nGPU[0]\t\t: (Topology) Numa Affinity: 0\n";

TEST(RocmSmi, LinksAreBetweenThoseThatAreOneHopApart) {
  const Imported read = import_rocm_smi(kCircle, "topo.txt", kFigures);
  EXPECT_EQ(read.topology.devices, 4);
  EXPECT_EQ(read.topology.switches, 0);
  EXPECT_EQ(read.topology.wires.size(), 4U);
  EXPECT_EQ(links(read.topology, 0, 1), 1);
  EXPECT_EQ(links(read.topology, 0, 2), 0);
  EXPECT_EQ(read.topology.wires.front().bandwidth, 64_GBps);
  EXPECT_EQ(read.used, std::vector<std::string>{"link_bandwidth"});
}

TEST(RocmSmi, PcieGoesByTheProcessorOfTheNumaNode) {
  const std::string text =
      table("Link Type between two GPUs",
            {{"0", "PCIE", "PCIE"}, {"PCIE", "0", "PCIE"}, {"PCIE", "PCIE", "0"}}) +
      "GPU[0]\t: (Topology) Numa Node: 0\nGPU[1]\t: (Topology) Numa Node: 0\n"
      "GPU[2]\t: (Topology) Numa Node: 1\n";
  const Imported read = import_rocm_smi(text, "topo.txt", kFigures);
  EXPECT_EQ(read.topology.switches, 2);
  EXPECT_EQ(graphs::hops(read.topology, 0, 1), 2);
  EXPECT_EQ(graphs::hops(read.topology, 0, 2), 3);
  EXPECT_EQ(read.used, (std::vector<std::string>{"pcie_bandwidth", "socket_bandwidth"}));
}

TEST(RocmSmi, WhatIsWrongIsRefusedWithItsLine) {
  const std::string open = line_of([] { (void)import_rocm_smi(kCircle, "topo.txt", {}); });
  EXPECT_NE(open.find("expected link_bandwidth"), open.npos);
  const std::string unequal = table("Link Type between two GPUs", {{"0", "XGMI"}, {"PCIE", "0"}});
  EXPECT_EQ(line_of([&] { (void)import_rocm_smi(unequal, "t", kFigures); }),
            "t:3: GPU0 to GPU1: XGMI one way, PCIE the other");
  const std::string cut = table("Link Type between two GPUs", {{"0", "XGMI"}, {"XGMI"}});
  EXPECT_EQ(line_of([&] { (void)import_rocm_smi(cut, "t", kFigures); }),
            "t:4: expected the row of GPU1 with 2 cells, one per column");
}

TEST(MachineFiles, AreToldApartByTheirText) {
  EXPECT_EQ(machine_family(kCircle), "rocm-smi");
  EXPECT_EQ(machine_family("$ nvidia-smi topo -m\nGPU Topology:\n\tGPU0\tGPU1\nGPU0 X NV4\n"),
            "nvidia-smi");
  EXPECT_EQ(machine_family("\n<system version=\"1\"/>"), "nccl-xml");
  EXPECT_EQ(machine_family("#\nswitchguid=0x1(1)\n"), "ibnetdiscover");
  EXPECT_EQ(machine_family("# topology\nswitchname=s0 nodes=a\n"), "slurm-topology");
  EXPECT_EQ(machine_family("{\"note\": \"GPU0 GPU1\\nswitchguid=0x1\"}"), std::nullopt);
  EXPECT_EQ(machine_family("iteration 1 | GPU0 is hot"), std::nullopt);
}

TEST(NvidiaSmi, TextBeforeTheMatrixIsPassedOver) {
  const std::string matrix =
      "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV4\tSYS\t0-7\n"
      "GPU1\tNV4\t X \tSYS\t0-7\nNIC0\tSYS\tSYS\t X\n";
  const std::string before = "user@node:~$ nvidia-smi topo -m\nGPU0 is the first of these\n";
  const Imported read = import_nvidia_smi(before + matrix, "m", kFigures);
  EXPECT_EQ(read.topology.devices, 2);
  EXPECT_EQ(links(read.topology, 0, 1), 4);
}

TEST(NvidiaSmi, TheTableOfCapabilitiesIsNoMatrixOfLinks) {
  const std::string line = line_of([] {
    (void)import_nvidia_smi(" \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n", "p", kFigures);
  });
  EXPECT_EQ(
      line,
      "p:2: \"OK\" is of nvidia-smi topo -p2p, which tells whether GPUs reach each other, not "
      "over what; expected the matrix of nvidia-smi topo -m");
}

// Two nodes of two adapters on two leaves, these by two cables each on a spine; an aggregation
// node.
constexpr std::string_view kSubnet =
    "#\n# Topology file: generated on Mon Jan  5 10:00:00 2026\n#\n\n"
    "vendid=0x2c9\nswitchguid=0xa1(a1)\n"
    "Switch\t65 \"S-00000000000000a1\"\t\t# \"MF0;leaf1:MQM9700/U1\" enhanced port 0 lid 1 lmc 0\n"
    "[1]\t\"H-0000000000000010\"[1](10) \t\t# \"node10 mlx5_0\" lid 11 4xNDR\n"
    "[2]\t\"H-0000000000000020\"[1](20) \t\t# \"node9 mlx5_0\" lid 12 4xNDR\n"
    "[31]\t\"S-00000000000000b1\"[1]\t\t# \"MF0;spine1:MQM9700/U1\" lid 3 4xNDR\n"
    "[32]\t\"S-00000000000000b1\"[2]\t\t# \"MF0;spine1:MQM9700/U1\" lid 3 4xNDR\n"
    "[65]\t\"H-0000000000000099\"[1](99) \t\t# \"Mellanox Technologies Aggregation Node\" lid 9 "
    "4xNDR\n\n"
    "switchguid=0xa2(a2)\n"
    "Switch\t65 \"S-00000000000000a2\"\t\t# \"MF0;leaf2:MQM9700/U1\" enhanced port 0 lid 2 lmc 0\n"
    "[1]\t\"H-0000000000000011\"[1](11) \t\t# \"node10 mlx5_1\" lid 13 4xHDR\n"
    "[2]\t\"H-0000000000000021\"[1](21) \t\t# \"node9 mlx5_1\" lid 14 4xHDR\n"
    "[31]\t\"S-00000000000000b1\"[3]\t\t# \"MF0;spine1:MQM9700/U1\" lid 3 4xNDR\n"
    "[32]\t\"S-00000000000000b1\"[4]\t\t# \"MF0;spine1:MQM9700/U1\" lid 3 4xNDR\n\n"
    "switchguid=0xb1(b1)\n"
    "Switch\t65 \"S-00000000000000b1\"\t\t# \"MF0;spine1:MQM9700/U1\" enhanced port 0 lid 3 lmc 0\n"
    "[1]\t\"S-00000000000000a1\"[31]\t\t# \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n"
    "[2]\t\"S-00000000000000a1\"[32]\t\t# \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n\n"
    "caguid=0x10\nCa\t1 \"H-0000000000000010\"\t\t# \"node10 mlx5_0\"\n"
    "[1](10) \t\"S-00000000000000a1\"[1]\t\t# lid 11 lmc 0 \"MF0;leaf1:MQM9700/U1\" lid 1 4xNDR\n\n"
    "caguid=0x11\nCa\t1 \"H-0000000000000011\"\t\t# \"node10 mlx5_1\"\n\n"
    "caguid=0x20\nCa\t1 \"H-0000000000000020\"\t\t# \"node9 mlx5_0\"\n\n"
    "caguid=0x21\nCa\t1 \"H-0000000000000021\"\t\t# \"node9 mlx5_1\"\n\n"
    "caguid=0x99\nCa\t1 \"H-0000000000000099\"\t\t# \"Mellanox Technologies Aggregation Node\"\n";

TEST(Ibnetdiscover, HostsComeNodeByNodeAndCablesOnce) {
  const Imported read = import_ibnetdiscover(kSubnet, "fabric.txt");
  const Topology& topology = read.topology;
  ASSERT_EQ(topology.devices, 4);
  ASSERT_EQ(topology.switches, 3);
  // node9 before node10, mlx5_0 before mlx5_1; leaves before the spine.
  EXPECT_EQ(links(topology, 0, 4), 1);
  EXPECT_EQ(links(topology, 1, 5), 1);
  EXPECT_EQ(links(topology, 2, 4), 1);
  EXPECT_EQ(links(topology, 3, 5), 1);
  EXPECT_EQ(links(topology, 4, 6), 2);
  EXPECT_EQ(links(topology, 5, 6), 2);
  EXPECT_EQ(topology.label(4), "leaf 0");
  EXPECT_EQ(topology.label(6), "spine 0");
  EXPECT_EQ(topology.wires.front().bandwidth, 4 * 100 * 1_Gbps);
  for (const Wire& wire : topology.wires) {
    EXPECT_EQ(wire.bandwidth, (wire.b == 5 ? 200 : 400) * 1_Gbps) << wire.a << " " << wire.b;
  }
  EXPECT_EQ(read.used,
            (std::vector<std::string>{"2 hosts with 2 ports", "1 aggregation nodes left out"}));
}

TEST(Ibnetdiscover, HostsWithOtherPortsCanBeLeftOut) {
  std::string text(kSubnet);
  text +=
      "\nswitchguid=0xa1(a1)\nSwitch\t65 \"S-00000000000000a1\"\t\t# \"MF0;leaf1:MQM9700/U1\"\n"
      "[9]\t\"H-0000000000000077\"[1](77) \t\t# \"manager mlx5_0\" lid 30 4xHDR\n\n"
      "caguid=0x77\nCa\t1 \"H-0000000000000077\"\t\t# \"manager mlx5_0\"\n";
  EXPECT_EQ(import_ibnetdiscover(text, "f").topology.devices, 5);
  const Imported read = import_ibnetdiscover(text, "f", 2);
  EXPECT_EQ(read.topology.devices, 4);
  EXPECT_EQ(read.used.front(), "1 hosts with 1 ports left out");
}

TEST(Ibnetdiscover, APortThatIsCutOffIsRefusedWithItsLine) {
  const std::string line = line_of([] {
    (void)import_ibnetdiscover("Switch 36 \"S-1\" # \"leaf\"\n[1] \"H-2\"[1] # \"node\" lid 3\n",
                               "f");
  });
  EXPECT_EQ(line.substr(0, 4), "f:2:");
  EXPECT_NE(line.find("4xHDR"), line.npos);
}

constexpr std::string_view kTree =
    "# leaves\nSwitchName=leaf1 Nodes=node[01-02,05]\nswitchname=leaf2 nodes=gpu[1-2]a,login1 \\\n"
    "  LinkSpeed=100\nSwitchName=top Switches=leaf[1-2]\n";

TEST(SlurmTopology, NodesAreBelowTheirSwitches) {
  const Imported read = import_slurm_topology(
      kTree, "topology.conf", {.bandwidth = 50_GBps, .nics = 2, .oversubscription = 3});
  const Topology& topology = read.topology;
  EXPECT_EQ(topology.devices, 6 * 2);
  EXPECT_EQ(topology.switches, 3);
  EXPECT_EQ(links(topology, 0, 12), 1);
  EXPECT_EQ(links(topology, 5, 12), 1);
  EXPECT_EQ(links(topology, 6, 13), 1);
  EXPECT_EQ(links(topology, 12, 14), 3 * 2 / 3);  // six ports down, a third up
  EXPECT_EQ(graphs::hops(topology, 0, 11), 4);
}

TEST(SlurmTopology, YamlSaysTheSame) {
  const SlurmChoices choices{.bandwidth = 50_GBps, .nics = 4, .oversubscription = 1};
  const std::string_view yaml =
      "---\n"
      "- topology: blocks\n"
      "  cluster_default: false\n"
      "  block:\n"
      "    block_sizes:\n"
      "      - 2\n"
      "    blocks:\n"
      "      - block: b1\n"
      "        nodes: node[01-02]\n"
      "- topology: tree\n"
      "  cluster_default: true\n"
      "  tree:\n"
      "    switches:\n"
      "      - switch: root\n"
      "        children: s[1-2]\n"
      "      - switch: s1\n"
      "        nodes: node[01-02]\n"
      "      - switch: s2\n"
      "        nodes: node[03-05]\n";
  const std::string_view conf =
      "SwitchName=root Switches=s[1-2]\nSwitchName=s1 Nodes=node[01-02]\n"
      "SwitchName=s2 Nodes=node[03-05]\n";
  ASSERT_TRUE(is_slurm_topology(yaml));
  const Topology read = import_slurm_topology(yaml, "topology.yaml", choices).topology;
  const Topology same = import_slurm_topology(conf, "topology.conf", choices).topology;
  EXPECT_EQ(read.devices, 5 * 4);
  EXPECT_EQ(read.switches, 3);
  for (int vertex = 0; vertex < 5 * 4 + 3; ++vertex) {
    for (int other = 5 * 4; other < 5 * 4 + 3; ++other) {
      EXPECT_EQ(links(read, vertex, other), links(same, vertex, other));
    }
  }
  const std::string wrong = std::string(yaml) + "      - switch: s3\n        nodes: node[06-\n";
  try {
    static_cast<void>(import_slurm_topology(wrong, "topology.yaml", choices));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_TRUE(error.lines.front().starts_with("topology.yaml:20:")) << error.lines.front();
  }
}

TEST(SlurmTopology, SwitchesWithTwoAboveShareTheirLinksAndBlocksMeetInOne) {
  const SlurmChoices choices{.bandwidth = 50_GBps, .nics = 4, .oversubscription = 1};
  const Imported two = import_slurm_topology(
      "SwitchName=l Nodes=n[1-2]\nSwitchName=m Nodes=n[3-4]\nSwitchName=s Switches=l,m\n"
      "SwitchName=t Switches=l,m\n",
      "t",
      choices);
  EXPECT_EQ(links(two.topology, 16, 18), 4);  // eight ports, half of them to each
  EXPECT_EQ(links(two.topology, 16, 19), 4);
  const Imported blocks = import_slurm_topology(
      "BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n", "t", choices);
  EXPECT_EQ(blocks.topology.switches, 3);
  EXPECT_EQ(links(blocks.topology, 16, 18), 8);
}

TEST(SlurmTopology, WhatIsWrongIsRefusedWithItsLine) {
  const auto refused = [](std::string_view text) {
    return line_of([&] { (void)import_slurm_topology(text, "t", {.bandwidth = 1_GBps}); });
  };
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=b Switches=c\n"),
            "t:2: Switches: c is not in this file");
  EXPECT_EQ(refused("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1\n"),
            "t:2: n1: below two switches; expected each node once");
  EXPECT_NE(refused("SwitchName=a Nodes=n[3-1]\n").find("expected a list of names"),
            std::string::npos);
  EXPECT_NE(refused("SwitchName=a Switches=b\nSwitchName=b Switches=a\n").find("is below itself"),
            std::string::npos);
  EXPECT_NE(refused("# nothing\n").find("no switch and no block"), std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
