// Two judges from outside: a slow engine that shares nothing with ours but the definition, and
// flows that SimGrid ran.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/flow_networks.hpp"
#include "paths.hpp"
#include "repetitions.hpp"
#include "titer/engine/flow_engine.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The definition, without any care for speed: real time, all rates from scratch at every event.
class SlowFlows {
 public:
  explicit SlowFlows(const FlowCase& flows)
      : network_(flows.network),
        graph_(flows.messages),
        start(graph_.size(), kNever),
        finish(graph_.size(), kNever),
        left_(graph_.size()) {
    for (MessageId message = 0; message < graph_.size(); ++message) {
      const bool nowhere = network_.route(graph_.route(message)).empty();
      left_[message] = nowhere ? 0.0 : graph_.bytes(message).si();
    }
    while (finish_due() || advance()) {
    }
  }

 private:
  [[nodiscard]] double begin(MessageId message) const {
    return start[message] + to_seconds(graph_.latency(message)).si();
  }
  [[nodiscard]] bool flows(MessageId message) const {
    return begin(message) <= now_ && finish[message] == kNever;
  }

  /// Finishes what has no bytes left and starts what waited for it; false if there is nothing.
  bool finish_due() {
    bool any = false;
    for (MessageId message = 0; message < graph_.size(); ++message) {
      double ready = to_seconds(graph_.release(message)).si();
      for (const MessageId earlier : graph_.after(message)) {
        ready = std::max(ready, finish[earlier]);
      }
      start[message] = ready;
      if (flows(message) && left_[message] == 0.0) {
        finish[message] = now_;
        any = true;
      }
    }
    return any;
  }

  /// To the next event; false if there is none.
  bool advance() {
    const std::vector<double> rate = rates();
    double step = kNever;
    for (MessageId message = 0; message < graph_.size(); ++message) {
      if (flows(message)) {
        step = std::min(step, left_[message] / rate[message]);
      } else if (begin(message) > now_) {
        step = std::min(step, begin(message) - now_);
      }
    }
    if (step == kNever) {
      return false;
    }
    for (MessageId message = 0; message < graph_.size(); ++message) {
      if (flows(message)) {  // what is left for a thousandth of a picosecond is rounding
        const double carried = rate[message] * step;
        left_[message] =
            left_[message] <= carried + rate[message] * 1e-15 ? 0.0 : left_[message] - carried;
      }
    }
    now_ = next_time(step);
    return true;
  }

  /// The begin of a latency's end itself, not a sum that may miss it by a rounding.
  [[nodiscard]] double next_time(double step) const {
    double next = now_ + step;
    for (MessageId message = 0; message < graph_.size(); ++message) {
      if (begin(message) > now_ && begin(message) < next + 1e-15) {
        next = std::max(next, begin(message));
      }
    }
    return next;
  }

  [[nodiscard]] bool crosses(MessageId message, FlowLink link) const {
    const auto route = network_.route(graph_.route(message));
    return std::find(route.begin(), route.end(), link) != route.end();
  }

  [[nodiscard]] std::vector<double> rates() const {
    std::vector<double> rate(graph_.size(), -1.0);  // not fixed yet
    while (true) {
      double level = kNever;
      FlowLink full = 0;
      for (FlowLink link = 0; link < network_.links(); ++link) {
        double left = network_.capacity(link).si();
        double weight = 0.0;
        for (MessageId message = 0; message < graph_.size(); ++message) {
          if (flows(message) && crosses(message, link)) {
            (rate[message] < 0.0 ? weight : left) +=
                rate[message] < 0.0 ? graph_.weight(message) : -rate[message];
          }
        }
        if (weight > 0.0 && left / weight < level) {
          level = left / weight;
          full = link;
        }
      }
      if (level == kNever) {
        return rate;
      }
      for (MessageId message = 0; message < graph_.size(); ++message) {
        if (flows(message) && rate[message] < 0.0 && crosses(message, full)) {
          rate[message] = level * graph_.weight(message);
        }
      }
    }
  }

  const FlowNetwork& network_;
  const MessageGraph& graph_;

 public:
  std::vector<double> start, finish;

