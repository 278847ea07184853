#pragma once
// From files and `--set` to a Scenario. A scenario names its model, cluster and software stack (or
// holds them as objects); the names are expanded into the same document, so that any figure of any
// of them has a path: `cluster.chip.memory.bandwidth`.

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "titer/input/document.hpp"
#include "titer/input/shipped_data.hpp"
#include "titer/scenario/run_size.hpp"
#include "titer/scenario/scenario.hpp"

namespace titer {

/// Loads a shipped name, or a file if the text has a slash or ends in ".json": one that is found
/// from `folder` (of the file that refers to it), else from the working folder. Of models the Hub's
/// names whose shapes are known do, too (hub_models.hpp). Throws InputError with suggestions.
[[nodiscard]] Document load_data(const DataKind& kind,
                                 std::string_view name_or_file,
                                 const std::filesystem::path& folder = {});
/// Refuses a run where a file that asks something of one belongs (questions_of_runs.hpp). `source`:
/// what the message begins with; `run`: how the question would name it, "" if it has no name.
void expect_no_run(const DataKind& kind,
                   const Document& document,
                   std::string_view source,
                   std::string_view run);
/// Whether load_data() needs no file of the user's for the name.
[[nodiscard]] bool is_known(const DataKind& kind, std::string_view name);

/// The stack of scenarios that name none.
inline constexpr std::string_view kDefaultStack = "megatron-lm";
/// That of questions that name a model and a cluster, and no scenario: software of today for the
/// chips of the scenario's cluster. Throws InputError for data that is not there.
[[nodiscard]] std::string_view usual_stack(const Document& scenario);

/// A scenario's parts, each read from the member of the same name.
enum class ScenarioPart { model, cluster, stack, plan, training, formula, conditions };
inline constexpr std::array<Choice<ScenarioPart>, 7> kScenarioParts = {
    {{"model", ScenarioPart::model},
     {"cluster", ScenarioPart::cluster},
     {"stack", ScenarioPart::stack},
     {"plan", ScenarioPart::plan},
     {"training", ScenarioPart::training},
     {"formula", ScenarioPart::formula},
     {"conditions", ScenarioPart::conditions}}};

/// The part that a path leads into: "plan.tensor" into plan. Empty: into none.
[[nodiscard]] std::optional<ScenarioPart> scenario_part(std::string_view path);

/// What a run file may hold.
[[nodiscard]] Value run_schema();

/// The data degree of a plan that leaves it open: on a cluster of fixed size what the others leave,
/// else 1.
void derive_data_degree(Scenario& scenario);

/// A scenario as a document with its references expanded.
class ScenarioSource {
 public:
  /// From a run file or the name of a shipped run.
  [[nodiscard]] static ScenarioSource load(std::string_view name_or_file);
  /// From a document that holds a scenario.
  explicit ScenarioSource(Document document);

  /// Puts a value at a path, expanding a name that the path leads into, or that the value is. A
  /// cluster that replaces another keeps the number of its devices (RunSize).
  void assign(const Assignment& assignment);

  /// The scenario, checked. Throws InputError with every problem and its place.
  [[nodiscard]] Scenario read() const;
  /// The same without the check that the parts go together.
  void read_unchecked(Scenario& scenario) const;
  /// The same of all parts but some.
  void read_without(std::span<const ScenarioPart> left_out, Scenario& scenario) const;
  /// Reads one part again, after an assignment to it.
  void read_part(ScenarioPart part, Scenario& scenario) const;

  [[nodiscard]] const Document& document() const { return document_; }

 private:
  void expand_all();
  void expand(Value& value, const DataKind& kind);
  void expand_cluster(Value& cluster);
  void expand_conditions(Value& conditions);

  Document document_;
  RunSize size_;
};

/// The violations as located lines: "run.json:7:15: plan.tensor: 5: expected …".
[[nodiscard]] std::vector<std::string> located(const std::vector<Violation>& violations,
                                               const Document& document);

}  // namespace titer
