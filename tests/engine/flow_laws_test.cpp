// What must hold of every run. "More bandwidth is never slower" is not among it: what a message
// gains can let another one begin earlier, and get in the way of a third.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "allocations.hpp"
#include "engine/flow_networks.hpp"
#include "titer/engine/flow_engine.hpp"

namespace titer::testing {
namespace TITER_TEST_FILE {

TEST(FlowLaws, ARunAfterAnyOtherIsTheSame) {
  FlowEngine engine;
  FlowTimeline timeline;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const FlowCase flows = random_flows(seed);
    const FlowTimeline fresh = run(flows.network, flows.messages);
    engine.run(flows.network, flows.messages, timeline);
    ASSERT_EQ(timeline.start, fresh.start) << "seed " << seed;
    ASSERT_EQ(timeline.finish, fresh.finish) << "seed " << seed;
    ASSERT_EQ(timeline.makespan, fresh.makespan) << "seed " << seed;
  }
}

TEST(FlowLaws, ARepeatedRunAllocatesNothing) {
  for (const FlowCase& flows : {random_pairs(FatTree({4, 4, 4}, {1, 2, 2}, 10_GBps), 300, 1),
                                ring_steps(16, 1_MB, 10_GBps),
                                neighbour_exchange(Torus({4, 4}, 10_GBps), 5, 50),
                                random_flows(3)}) {
    FlowEngine engine;
    FlowTimeline timeline;
    engine.run(flows.network, flows.messages, timeline);
    const std::size_t before = allocations();
    engine.run(flows.network, flows.messages, timeline);
    const std::size_t after = allocations();
    EXPECT_EQ(after - before, 0u);
  }
}

TEST(FlowLaws, NothingStartsBeforeWhatItWaitsForOrFinishesBeforeItsLatency) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const FlowCase flows = random_flows(seed);
    const MessageGraph& graph = flows.messages;
    const FlowTimeline timeline = run(flows.network, graph);
    Ticks last = 0;
    for (MessageId message = 0; message < graph.size(); ++message) {
      Ticks ready = graph.release(message);
      for (const MessageId earlier : graph.after(message)) {
        ready = std::max(ready, timeline.finish[earlier]);
      }
      EXPECT_EQ(timeline.start[message], ready) << "seed " << seed;
      EXPECT_GE(timeline.finish[message], ready + graph.latency(message)) << "seed " << seed;
      last = std::max(last, timeline.finish[message]);
    }
    EXPECT_EQ(timeline.makespan, last);
  }
}

/// The same messages, added in another order that respects what they wait for.
struct Relabelled {
  Relabelled(const MessageGraph& graph, std::uint32_t seed) : id(graph.size()) {
    std::mt19937 random(seed);
    std::vector<MessageId> order(graph.size());  // by depth, and at random within one
    std::vector<std::uint32_t> depth(graph.size(), 0);
    for (MessageId message = 0; message < graph.size(); ++message) {
      for (const MessageId earlier : graph.after(message)) {
        depth[message] = std::max(depth[message], depth[earlier] + 1);
      }
    }
    std::iota(order.begin(), order.end(), MessageId{0});
    std::shuffle(order.begin(), order.end(), random);
    std::stable_sort(
        order.begin(), order.end(), [&](MessageId a, MessageId b) { return depth[a] < depth[b]; });
    for (const MessageId message : order) {
      std::vector<MessageId> after;
      for (const MessageId earlier : graph.after(message)) {
        after.push_back(id[earlier]);
      }
      id[message] = messages.add(
          graph.route(message),
          graph.bytes(message),
          to_seconds(graph.latency(message)),
          after,
          {.release = to_seconds(graph.release(message)), .weight = graph.weight(message)});
    }
  }

  MessageGraph messages;
  std::vector<MessageId> id;  // of each message of the original
};

// Rounding may come out differently where sums are taken in another order.
constexpr Ticks kRounding = 100;

Ticks apart(Ticks a, Ticks b) { return a < b ? b - a : a - b; }

TEST(FlowLaws, NamesDoNotMatter) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const FlowCase flows = random_flows(seed);
    const Relabelled other(flows.messages, seed);
    const FlowTimeline timeline = run(flows.network, flows.messages);
    const FlowTimeline relabelled = run(flows.network, other.messages);
    for (MessageId message = 0; message < flows.messages.size(); ++message) {
      ASSERT_LE(apart(relabelled.finish[other.id[message]], timeline.finish[message]), kRounding)
          << "seed " << seed << ", message " << message;
    }
  }
}