 private:
  std::vector<double> left_;
  double now_ = 0.0;
};

// The engine rounds every finish to a picosecond; what waits for it inherits that.
constexpr double kTolerance = 100e-12;

void expect_agreement(const FlowCase& flows, std::uint32_t seed) {
  const FlowTimeline timeline = run(flows.network, flows.messages);
  const SlowFlows expected(flows);
  for (MessageId message = 0; message < flows.messages.size(); ++message) {
    ASSERT_NEAR(to_seconds(timeline.start[message]).si(), expected.start[message], kTolerance)
        << "seed " << seed << ", message " << message;
    ASSERT_NEAR(to_seconds(timeline.finish[message]).si(), expected.finish[message], kTolerance)
        << "seed " << seed << ", message " << message;
  }
}

TEST(FlowReference, TheSlowEngineAgrees) {
  for (std::uint32_t seed = 0; seed < std::uint32_t{repetitions(600)} && !HasFatalFailure();
       ++seed) {
    expect_agreement(random_flows(seed), seed);
  }
}

TEST(FlowReference, TheSlowEngineAgreesOnManyFlowsAtOnce) {
  for (std::uint32_t seed = 0; seed < std::uint32_t{repetitions(12)} && !HasFatalFailure();
       ++seed) {
    expect_agreement(random_flows(seed,
                                  {.links = 30,
                                   .routes = 80,
                                   .messages = 120,
                                   .max_hops = 5,
                                   .max_after = 0,
                                   .max_release = 0,
                                   .weights = seed % 2 == 0 ? 1u : 7u,
                                   .round = seed % 3 == 0}),
                     seed);
  }
}

/// A line of the file: the links by name, times in seconds.
struct SimGridFlow {
  std::string name, links;
  double bytes = 0.0, start = 0.0, latency = 0.0, finish = 0.0;
};

SimGridFlow read_line(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, ',');) {
    fields.push_back(field);
  }
  return {.name = fields.at(0),
          .links = fields.at(7),
          .bytes = std::stod(fields.at(4)),
          .start = std::stod(fields.at(5)),
          .latency = std::stod(fields.at(6)),
          .finish = std::stod(fields.at(8))};
}

/// By name of the case, each in the order of the file.
std::map<std::string, std::vector<SimGridFlow>> read_cases(std::ifstream& file) {
  std::map<std::string, std::vector<SimGridFlow>> cases;
  std::string line;
  std::getline(file, line);  // the names of the columns
  while (std::getline(file, line)) {
    const SimGridFlow flow = read_line(line);
    cases[flow.name].push_back(flow);
  }
  return cases;
}

/// Links of 50 GB/s. SimGrid's model CM02 shares them in inverse proportion to the latencies of
/// the routes.
FlowTimeline run_case(const std::vector<SimGridFlow>& flows) {
  FlowNetwork network;
  MessageGraph graph;
  std::map<std::string, FlowLink> link_of;
  for (const SimGridFlow& flow : flows) {
    std::vector<FlowLink> links;
    std::istringstream names(flow.links);
    for (std::string name; names >> name;) {
      if (!link_of.contains(name)) {
        link_of[name] = network.add_link(50_GBps);
      }
      links.push_back(link_of[name]);
    }
    graph.add(network.add_route(links),
              Bytes::from_si(flow.bytes),
              Seconds::from_si(flow.latency),
              {},
              {.release = Seconds::from_si(flow.start), .weight = 1.0 / flow.latency});
  }
  return run(network, graph);
}

TEST(FlowReference, SimGridAgreesToTheDigitsItPrints) {
  const auto path = root() / "../shared/research/simgrid_flows.csv";
  std::ifstream file(path);
  if (!file) {
    GTEST_SKIP() << path << " is absent";
  }
  std::size_t compared = 0;
  for (const auto& [name, flows] : read_cases(file)) {
    const FlowTimeline timeline = run_case(flows);
    for (std::size_t i = 0; i < flows.size(); ++i, ++compared) {
      EXPECT_NEAR(to_seconds(timeline.finish[i]).si(), flows[i].finish, 0.501e-9)
          << name << ", flow " << i;
    }
  }
  EXPECT_EQ(compared, 68u);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
