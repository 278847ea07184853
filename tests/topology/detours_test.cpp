#include "titer/topology/detours.hpp"

#include <algorithm>

#include "samples.hpp"
#include "titer/topology/traffic.hpp"

namespace titer {
namespace TITER_TEST_FILE {

using namespace testing;

constexpr int kGroups = 9;
constexpr int kOfGroup = 8;  // devices

/// Groups of so many routers, with a link between any two of them. Only these are narrow.
Topology dragonfly(const std::string& routing, int routers = 1) {
  const std::string of_router = std::to_string(kOfGroup / routers);
  return graph_of(R"({"family": "dragonfly", "groups": 9, "routers_per_group": )" +
                  std::to_string(routers) + R"(, "devices_per_router": )" + of_router +
                  R"(, "global_links": )" + of_router +
                  R"(, "device_bandwidth": "1 TB/s", "local_bandwidth": "1 TB/s",
                      "global_bandwidth": "1 GB/s")" +
                  (routing.empty() ? "" : R"(, "routing": ")" + routing + "\"") + "}");
}

/// Every device sends 9 MB to one of the next group: what minimal routes are worst at.
Traffic to_next_group() {
  Traffic traffic;
  for (int device = 0; device < kGroups * kOfGroup; ++device) {
    const int to = (device + kOfGroup) % (kGroups * kOfGroup);
    traffic.demands.push_back({.from = device, .to = to, .bytes = 9_MB});
  }
  return traffic;
}

Traffic among_all() {
  Traffic traffic;
  UniformExchange& exchange = traffic.exchanges.emplace_back();
  for (int device = 0; device < kGroups * kOfGroup; ++device) {
    exchange.ranks.push_back(device);
  }
  exchange.per_pair = 1_MB;
  return traffic;
}

double busiest(const std::string& routing, const Traffic& traffic) {
  const Router router{dragonfly(routing)};
  return busiest_link(router.topology(), link_loads(router, traffic))->time.si();
}

// [Kim, Dally, Scott & Abts 2008, section 4.2: one link of a*p devices takes it all; by way of a
// random group each link takes the same]
TEST(Detours, SpreadWhatWouldMeetOnOneLink) {
  // All eight of a group over one link.
  EXPECT_NEAR(busiest("minimal", to_next_group()), 8 * 9e6 / 1e9, 1e-9);
  // A ninth of it to every group and a ninth from every group: two times eight ninths.
  EXPECT_NEAR(busiest("valiant", to_next_group()), 16.0 / 9 * 9e6 / 1e9, 1e-9);
  EXPECT_NEAR(busiest("adaptive", to_next_group()), busiest("valiant", to_next_group()), 1e-9);
}

TEST(Detours, AreNotTakenWhereBestRoutesAreEven) {
  const Router adaptive{dragonfly("adaptive")};
  EXPECT_EQ(detoured_share(adaptive, among_all()), 0.0);
  EXPECT_EQ(link_loads(adaptive, among_all()),
            link_loads(Router{dragonfly("minimal")}, among_all()));
  // They take twice the global links.
  EXPECT_GT(busiest("valiant", among_all()), 1.5 * busiest("adaptive", among_all()));
}

TEST(Detours, AreWhatDragonfliesTakeUnlessTheyAreToldOtherwise) {
  EXPECT_EQ(dragonfly("").routing, NetworkRouting::adaptive);
  EXPECT_EQ(graph_of(R"({"family": "ring", "devices": 4, "bandwidth": "1 GB/s"})").routing,
            NetworkRouting::minimal);
}

TEST(Detours, StayInsideAPart) {
  Traffic inside;
  inside.demands.push_back({.from = 0, .to = kOfGroup - 1, .bytes = 1_GB});
  EXPECT_EQ(link_loads(Router{dragonfly("valiant", 4)}, inside),
            link_loads(Router{dragonfly("minimal", 4)}, inside));
}

TEST(Detours, BringEverythingThere) {
  for (const std::string routing : {"minimal", "ecmp", "valiant", "adaptive"}) {
    const Router router{dragonfly(routing, 4)};
    const std::vector<Bytes> loads = link_loads(router, to_next_group());
    for (int device = 0; device < kGroups * kOfGroup; ++device) {
      const Exit port = router.exits(device)[0];
      EXPECT_NEAR(loads[port.lane].si(), 9e6, 1e-3) << routing;
      EXPECT_NEAR(loads[port.lane ^ 1U].si(), 9e6, 1e-3) << routing;
    }
  }
}

TEST(Detours, OfOneMessagePassAnotherPart) {
  Router router{dragonfly("valiant", 4)};
  const std::vector<int> by = waypoints(router.topology());
  ASSERT_EQ(by.size(), 36U);
  int longer = 0;
  for (int to = kOfGroup; to < kGroups * kOfGroup; ++to) {
    const Route best = *router.route(0, to);
    const Route route = by_way_of_another(router, best, by);
    ASSERT_FALSE(route.empty());
    EXPECT_EQ(lane_begin(router.topology(), route.front()), 0);
    EXPECT_EQ(lane_end(router.topology(), route.back()), to);
    for (std::size_t i = 1; i < route.size(); ++i) {
      EXPECT_EQ(lane_end(router.topology(), route[i - 1]), lane_begin(router.topology(), route[i]));
    }
    longer += route.size() > best.size() ? 1 : 0;
  }
  EXPECT_GT(longer, 40);
  const Route inside = *router.route(0, kOfGroup - 1);
  EXPECT_EQ(by_way_of_another(router, inside, by), inside);
}

TEST(Detours, OfADirectNetworkGoByItsDevices) {
  const Topology torus = graph_of(
      R"({"family": "torus", "dimensions": [8], "wrap": true, "bandwidth": "1 GB/s",
          "routing": "valiant"})");
  EXPECT_EQ(waypoints(torus).size(), 8U);
}

TEST(Ecmp, KeepsEachPairToOneRoute) {
  const std::string tree = R"({"family": "fat-tree", "down": [8, 2], "up": [1, 8],
                               "bandwidth": "1 GB/s", "routing": "ecmp"})";
  const Router router{graph_of(tree)};
  Traffic one;
  one.demands.push_back({.from = 0, .to = 8, .bytes = 1_MB});
  const std::vector<Bytes> loads = link_loads(router, one);
  EXPECT_EQ(std::count(loads.begin(), loads.end(), 1_MB), 4);
  EXPECT_EQ(std::count(loads.begin(), loads.end(), Bytes{}),
            static_cast<std::ptrdiff_t>(loads.size()) - 4);
  // Eight pairs on eight ways up: some meet.
  Traffic eight;
  for (int device = 0; device < 8; ++device) {
    eight.demands.push_back({.from = device, .to = 8 + device, .bytes = 1_MB});
  }
  EXPECT_GE(busiest_link(router.topology(), link_loads(router, eight))->bytes, 2_MB);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
