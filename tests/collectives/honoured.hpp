#pragma once
// That an algorithm does what it promises, in the time of its formula.

#include <gtest/gtest.h>

#include "collectives/data_flow.hpp"
#include "collectives/port_network.hpp"

namespace titer {

/// Executes the algorithm, and follows what every rank ends with.
template <class Algorithm>
void expect_honoured(Collective collective, const Group& group, Bytes size, const Fabric& fabric) {
  ASSERT_TRUE(Algorithm::applies(group, fabric));
  const Steps steps = Algorithm::steps(size, group, fabric);
  const double formula = Algorithm::time(size, group, fabric).si();
  EXPECT_NEAR(to_seconds(PortNetwork(steps, fabric).run().makespan).si(),
              formula,
              0.5e-12 * longest_chain(steps) + 1e-12 * formula);
  expect_promise(collective, group, steps);
}

}  // namespace titer
