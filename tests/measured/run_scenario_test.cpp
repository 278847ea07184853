// Rows of measured training runs as scenarios.
#include "titer/measured/run_scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "measured/made_run.hpp"
#include "titer/measured/run_comparison.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using testing::Cells;
using testing::named_only;
using testing::readings;
using testing::table;

TEST(RunScenario, TakesModelPlanAndBatchFromTheColumns) {
  const RunReadings read = readings({});
  ASSERT_EQ(read.skip_reason, "");
  ASSERT_EQ(read.readings.size(), 1U);
  ASSERT_EQ(read.readings[0].scenarios.size(), 1U);
  const Scenario& scenario = read.readings[0].scenarios[0];
  EXPECT_EQ(read.stack, "megatron-lm");
  EXPECT_EQ(scenario.cluster.name, "dgx-a100-80gb");
  EXPECT_EQ(scenario.plan.pipeline, 2);
  EXPECT_EQ(scenario.plan.tensor, 4);
  EXPECT_EQ(scenario.plan.data, 2);
  EXPECT_EQ(scenario.plan.recompute, Recompute::full);
  EXPECT_EQ(scenario.micro_batches(), 32 / (2 * 2));
  const Transformer* model = scenario.model.if_transformer();
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->attention, AttentionKernel::materialised);  // Megatron-LM of 2021
  EXPECT_TRUE(model->tied_embeddings);
}

TEST(RunScenario, WeighsTwoBatchesWhereMicroBatchesDoNotDivide) {
  const RunReadings read = readings({{"global_batch", "42"}});
  ASSERT_EQ(read.readings.size(), 1U);
  const RunReading& reading = read.readings[0];
  ASSERT_EQ(reading.scenarios.size(), 2U);  // 42 / (2 x 2) = 10.5 micro-batches
  EXPECT_EQ(reading.scenarios[0].micro_batches(), 10);
  EXPECT_EQ(reading.scenarios[1].micro_batches(), 11);
  EXPECT_NEAR(reading.weights[0], 0.5, 1e-9);
  EXPECT_NEAR(reading.weights[0] + reading.weights[1], 1.0, 1e-12);
}

TEST(RunScenario, UnderstandsTheWordsForNetworks) {
  struct Case {
    const char* link;
    int nics;
    BytesPerSecond rate;
  };
  const std::vector<Case> cases = {
      {"8x HDR200 IB per node", 8, 200_Gbps},
      {"4x HDR200 IB per node (800 Gb/s)", 4, 200_Gbps},
      {"8x NDR400 IB per node (DGX H100 reference architecture)", 8, 400_Gbps},
      {"4x100 Gb/s RoCE per node", 4, 100_Gbps},
      {"1600 Gb/s per node RoCE", 8, 200_Gbps},
      {"8x ConnectX-7 NDR 400 Gb/s", 8, 400_Gbps},
      {"8x CX-7 400G per node", 8, 400_Gbps},
      {"4x Slingshot-11 200 Gb/s", 4, 200_Gbps},
      {"8x NDR IB per node (DGX H100)", 8, 400_Gbps},
      {"ND H100 v5, 8 x 400 Gb/s", 8, 400_Gbps},
      {"8x2x100 Gb/s RoCE", 16, 100_Gbps},
      {"4x HDR100", 4, 100_Gbps},
      {"3.2 Tbps InfiniBand", 8, 400_Gbps},
      {"400 GB/s per node", 8, 400_Gbps},
      {"100 Gb/s per node", 1, 100_Gbps},
      {"10 Gbps Ethernet", 1, 10_Gbps},
      {"p4d.24xlarge, EFA", 4, 100_Gbps},
      {"OCI BM.GPU.H100.8", 16, 200_Gbps}};
  for (const Case& one : cases) {
    const RunReadings read = readings({{"inter_link", one.link}});
    ASSERT_EQ(read.skip_reason, "") << one.link;
    const Cluster& cluster = read.readings[0].scenarios[0].cluster;
    EXPECT_EQ(cluster.nics, one.nics) << one.link;
    EXPECT_EQ(cluster.nic_bandwidth, one.rate) << one.link;
  }
}

TEST(RunScenario, TakesNicsOfHostsForNoPortsOfDevices) {
  const RunReadings read = readings(
      {{"hw_key", "Gaudi2"}, {"precision", "bf16"}, {"inter_link", "2x100 Gb/s IB per node"}});
  ASSERT_EQ(read.skip_reason, "");
  const Cluster& cluster = read.readings[0].scenarios[0].cluster;
  EXPECT_EQ(cluster.name, "gaudi2-8");
  EXPECT_EQ(cluster.nics, 8);
  EXPECT_EQ(cluster.nic_bandwidth, 3 * 100_Gbps) << "three ports of a chip";
}

TEST(RunScenario, TakesServersOfOtherSizes) {
  struct Case {
    const char* chip;
    const char* devices;
    const char* cluster;
    int count;
  };
  const std::vector<Case> cases = {{"A100-SXM4-80GB", "4", "dgx-a100-80gb", 4},
                                   {"A100-SXM4-40GB", "16", "dgx-a100-40gb", 16},
                                   {"A100-SXM4-40GB", "4", "polaris", 4},
                                   {"A100-PCIe-80GB", "4", "a100-pcie-8", 4},
                                   {"H100-SXM5-80GB", "1", "dgx-h100", 1}};
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.chip) + " by " + one.devices);
    const RunReadings read = readings({{"hw_key", one.chip},
                                       {"chips_per_node", one.devices},
                                       {"inter_link", "2x HDR200"},
                                       {"n_chips", "32"},
                                       {"p", "32"},
                                       {"t", "1"},
                                       {"d", "1"},
                                       {"layers", "32"}});
    ASSERT_EQ(read.skip_reason, "");
    const Cluster& cluster = read.readings[0].scenarios[0].cluster;
    EXPECT_EQ(cluster.name, one.cluster);
    EXPECT_EQ(cluster.devices_per_node, one.count);
    EXPECT_EQ(cluster.nics, 2);
  }
  // All of a node that is larger than the shipped one.
  EXPECT_EQ(readings({{"hw_key", "A100-SXM4-40GB"}, {"chips_per_node", "16"}})
                .readings.at(0)
                .scenarios.at(0)
                .cluster.devices_per_node,
            16);
  const RunReadings dies = readings({{"hw_key", "MI250X"}, {"flash_attn", "0"}});
  ASSERT_EQ(dies.skip_reason, "");
  EXPECT_EQ(dies.readings[0].scenarios[0].cluster.name, "mi250x-gcd-8");
  EXPECT_EQ(readings({{"hw_key", "V100-SXM2-32GB"}, {"chips_per_node", "6"}}).skip_reason,
            "no cluster of 6 devices of V100-SXM2-32GB is known");
}

