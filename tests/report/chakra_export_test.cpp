#include "titer/report/file/chakra_export.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "paths.hpp"
#include "report/chakra_traces.hpp"
#include "scenario/plain.hpp"
#include "temporary_folder.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using chakra_traces::Node;
using chakra_traces::Trace;

// Fields of an attribute in the published schema.
constexpr int kInt32 = 7;
constexpr int kInt64 = 9;
constexpr int kUint64 = 13;
constexpr int kBool = 27;
constexpr int kString = 29;

Scenario sample_scenario() {
  Plan plan;
  plan.pipeline = 2;
  plan.tensor = 2;
  plan.data = 2;
  plan.sequence_parallel = true;
  plan.sharding = Sharding::zero1;
  return plain::scenario(plan);
}

class ChakraTrace : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_write_chakra()) {
      GTEST_SKIP() << "built without protobuf";
    }
  }
};

std::uint64_t number(const Node& node, const std::string& name, int field) {
  const auto found = node.attributes.find(name);
  EXPECT_TRUE(found != node.attributes.end()) << node.name << " lacks " << name;
  if (found == node.attributes.end()) {
    return 0;
  }
  EXPECT_EQ(found->second.field, field) << node.name << ": the type of " << name;
  return found->second.number;
}

void expect_same(const GraphNode& from, const Node& read, const RankGroup* group, int rank) {
  EXPECT_EQ(read.name, from.name());
  EXPECT_EQ(number(read, "duration_ps", kInt64), static_cast<std::uint64_t>(from.duration));
  // Proto3 leaves out what is zero; within a choice it does not.
  const bool of_host = from.kind == NodeKind::copy || from.kind == NodeKind::input;
  EXPECT_EQ(number(read, "is_cpu_op", kBool), of_host ? 1u : 0u);
  switch (from.kind) {
    case NodeKind::compute:
    case NodeKind::copy:
    case NodeKind::input:
      EXPECT_EQ(read.type, 4u);
      EXPECT_NEAR(static_cast<double>(number(read, "num_ops", kInt64)), from.flops.si(), 1.0);
      EXPECT_GE(number(read, "num_ops", kInt64), 1u);
      EXPECT_NEAR(static_cast<double>(number(read, "tensor_size", kUint64)),
                  std::max(1.0, from.bytes.si()),
                  0.5);
      break;
    case NodeKind::collective: {
      ASSERT_NE(group, nullptr);
      EXPECT_EQ(read.type, 7u);
      const std::map<Collective, std::uint64_t> types = {{Collective::all_reduce, 0},
                                                         {Collective::all_gather, 2},
                                                         {Collective::reduce_scatter, 7}};
      EXPECT_EQ(number(read, "comm_type", kInt64), types.at(from.collective));
      const double parts = from.collective == Collective::all_gather
                               ? static_cast<double>(group->ranks.size())
                               : 1.0;
      EXPECT_NEAR(
          static_cast<double>(number(read, "comm_size", kInt64)), from.bytes.si() / parts, 0.5);
      EXPECT_EQ(read.attributes.at("pg_name").text, std::to_string(group->number));
      EXPECT_EQ(read.attributes.at("pg_name").field, kString);
      break;
    }
    case NodeKind::send:
    case NodeKind::receive: {
      const bool sends = from.kind == NodeKind::send;
      EXPECT_EQ(read.type, sends ? 5u : 6u);
      EXPECT_NEAR(static_cast<double>(number(read, "comm_size", kInt64)), from.bytes.si(), 0.5);
      const auto self = static_cast<std::uint64_t>(rank);
      const auto peer = static_cast<std::uint64_t>(from.peer);
      EXPECT_EQ(number(read, "comm_src", kInt32), sends ? self : peer);
      EXPECT_EQ(number(read, "comm_dst", kInt32), sends ? peer : self);
      EXPECT_EQ(number(read, "comm_tag", kInt32), static_cast<std::uint64_t>(from.tag));
      break;
    }
  }
}

