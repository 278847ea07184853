#include "titer/collectives/link.hpp"

#include <gtest/gtest.h>

namespace titer {
namespace {

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

TEST(GroupTier, IsTheNetworkOnSeveralNodes) {
  EXPECT_EQ((Group{.per_node = 8, .nodes = 1}.widest_tier()), Tier::node);
  EXPECT_EQ((Group{.per_node = 1, .nodes = 2}.widest_tier()), Tier::network);
  EXPECT_EQ((Group{.per_node = 4, .nodes = 3}.ranks()), 4 * 3);
}

TEST(FabricTier, NamesTheChannels) {
  const Fabric fabric{.node = Channel(kSimple), .network = Channel(kLowLatency)};
  EXPECT_EQ(&fabric.at(Tier::node), &fabric.node);
  EXPECT_EQ(&fabric.at(Tier::network), &fabric.network);
}

}  // namespace
}  // namespace titer