TEST(RunScenario, JoinsNodesOfOneDeviceAsItsServersAreJoined) {
  const RunReadings read = readings({{"hw_key", "P100-SXM2-16GB"},
                                     {"chips_per_node", "1"},
                                     {"precision", "fp32"},
                                     {"inter_link", ""}});
  ASSERT_EQ(read.skip_reason, "");
  const Cluster& cluster = read.readings.at(0).scenarios.at(0).cluster;
  EXPECT_EQ(cluster.chip.name, "p100-sxm2-16gb");
  EXPECT_EQ(cluster.devices_per_node, 1);
  EXPECT_EQ(cluster.nics, 1);
  EXPECT_EQ(cluster.nic_bandwidth, 100_Gbps) << "of four in a DGX-1";
}

TEST(RunScenario, PutsRacksTogetherAsTheyAre) {
  struct Case {
    const char* chips;
    const char* per_node;
    const char* tensor;
    int domain;
    const char* why;
  };
  const std::vector<Case> cases = {
      {"8", "4", "4", 72, "a part of one rack"},
      {"64", "4", "4", 72, "a part of one rack"},
      {"72", "4", "4", 72, "one rack"},
      {"128", "4", "4", 64, "two racks that share evenly"},
      {"144", "4", "4", 72, "two whole racks"},
      {"144", "4", "16", 72, "two whole racks, though groups are cut"},
      {"256", "4", "4", 64, "four racks that share evenly"},
      {"576", "4", "8", 72, "eight whole racks"},
      {"576", "4", "64", 64, "nine racks: eight whole ones would cut the groups"},
      {"1024", "4", "8", 64, "sixteen racks"},
      {"1536", "4", "8", 64, "24 racks"},
      {"144", "72", "8", 72, "as the row says"},
      {"128", "64", "8", 64, "as the row says"},
      {"128", "32", "8", 32, "as the row says"},
      {"64", "", "8", 72, "not said: a rack"}};
  for (const std::string hardware : {"gb200-nvl72", "gb300-nvl72"}) {
    for (const Case& one : cases) {
      SCOPED_TRACE(hardware + ": " + one.chips + " on " + one.why);
      const std::int64_t ranks = std::stoll(one.chips) / std::stoll(one.tensor);
      const CsvTable made = table({{"hw_key", hardware},
                                   {"n_chips", one.chips},
                                   {"chips_per_node", one.per_node},
                                   {"inter_link", "NVL72 racks; 400 Gb/s per GPU scale-out"},
                                   {"p", "1"},
                                   {"t", one.tensor},
                                   {"d", std::to_string(ranks)}});
      const RunMachine machine = RunMachines().of(RunRow(made, 0), {}).front();
      const auto domain = std::find_if(
          machine.changes.begin(), machine.changes.end(), [](const Assignment& change) {
            return change.path == "cluster.node.fabric.devices";
          });
      ASSERT_NE(domain, machine.changes.end());
      EXPECT_EQ(domain->value.integer, one.domain);
      EXPECT_TRUE(machine.network_known);
    }
  }
}

TEST(RunScenario, OnTwoRacksIsNoSlowerThanItsNetworkMakesIt) {
  // The same plan on one rack and on two: what crosses is gradients, a few per cent.
  const auto time_on = [](const std::string& chips, const std::string& batch) {
    const CsvTable made = table({{"hw_key", "GB200 (NVL72)"},
                                 {"n_chips", chips},
                                 {"chips_per_node", "4"},
                                 {"inter_link", "NVL72 racks; 400 Gb/s per GPU scale-out"},
                                 {"heads", "24"},
                                 {"kv_heads", "24"},
                                 {"hidden", "3072"},
                                 {"ffn", "12288"},
                                 {"p", "1"},
                                 {"t", "24"},
                                 {"d", std::to_string(std::stoi(chips) / 24)},
                                 {"vocab", "49152"},
                                 {"global_batch", batch}});
    const std::vector<Comparison> rows = compare_runs(made);
    EXPECT_EQ(rows.front().skip_reason, "");
    return rows.front().predicted.value_or(0.0);
  };
  const double one = time_on("72", "96");
  const double two = time_on("144", "192");
  ASSERT_GT(one, 0.0);
  EXPECT_LT(two, 1.5 * one);
}

TEST(RunScenario, TakesNoTrainingOfAdaptersForTrainingOfAll) {
  EXPECT_EQ(readings({{"model_name", "Llama 2 70B LoRA"}}).skip_reason,
            "rank and place of its adapters not stated");
  const RunReadings read = readings({{"model_name", "Llama 2 70B LoRA (MLPerf)"},
                                     {"family", "mlperf_llama2_70b_lora_v40"},
                                     {"hw_key", "H100-SXM5-80GB"},
                                     {"precision", "fp8"}});
  ASSERT_EQ(read.skip_reason, "");
  const auto adapters = read.readings.front().scenarios.front().training.adapters;
  ASSERT_TRUE(adapters.has_value());
  EXPECT_EQ(adapters->rank, 16);
  EXPECT_TRUE(adapters->is_target(WeightRole::output));
  EXPECT_FALSE(adapters->is_target(WeightRole::up));
  const auto of_nemo = readings({{"model_name", "Llama 3 70B LoRA"}, {"family", "dgxc_h100"}});
  ASSERT_EQ(of_nemo.skip_reason, "");
  EXPECT_EQ(of_nemo.readings.at(0).scenarios.at(0).training.adapters->rank, 16);
}