TEST_F(ChakraTrace, IsReadBackAsTheGraphThatWasWritten) {
  Scenario scenario = sample_scenario();
  scenario.cluster.host_memory =
      HostTier{.capacity = 1000_GB, .bandwidth = 100_GBps, .per_device = 10_GBps};
  scenario.plan.offload.activations = HostPlace::host;
  for (const Choice<ExportDetail>& detail : kExportDetails) {
    const ExportedStep step(scenario, detail.value);
    for (int rank = 0; rank < step.ranks(); ++rank) {
      const Trace trace = chakra_traces::read(chakra_trace(step, rank));
      const RankGraph graph = step.graph(rank);
      EXPECT_EQ(trace.version, "0.0.4");
      ASSERT_EQ(trace.nodes.size(), graph.size());
      for (RankGraph::Id id = 0; id < graph.size(); ++id) {
        const GraphNode& node = graph.node(id);
        const Node& read = trace.nodes[id];
        EXPECT_EQ(read.id, id);
        const auto after = graph.after(id);
        EXPECT_EQ(read.data_deps, std::vector<std::uint64_t>(after.begin(), after.end()));
        expect_same(node, read, node.group > 0 ? &step.group(node.group) : nullptr, rank);
      }
    }
  }
}

TEST_F(ChakraTrace, RoundsComputeToMicrosecondsWithoutLosingAnyInTheSum) {
  const ExportedStep step(sample_scenario(), ExportDetail::operation);
  const RankGraph graph = step.graph(3);
  const Trace trace = chakra_traces::read(chakra_trace(step, 3));
  Ticks exact = 0;
  std::uint64_t rounded = 0;
  for (RankGraph::Id id = 0; id < graph.size(); ++id) {
    if (graph.node(id).kind == NodeKind::compute) {
      exact += graph.node(id).duration;
      rounded += trace.nodes[id].duration_micros;
    }
  }
  EXPECT_GT(rounded, 1000u);
  EXPECT_NEAR(static_cast<double>(rounded), static_cast<double>(exact) * 1e-6, 0.5);
}

TEST_F(ChakraTrace, HasItsSendsMatchedByReceivesOfOtherTraces) {
  const ExportedStep step(sample_scenario(), ExportDetail::layer);
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, int> balance;
  int sends = 0;
  for (int rank = 0; rank < step.ranks(); ++rank) {
    for (const Node& node : chakra_traces::read(chakra_trace(step, rank)).nodes) {
      if (node.type == 5 || node.type == 6) {
        balance[{number(node, "comm_src", kInt32),
                 number(node, "comm_dst", kInt32),
                 number(node, "comm_tag", kInt32)}] += node.type == 5 ? 1 : -1;
        sends += node.type == 5 ? 1 : 0;
      }
    }
  }
  // Two ways, 8 micro-batches, one boundary, four ranks on each side of it.
  EXPECT_EQ(sends, 2 * 8 * 1 * 4);
  for (const auto& [key, open] : balance) {
    EXPECT_EQ(open, 0);
  }
}

TEST_F(ChakraTrace, HasTheFieldsOfAPublishedOne) {
  const std::filesystem::path folder = testing::root() / "../shared/samples/chakra";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is not there";
  }
  const Trace published =
      chakra_traces::read(testing::file_text(folder / "all_reduce_16npus_1MB.0.et"));
  const Trace custom =
      chakra_traces::read(testing::file_text(folder / "custom_ring_allreduce.0.et"));
  EXPECT_EQ(published.version, "0.0.4");
  std::map<std::uint64_t, std::map<std::string, int>> known;
  for (const Trace& trace : {published, custom}) {
    for (const Node& node : trace.nodes) {
      for (const auto& [name, attribute] : node.attributes) {
        known[node.type][name] = attribute.field;
      }
    }
  }
  ASSERT_TRUE(known.contains(5) && known.contains(6) && known.contains(7));
  const ExportedStep step(sample_scenario(), ExportDetail::pass);
  std::set<std::string> shared;
  for (const Node& node : chakra_traces::read(chakra_trace(step, 0)).nodes) {
    for (const auto& [name, attribute] : node.attributes) {
      if (known[node.type].contains(name) && name != "is_cpu_op") {
        EXPECT_EQ(attribute.field, known[node.type][name]) << name;
        shared.insert(name);
      }
    }
  }
  EXPECT_EQ(shared,
            (std::set<std::string>{"comm_dst", "comm_size", "comm_src", "comm_tag", "comm_type"}));
}

TEST(ChakraGroups, AreNumberedWithTheirRanks) {
  Plan plan;
  plan.pipeline = 1;
  plan.tensor = 2;
  plan.data = 2;
  EXPECT_EQ(chakra_groups(ExportedStep(plain::scenario(plan), ExportDetail::pass)),
            "{\n"
            "  \"1\": [0, 1],\n"
            "  \"2\": [2, 3],\n"
            "  \"3\": [0, 2],\n"
            "  \"4\": [1, 3]\n"
            "}\n");
  EXPECT_EQ(chakra_groups(ExportedStep(plain::scenario(Plan{}), ExportDetail::pass)), "{}\n");
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
