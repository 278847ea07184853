#include "titer/campaign/federated.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "campaign/courses.hpp"
#include "titer/engine/flow_engine.hpp"
#include "titer/model/model.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

FederatedRounds rounds_of(std::int64_t clients, BytesPerSecond link, BytesPerSecond server) {
  return {.rounds = 1,
          .clients = clients,
          .local_steps = 1,
          .download_bandwidth = link,
          .upload_bandwidth = link,
          .latency = 50_ms,
          .server_bandwidth = server};
}

/// A round on the engine: the server's port in each direction, a link of each client in each
/// direction, and the local steps between them.
Seconds executed(const FederatedRounds& rounds,
                 const std::vector<BytesPerSecond>& links,
                 Bytes weights,
                 Seconds local) {
  FlowNetwork network;
  const FlowLink out = network.add_link(rounds.server_bandwidth);
  const FlowLink in = network.add_link(rounds.server_bandwidth);
  MessageGraph graph;
  for (const BytesPerSecond link : links) {
    const std::array<FlowLink, 2> down = {out, network.add_link(link)};
    const std::array<FlowLink, 2> up = {network.add_link(link), in};
    const std::array<MessageId, 1> sent = {
        graph.add(network.add_route(down), weights, rounds.latency)};
    const std::array<MessageId, 1> trained = {
        graph.add(network.add_route({}), Bytes{}, local, sent)};
    static_cast<void>(graph.add(network.add_route(up), weights, rounds.latency, trained));
  }
  return to_seconds(run(network, graph).makespan);
}

TEST(FederatedRounds, AreBoundByTheClientsLinkOrTheServersPort) {
  const Bytes weights = 100_MB;
  const FederatedRounds slow_links = rounds_of(50, 20 * 1e6 / 8 * 1_B / 1_s, 10_Gbps);
  EXPECT_EQ(slow_links.transfer(weights, slow_links.download_bandwidth),
            50_ms + weights / slow_links.download_bandwidth);
  const FederatedRounds slow_port = rounds_of(50, 1_Gbps, 10_Gbps);
  EXPECT_EQ(slow_port.transfer(weights, slow_port.download_bandwidth),
            50_ms + 50 * weights / 10_Gbps);
}

TEST(FederatedRounds, AreWhatTheEngineSharesOut) {
  const Bytes weights = 100_MB;
  for (const double link : {0.02, 0.2, 0.25, 1.0, 40.0}) {
    for (const std::int64_t clients : {1, 7, 50}) {
      const FederatedRounds rounds = rounds_of(clients, link * 1_Gbps, 10_Gbps);
      const std::vector<BytesPerSecond> links(static_cast<std::size_t>(clients), link * 1_Gbps);
      const Seconds expected = 2 * rounds.transfer(weights, link * 1_Gbps) + 3_s;
      EXPECT_NEAR(executed(rounds, links, weights, 3_s) / expected, 1, 1e-9)
          << link << " " << clients;
    }
  }
}

TEST(FederatedRounds, WaitForTheSlowestOfUnequalLinks) {
  const Bytes weights = 100_MB;
  for (const BytesPerSecond server : {100_Gbps, 4_Gbps, 1_Gbps}) {
    const std::vector<BytesPerSecond> links = {0.05_Gbps, 0.3_Gbps, 1_Gbps, 2_Gbps, 5_Gbps};
    FlowNetwork network;
    const FlowLink out = network.add_link(server);
    MessageGraph graph;
    for (const BytesPerSecond link : links) {
      const std::array<FlowLink, 2> down = {out, network.add_link(link)};
      static_cast<void>(graph.add(network.add_route(down), weights, 50_ms));
    }
    const Seconds formula = 50_ms + std::max(weights / 0.05_Gbps, 5 * weights / server);
    EXPECT_NEAR(to_seconds(run(network, graph).makespan) / formula, 1, 1e-9);
  }
}