TEST(RunScenario, HoldsTheBaseOfAdaptersAsItsSoftwareDoes) {
  const auto held = [](const char* precision) {
    const RunReadings read = readings({{"model_name", "Llama 2 70B LoRA"},
                                       {"family", "mlperf_llama2_70b_lora_v51_nvidia"},
                                       {"hw_key", "B200-SXM"},
                                       {"dp_kind", "zero1"},
                                       {"precision", precision}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).narrow_copies()->held;
  };
  EXPECT_EQ(held("nvfp4"), NarrowWeights::instead);
  EXPECT_EQ(held("mxfp4"), NarrowWeights::instead);
  const RunReadings all =
      readings({{"family", "megatron_bridge"}, {"hw_key", "B200-SXM"}, {"precision", "nvfp4"}});
  ASSERT_EQ(all.skip_reason, "");
  EXPECT_EQ(all.readings.at(0).scenarios.at(0).narrow_copies()->held, NarrowWeights::beside);
}

TEST(RunScenario, TakesAdaptersAsARowDescribesThem) {
  const auto adapters = [](const char* model, const char* notes) {
    const RunReadings read = readings({{"model_name", model}, {"notes", notes}, {"stack", "nemo"}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).training.adapters;
  };
  const auto all = adapters("Llama 3 8B", "LoRA rank 8 on all linear layers");
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->rank, 8);
  EXPECT_TRUE(all->is_target(WeightRole::down));
  const auto some = adapters("Llama 3 8B QLoRA", "r=64 on q,v");
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(some->rank, 64);
  EXPECT_FALSE(some->is_target(WeightRole::key));
  EXPECT_EQ(some->base, BaseFormat::nf4);
  // NeMo's runs of this benchmark have rank 16, on attention alone.
  const auto stated = adapters("Llama 3 8B", "mlcommons; LoRA r=4 on q, v");
  ASSERT_TRUE(stated.has_value());
  EXPECT_EQ(stated->rank, 4);
  EXPECT_FALSE(adapters("Llama 3 8B", "exploration").has_value());
  EXPECT_EQ(readings({{"notes", "LoRA"}}).skip_reason, "rank and place of its adapters not stated");
}

TEST(RunScenario, TakesNoConfigurationThatTheLogDoesNot) {
  EXPECT_EQ(readings({{"notes", "log says accumulation 8; SHARP"}}).skip_reason, "");
  EXPECT_EQ(readings({{"notes", "log says accumulation 4; SHARP"}}).skip_reason,
            "the log has another accumulation than the configuration's 8");
}

TEST(RunScenario, TakesAttentionInFp8WhereTheNotesSaySo) {
  const Cells narrow = {{"hw_key", "H100-SXM5-80GB"}, {"precision", "fp8"}, {"flash_attn", "1"}};
  Cells said = narrow;
  said["notes"] = "fp8 attention; 3 runs";
  const auto of = [](const Cells& cells) {
    const RunReadings read = readings(cells);
    EXPECT_EQ(read.skip_reason, "");
    return !read.readings.empty() && read.readings.front().scenarios.front().training.fp8_attention;
  };
  EXPECT_FALSE(of(narrow));
  EXPECT_TRUE(of(said));
}

Cells fully_sharded_slice() {
  return {{"family", "maxtext_v5e"},
          {"hw_key", "TPU v5e"},
          {"n_chips", "64"},
          {"chips_per_node", "4"},  // of a host
          {"inter_link", "ICI (single slice)"},
          {"p", "1"},
          {"t", "1"},
          {"d", "64"},
          {"global_batch", "128"},
          {"dp_kind", "fsdp"}};
}

TEST(RunScenario, TakesASliceOfATorusFromItsPod) {
  const RunReadings read = readings(fully_sharded_slice());
  ASSERT_EQ(read.skip_reason, "");
  const Scenario& scenario = read.readings.front().scenarios.front();
  EXPECT_EQ(scenario.cluster.name, "tpu-v5e-pod");
  EXPECT_EQ(scenario.cluster.chip.name, "tpu-v5e");
  EXPECT_EQ(scenario.plan.sharding, Sharding::zero3);
}

TEST(RunScenario, JoinsSlicesByTheirDataCentresNetwork) {
  Cells slices = fully_sharded_slice();
  slices["inter_link"] = "DCN";
  slices["chips_per_node"] = "16";
  const RunReadings read = readings(slices);
  ASSERT_EQ(read.skip_reason, "");
  const Cluster& cluster = read.readings.front().scenarios.front().cluster;
  EXPECT_EQ(cluster.name, "tpu-v5e-slices");
  EXPECT_EQ(cluster.devices_per_node, 16);
  EXPECT_EQ(cluster.nics, 4);  // one of a pod's 64 for four chips
  ASSERT_TRUE(cluster.host_memory.has_value());
  EXPECT_NEAR(cluster.host_memory->capacity / 1_GB, 16 * 48, 1e-6);
}

// Four chips are a host, by which rows count nodes.
TEST(RunScenario, TellsSlicesFromTheirHosts) {
  struct Case {
    const char* link;
    const char* notes;
    int slice;
  };
  for (const Case& one : {Case{"", "", 256},
                          Case{"DCN", "", 256},
                          Case{"DCN", "8 slices", 128},
                          Case{"DCN (slices of 64)", "", 64},
                          Case{"DCN", "4 slice(s) x 256 chips", 256},
                          Case{"DCN", "v5e-256 slice each", 256},
                          Case{"ICI in a slice, DCN between", "16x v5e-64", 64}}) {
    Cells cells = fully_sharded_slice();
    cells["inter_link"] = one.link;
    cells["notes"] = one.notes;
    for (const char* column : {"n_chips", "d", "global_batch"}) {
      cells[column] = "1024";
    }
    const RunReadings read = readings(cells);
    ASSERT_EQ(read.skip_reason, "") << one.link << one.notes;
    const Cluster& cluster = read.readings.front().scenarios.front().cluster;
    EXPECT_EQ(cluster.name, "tpu-v5e-slices");
    EXPECT_EQ(cluster.devices_per_node, one.slice) << one.link << one.notes;
  }
  Cells one_slice = fully_sharded_slice();
  one_slice["inter_link"] = "";
  EXPECT_EQ(readings(one_slice).readings.at(0).scenarios.at(0).cluster.name, "tpu-v5e-pod");
}

TEST(RunScenario, TakesNoSliceThatNobodyHandsOut) {
  Cells slice = fully_sharded_slice();
  slice["n_chips"] = "48";
  slice["d"] = "48";
  slice["global_batch"] = "96";
  // A switch in place of the wires, as no box of the pod is used.
  EXPECT_EQ(readings(slice).readings.at(0).scenarios.at(0).cluster.name, "tpu-v5e-slices");
  slice["n_chips"] = "2048";
  slice["d"] = "2048";
  EXPECT_EQ(readings(slice).skip_reason, "2048 chips are no slice of TPU v5e");
}

TEST(RunScenario, ReadsARowTwiceWhereTheNetworkIsNotStated) {
  const RunReadings read = readings({{"inter_link", "not stated"}});
  ASSERT_EQ(read.readings.size(), 2U);
  EXPECT_EQ(read.open, "network");
  EXPECT_EQ(read.readings[0].scenarios[0].cluster.nic_bandwidth,
            2.0 * read.readings[1].scenarios[0].cluster.nic_bandwidth);
  // On one node there is none.
  EXPECT_EQ(readings({{"inter_link", ""}, {"n_chips", "8"}, {"d", "1"}}).readings.size(), 1U);
}

TEST(RunScenario, FillsBlankWidthsAsModelsOfTheOthersHaveThem) {
  const Cells llama = {{"model_name", "ours"},
                       {"layers", "12"},
                       {"hidden", "8192"},
                       {"heads", "64"},
                       {"kv_heads", ""},
                       {"head_dim", ""},
                       {"ffn", "28672"},
                       {"ffn_gated", ""},
                       {"flash_attn", "1"}};
  const auto model = [](const Cells& cells) {
    const RunReadings read = readings(cells);
    EXPECT_EQ(read.skip_reason, "");
    EXPECT_EQ(read.open, "");
    return read.readings.at(0).scenarios.at(0).model.transformer();
  };
  EXPECT_EQ(model(llama).kv_heads, 8) << "as Llama 2 and 3 of 70 billion parameters";
  EXPECT_TRUE(model(llama).gated);
  const Cells experts = {{"model_name", "ours"},
                         {"hidden", "2048"},
                         {"heads", "32"},
                         {"kv_heads", "4"},
                         {"head_dim", ""},
                         {"n_experts", "128"},
                         {"top_k", "8"},
                         {"expert_ffn", ""},
                         {"ep", "2"},
                         {"ffn", "6144"},
                         {"ffn_gated", "1"},
                         {"flash_attn", "1"},
                         {"stack", "megatron-core"}};
  EXPECT_EQ(model(experts).experts->ffn, 768) << "as Qwen3 30B A3B";
  EXPECT_EQ(model(experts).head_dim, 128);
  Cells other = experts;
  other["top_k"] = "7";
  EXPECT_EQ(readings(other).skip_reason, "expert_ffn not stated");
}

TEST(RunScenario, ReadsARowInEveryWayThatItsBlanksLeave) {
  EXPECT_EQ(readings({{"ffn_gated", ""}}).open, "") << "a GPT's, four times as wide";
  const RunReadings gates = readings({{"ffn", "5504"}, {"ffn_gated", ""}});
  EXPECT_EQ(gates.open, "ffn_gated");
  EXPECT_EQ(gates.readings.size(), 2U);
  const RunReadings shared =
      readings({{"family", "new"}, {"stack", "megatron-lm"}, {"dp_kind", ""}});
  EXPECT_EQ(shared.open, "flash_attn, dp_kind") << shared.skip_reason;
  const RunReadings alone = readings(
      {{"stack", "fsdp"}, {"n_chips", "1"}, {"p", "1"}, {"t", "1"}, {"d", "1"}, {"dp_kind", ""}});
  EXPECT_EQ(alone.open.find("dp_kind"), std::string::npos) << "there is nobody to share with";
  for (const RunReading& one : shared.readings) {
    EXPECT_NE(one.scenarios.front().plan.sharding, Sharding::zero3) << "which it has not";
  }
  const RunReadings experts = readings({{"stack", "megatron-core"},
                                        {"p", "1"},
                                        {"d", "4"},
                                        {"n_experts", "8"},
                                        {"top_k", "2"},
                                        {"ep", ""},
                                        {"dp_kind", "zero1"}});
  EXPECT_EQ(experts.open, "ep");
  EXPECT_EQ(experts.readings.back().scenarios.front().plan.expert, 4);
  const RunReadings counted = readings({{"n_chips", ""}});
  EXPECT_EQ(counted.skip_reason, "");
  EXPECT_EQ(readings({{"n_chips", ""}, {"d", ""}}).skip_reason, "n_chips not stated");
}

TEST(RunScenario, SaysWhyARowIsSkipped) {
  struct Case {
    Cells cells;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {{{"family", "private"}}, "software of family \"private\" is not known"},
      {{{"hw_key", "Abacus"}}, "no cluster of 8 devices of Abacus is known"},
      {{{"micro_batch", ""}}, "micro_batch not stated"},
      {{{"t", ""}, {"d", ""}}, "t not stated"},
      {{{"t", ""}, {"d", "3"}}, "t not stated"},
      {{{"layers", ""}}, "layers not stated"},
      {{{"recompute", "some of it"}}, "recompute \"some of it\" is not modelled"},
      {{{"sched", "knight's tour"}}, "schedule \"knight's tour\" is not modelled"},
      {{{"offload", "cpu: optimizer"}},
       "offload \"cpu: optimizer\": copies and threads of hosts that nothing is told of are not "
       "modelled"},
      {{{"precision", "bfp12"}}, "precision \"bfp12\""},
      {{{"seq", "2 thousand"}}, "seq \"2 thousand\" is no number"},
      {{{"t", "2"}}, "p, t, d and cp make 8 of 16 devices"},
      {{{"dp_kind", "local SGD"}}, "dp_kind \"local SGD\" is not modelled"},
      {{{"dp_kind", "ZeRO++ (hpZ=8)"}}, "dp_kind \"ZeRO++ (hpZ=8)\" is not modelled"},
      {{{"model_name", "Qwen2.5-7B GRPO"}},
       "model_name \"Qwen2.5-7B GRPO\": more than a step of training is not modelled"},
      {{{"notes", "verl; rollouts by vLLM"}},
       "notes \"verl; rollouts by vLLM\": more than a step of training is not modelled"},
      {{{"offload", "activation checkpoints and optimizer to CPU"}},
       "offload \"activation checkpoints and optimizer to cpu\": copies and threads of hosts that "
       "nothing is told of are not modelled"},
      {{{"arch", "dit"}}, "dimensions do not tell a model of the kind \"dit\""},
      {{{"model_name", "T5 11B"}}, "dimensions do not tell encoder and decoder apart"},
      {{{"model_name", "OpenCLIP ViT-L/14"}},
       "dimensions do not tell what \"OpenCLIP ViT-L/14\" passes beside one encoder"}};
  for (const Case& one : cases) {
    const RunReadings read = readings(one.cells);
    EXPECT_EQ(read.skip_reason, one.reason);
    EXPECT_TRUE(read.readings.empty()) << one.reason;
  }
}

TEST(RunScenario, ReadsCellsAsTablesAreWritten) {
  const RunReadings read = readings({{"seq", "2k"}, {"vocab", "~51200"}, {"cp", "n/a"}});
  ASSERT_EQ(read.skip_reason, "");
  EXPECT_EQ(read.readings[0].scenarios[0].training.sequence, 2048);
  EXPECT_EQ(read.readings[0].scenarios[0].model.if_transformer()->vocabulary, 51200);
  EXPECT_TRUE(readings({{"flash_attn", "yes"}})
                  .readings.at(0)
                  .scenarios.at(0)
                  .model.if_transformer()
                  ->attention == AttentionKernel::flash);
  EXPECT_EQ(readings({{"micro_batch", "not stated"}}).skip_reason, "micro_batch not stated");
  const auto sequence = [](const char* text) {
    return readings({{"seq", text}}).readings.at(0).scenarios.at(0).training.sequence;
  };
  EXPECT_EQ(sequence("131,072"), 131'072);
  EXPECT_EQ(sequence("1M"), 1'048'576);
  EXPECT_EQ(readings({{"seq", "13,1072"}}).skip_reason, "seq \"13,1072\" is no number");
}

TEST(RunScenario, KnowsChipsByTheirOtherNames) {
  const auto chip = [](const Cells& cells) {
    const RunReadings read = readings(cells);
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).cluster.chip.name;
  };
  EXPECT_EQ(chip({{"hw_key", "NVIDIA H100 80GB HBM3"}}), "h100-sxm5-80gb");
  EXPECT_EQ(chip({{"hw_key", ""}, {"chip", "A100 80GB"}}), "a100-sxm4-80gb");
  EXPECT_EQ(chip({{"hw_key", "A6000"}, {"flash_attn", "1"}}), "rtx-a6000");
  // In the servers of what it is as, which is as another.
  EXPECT_EQ(chip({{"hw_key", "A40"}, {"flash_attn", "1"}}), "a40");
  EXPECT_EQ(readings({{"hw_key", "H100 CNX"}}).skip_reason,
            "no cluster of 8 devices of H100 CNX is known");
}

TEST(RunScenario, FindsWhatJoinsTheNodesInTheNotes) {
  const auto nics = [](const char* link, const char* notes) {
    const RunReadings read = readings({{"inter_link", link}, {"notes", notes}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).cluster.nics;
  };
  EXPECT_EQ(nics("EFA", "p4d.24xlarge; log"), 4);
  EXPECT_EQ(nics("8x HDR200 IB per node", "faster than on p4d.24xlarge"), 8);
}

TEST(RunScenario, TellsFusedAttentionFromNotesAndTheAgeOfModels) {
  const auto flash = [](const char* name, const char* notes) {
    const RunReadings read = readings(
        {{"family", "new"}, {"software", "deepspeed"}, {"model_name", name}, {"notes", notes}});
    return read.readings.size() > 1
               ? std::nullopt
               : std::optional(
                     read.readings.at(0).scenarios.at(0).model.if_transformer()->attention ==
                     AttentionKernel::flash);
  };
  EXPECT_EQ(flash("GPT 1.3B", ""), std::nullopt) << "read twice";
  EXPECT_EQ(flash("GPT 1.3B", "FlashAttention-2; RMSNorm"), true);
  EXPECT_EQ(flash("GPT 1.3B", "without flash attention"), false);
  EXPECT_EQ(flash("GPT 1.3B", "flash attention: off; bf16"), false);
  EXPECT_EQ(flash("Llama-2 7B", ""), true);
  EXPECT_EQ(flash("Llama-2 7B", "no FlashAttention"), false);
}

TEST(RunScenario, TakesEncodersOfImagesForWhatTheyAre) {
  const auto model = [](const Cells& cells) {
    const RunReadings read = readings(cells);
    EXPECT_EQ(read.skip_reason, "");
    return *read.readings.at(0).scenarios.at(0).model.if_transformer();
  };
  const Transformer vit = model({{"model_name", "ViT-H/14"}, {"vocab", ""}});
  EXPECT_FALSE(vit.causal);
  EXPECT_EQ(vit.vocabulary, 1000);
  EXPECT_FALSE(model({{"arch", "vision transformer"}}).causal);
  EXPECT_FALSE(model({{"arch", "encoder"}}).causal);
  EXPECT_TRUE(model({{"model_name", "Vitruvius 1B"}}).causal);
}

TEST(RunScenario, TakesModelsOfOtherFormsByTheirNames) {
  Cells row = named_only({{"model_name", "ResNet-50"},
                          {"arch", "cnn"},
                          {"vocab", ""},
                          {"seq", ""},
                          {"recompute", "none"}});
  const RunReadings images = readings(row);
  ASSERT_EQ(images.skip_reason, "");
  EXPECT_NE(images.readings.at(0).scenarios.at(0).model.if_layered(), nullptr);
  row["model_name"] = "Llama-3.1-70B";  // of the Hub
  row["seq"] = "4096";
  const RunReadings there = readings(row);
  ASSERT_EQ(there.skip_reason, "");
  EXPECT_EQ(there.readings.at(0).scenarios.at(0).model.layers(), 80);
  const RunReadings two_sided = readings({{"model_name", "T5-11B"},
                                          {"arch", "encoder-decoder"},
                                          {"layers", "48"},
                                          {"hidden", "1024"},
                                          {"heads", "128"},
                                          {"seq", "512"},
                                          {"stack", "fsdp"},
                                          {"p", "1"},
                                          {"t", "1"},
                                          {"d", "16"}});
  ASSERT_EQ(two_sided.skip_reason, "");
  EXPECT_EQ(two_sided.readings.at(0).scenarios.at(0).model.title(), "T5 11B");
  // NeMo's of that size, of other widths.
  EXPECT_EQ(readings({{"model_name", "T5 11B"}, {"arch", "encoder-decoder"}, {"hidden", "4096"}})
                .skip_reason,
            "dimensions do not tell a model of the kind \"encoder-decoder\"");
}

TEST(RunScenario, KnowsWhatNamedModelsAreBesideTheirDimensions) {
  const auto model = [](const char* name, const char* gated) {
    const RunReadings read = readings({{"model_name", name},
                                       {"arch", "dense"},
                                       {"ffn_gated", gated},
                                       {"stack", "megatron-core"}});
    EXPECT_EQ(read.skip_reason, "");
    return *read.readings.at(0).scenarios.at(0).model.if_transformer();
  };
  EXPECT_TRUE(model("Qwen2.5-7B", "1").biases.qkv);
  EXPECT_FALSE(model("Llama 3 8B", "1").biases.qkv);
  EXPECT_EQ(model("OLMo 2 7B", "1").qk_norm_of, QkNorm::all_heads);
  EXPECT_TRUE(model("Falcon-40B", "0").parallel);
  EXPECT_FALSE(model("GPT-NeoX 20B", "0").tied_embeddings);
  EXPECT_EQ(model("BLOOM-7B1", "0").positions, Positions::alibi);
  EXPECT_EQ(model("Gemma 2 9B", "1").kinds.front().window, 4096);
  EXPECT_EQ(model("Gemma3_27B", "1").order.at(5).kind, 1) << "every sixth layer sees all";
  EXPECT_EQ(model("Gemma 7B", "1").kinds.size(), 1U);
  EXPECT_EQ(model("Apertus 8B", "0").norm, Norm::rmsnorm);
  EXPECT_FALSE(model("Apertus 8B", "0").gated);
}

TEST(RunScenario, TakesShippedModelsOfTheSameName) {
  const auto model = [](const Cells& cells) {
    Cells all = {{"stack", "megatron-bridge"}, {"p", "1"}, {"t", "1"}, {"d", "16"}};
    all.insert(cells.begin(), cells.end());
    const RunReadings read = readings(all);
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).model.title();
  };
  EXPECT_EQ(model({{"model_name", "Nemotron-H 8B"}, {"layers", ""}, {"vocab", ""}}),
            "Nemotron-H 8B");
  EXPECT_EQ(model({{"model_name", "nvidia/Nemotron-H-8B"}, {"layers", ""}, {"vocab", ""}}),
            "Nemotron-H 8B");
  // Dimensions do not tell layers of a mixer; those of a part of the model are its own.
  EXPECT_EQ(model({{"model_name", "Qwen3_Next_80B_a3B"}, {"layers", "48"}}), "Qwen3-Next 80B-A3B");
  EXPECT_EQ(model({{"model_name", "LLAMA3_8B"}, {"layers", "24"}}), "LLAMA3_8B");
}

TEST(RunScenario, FindsTheSoftwareByTheWordsOfUnknownFamilies) {
  const std::map<std::string, std::string> stacks = {
      {"NVIDIA NeMo container 24.07", "nemo"},
      {"Megatron-Bridge performance summary", "megatron-bridge"},
      {"pytorch/torchtitan benchmarks", "torchtitan"},
      {"microsoft/Megatron-DeepSpeed", "deepspeed"},
      {"NVIDIA/Megatron-LM README", "megatron-lm"},
      {"aws-neuron/neuronx-nemo-megatron", "neuronx"},
      {"NVIDIA-NeMo/Automodel", "automodel"},
      {"Nemotron report; Megatron-LM", "megatron-lm"},
      {"training dynamics (PyTorch)", "fsdp"},
      {"mlcommons/training_results_v5.1 implementations/pytorch", "nemo"},
      {"dgxc-benchmarking paxml/README", "paxml"},
      {"llama_factory wiki", "fsdp"}};
  for (const auto& [source, stack] : stacks) {
    EXPECT_EQ(readings({{"family", "new"}, {"source", source}, {"dp_kind", "ddp"}}).stack, stack);
  }
}

TEST(RunScenario, FindsTheSoftwareThatNotesNameFirst) {
  const auto stack = [](const char* source, const char* notes) {
    return readings({{"family", "new"}, {"source", source}, {"notes", notes}}).stack;
  };
  EXPECT_EQ(stack("pytorch.org/blog", "torchtitan, torchao; torch.compile"), "torchtitan-compiled");
  EXPECT_EQ(stack("NVIDIA-NeMo/Megatron-Bridge", "NeMo container 25.11"), "megatron-bridge");
  EXPECT_EQ(stack("MegaScale (NSDI 2024)", "Megatron-LM baseline; m=1"), "megatron-lm");
  EXPECT_EQ(stack("AMD Primus", "torchtitan backend"), "torchtitan");
  EXPECT_EQ(stack("experiments/gpt2.md", "Megatron + DeepSpeed 3D"), "deepspeed");
  EXPECT_EQ(stack("Oneflow-Inc/libai", "Megatron-LM e156d2f; 2 nodes"), "megatron-lm");
}

TEST(RunScenario, SharesLayersOutAsTrainingProgramsDo) {
  // 22 + 2 = 24 layers over two stages: embedding and head count as one each.
  const RunReadings light = readings({{"layers", "22"}, {"p", "4"}, {"d", "1"}});
  ASSERT_EQ(light.skip_reason, "");
  EXPECT_EQ(text_of(light.readings[0].scenarios[0].plan.layers), "lighter-ends");
  const RunReadings uneven = readings({{"layers", "23"}, {"p", "4"}, {"d", "1"}});
  ASSERT_EQ(uneven.skip_reason, "");
  EXPECT_EQ(text_of(uneven.readings[0].scenarios[0].plan.layers), "[6, 6, 6, 5]");
}

// As the recipes have it, "Et*4|(t*4|)*14tmL" and "Et|(tt|)*30mL".
TEST(RunScenario, LeavesRoomForAModuleThatPredictsAFurtherToken) {
  const auto layers = [](const char* name, const char* p, const char* vpp) {
    const RunReadings read = readings({{"family", "megatron_bridge"},
                                       {"model_name", name},
                                       {"layers", "61"},
                                       {"p", p},
                                       {"vpp", vpp},
                                       {"d", "1"},
                                       {"t", "1"},
                                       {"n_chips", p}});
    EXPECT_EQ(read.skip_reason, "");
    const Scenario& scenario = read.readings.at(0).scenarios.at(0);
    return std::pair(scenario.model.if_transformer()->predicted_tokens,
                     std::get<std::vector<std::int64_t>>(scenario.plan.layers));
  };
  std::vector<std::int64_t> of_16(16, 4);
  of_16.back() = 1;
  EXPECT_EQ(layers("DeepSeekV3", "4", "4"), std::pair(std::int64_t{1}, of_16));
  std::vector<std::int64_t> of_32(32, 2);
  of_32.front() = 1;
  of_32.back() = 0;
  EXPECT_EQ(layers("DeepSeekV3", "8", "4"), std::pair(std::int64_t{1}, of_32));
  of_16.front() = 3;
  of_16.back() = 2;
  EXPECT_EQ(layers("DeepSeekV3 (w/o MTP)", "4", "4"), std::pair(std::int64_t{0}, of_16));
}

TEST(RunScenario, CountsTheModuleForAFurtherTokenThatNotesSpeakOf) {
  const auto modules = [](const char* notes) {
    const RunReadings read = readings({{"stack", "megatron-core"}, {"notes", notes}});
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).model.if_transformer()->predicted_tokens;
  };
  EXPECT_EQ(modules("MTP depth 1; DeepEP"), 1);
  EXPECT_EQ(modules("without MTP"), 0);
  EXPECT_EQ(modules(""), 0);
}

