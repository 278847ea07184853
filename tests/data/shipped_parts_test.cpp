// The shipped models, clusters, stacks, topologies and runs hold what a scenario needs.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/operations.hpp"
#include "plan/shipped.hpp"
#include "titer/scenario/source.hpp"
#include "titer/topology/family/trees.hpp"

namespace titer {
namespace TITER_TEST_FILE {

/// A scenario document around one model and one cluster.
ScenarioSource scenario_of(std::string_view model, std::string_view cluster) {
  Document document;
  document.root = Value::make_object();
  document.root.add("model", Value(model)).add("cluster", Value(cluster));
  return ScenarioSource(std::move(document));
}

Scenario read_model_and_cluster(std::string_view model, std::string_view cluster) {
  const ScenarioSource source = scenario_of(model, cluster);
  Scenario scenario;
  source.read_part(ScenarioPart::model, scenario);
  source.read_part(ScenarioPart::cluster, scenario);
  source.read_part(ScenarioPart::stack, scenario);
  return scenario;
}

constexpr std::array<std::string_view, 18> kModelKeys = {"name",
                                                         "title",
                                                         "source",
                                                         "layers",
                                                         "hidden",
                                                         "heads",
                                                         "ffn",
                                                         "gated",
                                                         "norm",
                                                         "bias",
                                                         "dropout",
                                                         "positions",
                                                         "tied_embeddings",
                                                         "vocabulary",
                                                         "vocabulary_multiple",
                                                         "max_sequence",
                                                         "attention",
                                                         "causal"};

TEST(ShippedModels, LeaveNothingToADefault) {
  for (const std::string& name : shipped::plain_transformers()) {
    const Document document = load_data(kModelData, name);
    const bool has_tokens = document.root.find("denoiser") == nullptr;
    for (const std::string_view key : kModelKeys) {
      const bool is_of_tokens =
          key == "tied_embeddings" || key.find("vocabulary") != std::string_view::npos;
      EXPECT_EQ(document.root.find(key) != nullptr, has_tokens || !is_of_tokens)
          << name << ": " << key;
    }
  }
}

/// Runs the check on every shipped transformer.
template <class Check>
void for_each_transformer(Check check) {
  for (const std::string& name : shipped::transformers()) {
    SCOPED_TRACE(name);
    check(read_model_and_cluster(name, "dgx-a100-80gb").model.transformer());
  }
}

TEST(ShippedModels, AllRead) {
  for (const std::string& name : shipped_names(kModelData)) {
    const Model model = read_model_and_cluster(name, "dgx-a100-80gb").model;
    EXPECT_FALSE(model.source().empty()) << name;
    EXPECT_EQ(model.name(), name);
    EXPECT_GT(parameters(model), 0) << name;
  }
  ASSERT_FALSE(shipped::transformers().empty());
  for_each_transformer([](const Transformer& model) {
    EXPECT_TRUE(!model.has_attention() || model.heads % model.kv_heads == 0);
    EXPECT_FALSE(model.source.empty());
  });
}

TEST(ShippedModels, HaveThePlausibleWidthsOfTheirKind) {
  for (const std::string& name : shipped::plain_transformers()) {
    SCOPED_TRACE(name);
    const Transformer model = shipped::model(name);
    EXPECT_EQ(model.query_width(), model.hidden);
    if (model.denoiser) {
      EXPECT_EQ(model.norm, Norm::layernorm_without_weights) << "modulation has the weights";
      continue;
    }
    const bool is_gpt = model.norm == Norm::layernorm;
    EXPECT_EQ(model.biases.mlp, is_gpt);
    EXPECT_EQ(model.gated, !is_gpt);
    EXPECT_EQ(model.positions, is_gpt ? Positions::learned : Positions::rotary);
    if (is_gpt) {
      EXPECT_EQ(model.ffn, 4 * model.hidden);
    }
  }
}

TEST(ShippedModels, HaveLayersThatFitTheirList) {
  for_each_transformer([](const Transformer& model) {
    for (const auto& kernel : kAttentionKernels) {
      const Slice slice{.sequence = 1024, .tensor = 8, .attention = kernel.value};
      EXPECT_GT(saved_bytes(transformer_layer(model, slice)), 1_MB);
    }
  });
}

/// Runs the check on every shipped cluster: those of nodes on a network, or the tori.
template <class Check>
void for_each_cluster(Check check, bool tori = false) {
  for (const std::string& name : shipped_names(kClusterData)) {
    SCOPED_TRACE(name);
    const Cluster cluster = read_model_and_cluster("gpt3-175b", name).cluster;
    if ((cluster.torus() != nullptr) == tori) {
      check(cluster);
    }
  }
}

TEST(ShippedPods, AreToriOfAllTheirChips) {
  int pods = 0;
  for_each_cluster(
      [&](const Cluster& cluster) {
        ++pods;
        EXPECT_TRUE(cluster.chip.name.starts_with("tpu")) << cluster.chip.name;
        EXPECT_EQ(cluster.nodes, 1);
        EXPECT_EQ(cluster.devices_per_node, cluster.torus()->devices());
        EXPECT_TRUE(cluster.network_protocols.empty());
        ASSERT_EQ(cluster.node_protocols.size(), 1U);
        const bool is_measured = cluster.chip.name == "tpu7x";
        EXPECT_EQ(cluster.node_protocols.front().grade,
                  is_measured ? Grade::fitted : Grade::extrapolated);
        EXPECT_GE(cluster.torus()->bandwidth, 40_GBps);
        EXPECT_LE(cluster.torus()->bandwidth, 100_GBps);
      },
      true);
  EXPECT_GT(pods, 0);
}

TEST(ShippedClusters, AllReadWithAShippedChip) {
  const std::vector<std::string> chips = shipped_names(kChipData);
  ASSERT_FALSE(shipped_names(kClusterData).empty());
  for_each_cluster([&](const Cluster& cluster) {
    EXPECT_TRUE(std::binary_search(chips.begin(), chips.end(), cluster.chip.name));
    EXPECT_FALSE(cluster.nodes.has_value()) << "as large as the plan needs";
    EXPECT_GE(cluster.devices_per_node, 2);
    EXPECT_LE(cluster.devices_per_node, 72);
    EXPECT_GE(cluster.nics, 1);
    EXPECT_GE(cluster.nic_bandwidth, 5_GBps);
    EXPECT_LE(cluster.nic_bandwidth, 100_GBps);
  });
}

/// The time of the messages of a ring all-reduce of 8, without bytes.
Seconds shortest(const Protocol& protocol) { return protocol.startup + 14 * protocol.latency; }

TEST(ShippedClusters, LaterProtocolsTradeLatencyForBandwidth) {
  const auto check = [](const std::vector<Protocol>& protocols) {
    ASSERT_FALSE(protocols.empty());
    for (std::size_t i = 1; i < protocols.size(); ++i) {
      EXPECT_GT(shortest(protocols[i]), shortest(protocols[i - 1])) << protocols[i].name;
      EXPECT_GT(protocols[i].efficiency, protocols[i - 1].efficiency) << protocols[i].name;
    }
    EXPECT_GE(shortest(protocols.front()), 0.5 * 1_us);
    EXPECT_LE(shortest(protocols.back()), 700_us) << "EFA of AWS p4d takes as long";
    EXPECT_GE(protocols.back().efficiency, 0.2) << "Omni-Path of Jean Zay has no more";
  };
  for_each_cluster([&](const Cluster& cluster) {
    check(cluster.node_protocols);
    check(cluster.network_protocols);
  });
}

TEST(ShippedClusters, NodesAreJoinedFasterThanTheNetwork) {
  for_each_cluster([](const Cluster& cluster) {
    const auto whole = cluster.ring_bandwidth(cluster.devices_per_node, 1);
    ASSERT_TRUE(whole.has_value());
    EXPECT_GT(*whole, cluster.nic_share());
    EXPECT_LT(cluster.nic_share(), cluster.chip.memory.bandwidth);
  });
}

TEST(ShippedClusters, EveryFigureHasASource) {
  for_each_cluster([](const Cluster& cluster) {
    std::vector<std::string> keys = {"node.nic_bandwidth"};
    if (cluster.topology.as<PcieTree>() != nullptr) {
      for (const char* of : {"device", "uplink", "socket"}) {
        keys.push_back(std::string("node.fabric.") + of + "_bandwidth");
      }
    } else {
      keys.emplace_back("node.fabric.bandwidth");
    }
    const auto add = [&](const std::string& where, const std::vector<Protocol>& protocols) {
      for (const Protocol& protocol : protocols) {
        keys.push_back(where + protocol.name + ".latency");
        keys.push_back(where + protocol.name + ".efficiency");
        if (protocol.startup > Seconds()) {
          keys.push_back(where + protocol.name + ".startup");
        }
      }
    };
    add("node.", cluster.node_protocols);
    add("node.switch.", cluster.node_switch_protocols);
    add("network.", cluster.network_protocols);
    add("network.switch.", cluster.network_switch_protocols);
    for (const std::string& key : keys) {
      EXPECT_NE(cluster.evidence.source(key), "given by the user") << key;
    }
  });
}

TEST(ShippedStacks, AllRead) {
  for (const std::string& name : shipped_names(kStackData)) {
    SCOPED_TRACE(name);
    ScenarioSource source = scenario_of("gpt3-175b", "dgx-a100-80gb");
    source.assign(parse_assignment("stack=" + name));
    Scenario scenario;
    source.read_part(ScenarioPart::stack, scenario);
    EXPECT_EQ(scenario.stack.name, name);
    EXPECT_LE(scenario.stack.dispatch, 1_ms);
    EXPECT_LE(scenario.stack.runtime_memory, 16_GiB);
    EXPECT_NE(scenario.stack.evidence.source("dispatch"), "given by the user");
    EXPECT_NE(scenario.stack.evidence.source("context_memory"), "given by the user");
    EXPECT_EQ(scenario.stack.gradient_type(DataType::fp32), DataType::fp32);
  }
}

TEST(ShippedStacks, HoldTheDefault) {
  EXPECT_EQ(read_model_and_cluster("gpt3-175b", "dgx-a100-80gb").stack.name, kDefaultStack);
}

TEST(ShippedTopologies, UseEveryLinkOfTheirDevices) {
  // NVLinks per GPU: 4 of the first generation, 6 of the second.
  for (const auto& [name, links] :
       {std::pair<std::string, std::int64_t>{"dgx1-p100", 4}, {"dgx1-v100", 6}}) {
    const Document document = load_data(kTopologyData, name);
    std::vector<std::int64_t> used(8, 0);
    for (const Value& edge : document.at("edges")->items) {
      ASSERT_EQ(edge.items.size(), 3U);
      used.at(static_cast<std::size_t>(edge.items[0].integer)) += edge.items[2].integer;
      used.at(static_cast<std::size_t>(edge.items[1].integer)) += edge.items[2].integer;
    }
    EXPECT_EQ(used, std::vector<std::int64_t>(8, links)) << name;
  }
}

TEST(ShippedRuns, AreSoundAndFromShippedData) {
  const std::vector<std::string> runs = shipped_names(kRunData);
  EXPECT_FALSE(runs.empty());
  for (const std::string& name : runs) {
    SCOPED_TRACE(name);
    const ScenarioSource source = ScenarioSource::load(name);
    Scenario scenario;
    ASSERT_NO_THROW(scenario = source.read());
    EXPECT_TRUE(validate(scenario).empty());
    EXPECT_GE(scenario.micro_batches(), 1);
    const std::vector<std::string> models = shipped_names(kModelData);
    EXPECT_TRUE(std::binary_search(models.begin(), models.end(), scenario.model.name()));
    const Value* title = source.document().at("title");
    ASSERT_NE(title, nullptr);
    EXPECT_FALSE(title->text.empty());
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
