// Workloads of other programs, and what they take on a cluster.

#include <gtest/gtest.h>

#include "temporary_folder.hpp"
#include "titer/export/exported_step.hpp"
#include "titer/input/reader.hpp"
#include "titer/plan/place/collective_query.hpp"
#include "titer/report/file/chakra_export.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/trace/replay.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

Cluster cluster() { return load_cluster(Value("dgx-a100-80gb")); }

Seconds message_time(Bytes bytes, int from, int to) {
  const Cluster machine = cluster();
  CollectiveDesk desk(machine, std::vector<std::vector<int>>{{from, to}});
  return desk.answer({.collective = Collective::send_recv, .size = bytes, .algorithm = {}}).time;
}

std::string refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.lines.front();
  }
  return "";
}

/// Rank 0 computes, then sends to 1 while it computes on; 1 computes when it has it.
constexpr std::string_view kSchedule =
    "num_ranks 2\n\nrank 0 {\nl1: calc 1000000 cpu 0\nl2: send 8000000b to 1 tag 4\nl2 requires "
    "l1\n"
    "l3: calc 2000000\nl3 requires l1\n}\n\nrank 1 {\nl1: recv 8000000b from 0 tag 4\n"
    "l2: calc 500000 cpu 0 nic 0\nl2 requires l1\n}\n";

TEST(Goal, ARankWaitsForTheMessageThatItNeeds) {
  const Workload workload = parse_goal(kSchedule, "step.goal");
  ASSERT_EQ(workload.ranks.size(), 2U);
  EXPECT_EQ(workload.ranks[0].size(), 3U);
  const Replay answer = replay(workload, cluster());
  const double send = message_time(Bytes::from_si(8e6), 0, 1).si();
  ASSERT_LT(send, 2e-3);
  EXPECT_NEAR(answer.ranks[1].end.si(), 1e-3 + send + 0.5e-3, 1e-11);
  EXPECT_NEAR(answer.makespan.si(), 1e-3 + 2e-3, 1e-11);
  EXPECT_NEAR(answer.ranks[0].exposed.si(), 0, 1e-11);  // it computes beside the message
  EXPECT_NEAR(answer.ranks[1].exposed.si(), send, 1e-11);
  EXPECT_NEAR(answer.ranks[1].idle.si(), 3e-3 - send - 0.5e-3, 1e-11);
  EXPECT_EQ(answer.messages, 1);
  EXPECT_EQ(answer.sent, Bytes::from_si(8e6));
}

TEST(Goal, ComputeIsScaledAndMessagesAreNot) {
  const Replay answer =
      replay(parse_goal(kSchedule, "step.goal"), cluster(), {.compute_scale = 0.1});
  const double send = message_time(Bytes::from_si(8e6), 0, 1).si();
  EXPECT_NEAR(answer.ranks[1].end.si(), 0.1e-3 + send + 0.05e-3, 1e-11);
}

TEST(Goal, OperationsOfOneProcessorRunOneAtATime) {
  const Replay one =
      replay(parse_goal("num_ranks 1\nrank 0 {\ncalc 1000\ncalc 2000\n}\n", "g"), cluster());
  EXPECT_NEAR(one.makespan.si(), 3e-6, 1e-12);
  const Replay two =
      replay(parse_goal("num_ranks 1\nrank 0 {\ncalc 1000\ncalc 2000 cpu 1\n}\n", "g"), cluster());
  EXPECT_NEAR(two.makespan.si(), 2e-6, 1e-12);
}

