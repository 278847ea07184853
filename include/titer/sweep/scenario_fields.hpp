#pragma once
// Values of a scenario that stand by themselves: whatever the others are, each is read from its own
// key, and nothing else is.

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "titer/input/fields.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

class ScenarioField {
 public:
  /// Empty where the path leads to no such value.
  [[nodiscard]] static std::optional<ScenarioField> at(std::string_view path);

  void copy(const Scenario& from, Scenario& to) const;
  /// Whether it can be set to whole numbers from 1 to kMostSet.
  [[nodiscard]] bool is_number() const;
  void set(std::int64_t number, Scenario& to) const;

 private:
  using Of = std::variant<const Field<Plan>*, const Field<Training>*>;
  explicit ScenarioField(Of of) : of_(of) {}

  Of of_;
};
inline constexpr std::int64_t kMostSet = 1'000'000;

/// Takes over one part of another scenario, or exchanges it.
void copy_part(ScenarioPart part, const Scenario& from, Scenario& to);
void swap_part(ScenarioPart part, Scenario& one, Scenario& other);

/// A part's own and those that what it leaves open follows: training the model's sequence,
/// conditions the cluster's devices of a node. (The plan's data degree: derive_data_degree().)
[[nodiscard]] bool follows(ScenarioPart part, ScenarioPart other);

}  // namespace titer
