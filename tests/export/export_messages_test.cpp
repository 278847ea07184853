// What some ranks only send: with servers, through a root, along chains, between parts of images.
// Its messages in files are those of the traffic matrix, each with its receiver.

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <tuple>

#include "exported_graphs.hpp"
#include "plan/shipped.hpp"
#include "report/chakra_traces.hpp"
#include "report/goal_schedules.hpp"
#include "scenario/plain.hpp"
#include "scenario/violations.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/export/traffic_matrix.hpp"
#include "titer/plan/image_parts.hpp"
#include "titer/report/file/chakra_export.hpp"
#include "titer/report/file/goal_export.hpp"
#include "titer/simulate/simulate.hpp"
#include "titer/trace/replay.hpp"

namespace titer {
namespace TITER_TEST_FILE {

Scenario data_parallel(Sharding sharding, std::int64_t data) {
  Plan plan;
  plan.data = data;
  plan.sharding = sharding;
  plan.overlap_grad_reduce = false;
  plan.overlap_param_gather = false;
  return plain::scenario(plan);
}

Scenario of_reduces(std::int64_t data = 8) {
  Scenario scenario = data_parallel(Sharding::zero2, data);
  scenario.plan.gradient_collective = GradientCollective::reduce;
  return scenario;
}

Scenario of_servers() {
  Scenario scenario = data_parallel(Sharding::parameter_server, 16);
  scenario.plan.servers = 2;
  return scenario;
}

Scenario of_cut_images(std::int64_t parts,
                       std::int64_t columns,
                       Sharding sharding = Sharding::none) {
  Scenario scenario = data_parallel(sharding, 2);
  scenario.plan.tensor = parts;
  scenario.plan.image_columns = columns;
  scenario.model = shipped::any_model("resnet-50");
  scenario.training.sequence = 1;
  scenario.training.global_batch = 2 * scenario.plan.data;
  return scenario;
}

std::vector<Scenario> all() {
  return {data_parallel(Sharding::data_parallel_root, 8),
          of_servers(),
          of_reduces(),
          of_cut_images(4, 1),
          of_cut_images(4, 2),
          of_cut_images(2, 1),
          of_cut_images(2, 1, Sharding::zero1)};
}

double bytes_of_traffic(const ExportedStep& step) {
  double sum = 0;
  const TrafficMatrix matrix = StepTraffic(step).matrix({});
  for (const TrafficPair& pair : matrix.pairs()) {
    sum += pair.bytes.si();
  }
  return sum;
}

TEST(ExportedMessages, HaveTheBytesOfTheTrafficInGoal) {
  for (const Scenario& scenario : all()) {
    ASSERT_EQ(texts(scenario), Lines());
    for (const Choice<ExportDetail>& detail : kExportDetails) {
      const ExportedStep step(scenario, detail.value);
      std::string text;
      write_goal(step, [&](std::string_view part) { text += part; });
      const goal::Schedule schedule = goal::read(text);
      ASSERT_EQ(schedule.size(), static_cast<std::size_t>(step.ranks()));
      const goal::Ends sends = goal::ends(schedule, 's');
      EXPECT_EQ(sends, goal::ends(schedule, 'r'));
      double sent = 0;
      for (const auto& [key, bytes] : sends) {
        EXPECT_EQ(bytes.size(), 1u) << "a tag twice";
        sent = std::accumulate(bytes.begin(), bytes.end(), sent);
      }
      EXPECT_NEAR(sent / bytes_of_traffic(step), 1.0, 1e-4) << detail.name;
      EXPECT_TRUE(goal::run(schedule, [](int, int, std::int64_t) { return 1.0; }).has_value());
    }
  }
}

// Chains of which each begins where the one before ends.
TEST(ExportedMessages, OfChainsTakeAboutTheTimeOfTheClosedForm) {
  const Scenario scenario = of_reduces();
  std::string text;
  write_goal(ExportedStep(scenario, ExportDetail::pass),
             [&](std::string_view part) { text += part; });
  const auto taken = goal::run(goal::read(text), [](int, int, std::int64_t bytes) {
    const Bytes size = Bytes::from_si(static_cast<double>(bytes));
    return 1e9 * (plain::kInside.latency + size / plain::kInside.bandwidth).si();
  });
  ASSERT_TRUE(taken.has_value());
  EXPECT_NEAR(*taken / (1e9 * estimate(scenario).iteration_time.si()), 1.0, 0.1);
}

// On nodes of several NICs a chain for each, as the formula has it, which lets each block wait for
// all chains of a node's hop: they are there at different times while the chains fill.
TEST(ExportedMessages, OfChainsOverNicsTakeTheTimeOfTheClosedForm) {
  Scenario scenario = of_reduces(16);
  scenario.training.global_batch = scenario.plan.data * scenario.plan.micro_batch;
  scenario.model.transformer().layers = 1;
  ASSERT_EQ(texts(scenario), Lines());
  const StepResult result = estimate(scenario);
  const ExportedStep step(scenario, ExportDetail::layer);
  std::string text;
  write_goal(step, [&](std::string_view part) { text += part; });
  const Workload workload = parse_goal(text, "step.goal");
  const Replay whole = replay(workload, scenario.cluster);
  EXPECT_LE(whole.makespan / result.iteration_time, 1.01);
  EXPECT_GE(whole.makespan / result.iteration_time, 0.85);
  EXPECT_NEAR(whole.sent.si() / bytes_of_traffic(step), 1.0, 1e-4);
}

using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

std::uint64_t number(const chakra_traces::Node& node, const std::string& name) {
  return node.attributes.at(name).number;
}

TEST(ExportedMessages, AreSendsAndReceivesInChakra) {
  if (!can_write_chakra()) {
    GTEST_SKIP() << "built without protobuf";
  }
  for (const Scenario& scenario : all()) {
    const ExportedStep step(scenario, ExportDetail::layer);
    std::map<Key, std::vector<std::uint64_t>> sends;
    std::map<Key, std::vector<std::uint64_t>> receives;
    double reduced = 0;
    for (int rank = 0; rank < step.ranks(); ++rank) {
      std::uint64_t next = 0;
      for (const auto& node : chakra_traces::read(chakra_trace(step, rank)).nodes) {
        EXPECT_EQ(node.id, next++);
        for (const std::uint64_t before : node.data_deps) {
          EXPECT_LT(before, node.id);
        }
        if (node.type == 5 || node.type == 6) {
          (node.type == 5 ? sends : receives)[{number(node, "comm_src"),
                                               number(node, "comm_dst"),
                                               number(node, "comm_tag")}]
              .push_back(number(node, "comm_size"));
        } else if (node.type == 7 && number(node, "comm_type") == 1) {
          EXPECT_LT(static_cast<int>(number(node, "comm_dst")), step.ranks());
          reduced += static_cast<double>(number(node, "comm_size")) / step.ranks();
        }
      }
    }
    EXPECT_EQ(sends, receives);
    const bool reduces = scenario.plan.gradient_collective.has_value();
    EXPECT_EQ(sends.empty(), reduces);
    if (reduces) {
      // Of each rank's gradients, of all micro-batches, in as many reduces as there are ranks.
      const double gradients = step.costs().trained.front().total() *
                               scenario.gradient_message().si() *
                               static_cast<double>(scenario.micro_batches());
      EXPECT_NEAR(reduced / gradients, 1.0, 1e-6);
    }
  }
}

TEST(ExportedMessages, TakeTheTimeOfTheClosedForm) {
  for (const Scenario& scenario : all()) {
    const Ticks closed = to_ticks(estimate(scenario).iteration_time);
    for (const Choice<ExportDetail>& detail : kExportDetails) {
      const auto taken = exported::time(ExportedStep(scenario, detail.value));
      ASSERT_TRUE(taken.has_value());
      const bool cut = scenario.cuts_images();
      EXPECT_NEAR(static_cast<double>(*taken) / static_cast<double>(closed), 1, cut ? 1e-3 : 1e-7)
          << detail.name;
    }
  }
}

// What is gathered goes on beside kernels alone, in exports as in closed form: not beside exchanges
// of image parts, or whatever else layers wait for.
TEST(ExportedMessages, OfShardsTakeTheTimeOfTheClosedForm) {
  const auto of_layers = [](std::int64_t tensor, Sharding sharding) {
    Scenario scenario = data_parallel(sharding, 4);
    scenario.plan.tensor = tensor;
    return scenario;
  };
  for (const Sharding sharding : {Sharding::zero2, Sharding::zero3}) {
    for (const Scenario& scenario : {of_cut_images(4, 2, sharding),
                                     of_cut_images(2, 1, sharding),
                                     of_layers(4, sharding),
                                     of_layers(8, sharding)}) {
      ASSERT_EQ(texts(scenario), Lines());
      const Seconds closed = estimate(scenario).iteration_time;
      for (const Choice<ExportDetail>& detail : kExportDetails) {
        const ExportedStep step(scenario, detail.value);
        const auto taken = exported::time(step);
        ASSERT_TRUE(taken.has_value());
        EXPECT_NEAR(to_seconds(*taken) / closed, 1.0, 0.01)
            << name(sharding) << " " << detail.name << " " << scenario.plan.tensor;
        EXPECT_LE(static_cast<double>(step.graph(0).size()), step.most_nodes());
      }
    }
  }
}

TEST(ExportedMessages, GoToTheRootAndComeFromIt) {
  const ExportedStep step(data_parallel(Sharding::data_parallel_root, 4), ExportDetail::layer);
  const TrafficMatrix matrix = StepTraffic(step).matrix({});
  EXPECT_EQ(matrix.pairs().size(), 6u);
  for (const TrafficPair& pair : matrix.pairs()) {
    EXPECT_TRUE((pair.from == 0) != (pair.to == 0));
  }
}

TEST(ImageParts, LieBesideThoseOfTheirRowAndColumn) {
  Plan plan;
  plan.tensor = 6;
  plan.image_columns = 3;
  EXPECT_EQ(parts_beside(plan, 0), (std::vector{1, 3}));
  EXPECT_EQ(parts_beside(plan, 1), (std::vector{0, 2, 4}));
  EXPECT_EQ(parts_beside(plan, 5), (std::vector{2, 4}));
  EXPECT_EQ(most_parts_beside(plan), 3);
  plan.image_columns = 1;
  EXPECT_EQ(parts_beside(plan, 5), (std::vector{4}));
  EXPECT_EQ(most_parts_beside(plan), 2);
  for (const std::int64_t columns : {1, 2, 3, 6}) {
    plan.image_columns = columns;
    std::size_t most = 0;
    for (int member = 0; member < 6; ++member) {
      const std::vector<int> beside = parts_beside(plan, member);
      most = std::max(most, beside.size());
      for (const int other : beside) {
        const std::vector<int> back = parts_beside(plan, other);
        EXPECT_NE(std::find(back.begin(), back.end(), member), back.end());
      }
    }
    EXPECT_EQ(static_cast<int>(most), most_parts_beside(plan));
  }
}

// What a part in the middle sends fills its port as in closed form.
TEST(ImageParts, AreFollowedOnLinks) {
  const auto taken = [](const Scenario& scenario) {
    return simulate(scenario, {.network = true}).result;
  };
  for (const std::int64_t parts : {2, 4}) {
    const Scenario scenario = of_cut_images(parts, 1);
    ASSERT_EQ(texts(scenario), Lines());
    EXPECT_NEAR(taken(scenario).iteration_time / estimate(scenario).iteration_time, 1.0, 1e-9);
  }
  Scenario apart = of_cut_images(16, 1);
  apart.plan.data = 1;
  apart.training.global_batch = 8;
  ASSERT_EQ(texts(apart), Lines());
  EXPECT_GE(taken(apart).iteration_time / estimate(apart).iteration_time, 1 - 1e-9);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
