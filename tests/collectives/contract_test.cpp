// What every collective algorithm promises, for each alternative of each list: the messages it
// sends are a real algorithm, take the time of its formula on the engine of flows, and carry the
// bytes of its volume.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "collectives/contract_groups.hpp"
#include "collectives/data_flow.hpp"
#include "collectives/port_network.hpp"
#include "repetitions.hpp"
#include "titer/collectives/catalogue.hpp"

namespace titer {

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest asks for this name
static void PrintTo(const AlgorithmEntry& entry, std::ostream* out) {
  *out << name_of(entry.collective) << " by " << entry.name;
}

namespace TITER_TEST_FILE {

class CollectiveContract : public ::testing::TestWithParam<AlgorithmEntry> {
 protected:
  static std::vector<Group> groups() {
    std::vector<Group> groups;
    for (const Group& group : contract_groups()) {
      if (GetParam().applies(group, contract_fabric())) {
        groups.push_back(group);
      }
    }
    if (testing::kSanitized) {  // the first ones, which are small, and some of the others
      constexpr std::size_t few = 6;
      std::size_t number = 0;
      std::erase_if(groups, [&](const Group&) { return ++number > few && number % 3 != 0; });
    }
    return groups;
  }
  static std::vector<Group> groups_of_several() {
    std::vector<Group> several = groups();
    std::erase_if(several, [](const Group& group) { return group.ranks() == 1; });
    return several;
  }
};

INSTANTIATE_TEST_SUITE_P(Of,
                         CollectiveContract,
                         ::testing::ValuesIn(algorithm_catalogue().begin(),
                                             algorithm_catalogue().end()),
                         [](const auto& entry) {
                           std::string name(name_of(entry.param.collective));
                           name += "_";
                           name += entry.param.name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(CollectiveContract, AppliesToSomeGroupOfSeveralRanks) {
  EXPECT_FALSE(groups_of_several().empty());
}

TEST_P(CollectiveContract, NeedsSomeWayToSend) {
  for (const Group& group : groups_of_several()) {
    EXPECT_FALSE(GetParam().applies(group, Fabric{})) << text_of(group);
  }
}

TEST_P(CollectiveContract, IsFreeForOneRank) {
  for (const Group& group : groups()) {
    if (group.ranks() == 1) {
      EXPECT_EQ(GetParam().time(1_GB, group, contract_fabric()), Seconds{}) << text_of(group);
      EXPECT_EQ(GetParam().volume(1_GB, group), Bytes{}) << text_of(group);
      EXPECT_TRUE(GetParam().steps(1_GB, group, contract_fabric()).empty()) << text_of(group);
    }
  }
}

// ---- Executed time -------------------------------------------------------------------------

// What is executed takes no less than this part of a formula that bounds it from above. Measured:
// 0.833 for both double trees (the others are exact).
constexpr double kLeast = 0.5;

TEST_P(CollectiveContract, TakesTheTimeOfItsFormulaOnTheEngine) {
  const Fabric fabric = contract_fabric();
  double least = 1.0;
  for (const Group& group : groups()) {
    for (const Bytes size : {1_B, 1000_B, 777777_B, 1_GB}) {
      const Steps steps = GetParam().steps(size, group, fabric);
      const double formula = GetParam().time(size, group, fabric).si();
      const double executed = to_seconds(PortNetwork(steps, fabric).run().makespan).si();
      // Every message ends on a whole picosecond; the rest is the rounding of doubles.
      const double rounding = 0.5e-12 * longest_chain(steps) + 1e-12 * formula;
      if (GetParam().exact) {
        EXPECT_NEAR(executed, formula, rounding) << text_of(group) << ", " << size.si() << " bytes";
      } else {
        EXPECT_LE(executed, formula + rounding) << text_of(group) << ", " << size.si() << " bytes";
        EXPECT_GE(executed, kLeast * formula) << text_of(group) << ", " << size.si() << " bytes";
      }
      least = formula > 0.0 ? std::min(least, executed / formula) : least;
    }
  }
  RecordProperty("least_executed_over_formula", std::to_string(least));
}

/// What a group can do at best with the ways that an algorithm takes.
struct Best {
  double latency = std::numeric_limits<double>::infinity();
  double bandwidth = 0.0;  // of all the ports or wires of a rank together
  int fan_out = 1;         // messages that a rank starts together
  bool has_switch = false;
};

Best best_of(const Steps& steps, const Fabric& fabric) {
  Best best;
  std::set<std::tuple<int, Tier, int, int>> ports;
  std::map<int, double> bandwidth;
  std::unordered_map<std::string, int> together;  // by the rank and the bytes of what it waits for
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Message& message = steps.message(i);
    if (message.is_join()) {
      continue;
    }
    const Link& link = fabric.at(message.tier).links()[0];
    best.latency = std::min(best.latency, link.latency.si());
    best.has_switch = best.has_switch || message.tier == Tier::node_switch ||
                      message.tier == Tier::network_switch;
    const bool is_wire = message.tier == Tier::wire;
    if (message.from < steps.ranks() &&
        ports
            .emplace(
                message.from, message.tier, is_wire ? message.to : -1, is_wire ? message.lane : 0)
            .second) {
      bandwidth[message.from] += link.bandwidth.si();
    }
    const auto after = steps.after(i);
    const std::span<const std::byte> bytes = std::as_bytes(after);
    std::string waiting = std::to_string(message.from) + ":";
    waiting.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    best.fan_out = std::max(best.fan_out, ++together[waiting]);
  }
  for (const auto& [rank, rate] : bandwidth) {
    best.bandwidth = std::max(best.bandwidth, rate);
  }
  return best;
}

/// The bytes that the busiest rank must send, whatever the algorithm; a helper that adds may take
/// half of an all-reduce off the ranks.
Bytes least_volume(Collective collective, Bytes size, const Steps& steps) {
  if (steps.helpers() > 0 && collective == Collective::all_gather) {
    return size / steps.ranks();  // its own piece, which the switch sends to all
  }
  const double factor = bus_factor(collective, steps.ranks());
  return (steps.helpers() > 0 ? std::min(factor, 1.0) : factor) * size;
}

TEST_P(CollectiveContract, IsNeverFasterThanTheLowerBounds) {
  const Fabric fabric = contract_fabric();
  for (const Group& group : groups_of_several()) {
    for (const Bytes size : {1_B, 1000_B, 1_MiB, 1_GB}) {
      const Steps steps = GetParam().steps(size, group, fabric);
      const double time = (1 + 1e-12) * GetParam().time(size, group, fabric).si();
      const Best best = best_of(steps, fabric);
      // What one rank knows reaches at most fan_out + 1 times as many with every latency.
      const double rounds = std::log(group.ranks()) / std::log(best.fan_out + 1);
      if (!best.has_switch) {
        EXPECT_GE(time, std::ceil(rounds - 1e-9) * best.latency) << text_of(group);
      }
      EXPECT_GE(time, least_volume(GetParam().collective, size, steps).si() / best.bandwidth)
          << text_of(group) << ", " << size.si() << " bytes";
    }
  }
}

TEST_P(CollectiveContract, TakesLongerForMoreBytesMoreLatencyAndLessBandwidth) {
  for (const Group& group : groups_of_several()) {
    const auto time = [&](Bytes size, double latency, double bandwidth) {
      return GetParam().time(size, group, contract_fabric(latency, bandwidth));
    };
    const Seconds base = time(1_MB, 1, 1);
    EXPECT_GT(time(1.01 * 1_MB, 1, 1), base) << text_of(group);
    EXPECT_GT(time(1_MB, 1.01, 1), base) << text_of(group);
    EXPECT_GT(time(1_MB, 1, 0.99), base) << text_of(group);
    EXPECT_NEAR(time(1_MB, 2, 0.5).si(), 2 * base.si(), 1e-12 * base.si()) << text_of(group);
  }
}

// ---- Bytes sent ----------------------------------------------------------------------------

TEST_P(CollectiveContract, SendsItsVolumeFromTheBusiestRank) {
  const Bytes size = 1_GB;
  for (const Group& group : groups()) {
    const Steps steps = GetParam().steps(size, group, contract_fabric());
    ASSERT_EQ(steps.ranks(), group.ranks()) << text_of(group);
    std::vector<double> sent(static_cast<std::size_t>(steps.ranks() + steps.helpers()), 0.0);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      sent[static_cast<std::size_t>(steps.message(i).from)] += steps.message(i).size.si();
    }
    const double busiest = *std::max_element(sent.begin(), sent.begin() + steps.ranks());
    EXPECT_NEAR(busiest, GetParam().volume(size, group).si(), 1e-12 * busiest) << text_of(group);
    EXPECT_GE(busiest, (1 - 1e-12) * least_volume(GetParam().collective, size, steps).si())
        << text_of(group);
  }
}

TEST_P(CollectiveContract, LeavesANodeThroughTheNetworkOnly) {
  for (const Group& group : groups()) {
    const Steps steps = GetParam().steps(1_MB, group, contract_fabric());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Message& message = steps.message(i);
      const bool of_ranks = message.from < steps.ranks() && message.to < steps.ranks();
      if (of_ranks && message.from / group.per_node != message.to / group.per_node) {
        EXPECT_TRUE(message.tier == Tier::network || message.tier == Tier::network_switch)
            << text_of(group) << ": " << message.from << " to " << message.to;
      }
    }
  }
}

// ---- Data flow -----------------------------------------------------------------------------

TEST_P(CollectiveContract, LeavesEveryRankWithItsResult) {
  const Collective collective = GetParam().gathers ? Collective::all_gather : GetParam().collective;
  for (const Group& group : groups()) {
    SCOPED_TRACE(text_of(group));
    const Steps steps = GetParam().steps(1_MB, group, contract_fabric());
    expect_promise(collective, group, steps);
    if (HasFailure()) {
      break;  // one group says enough
    }
  }
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
