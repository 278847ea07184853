#include "titer/engine/flow_network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "titer/units/ensure.hpp"

namespace titer {
namespace TITER_TEST_FILE {

std::vector<FlowLink> list(std::span<const FlowLink> links) { return {links.begin(), links.end()}; }

TEST(FlowNetwork, StartsEmpty) {
  const FlowNetwork network;
  EXPECT_EQ(network.links(), 0u);
  EXPECT_EQ(network.routes(), 0u);
}

TEST(FlowNetwork, KeepsWhatWasAdded) {
  FlowNetwork network;
  const FlowLink a = network.add_link(25_GBps);
  const FlowLink b = network.add_link(400_Gbps);
  const RouteId both = network.add_route(std::array{b, a});
  const RouteId none = network.add_route({});
  const RouteId one = network.add_route(std::array{a});
  EXPECT_EQ(network.links(), 2u);
  EXPECT_EQ(network.routes(), 3u);
  EXPECT_EQ(network.capacity(a), 25_GBps);
  EXPECT_EQ(network.capacity(b), 50_GBps);
  EXPECT_EQ(list(network.route(both)), (std::vector{b, a}));
  EXPECT_TRUE(network.route(none).empty());
  EXPECT_EQ(list(network.route(one)), std::vector{a});
}

TEST(FlowNetwork, CopiesItsOwnRoutes) {
  FlowNetwork network;
  const FlowLink a = network.add_link(1_GBps);
  const FlowLink b = network.add_link(1_GBps);
  RouteId last = network.add_route(std::array{a, b});
  for (int i = 0; i < 100; ++i) {  // over several growths of the storage
    last = network.add_route(network.route(last));
    ASSERT_EQ(list(network.route(last)), (std::vector{a, b}));
  }
}

class NoCapacity : public ::testing::TestWithParam<double> {};

TEST_P(NoCapacity, IsRefused) {
  FlowNetwork network;
  EXPECT_THROW(network.add_link(BytesPerSecond::from_si(GetParam())), Defect);
  EXPECT_EQ(network.links(), 0u);
}

INSTANTIATE_TEST_SUITE_P(BytesPerSecond,
                         NoCapacity,
                         ::testing::Values(0.0,
                                           -1.0,
                                           std::numeric_limits<double>::infinity(),
                                           std::numeric_limits<double>::quiet_NaN()));

/// Whether a route is refused in a network of two links, without a trace.
bool refused(std::vector<FlowLink> links) {
  FlowNetwork network;
  network.add_link(1_GBps);
  network.add_link(1_GBps);
  try {
    network.add_route(links);
  } catch (const Defect&) {
    return network.routes() == 0 && network.route(network.add_route(std::array{1u})).size() == 1;
  }
  return false;
}

TEST(FlowNetwork, RefusesABrokenRouteAndStaysAsItWas) {
  EXPECT_TRUE(refused({0, 2}));     // no such link
  EXPECT_TRUE(refused({0, 1, 0}));  // twice over one link
  EXPECT_FALSE(refused({1, 0}));
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
