// Steps with more tensor-parallel ranks than key-value heads, from the run file to the result.
#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

StepResult at(Fidelity fidelity, const std::string& heads) {
  Estimator memory;
  StepResult result;
  evaluate(scenarios::shipped_run({"model.kv_heads=" + heads}), fidelity, memory, result);
  return result;
}

TEST(SharedHeadsStep, TakesAsLongInTheClosedFormAsExecuted) {
  for (const std::string heads : {"1", "4"}) {
    const StepResult closed = at(Fidelity::closed, heads);
    const StepResult event = at(Fidelity::event, heads);
    EXPECT_EQ(closed.iteration_time, event.iteration_time) << heads;
    EXPECT_EQ(closed.memory_peak, event.memory_peak) << heads;
    EXPECT_GE(at(Fidelity::network, heads).iteration_time, event.iteration_time) << heads;
  }
}

// Eight ranks: with eight heads each has its own, with four two ranks gather what they share.
TEST(SharedHeadsStep, SpendsMoreOnTransfersAmongTensorRanks) {
  EXPECT_GT(at(Fidelity::closed, "4").breakdown.tensor_comm,
            at(Fidelity::closed, "8").breakdown.tensor_comm);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
