// Measured training runs as data of a stack's calibration.

#include <algorithm>
#include <memory>

#include "titer/calibrate/calibration_data.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/read_document.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/text.hpp"

namespace titer {

CalibrationData run_data(std::vector<MeasuredRun> runs, StackPart part) {
  if (runs.empty()) {
    throw InputError("expected measured runs, found none");
  }
  struct State {
    std::vector<MeasuredRun> runs;
    Estimator estimator;
    StepResult result;
  };
  CalibrationData data;
  data.what = "training runs";
  data.of_steps = true;
  for (const MeasuredRun& run : runs) {
    ensure(run.iteration_time > Seconds{}, "a run that was measured took some time");
    data.measured.push_back(run.iteration_time.si());
    data.groups.push_back(run.group);
  }
  const auto [least, most] = std::minmax_element(data.measured.begin(), data.measured.end());
  data.range = format(Seconds::from_si(*least)) + " to " + format(Seconds::from_si(*most));
  auto state = std::make_shared<State>();
  state->runs = std::move(runs);
  data.predict = [state, part](const Document& document,
                               std::span<const std::size_t> rows,
                               std::span<double> seconds) {
    const Stack stack = read_document(document, read_stack);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Scenario& scenario = state->runs[rows[i]].scenario;
      if (part == StackPart::whole) {
        scenario.stack = stack;
      } else {
        scenario.stack.kernels = stack.kernels;
      }
      state->estimator.estimate(scenario, state->result);
      seconds[i] = state->result.iteration_time.si();
    }
  };
  return data;
}

}  // namespace titer
