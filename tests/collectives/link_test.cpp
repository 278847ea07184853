#include "titer/collectives/link.hpp"

#include <gtest/gtest.h>

#include "titer/collectives/group.hpp"

namespace titer {
namespace TITER_TEST_FILE {

constexpr Link kLowLatency{.latency = 1_us, .bandwidth = 100_GBps};
constexpr Link kSimple{.latency = 5_us, .bandwidth = 250_GBps};

Channel both() {
  Channel channel(kLowLatency);
  channel.add(kSimple);
  return channel;
}

TEST(LinkTime, IsLatencyPlusSizeOverBandwidth) {
  EXPECT_DOUBLE_EQ(kLowLatency.time(1_MB).si(), 1e-6 + 1e6 / 100e9);
  EXPECT_DOUBLE_EQ(kLowLatency.time(Bytes{}).si(), 1e-6);
}

TEST(ChannelTime, OfOneProtocolIsItsLink) {
  EXPECT_DOUBLE_EQ(Channel(kSimple).time(3, 1_MB).si(), 3 * (5e-6 + 1e6 / 250e9));
}

TEST(ChannelTime, TakesTheLowLatencyProtocolForSmallMessages) {
  EXPECT_DOUBLE_EQ(both().time(1, 1_KiB).si(), kLowLatency.time(1_KiB).si());
}

TEST(ChannelTime, TakesTheHighBandwidthProtocolForLargeMessages) {
  EXPECT_DOUBLE_EQ(both().time(1, 1_GB).si(), kSimple.time(1_GB).si());
}

TEST(ChannelTime, ChangesProtocolWhereTheTwoTakeEqualTime) {
  // alpha1 + S / B1 = alpha2 + S / B2
  const double crossover = (5e-6 - 1e-6) / (1 / 100e9 - 1 / 250e9);
  const Bytes below = Bytes::from_si(0.99 * crossover);
  const Bytes above = Bytes::from_si(1.01 * crossover);
  EXPECT_DOUBLE_EQ(both().time(1, below).si(), kLowLatency.time(below).si());
  EXPECT_DOUBLE_EQ(both().time(1, above).si(), kSimple.time(above).si());
  EXPECT_LT(kSimple.time(above), kLowLatency.time(above));
}

TEST(ChannelTime, ChoosesByTheSizeOfOneMessageWhateverTheirNumber) {
  for (const int messages : {1, 2, 100}) {
    EXPECT_DOUBLE_EQ(both().time(messages, 1_KiB).si(), messages * kLowLatency.time(1_KiB).si());
    EXPECT_DOUBLE_EQ(both().time(messages, 1_GB).si(), messages * kSimple.time(1_GB).si());
  }
}

TEST(ChannelTime, DoesNotDependOnTheOrderOfTheProtocols) {
  Channel reversed(kSimple);
  reversed.add(kLowLatency);
  for (const Bytes size : {1_B, 64_KiB, 1_MiB, 1_GiB}) {
    EXPECT_EQ(reversed.time(2, size), both().time(2, size));
  }
}

TEST(ChannelTime, OfNoMessageIsZeroEvenWithoutAProtocol) {
  EXPECT_EQ(Channel().time(0, 1_GB), Seconds{});
  EXPECT_EQ(both().time(0, 1_GB), Seconds{});
}

TEST(ChannelTime, NeedsAProtocol) { EXPECT_THROW((void)Channel().time(1, 1_B), Defect); }

TEST(ChannelTime, CountsTheStartUpOnceHoweverManyMessages) {
  const Link started{.latency = 2_us, .bandwidth = 100_GBps, .startup = 50_us};
  for (const int messages : {1, 7, 100}) {
    EXPECT_DOUBLE_EQ(Channel(started).time(messages, 1_MB).si(),
                     50e-6 + messages * (2e-6 + 1e6 / 100e9));
  }
}

TEST(ChannelTime, TakesTheProtocolThatIsFastestWithItsStartUp) {
  // Alone, the eager link's message takes 10 us + 10 us against 90 us + 1 us; a hundred of them,
  // 10 us + 1000 us against 90 us + 100 us.
  const Link eager{.latency = {}, .bandwidth = 100_GBps, .startup = 10_us};
  const Link thorough{.latency = {}, .bandwidth = 1_TBps, .startup = 90_us};
  Channel channel(eager);
  channel.add(thorough);
  EXPECT_DOUBLE_EQ(channel.time(1, 1_MB).si(), 10e-6 + 1e6 / 100e9);
  EXPECT_DOUBLE_EQ(channel.time(100, 1_MB).si(), 90e-6 + 100 * 1e6 / 1e12);
}

TEST(ChannelLinks, AreThoseAddedAndAtMostFour) {
  Channel channel = both();
  channel.add(kSimple);
  channel.add(kSimple);
  ASSERT_EQ(channel.links().size(), 4U);
  EXPECT_EQ(channel.links()[0].latency, kLowLatency.latency);
  EXPECT_EQ(channel.links()[3].latency, kSimple.latency);
  EXPECT_THROW(channel.add(kSimple), Defect);
}

TEST(ChannelStream, MayBeOfUnequalMessages) {
  EXPECT_DOUBLE_EQ(Channel(kSimple).stream(3, 1_MB).si(), 3 * 5e-6 + 1e6 / 250e9);
  EXPECT_EQ(both().stream(0, Bytes{}), Seconds{});
}

TEST(ChannelBest, IsTheLeastCostOverTheProtocols) {
  const auto bandwidth_alone = [](const Link& link) { return 1_GB / link.bandwidth; };
  const auto latency_alone = [](const Link& link) { return link.latency; };
  EXPECT_DOUBLE_EQ(both().best(bandwidth_alone).si(), 1e9 / 250e9);
  EXPECT_DOUBLE_EQ(both().best(latency_alone).si(), 1e-6);
  EXPECT_THROW((void)Channel().best(latency_alone), Defect);
}

TEST(GroupTier, IsTheNetworkOnSeveralNodes) {
  const Group node{.per_node = 8, .nodes = 1};
  EXPECT_EQ(node.ring_tier(), Tier::node);
  EXPECT_EQ(node.pair_tier(), Tier::pair);
  EXPECT_EQ(node.exchange_tier(), Tier::exchange);
  const Group spread{.per_node = 4, .nodes = 3};
  EXPECT_EQ(spread.ranks(), 4 * 3);
  EXPECT_EQ(spread.ring_tier(), Tier::network);
  EXPECT_EQ(spread.pair_tier(), Tier::network);
  EXPECT_EQ(spread.exchange_tier(), Tier::network);
}

TEST(TorusShape, HasTheProductOfItsLengthsAsRanks) {
  const TorusShape torus{.length = {4, 3, 2}, .wrap = {true, false, true}, .axes = 3};
  EXPECT_EQ(torus.ranks(), 4 * 3 * 2);
  EXPECT_EQ(TorusShape{}.ranks(), 1);
}

TEST(FabricTier, NamesTheChannels) {
  const Fabric fabric{};
  EXPECT_EQ(&fabric.at(Tier::node), &fabric.node);
  EXPECT_EQ(&fabric.at(Tier::pair), &fabric.pair);
  EXPECT_EQ(&fabric.at(Tier::exchange), &fabric.exchange);
  EXPECT_EQ(&fabric.at(Tier::network), &fabric.network);
  EXPECT_EQ(&fabric.at(Tier::node_switch), &fabric.node_switch);
  EXPECT_EQ(&fabric.at(Tier::network_switch), &fabric.network_switch);
  EXPECT_EQ(&fabric.at(Tier::wire), &fabric.wire);
  EXPECT_EQ(&fabric.at(Tier::host), &fabric.host);
}

TEST(FabricTier, IsThereOnceItHasAProtocol) {
  EXPECT_FALSE(Fabric{}.at(Tier::wire).exists());
  EXPECT_TRUE(Fabric{.wire = Channel(kSimple)}.at(Tier::wire).exists());
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
