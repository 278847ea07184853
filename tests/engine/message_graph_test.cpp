#include "titer/engine/message_graph.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::vector<MessageId> list(std::span<const MessageId> ids) { return {ids.begin(), ids.end()}; }

TEST(MessageGraph, StartsEmpty) { EXPECT_EQ(MessageGraph().size(), 0u); }

TEST(MessageGraph, KeepsWhatWasAdded) {
  MessageGraph graph;
  const MessageId a = graph.add(7, 5_MB, 2_us);
  const MessageId b = graph.add(0, 0_B, 0_s, std::array{a});
  const MessageId c = graph.add(1, 1_KiB, 3_ns, std::array{b, a});
  EXPECT_EQ(graph.size(), 3u);
  EXPECT_EQ(graph.route(a), 7u);
  EXPECT_EQ(graph.bytes(a), 5_MB);
  EXPECT_EQ(graph.latency(a), to_ticks(2_us));
  EXPECT_EQ(graph.bytes(b), 0_B);
  EXPECT_EQ(graph.latency(c), Ticks{3} * 1000);
  EXPECT_TRUE(graph.after(a).empty());
  EXPECT_EQ(list(graph.after(b)), std::vector{a});
  EXPECT_EQ(list(graph.after(c)), (std::vector{b, a}));
  for (const MessageId message : {a, b, c}) {
    EXPECT_EQ(graph.release(message), 0);
    EXPECT_EQ(graph.weight(message), 1.0);
  }
}

TEST(MessageGraph, GivesOptionsToThoseThatHaveThem) {
  MessageGraph graph;
  const MessageId before = graph.add(0, 1_B, 0_s);
  const MessageId late = graph.add(0, 1_B, 0_s, {}, {.release = 4_us});
  const MessageId between = graph.add(0, 1_B, 0_s);
  const MessageId heavy = graph.add(0, 1_B, 0_s, {}, {.weight = 2.5});
  const MessageId after = graph.add(0, 1_B, 0_s);
  for (const MessageId message : {before, between, heavy, after}) {
    EXPECT_EQ(graph.release(message), 0);
  }
  for (const MessageId message : {before, late, between, after}) {
    EXPECT_EQ(graph.weight(message), 1.0);
  }
  EXPECT_EQ(graph.release(late), to_ticks(4_us));
  EXPECT_EQ(graph.weight(heavy), 2.5);
}

TEST(MessageGraph, GivesOptionsToTheFirst) {
  MessageGraph graph;
  graph.add(0, 1_B, 0_s, {}, {.weight = 3.0});
  graph.add(0, 1_B, 0_s);
  EXPECT_EQ(graph.weight(0), 3.0);
  EXPECT_EQ(graph.weight(1), 1.0);
}

TEST(MessageGraph, CopiesDependenciesOfItsOwnMessages) {
  MessageGraph graph;
  const MessageId a = graph.add(0, 1_B, 0_s);
  const MessageId b = graph.add(0, 1_B, 0_s);
  MessageId last = graph.add(0, 1_B, 0_s, std::array{a, b});
  for (int i = 0; i < 100; ++i) {
    last = graph.add(0, 1_B, 0_s, graph.after(last));
    ASSERT_EQ(list(graph.after(last)), (std::vector{a, b}));
  }
}

struct Broken {
  Bytes size = 1_B;
  Seconds latency = 1_us;
  std::vector<MessageId> after = {};
  MessageOptions options = {};
};

/// Whether adding this to a graph of one message is refused without a trace.
bool refused(const Broken& message) {
  MessageGraph graph;
  const MessageId first = graph.add(0, 1_B, 0_s);
  try {
    graph.add(0, message.size, message.latency, message.after, message.options);
  } catch (const Defect&) {
    const MessageId next = graph.add(0, 2_B, 0_s, std::array{first});
    return next == first + 1 && list(graph.after(next)) == std::vector{first} &&
           graph.bytes(next) == 2_B && graph.weight(next) == 1.0;
  }
  return false;
}

TEST(MessageGraph, RefusesABrokenMessageAndStaysAsItWas) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused({.size = Bytes::from_si(-1.0)}));
  EXPECT_TRUE(refused({.size = Bytes::from_si(nan)}));
  EXPECT_TRUE(refused({.size = Bytes::from_si(infinity)}));
  EXPECT_TRUE(refused({.latency = Seconds::from_si(-1.0)}));
  EXPECT_TRUE(refused({.latency = Seconds::from_si(nan)}));
  EXPECT_TRUE(refused({.after = {0, 1}}));  // waits for itself
  EXPECT_TRUE(refused({.after = {9}}));     // no such message
  EXPECT_TRUE(refused({.options = {.release = Seconds::from_si(-1.0)}}));
  EXPECT_TRUE(refused({.options = {.weight = 0.0}}));
  EXPECT_TRUE(refused({.options = {.weight = -1.0}}));
  EXPECT_TRUE(refused({.options = {.weight = infinity}}));
  EXPECT_TRUE(refused({.options = {.weight = nan}}));
  EXPECT_FALSE(refused({.after = {0, 0}, .options = {.release = 1_s, .weight = 2.0}}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
