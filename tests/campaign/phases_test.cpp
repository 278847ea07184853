#include "titer/campaign/phases.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "campaign/courses.hpp"
#include "titer/engine/flow_engine.hpp"
#include "titer/estimate/model_state.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

PhasesResult phases_of(std::string_view rest, const std::vector<std::string>& sets = {}) {
  return followed<PhasesResult>(course_of(course_json_of(rest), sets));
}

constexpr std::string_view kTwoThenSix = R"("phases": [
  {"set": {"plan.data": 2}, "time": "1 h"}, {"set": {"plan.data": 6}, "time": "1 h"}])";

std::string with_change(std::string_view change) {
  return std::string(kTwoThenSix) + R"(, "change": )" + std::string(change);
}

// [seed 004, F54]
TEST(TrainingPhases, TwoThenSixDevicesHoldAsMuchDeviceTimeAsFour) {
  const PhasesResult result = phases_of(kTwoThenSix);
  EXPECT_EQ(result.average_devices(), (2.0 + 6.0) / 2);
  EXPECT_EQ(result.device_time(), 4 * result.time());
  EXPECT_EQ(result.time(), 7200_s);
  const PhasesResult four = phases_of(R"("phases": [{"set": {"plan.data": 4}, "time": "2 h"}])");
  EXPECT_EQ(four.device_time(), result.device_time());
}

TEST(TrainingPhases, ShippedElasticTrainingIsTheSame) {
  const auto result = followed<PhasesResult>(load_course("elastic-2-then-6"));
  EXPECT_EQ(result.average_devices(), 4);
  EXPECT_EQ(result.training_device_time(), 4 * result.training_time());
  EXPECT_GT(result.change_time(), 60_s);
}

TEST(TrainingPhases, LastAsLongAsTheyAreTold) {
  const PhasesResult result = phases_of(R"("phases": [
    {"iterations": 10}, {"samples": 100}, {"time": "100 s"}])");
  const Seconds one = result.phases[0].iteration_time;
  EXPECT_EQ(result.phases[0].time, 10 * one);
  EXPECT_EQ(result.phases[0].samples, 10.0 * 48);
  EXPECT_EQ(result.phases[1].iterations, std::ceil(100.0 / 48));
  EXPECT_EQ(result.phases[1].time, 3 * one);
  EXPECT_EQ(result.phases[2].iterations, std::floor(100_s / one));
  EXPECT_EQ(result.phases[2].time, 100_s);
  EXPECT_EQ(result.samples(), 48 * (10 + 3 + std::floor(100_s / one)));
  EXPECT_NEAR(result.time() / (13 * one + 100_s), 1, 1e-14);
}

TEST(TrainingPhases, AreScenariosEvaluatedAsAlways) {
  const Course course = course_of(course_json_of(kTwoThenSix));
  const auto& phases = std::get<TrainingPhases>(course.kind).phases;
  const auto result = followed<PhasesResult>(course);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    EXPECT_EQ(result.phases[i].iteration_time, estimate(phases[i].scenario).iteration_time);
  }
  const auto events = followed<PhasesResult>(course, Fidelity::event);
  EXPECT_NEAR(events.phases[0].iteration_time / result.phases[0].iteration_time, 1, 0.05);
}

TEST(LayoutChange, WritesAndReadsTheStateOverStorage) {
  const PhasesResult result =
      phases_of(with_change(R"({"storage_bandwidth": "2 GB/s", "restart": "60 s"})"));
  EXPECT_FALSE(result.phases[0].change);
  const ChangeCost& change = result.phases[1].change.value();
  const Course course = course_of(course_json_of(kTwoThenSix));
  EXPECT_EQ(change.state,
            model_state(std::get<TrainingPhases>(course.kind).phases[0].scenario).total());
  EXPECT_EQ(change.save, change.state / 2_GBps);
  EXPECT_EQ(change.load, change.state / 2_GBps);  // replicas on one node: all of it
  EXPECT_EQ(change.time(), change.save + change.load + 60_s);
  EXPECT_EQ(change.device_time, 2 * change.save + 6 * (change.load + 60_s));
  EXPECT_EQ(result.change_time(), change.time());
  EXPECT_EQ(result.device_time(), 8 * 3600_s + change.device_time);
}

TEST(LayoutChange, WritesFromAllNodesBefore) {
  const PhasesResult result = phases_of(R"("phases": [
      {"set": {"plan.data": 24}, "iterations": 1}, {"set": {"plan.data": 8}, "iterations": 1}],
      "change": {"storage_bandwidth": "1 GB/s"})");
  const ChangeCost& change = result.phases[1].change.value();
  EXPECT_EQ(change.save, change.state / (3 * 1_GBps));
  EXPECT_EQ(change.load, change.state / 1_GBps);
  EXPECT_EQ(change.restart, 0_s);
}