TEST(Goal, WhatIsWrongIsRefusedWithItsPlace) {
  const auto parse_error = [](std::string_view text) {
    return refused([&] { (void)parse_goal(text, "g"); });
  };
  EXPECT_EQ(parse_error("num_ranks 1\nrank 1 {\n}\n"), "g:2: rank 1: expected below num_ranks, 1");
  EXPECT_EQ(parse_error("num_ranks 1\nrank 0 {\nl2 requires l1\n}\n"),
            "g:3: l2: expected the label of an operation above");
  EXPECT_NE(parse_error("num_ranks 1\nrank 0 {\nfly 3\n}\n").find("g:3: fly: expected calc"),
            std::string::npos);
  EXPECT_NE(parse_error("num_ranks 1\nrank 0 {\n").find("ends in a rank"), std::string::npos);
  const auto replay_error = [](std::string_view text) {
    return refused([&] { (void)replay(parse_goal(text, "g"), cluster()); });
  };
  EXPECT_EQ(replay_error("num_ranks 2\nrank 0 {\na: send 8b to 1 tag 0\n}\nrank 1 {\n}\n"),
            "g:3: rank 0: a: rank 1 does not receive it");
  EXPECT_NE(
      replay_error("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n")
          .find("waits for what waits for it"),
      std::string::npos);
}

TEST(Goal, ATreeOfMessagesTakesItsDepth) {
  // Rank 0 to 1 and 2, 1 to 3: two messages one after the other on the longest way.
  const Workload workload = parse_goal(
      "num_ranks 4\nrank 0 {\na: send 1000b to 1 tag 0\nb: send 1000b to 2 tag 0\n}\n"
      "rank 1 {\na: recv 1000b from 0 tag 0\nb: send 1000b to 3 tag 0\nb requires a\n}\n"
      "rank 2 {\na: recv 1000b from 0 tag 0\n}\nrank 3 {\na: recv 1000b from 1 tag 0\n}\n",
      "tree.goal");
  const double one = message_time(Bytes::from_si(1000), 0, 1).si();
  EXPECT_NEAR(replay(workload, cluster()).makespan.si(), 2 * one, 1e-11);
}

Scenario exported_scenario() {
  Document document = parse_json(
      R"({"model": "llama3-8b", "cluster": {"name": "dgx-a100-80gb", "nodes": 1},
          "plan": {"tensor": 4, "sequence_parallel": true, "pipeline": 2, "data": 1},
          "training": {"global_batch": 4, "sequence": 2048, "precision": "bf16"},
          "stack": "megatron-core"})",
      "run.json");
  return ScenarioSource(std::move(document)).read();
}

TEST(ChakraWorkload, AnExportedStepTakesAboutWhatWasPredicted) {
  const Scenario scenario = exported_scenario();
  const ExportedStep step(scenario, ExportDetail::layer);
  if (chakra_trace(step, 0).empty()) {
    GTEST_SKIP() << "built without protobuf";
  }
  const TemporaryFolder folder;
  std::vector<std::filesystem::path> files = {folder.file("comm_group.json", chakra_groups(step))};
  double compute = 0;
  for (int rank = 0; rank < 8; ++rank) {
    files.emplace_back(
        folder.file("step." + std::to_string(rank) + ".et", chakra_trace(step, rank)));
    const RankGraph graph = step.graph(rank);
    for (const GraphNode& node : graph.nodes()) {
      compute += node.kind == NodeKind::compute ? to_seconds(node.duration).si() : 0;
    }
  }
  const Workload workload = load_workload(files);
  EXPECT_EQ(workload.ranks.size(), 8U);
  EXPECT_TRUE(workload.remarks.empty());
  const Replay answer = replay(workload, scenario.cluster);
  double replayed = 0;
  for (const ReplayedRank& rank : answer.ranks) {
    replayed += rank.compute.si();
  }
  EXPECT_NEAR(replayed / compute, 1, 1e-9);
  Estimator estimator;
  StepResult predicted;
  evaluate(scenario, Fidelity::closed, estimator, predicted);
  EXPECT_NEAR(answer.makespan / predicted.iteration_time, 1, 0.05);
  EXPECT_GT(answer.collectives, 0);
  EXPECT_GT(answer.messages, 0);
}

