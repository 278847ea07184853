#pragma once
// Two scenarios side by side: where their iteration times differ, and which inputs make the
// difference.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "titer/scenario/source.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {

/// A value that is not the same in both; null where one does not have it.
struct InputChange {
  std::string path;
  Value from;
  Value to;
};

/// What some inputs that differ contribute to the difference, as Shapley's value has it: what
/// taking them from A to B changes, averaged over the orders in which all can be taken.
/// [Shapley 1953, "A value for n-person games"]
struct Contribution {
  std::vector<std::string> paths;  // several where one is not sound without the other
  Seconds time;                    // B less A
};

struct Difference {
  Scenario a_scenario;
  Scenario b_scenario;
  StepResult a;
  StepResult b;
  std::vector<InputChange> changes;         // every value that differs; nothing where none does
  std::vector<Contribution> contributions;  // they add up to the difference; largest first
  std::int64_t orders = 1;                  // in which the contributions' changes can be made, and
  std::int64_t sound_orders = 1;  // of these, those without a scenario on the way that is not
                                  // sound: averaged over
  std::string refusal;            // why one on the way is not
  std::int64_t evaluations = 0;

  [[nodiscard]] Seconds time() const { return b.iteration_time - a.iteration_time; }
};

/// At most so many inputs, or groups of them, are taken apart: the parts of the scenario, and
/// within them what differs, as far as that goes; 2^most results are computed. Throws InputError
/// where one of both is not sound.
[[nodiscard]] Difference difference(const ScenarioSource& a,
                                    const ScenarioSource& b,
                                    Fidelity fidelity,
                                    std::size_t most = 8);

/// Every value that differs between two documents, in order: objects and lists member by member;
/// what only says where figures come from, titles and labels apart. Equal quantities in other
/// units are the same.
[[nodiscard]] std::vector<InputChange> input_changes(const Value& a, const Value& b);

}  // namespace titer