/// The same with all capacities doubled, and all latencies and releases halved.
FlowCase twice_as_fast(const FlowCase& flows) {
  FlowCase fast;
  for (FlowLink link = 0; link < flows.network.links(); ++link) {
    fast.network.add_link(2.0 * flows.network.capacity(link));
  }
  for (RouteId route = 0; route < flows.network.routes(); ++route) {
    fast.network.add_route(flows.network.route(route));
  }
  const MessageGraph& graph = flows.messages;
  for (MessageId message = 0; message < graph.size(); ++message) {
    fast.messages.add(
        graph.route(message),
        graph.bytes(message),
        0.5 * to_seconds(graph.latency(message)),
        graph.after(message),
        {.release = 0.5 * to_seconds(graph.release(message)), .weight = graph.weight(message)});
  }
  return fast;
}

TEST(FlowLaws, TwiceTheSpeedTakesHalfTheTime) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const FlowCase flows = random_flows(seed);
    const FlowCase fast = twice_as_fast(flows);
    const FlowTimeline slow_timeline = run(flows.network, flows.messages);
    const FlowTimeline fast_timeline = run(fast.network, fast.messages);
    for (MessageId message = 0; message < flows.messages.size(); ++message) {
      ASSERT_LE(apart(2 * fast_timeline.finish[message], slow_timeline.finish[message]), kRounding)
          << "seed " << seed << ", message " << message;
    }
  }
}

// A message that is cut into two equal ones of half the weight takes as long as both.
TEST(FlowLaws, HalvesOfHalfTheWeightTakeAsLongAsTheWhole) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const FlowCase flows = random_flows(seed);
    const MessageGraph& graph = flows.messages;
    MessageGraph halves;
    for (MessageId message = 0; message < graph.size(); ++message) {
      for (int half = 0; half < 2; ++half) {
        std::vector<MessageId> after;
        for (const MessageId earlier : graph.after(message)) {
          after.insert(after.end(), {2 * earlier, 2 * earlier + 1});
        }
        halves.add(
            graph.route(message),
            0.5 * graph.bytes(message),
            to_seconds(graph.latency(message)),
            after,
            {.release = to_seconds(graph.release(message)), .weight = 0.5 * graph.weight(message)});
      }
    }
    const FlowTimeline whole = run(flows.network, graph);
    const FlowTimeline cut = run(flows.network, halves);
    for (MessageId message = 0; message < graph.size(); ++message) {
      ASSERT_LE(apart(cut.finish[2 * message], whole.finish[message]), kRounding) << seed;
      ASSERT_EQ(cut.finish[2 * message], cut.finish[2 * message + 1]) << "seed " << seed;
    }
  }
}

// No link carries its bytes faster than its capacity allows. And a message always has a full link:
// it cannot take longer than the links of its route are busy, one after another.
TEST(FlowLaws, MessagesThatBeginTogetherFinishWithinTheirBounds) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const FlowCase flows = random_pairs(FatTree({4, 4, 4}, {1, 2, 2}, 10_GBps), 400, seed);
    const MessageGraph& graph = flows.messages;
    std::vector<Seconds> busy(flows.network.links());
    for (MessageId message = 0; message < graph.size(); ++message) {
      for (const FlowLink link : flows.network.route(graph.route(message))) {
        busy[link] += graph.bytes(message) / 10_GBps;
      }
    }
    const FlowTimeline timeline = run(flows.network, graph);
    for (MessageId message = 0; message < graph.size(); ++message) {
      Seconds longest = 2_us;
      for (const FlowLink link : flows.network.route(graph.route(message))) {
        longest += busy[link];
      }
      EXPECT_LE(timeline.finish[message], to_ticks(longest) + kRounding);
      EXPECT_GE(timeline.finish[message], to_ticks(2_us + graph.bytes(message) / 10_GBps));
    }
    const Seconds busiest = *std::max_element(busy.begin(), busy.end());
    EXPECT_GE(timeline.makespan, to_ticks(2_us + busiest) - kRounding);
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer::testing