TEST(RunScenario, TakesAModelByItsNameWhereARowHasNoDimensions) {
  const Cells row =
      named_only({{"family", "megatron_bridge"},
                  {"model_name", "Nemotron_3_Nano"},
                  {"vocab", ""},
                  {"ep", "1"},
                  {"cuda_graph", "transformer_engine:['attn', 'mamba', 'moe_router']"}});
  const RunReadings read = readings(row);
  ASSERT_EQ(read.skip_reason, "");
  ASSERT_EQ(read.readings.size(), 1U) << "its vocabulary is known";
  const Scenario& scenario = read.readings[0].scenarios.at(0);
  const Transformer& model = *scenario.model.if_transformer();
  EXPECT_EQ(model.layers, 52);
  EXPECT_EQ(model.vocabulary, 131'072);
  EXPECT_EQ(model.experts->routing.shape, RoutingShape::balanced);
  EXPECT_EQ(scenario.plan.cuda_graph,
            bit(LayerPart::attention) | bit(LayerPart::mixer) | bit(LayerPart::router));
  Cells stated = row;  // whose dimensions count, whatever its name
  stated["layers"] = "4";
  stated["hidden"] = "1024";
  stated["heads"] = "16";
  stated["ffn"] = "4096";
  EXPECT_EQ(readings(stated).readings.at(0).scenarios.at(0).model.layers(), 4);
}

TEST(RunScenario, KnowsByItsNameWhatAModelsDimensionsDoNotTell) {
  const auto named = [](const char* name) {
    const RunReadings read = readings({{"model_name", name}, {"layers", "4"}});
    EXPECT_EQ(read.skip_reason, "") << name;
    return *read.readings.at(0).scenarios.at(0).model.if_transformer();
  };
  const Transformer gpt = named("GPT 1.3B");
  EXPECT_TRUE(gpt.biases.qkv && gpt.biases.output && gpt.biases.mlp && gpt.dropout && gpt.causal);
  EXPECT_TRUE(gpt.tied_embeddings);
  EXPECT_EQ(gpt.positions, Positions::learned);
  EXPECT_EQ(gpt.position_rows, gpt.max_sequence);
  const Transformer mpt = named("MPT 1B");
  EXPECT_EQ(mpt.positions, Positions::alibi);
  EXPECT_FALSE(mpt.biases.qkv || mpt.biases.mlp || mpt.dropout);
  EXPECT_FALSE(named("BERT").causal);
  const Transformer nemotron = named("Nemotron 1B");
  EXPECT_EQ(nemotron.positions, Positions::rotary);
  EXPECT_FALSE(nemotron.tied_embeddings || nemotron.dropout);
  EXPECT_TRUE(named("Qwen3 1B").qk_norm);
  EXPECT_FALSE(gpt.qk_norm || gpt.sinks);
  const Transformer oss = named("GPT OSS 1B");
  EXPECT_TRUE(oss.sinks);
  ASSERT_EQ(oss.order.size(), 4U);
  for (std::size_t layer = 0; layer < 4; ++layer) {  // every other one, the first with it
    const LayerKind& kind = oss.kinds.at(static_cast<std::size_t>(oss.order[layer].kind));
    EXPECT_EQ(kind.window.value_or(0), layer % 2 == 0 ? 128 : 0) << layer;
    EXPECT_EQ(oss.order[layer].count, 1);
  }
}

TEST(RunScenario, ReadsTheWindowsOfOlmo3) {
  const RunReadings read = readings({{"model_name", "OLMo 3 7B"}, {"seq", "8192"}});
  ASSERT_EQ(read.skip_reason, "");
  const Transformer& model = *read.readings.at(0).scenarios.at(0).model.if_transformer();
  EXPECT_EQ(model.norm_place, NormPlace::output);
  ASSERT_EQ(model.order.size(), 24U);
  for (std::size_t layer = 0; layer < model.order.size(); ++layer) {
    const LayerKind& kind = model.kinds.at(static_cast<std::size_t>(model.order[layer].kind));
    EXPECT_EQ(kind.window.value_or(0), layer % 4 == 3 ? 0 : 4096) << layer;
  }
}

TEST(RunScenario, AsksForNoWidthThatNoLayerHas) {
  const Cells experts = {{"ffn", ""}, {"n_experts", "8"}, {"top_k", "2"}, {"expert_ffn", "1024"}};
  EXPECT_EQ(readings(experts).skip_reason, "");
  Cells first = experts;
  first["dense_layers"] = "1";
  EXPECT_EQ(readings(first).skip_reason, "ffn not stated");
}

TEST(RunScenario, KnowsDenoisersByTheirNames) {
  const Cells row = {{"arch", "diffusion transformer"},
                     {"model_name", "DiT-XL/2"},
                     {"layers", "28"},
                     {"seq", "256"},
                     {"p", "1"},
                     {"d", "4"},
                     {"recompute", "none"},
                     {"flash_attn", "1"}};
  const RunReadings read = readings(row);
  ASSERT_EQ(read.skip_reason, "");
  EXPECT_NE(read.readings.at(0).scenarios.at(0).model.if_transformer()->denoiser, nullptr);
  const RunReadings flux = readings(named_only({{"family", "mlperf_flux1_v51_nvidia"},
                                                {"model_name", "FLUX.1 (MLPerf)"},
                                                {"seq", ""},
                                                {"recompute", "none"}}));
  ASSERT_EQ(flux.skip_reason, "");
  EXPECT_EQ(flux.readings.at(0).scenarios.at(0).model.name(), "flux.1-schnell");
  EXPECT_EQ(flux.readings.at(0).scenarios.at(0).training.sequence, 256 + 16 * 16);
}

TEST(RunScenario, LoadsExpertsUnevenlyWhereARowLeftTheRouterToItself) {
  Cells row = {{"family", "moe_modelzoo"},
               {"n_experts", "128"},
               {"top_k", "8"},
               {"expert_ffn", "768"},
               {"ep", "8"}};
  const auto routing = [&] {
    const RunReadings read = readings(row);
    EXPECT_EQ(read.skip_reason, "");
    return read.readings.at(0).scenarios.at(0).model.if_transformer()->experts->routing;
  };
  EXPECT_EQ(routing().shape, RoutingShape::balanced);
  row["notes"] = "long context, dropless, natural routing, DeepEP";
  EXPECT_EQ(routing().shape, RoutingShape::zipf);
  EXPECT_EQ(routing().exponent, 0.23);
}

TEST(RunComparison, PredictsEveryRowOrSaysWhyNot) {
  const auto one = compare_runs(table({}));
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].case_id, "made-1");
  EXPECT_EQ(one[0].measured, 2.5);
  ASSERT_TRUE(one[0].predicted);
  EXPECT_GT(*one[0].predicted, 0.0);
  EXPECT_EQ(one[0].skip_reason, "");
  // Tokens per second instead of a time: 32 x 2048 / (16 x 1638.4) s
  const auto rate = compare_runs(table({{"iter_time_s", ""}, {"tokens_per_s_per_gpu", "1638.4"}}));
  EXPECT_NEAR(*rate[0].measured, 32.0 * 2048 / (16 * 1638.4), 1e-12);
  const auto none = compare_runs(table({{"iter_time_s", ""}}));
  EXPECT_EQ(none[0].skip_reason, "neither time nor memory measured");
}

