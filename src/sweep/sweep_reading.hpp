#pragma once
// The scenarios of a sweep's points, one after another: what a point has in common with those
// before is not read again.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sweep_rules.hpp"
#include "titer/input/defect.hpp"
#include "titer/sweep/scenario_fields.hpp"

namespace titer {

/// An axis's value, or a derived number that is finite, as it is put into the scenario.
[[nodiscard]] Assignment axis_assignment(const Axis& axis, std::size_t value);
[[nodiscard]] Assignment derived_assignment(const DerivedField& field, double number);
/// The number where a field may be set to it.
[[nodiscard]] std::optional<std::int64_t> settable(double number);

/// Whether `read` meets neither a mistake of the user's nor a defect of the program. For what is
/// read before any point: the points that it is of meet it again, each a row that says so.
template <class Read>
[[nodiscard]] bool succeeds(const Read& read) {
  try {
    return !defect_met(read);
  } catch (const InputError&) {
    return false;
  }
}

/// Values that stand by themselves (ScenarioField) are put into the scenario that is there. The
/// part that any other leads into is read from a document, once for each combination of its values
/// while there are few of them. A point where that fails is read from scratch, which tells all that
/// is wrong with it, whatever was read before.
class SweepReading {
 public:
  /// `sweep` must outlive it.
  explicit SweepReading(const Sweep& sweep);
  SweepReading(const SweepReading&) = delete;
  SweepReading& operator=(const SweepReading&) = delete;

  /// nullptr where something of the point's scenario cannot be read: problem() says what. `rules`
  /// are at that point.
  [[nodiscard]] const Scenario* read(std::span<const std::size_t> at, const SweepRules& rules);
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  /// An axis's value of a field: a whole number, or read from a document.
  struct FieldValue {
    std::optional<std::int64_t> number;
    std::optional<std::size_t> sample;
  };
  /// An axis or a derived field, in the order in which they are put in.
  struct Input {
    std::string path;
    ScenarioPart part = ScenarioPart::plan;
    bool is_axis = true;
    std::size_t index = 0;                 // of axes or derived fields
    std::optional<ScenarioField> field{};  // where the value stands by itself
    std::vector<FieldValue> values{};      // of an axis with a field
  };
  using PartFlags = std::array<bool, kScenarioParts.size()>;
  using Key = std::vector<std::uint64_t>;  // an index or a number for each of a part's inputs
  struct ReadPart {
    Scenario scenario{};  // only that part of it
    bool open_data = false;
  };
  struct PartState {
    std::vector<std::size_t> inputs;  // that are read from the document, also of parts it follows
    std::optional<Key> key;           // that scenario_ has
    std::map<Key, std::optional<ReadPart>> kept;  // empty: cannot be read
    ReadPart* lent = nullptr;                     // of `kept`: the one that is in scenario_
  };

  void list_inputs();
  [[nodiscard]] bool stands_alone(const Input& input) const;
  void sample_inputs();
  void sample_derived(Input& input);
  void sample_axis(Input& input);
  [[nodiscard]] std::optional<std::size_t> read_sample(const Input& input, const Value& value);
  [[nodiscard]] bool sizes_follow_plans() const;
  [[nodiscard]] bool conditions_follow_plans() const;
  void prepare();
  [[nodiscard]] bool has_numbers(const SweepRules& rules);
  [[nodiscard]] bool read_changes(std::span<const std::size_t> at, const SweepRules& rules);
  [[nodiscard]] bool read_parts(std::span<const std::size_t> at,
                                const SweepRules& rules,
                                PartFlags& changed);
  void make_key(const PartState& state, std::span<const std::size_t> at, const SweepRules& rules);
  [[nodiscard]] bool take_kept(ScenarioPart part, std::optional<ReadPart>& kept);
  [[nodiscard]] bool take_part(ScenarioPart part,
                               std::span<const std::size_t> at,
                               const SweepRules& rules);
  [[nodiscard]] bool read_part(ScenarioPart part,
                               std::span<const std::size_t> at,
                               const SweepRules& rules);
  [[nodiscard]] bool put_field(const Input& input,
                               std::span<const std::size_t> at,
                               const SweepRules& rules);
  [[nodiscard]] const Scenario* read_afresh(std::span<const std::size_t> at,
                                            const SweepRules& rules);

  const Sweep* sweep_;
  std::vector<Input> inputs_;
  std::vector<Scenario> samples_;
  std::array<PartState, kScenarioParts.size()> parts_;
  bool usable_ = false;      // false: what no axis changes cannot be read
  ScenarioSource source_;    // what parts are read from
  ScenarioSource prepared_;  // the same before any point
  Scenario scenario_;
  bool open_data_ = false;       // the plan leaves it open
  std::vector<std::size_t> at_;  // whose fields scenario_ has; empty: of no point
  Key key_;                      // working memory
  Scenario afresh_;
  std::string problem_;
};

}  // namespace titer