TEST(LayoutChange, MovesOverTheInterfacesOfTheSlowerSide) {
  const PhasesResult result = phases_of(with_change(R"({"move": "network", "restart": "1 s"})"));
  const ChangeCost& change = result.phases[1].change.value();
  EXPECT_EQ(change.save, 0_s);
  EXPECT_EQ(change.load, change.state / (8 * 200_Gbps));
  EXPECT_EQ(change.device_time, 6 * (change.load + 1_s));
  const PhasesResult few = phases_of(R"("phases": [
      {"set": {"cluster.node.nics": 2}, "iterations": 1}, {"iterations": 1}],
      "change": {"move": "network"})");
  const ChangeCost& slow = few.phases[1].change.value();
  EXPECT_EQ(slow.load, slow.state / (2 * 200_Gbps));
}

// Four nodes of which each sends its part to a fifth one, on the engine.
TEST(LayoutChange, TakesOverTheNetworkWhatFlowsTake) {
  for (const int nics : {1, 4}) {  // four nodes offer half of what the fifth can take, or twice
    const PhasesResult result =
        phases_of(R"("phases": [{"set": {"cluster.node.nics": )" + std::to_string(nics) +
                  R"(, "plan.data": 24, "cluster.node.fabric": {"family": "switch", "devices": 6,
           "bandwidth": "300 GB/s"}}, "iterations": 1}, {"iterations": 1}],
           "change": {"move": "network"})");
    ASSERT_EQ(result.phases[0].nodes, 4);
    const ChangeCost& change = result.phases[1].change.value();
    FlowNetwork network;
    const FlowLink in = network.add_link(8 * 200_Gbps);
    MessageGraph graph;
    for (int node = 0; node < 4; ++node) {
      const std::array<FlowLink, 2> links = {network.add_link(nics * 200_Gbps), in};
      static_cast<void>(graph.add(network.add_route(links), change.state / 4, 0_s));
    }
    EXPECT_NEAR(to_seconds(run(network, graph).makespan) / change.load, 1, 1e-9);
  }
}

TEST(LayoutChange, IsOnlyWhereTheLayoutChanges) {
  const PhasesResult result = phases_of(R"("phases": [
      {"iterations": 1}, {"set": {"training.global_batch": 96}, "iterations": 1},
      {"set": {"plan.recompute": "full"}, "iterations": 1}],
      "change": {"storage_bandwidth": "1 GB/s"})");
  EXPECT_FALSE(result.phases[1].change);
  EXPECT_TRUE(result.phases[2].change);
}

TEST(LayoutChange, PaysBackAfterWhatItCostsOverWhatAnIterationSaves) {
  const auto run = [](int iterations) {
    const std::string count = std::to_string(iterations);
    const PhasesResult moved =
        phases_of(R"("phases": [{"iterations": 5}, {"set": {"plan.data": 4}, "iterations": )" +
                  count + R"(}], "change": {"storage_bandwidth": "2 GB/s", "restart": "60 s"})");
    const PhasesResult stayed =
        phases_of(R"("phases": [{"iterations": 5}, {"iterations": )" + count + "}]");
    EXPECT_EQ(moved.samples(), stayed.samples());
    return std::pair(moved, stayed);
  };
  const double even = run(1).first.phases[1].change->break_even.value();
  const auto [lost, stayed_short] = run(static_cast<int>(std::floor(even)));
  EXPECT_GT(lost.time(), stayed_short.time());
  const auto [won, stayed_long] = run(static_cast<int>(std::ceil(even)));
  EXPECT_LT(won.time(), stayed_long.time());
  const PhasesResult worse = phases_of(R"("phases": [
      {"set": {"plan.data": 4}, "iterations": 1}, {"set": {"plan.data": 2}, "iterations": 1}],
      "change": {"storage_bandwidth": "1 GB/s"})");
  EXPECT_FALSE(worse.phases[1].change->break_even);
}

// [seed 004, F52]
TEST(LayoutChange, IntoOneMachineReducesWhatIsSynchronised) {
  const auto result = followed<PhasesResult>(load_course("migration"));
  const PhaseResult& scattered = result.phases[0];
  const PhaseResult& together = result.phases[1];
  EXPECT_EQ(scattered.devices, together.devices);
  EXPECT_GT(scattered.nodes, together.nodes);
  EXPECT_EQ(together.nodes, 1);
  EXPECT_LT(together.communication, 0.5 * scattered.communication);
  EXPECT_LT(together.iteration_time, scattered.iteration_time);
  EXPECT_NEAR(*together.change->break_even,
              together.change->time() / (scattered.iteration_time - together.iteration_time),
              1e-9);
}

TEST(TrainingPhases, SayWhichDoesNotFit) {
  const Course course = course_of(course_json_of(R"("phases": [
      {"name": "small", "iterations": 1},
      {"name": "large", "set": {"plan.micro_batch": 24}, "iterations": 1}])"));
  const auto lines = too_large(follow(course, Fidelity::closed));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines.front().starts_with("large: does not fit: stage 0 needs ")) << lines.front();
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
