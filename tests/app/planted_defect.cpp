// A program with defects: the linker puts these in the place of functions (--wrap), so that what
// studies make of their points meets one wherever the micro-batch is 3; what reads a plan, where it
// is sharded by zero2; and what follows a step closer than the closed form, where the micro-batch
// is 2.

#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"
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

// Members, as their callers see them: with the object first.
void sound_part(const ScenarioSource& source, ScenarioPart part, Scenario& scenario) __asm__(
    "__real__ZNK5titer14ScenarioSource9read_partENS_12ScenarioPartERNS_8ScenarioE");
void faulty_part(const ScenarioSource& source, ScenarioPart part, Scenario& scenario) __asm__(
    "__wrap__ZNK5titer14ScenarioSource9read_partENS_12ScenarioPartERNS_8ScenarioE");
void sound_read(const ScenarioSource& source, Scenario& scenario) __asm__(
    "__real__ZNK5titer14ScenarioSource14read_uncheckedERNS_8ScenarioE");
void faulty_read(const ScenarioSource& source, Scenario& scenario) __asm__(
    "__wrap__ZNK5titer14ScenarioSource14read_uncheckedERNS_8ScenarioE");

void faulty_part(const ScenarioSource& source, ScenarioPart part, Scenario& scenario) {
  sound_part(source, part, scenario);
  ensure(scenario.plan.sharding != Sharding::zero2, "nobody shards by 2");
}

void faulty_read(const ScenarioSource& source, Scenario& scenario) {
  sound_read(source, scenario);
  ensure(scenario.plan.sharding != Sharding::zero2, "nobody shards by 2");
}

void sound_evaluate(const Scenario& scenario, Fidelity fidelity, Estimator& memory, StepResult& result, const SimulationOptions& options) __asm__(
    "__real__ZN5titer8evaluateERKNS_8ScenarioENS_8FidelityERNS_9EstimatorERNS_10StepResultERKNS_"
    "17SimulationOptionsE");
void faulty_evaluate(const Scenario& scenario, Fidelity fidelity, Estimator& memory, StepResult& result, const SimulationOptions& options) __asm__(
    "__wrap__ZN5titer8evaluateERKNS_8ScenarioENS_8FidelityERNS_9EstimatorERNS_10StepResultERKNS_"
    "17SimulationOptionsE");

void faulty_evaluate(const Scenario& scenario,
                     Fidelity fidelity,
                     Estimator& memory,
                     StepResult& result,
                     const SimulationOptions& options) {
  ensure(fidelity == Fidelity::closed || scenario.plan.micro_batch != 2, "nobody follows 2");
  sound_evaluate(scenario, fidelity, memory, result, options);
}

}  // namespace titer
