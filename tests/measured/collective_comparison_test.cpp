// Measured collectives beside predictions: which machine stands for a table, and how far off the
// model is on each table, between 1 MB and 1 GB. The bounds are the errors that were found, rounded
// up.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "paths.hpp"
#include "temporary_folder.hpp"
#include "titer/measured/collective/collective_comparison.hpp"
#include "titer/measured/collective/collective_machine.hpp"

namespace titer {
namespace TITER_TEST_FILE {

namespace fs = std::filesystem;
const fs::path kTables = testing::root() / "tests/data/measured/collectives";

MeasuredCollective table_of(std::string hardware, std::string interconnect, int ranks, int nodes) {
  MeasuredCollective table;
  table.operation = "all-reduce";
  table.collective = Collective::all_reduce;
  table.ranks = ranks;
  table.nodes = nodes;
  table.hardware = std::move(hardware);
  table.interconnect = std::move(interconnect);
  return table;
}

TEST(CollectiveMachine, IsChosenByWhatATableSays) {
  struct Case {
    std::string hardware;
    std::string interconnect;
    std::string cluster;
    std::string network;
  };
  for (const Case& one :
       {Case{"A100-SXM4-80GB", "NVLink3/NVSwitch", "dgx-a100-80gb", ""},
        {"A100-SXM4-80GB p4de.24xlarge",
         "NVLink3/NVSwitch intra; EFA 4x100Gb/s inter",
         "dgx-a100-80gb",
         "efa-4x100g"},
        {"A100-SXM4-40GB p4d.24xlarge",
         "NVLink3 intra; EFA 4x100Gb/s inter",
         "dgx-a100-40gb",
         "efa-4x100g"},
        {"GB200 (one 4-GPU node)", "NVLink5/NVSwitch", "gb200-nvl72", ""},
        {"B200-SXM", "NVLink5/NVSwitch", "dgx-b200", ""},
        {"H200 GCP a3-ultra (1 GPU per node)",
         "1x RoCE 400Gb/s NIC per rank",
         "dgx-h200",
         "rocev2-400g"},
        {"V100-SXM3-32GB DGX-2 (12 of 16 GPUs)", "NVLink2/NVSwitch", "dgx2-v100", ""}}) {
    const CollectiveMachine* machine = machine_of(table_of(one.hardware, one.interconnect, 8, 1));
    ASSERT_NE(machine, nullptr) << one.hardware;
    EXPECT_EQ(machine->cluster, one.cluster) << one.hardware;
    EXPECT_EQ(machine->network, one.network) << one.hardware;
  }
}

TEST(CollectiveMachine, OfARackCountsItsTraysAsOneNode) {
  const Placing rack = place_measured(table_of("GB200 NVL72", "NVLink5 one domain", 72, 18));
  ASSERT_TRUE(rack.placed.has_value()) << rack.skip_reason;
  EXPECT_EQ(rack.placed->group, (Group{.per_node = 72, .nodes = 1}));
  const Placing two = place_measured(table_of("GB200 NVL72 x2", "IB inter-rack", 128, 32));
  ASSERT_TRUE(two.placed.has_value()) << two.skip_reason;
  EXPECT_EQ(two.placed->group, (Group{.per_node = 64, .nodes = 2}));
}

TEST(CollectiveMachine, HasFewerNicsWhereTheTableSaysSo) {
  const Placing p4d = place_measured(table_of("A100 p4d.24xlarge", "EFA 4x100Gb/s", 16, 2));
  ASSERT_TRUE(p4d.placed.has_value()) << p4d.skip_reason;
  EXPECT_EQ(p4d.placed->cluster.nics, 4);
  EXPECT_EQ(p4d.placed->cluster.nic_bandwidth, 100_Gbps);
  EXPECT_EQ(p4d.placed->cluster.network_name, "efa-4x100g");
}

TEST(CollectiveMachine, IsUnknownWithAReason) {
  EXPECT_EQ(machine_of(table_of("Abacus", "string", 8, 1)), nullptr);
  EXPECT_EQ(place_measured(table_of("Abacus", "string", 8, 1)).skip_reason,
            "no shipped machine is \"Abacus\" with \"string\"");
  EXPECT_EQ(place_measured(table_of("8-GPU nodes (chip not stated)", "?", 32, 4)).skip_reason,
            "the table does not say which chip it was measured on");
  EXPECT_EQ(place_measured(table_of("A100-SXM4-80GB", "NVLink3", 9, 1)).skip_reason,
            "9 ranks on 1 nodes do not lie evenly on nodes of dgx-a100-80gb");
  MeasuredCollective scatter = table_of("A100-SXM4-80GB", "NVLink3", 8, 1);
  scatter.operation = "scatter";
  scatter.collective.reset();
  EXPECT_EQ(place_measured(scatter).skip_reason, "scatter is not modelled");
  MeasuredCollective unplaced = table_of("A100-SXM4-80GB", "NVLink3", 8, 1);
  unplaced.nodes.reset();
  EXPECT_EQ(place_measured(unplaced).skip_reason,
            "the table does not say on how many ranks and nodes it was measured");
}

TEST(CollectiveComparison, HasARowForEverySize) {
  const testing::TemporaryFolder folder;
  const fs::path table = folder.path() / "allreduce_1n8gpu_here_aiconf.csv";
  std::ofstream(table) << "size_bytes,time_us,algbw_GBps,busbw_GBps,op,ngpus,nnodes,dtype,hardware,"
                          "interconnect,source,notes\n"
                          "1048576,40,,,all_reduce,8,1,fp16,A100-SXM4-80GB,NVLink3,here,\n"
                          "536870912,4200,,,all_reduce,8,1,fp16,A100-SXM4-80GB,NVLink3,here,\n";
  std::ofstream(folder.path() / "INDEX.csv")
      << "file,software,grade\nother.csv,X,C\nallreduce_1n8gpu_here_aiconf.csv,NCCL 2.27.3,A\n";
  const std::vector<Comparison> rows = compare_collective(table);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].case_id, "allreduce_1n8gpu_here_aiconf:1048576");
  EXPECT_EQ(rows[1].case_id, "allreduce_1n8gpu_here_aiconf:536870912");
  EXPECT_EQ(rows[0].family, "aiconfigurator");
  EXPECT_EQ(rows[0].chip, "a100-sxm4-80gb");
  EXPECT_EQ(rows[0].stack, "NCCL 2.27.3");
  EXPECT_EQ(rows[0].grade, "A");
  EXPECT_TRUE(rows[0].sweep.empty());
  EXPECT_DOUBLE_EQ(rows[0].measured.value(), 40e-6);
  EXPECT_GT(rows[1].predicted.value(), rows[0].predicted.value());
}

TEST(CollectiveComparison, SkipsEveryRowOfAnUnknownMachine) {
  const testing::TemporaryFolder folder;
  const fs::path table = folder.path() / "odd.csv";
  std::ofstream(table) << "size_bytes,time_us,algbw_GBps,busbw_GBps,op,ngpus,nnodes,dtype,hardware,"
                          "interconnect,source,notes\n"
                          "1024,40,,,all_reduce,8,1,fp16,Abacus,string,here,\n";
  const std::vector<Comparison> rows = compare_collective(table);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_FALSE(rows[0].predicted.has_value());
  EXPECT_FALSE(rows[0].skip_reason.empty());
  EXPECT_EQ(rows[0].family, "nccl-tests");
  EXPECT_EQ(rows[0].chip, "");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