TEST(RunComparison, WeighsTheIterationsOfARampByTheirNumber) {
  const auto time_of = [](const char* batch) {
    const auto rows = compare_runs(table({{"global_batch", batch}}));
    return rows[0].predicted.value_or(0);
  };
  // 8 and 9 micro-batches of 2 on 2 replicas; a batch between them is that many of either.
  const double eight = time_of("32");
  const double nine = time_of("36");
  EXPECT_GT(nine, eight);
  EXPECT_NEAR(time_of("33"), 0.75 * eight + 0.25 * nine, 1e-9);
  EXPECT_NEAR(time_of("34"), 0.5 * eight + 0.5 * nine, 1e-9);
}

TEST(RunComparison, ChangesReachEveryScenario) {
  const std::vector<Assignment> slower = {
      parse_assignment("cluster.chip.matrix.bf16.peak=\"100 TFLOP/s\"")};
  EXPECT_GT(*compare_runs(table({}), {}, slower)[0].predicted,
            *compare_runs(table({}))[0].predicted);
}

TEST(RunComparison, SkipsARowWithACellThatIsNoNumberAndNoOther) {
  EXPECT_EQ(compare_runs(table({{"layers", "many"}})).front().skip_reason,
            "layers \"many\" is no number");
  EXPECT_EQ(compare_runs(table({{"mem_gb", "-"}})).front().skip_reason, "");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
