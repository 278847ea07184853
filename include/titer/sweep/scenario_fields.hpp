#pragma once
// Values of a scenario that stand by themselves: whatever the others are, each is read from its own
// key, and nothing else is.

#include <cstdint>
#include <optional>
#include <string_view>

#include "titer/step/source.hpp"

namespace titer {

struct ScenarioField {
  std::string_view path;
  void (*copy)(const Scenario& from, Scenario& to);
  void (*set)(std::int64_t, Scenario& to) = nullptr;  // of a whole number from 1 to kMostSet
};
inline constexpr std::int64_t kMostSet = 1'000'000;

/// nullptr where the path leads to no such value.
[[nodiscard]] const ScenarioField* scenario_field(std::string_view path);

/// Takes over one part of another scenario, or exchanges it.
void copy_part(ScenarioPart part, const Scenario& from, Scenario& to);
void swap_part(ScenarioPart part, Scenario& one, Scenario& other);

/// A part's own and those that what it leaves open follows: training the model's sequence,
/// conditions the cluster's devices of a node. (The plan's data degree: derive_data_degree().)
[[nodiscard]] bool follows(ScenarioPart part, ScenarioPart other);

}  // namespace titer
