#pragma once
// Collectives on graphs of one kind of link, by rounds and as flows.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "collectives/contract_groups.hpp"
#include "collectives/graphs.hpp"

namespace titer::testing::executions {

inline constexpr Link kLink{.latency = 2_us, .bandwidth = 100_GBps};

inline constexpr Bytes kSize = 64_MB;

// The time of the whole buffer over the link.
inline const double kOnce = kSize.si() / 100e9;

inline const double kAlpha = 2e-6;

inline Fabric flat_fabric() { return switched_fabric(kLink, kLink); }

inline void expect_formula(const Both& both, double formula, const std::string& what) {
  EXPECT_NEAR(both.rounds.time.si(), formula, rounding(both.rounds)) << what << ", by rounds";
  EXPECT_NEAR(both.flows.time.si(), formula, rounding(both.flows)) << what << ", as flows";
  EXPECT_EQ(both.rounds.messages, both.flows.messages) << what;
  EXPECT_EQ(both.rounds.rounds, both.flows.rounds) << what;
}

/// One message each, all at the same time.
inline Steps one_round(int ranks, const std::vector<std::pair<int, int>>& pairs) {
  Script script(Steps(ranks, kSize, 1));
  for (const auto& [from, to] : pairs) {
    script.send({.from = from, .to = to, .tier = Tier::network}, Run{0, 1});
  }
  return script.take();
}

}  // namespace titer::testing::executions