/// A field of a message: of number `number`, a number below 128 or a text.
std::string field(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

std::string field(int number, std::string_view text) {
  return std::string{static_cast<char>((number << 3) | 2), static_cast<char>(text.size())} +
         std::string(text);
}

/// A message of a trace, after its length.
std::string node(std::string_view fields) {
  return std::string(1, static_cast<char>(fields.size())) + std::string(fields);
}

TEST(ChakraWorkload, ACircleOfControlIsNotFollowedAndWhatStartsACollectiveIsNone) {
  const std::string of_host =
      field(10, field(1, "is_cpu_op") + std::string{'\xD8', '\x01', '\x01'});
  const std::string trace =
      node(field(2, field(1, "schema"))) +
      node(field(1, 1) + field(2, "mul") + field(3, 4) + field(4, 2) + field(7, 30) + of_host) +
      node(field(1, 2) + field(2, "kernel") + field(3, 4) + field(5, 1) + field(7, 20)) +
      node(field(1, 3) + field(2, "allreduce") + field(3, 7) + field(5, 2) + field(7, 40) +
           of_host);
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {folder.file("step.0.et", trace)};
  const Workload workload = load_workload(files);
  ASSERT_EQ(workload.remarks.size(), 1U);
  EXPECT_NE(workload.remarks.front().find("\"data_deps\" alone count"), std::string::npos);
  const Replay answer = replay(workload, cluster());
  EXPECT_EQ(answer.collectives, 0);
  EXPECT_NEAR(answer.makespan.si(), 90e-6, 1e-9);
}

TEST(ChakraWorkload, TheFormOfItsFeederIsReadToo) {
  const auto trace = [](int rank) {
    return R"({"workload_name": "w", "workload_graph": [
      {"Id": 1, "Name": "mul", "NodeType": 4, "ctrlDeps": [], "data_deps": [], "runtime": 30,
       "is_cpu_op": false},
      {"Id": 2, "Name": "sum", "NodeType": 7, "ctrl_deps": [9], "data_deps": [1], "runtime": 5,
       "is_cpu_op": false, "comm_type": 0, "comm_size": 1000000},
      {"Id": 3, "Name": "gather", "NodeType": 7, "data_deps": [2], "runtime": 40, "is_cpu_op": false},
      {"Id": 4, "Name": "send", "NodeType": )" +
           std::to_string(rank == 0 ? 5 : 6) +  // of a send, of a receive
           R"(, "data_deps": [3], "comm_dst": 1, "comm_src": 0, "comm_tag": 3, "comm_size": 1000}]})";
  };
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {folder.file("step.0.json", trace(0)),
                                                    folder.file("step.1.json", trace(1))};
  const Workload workload = load_workload(files);
  ASSERT_EQ(workload.remarks.size(), 2U);
  EXPECT_NE(workload.remarks.front().find("take as long as they took"), std::string::npos);
  EXPECT_NE(workload.remarks.back().find("the traces do not hold"), std::string::npos);
  const Replay answer = replay(workload, cluster());
  EXPECT_EQ(answer.collectives, 1);
  EXPECT_EQ(answer.messages, 1);
  EXPECT_GT(answer.makespan.si(), 70e-6);
  const std::string broken =
      folder.file("step.0.json", R"({"workload_graph": [{"Id": 1, "data_deps": ["a"]}]})");
  EXPECT_NE(refused([&] {
              (void)load_workload(std::vector<std::filesystem::path>{broken});
            }).find("data_deps: expected numbers of nodes"),
            std::string::npos);
}

TEST(ChakraWorkload, ARankThatIsMissingIsRefused) {
  const TemporaryFolder folder;
  const std::string empty = folder.file("step.1.et", "");
  const std::string other = folder.file("step.2.et", "");
  EXPECT_NE(refused([&] {
              (void)load_workload(std::vector<std::filesystem::path>{empty, other});
            }).find("expected the trace of rank 0"),
            std::string::npos);
  const std::string text = folder.file("a.txt", "{}");
  EXPECT_NE(refused([&] {
              (void)load_workload(std::vector<std::filesystem::path>{text});
            }).find("expected a GOAL schedule"),
            std::string::npos);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
