// Stages with different numbers of layers, from the run file to the result.
#include <gtest/gtest.h>

#include "scenario/scenarios.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace TITER_TEST_FILE {

StepResult at(Fidelity fidelity, const std::vector<std::string>& assignments) {
  Estimator memory;
  StepResult result;
  evaluate(scenarios::shipped_run(assignments), fidelity, memory, result);
  return result;
}

TEST(UnevenLayers, TakeAsLongInTheClosedFormAsExecuted) {
  for (const std::vector<std::string>& split :
       {std::vector<std::string>{"plan.virtual_stages=1", "plan.layers=[5,13,13,13,13,13,13,13]"},
        std::vector<std::string>{"plan.virtual_stages=1", "plan.layers=[96,0,0,0,0,0,0,0]"},
        std::vector<std::string>{"plan.virtual_stages=2",
                                 "plan.layers=[0,7,7,7,7,7,7,7,7,7,7,7,7,7,5,0]"},
        std::vector<std::string>{"model.layers=94", "plan.layers=lighter-ends"},
        std::vector<std::string>{"model.layers=94", "plan.layers=even"},
        std::vector<std::string>{"model.layers=61", "plan.virtual_stages=1"},
        std::vector<std::string>{"plan.virtual_stages=1", "plan.layers.first=5"},
        std::vector<std::string>{
            "model.layers=61", "plan.schedule=zb-v", "plan.virtual_stages=2"}}) {
    const StepResult closed = at(Fidelity::closed, split);
    const StepResult event = at(Fidelity::event, split);
    EXPECT_EQ(closed.iteration_time, event.iteration_time) << split.back();
    EXPECT_EQ(closed.memory_peak, event.memory_peak) << split.back();
    EXPECT_NEAR(closed.breakdown.total().si(), closed.iteration_time.si(), 1e-11) << split.back();
  }
}

TEST(UnevenLayers, AsEvenAsTheyGetChangeNothing) {
  const StepResult even = at(Fidelity::closed, {"plan.virtual_stages=1"});
  const StepResult listed =
      at(Fidelity::closed, {"plan.virtual_stages=1", "plan.layers=[12,12,12,12,12,12,12,12]"});
  EXPECT_EQ(listed.iteration_time, even.iteration_time);
  EXPECT_EQ(listed.memory_peak, even.memory_peak);
}

TEST(UnevenLayers, TakeALongerPathOnTheFullestStage) {
  const StepResult even = at(Fidelity::closed, {"plan.virtual_stages=1"});
  const StepResult tilted =
      at(Fidelity::closed, {"plan.virtual_stages=1", "plan.layers=[11,12,12,12,12,13,12,12]"});
  // m = 64 passes of a layer more on one stage, at least.
  StepCosts costs;
  step_costs(scenarios::shipped_run({"plan.virtual_stages=1"}), costs);
  const auto busy = [](const PassCost& cost) { return cost.compute + cost.comm(); };
  const Seconds layer = busy(costs.kinds.front().forward) + busy(costs.kinds.front().recompute) +
                        busy(costs.kinds.front().backward);
  EXPECT_GT(tilted.iteration_time, even.iteration_time + 40.0 * layer);
}

}  // namespace TITER_TEST_FILE
}  // namespace titer