TEST(FederatedRounds, OfUnequalLinksTakeNoLongerThanTheirParts) {
  const Bytes weights = 100_MB;
  const std::vector<BytesPerSecond> links = {0.5_Gbps, 0.6_Gbps, 1_Gbps, 2_Gbps, 5_Gbps};
  for (const BytesPerSecond server : {100_Gbps, 1_Gbps}) {
    const FederatedRounds rounds =
        rounds_of(5, 0.5_Gbps, server);  // the slowest as the link of all
    const Seconds formula = 2 * rounds.transfer(weights, 0.5_Gbps) + 3_s;
    const Seconds time = executed(rounds, links, weights, 3_s);
    EXPECT_LE(time, (1 + 1e-9) * formula);
    if (server == 100_Gbps) {  // links bind throughout
      EXPECT_NEAR(time / formula, 1, 1e-9);
    }
  }
}

constexpr std::string_view kRounds = R"("rounds": {"rounds": 100, "clients": 50, "local_steps": 20,
  "link": {"bandwidth": "20 Mbps", "latency": "50 ms"}, "server_bandwidth": "10 Gbps"})";

TEST(FederatedCourse, SendsWeightsNotGradientsOnceInSoManySteps) {
  const Course course = course_of(course_json_of(kRounds));
  const Scenario& client = std::get<FederatedCourse>(course.kind).client;
  const auto result = followed<FederatedResult>(course);
  EXPECT_NEAR(
      result.weights.si() / (2.0 * static_cast<double>(parameters(client.model))), 1, 1e-12);
  EXPECT_EQ(result.local, 20 * estimate(client).iteration_time);
  EXPECT_EQ(result.download, 50_ms + result.weights / (0.02 * 1_Gbps));
  EXPECT_EQ(result.upload, result.download);
  EXPECT_EQ(result.averaging, 0_s);
  EXPECT_EQ(result.round(), result.download + result.local + result.upload);
  EXPECT_EQ(result.total(), 100 * result.round());
  EXPECT_EQ(result.samples, 100.0 * 50 * 20 * 48);
  EXPECT_EQ(result.server_bytes, 2 * 50 * result.weights);
  EXPECT_EQ(result.device_time, 50 * 2 * result.total());
}

TEST(FederatedCourse, CommunicatesLessOftenWithMoreLocalSteps) {
  const std::string text = course_json_of(kRounds);
  const auto one = followed<FederatedResult>(course_of(text, {"rounds.local_steps=1"}));
  const auto many = followed<FederatedResult>(course_of(text, {"rounds.local_steps=1000"}));
  EXPECT_EQ(one.download, many.download);
  EXPECT_GT(one.communication_share(), many.communication_share());
  const auto narrow = followed<FederatedResult>(course_of(text, {"training.weight_messages=fp8"}));
  EXPECT_EQ(narrow.weights, (1 + 4.0 / 128) / 2 * one.weights);  // a scale for 128 numbers
}

TEST(FederatedCourse, WaitsForStragglersAndAverages) {
  const std::string text = course_json_of(kRounds);
  const auto even = followed<FederatedResult>(course_of(text));
  const auto spread = followed<FederatedResult>(
      course_of(text, {R"(rounds.stragglers={"distribution": "exponential", "deviation": 0.5})"}));
  double harmonic = 0;  // the largest of n exponential factors
  for (int i = 1; i <= 50; ++i) {
    harmonic += 1.0 / i;
  }
  EXPECT_NEAR(spread.rounds.slowest_link(), 1 - 0.5 + 0.5 * harmonic, 1e-6);
  EXPECT_NEAR((spread.download - 50_ms) / (even.download - 50_ms), 1 - 0.5 + 0.5 * harmonic, 1e-6);
  const auto averaged =
      followed<FederatedResult>(course_of(text, {"rounds.averaging_bandwidth=100 GB/s"}));
  EXPECT_EQ(averaged.averaging, (50 + 1) * averaged.weights / 100_GBps);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
