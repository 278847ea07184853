// A program with a defect: the linker puts this in the place of validate() (--wrap), so that what
// studies make of their points meets one wherever the micro-batch is 3.

#include "titer/step/scenario.hpp"
#include "titer/units/ensure.hpp"

namespace titer {

std::vector<Violation> sound_validate(const Scenario& scenario) __asm__(
    "__real__ZN5titer8validateERKNS_8ScenarioE");
std::vector<Violation> faulty_validate(const Scenario& scenario) __asm__(
    "__wrap__ZN5titer8validateERKNS_8ScenarioE");

std::vector<Violation> faulty_validate(const Scenario& scenario) {
  ensure(scenario.plan.micro_batch != 3, "nobody counts to 3");
  return sound_validate(scenario);
}

}  // namespace titer
