#pragma once
// What an answer has to say beside its numbers: what was taken because nothing was said, and what
// the software that it names does not have.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/plan/abilities.hpp"
#include "titer/scenario/source.hpp"

namespace titer {

/// Of the scenario's stack, whose document holds them.
[[nodiscard]] Abilities software_abilities(const ScenarioSource& source);
/// Whether software lets a tensor degree be above the model's key-value heads, if it is.
[[nodiscard]] bool can_share_heads(const Abilities& abilities,
                                   const Model& model,
                                   std::int64_t tensor);
/// All that its software does not have, the precision included.
[[nodiscard]] std::vector<std::string> beyond_software(const Abilities& abilities,
                                                       const Scenario& scenario);
/// The model's longest sequence, where the scenario says none and it was taken.
[[nodiscard]] std::optional<std::int64_t> assumed_sequence(const ScenarioSource& source,
                                                           const Scenario& scenario);
/// Of a question that must say it: "training.sequence: missing; expected …", with its place.
/// `where_to_say`: "--sequence N"
[[nodiscard]] std::string missing_sequence(const ScenarioSource& source,
                                           std::int64_t longest,
                                           std::string_view where_to_say);
/// "training.sequence is not given: 4096 tokens, the longest of the model".
[[nodiscard]] std::optional<std::string> sequence_note(const ScenarioSource& source,
                                                       const Scenario& scenario);
/// Adds "64 chips of tpu-v5p-pod are its slice 4 x 4 x 4" for each number of them that is a part of
/// the torus that the cluster is.
void add_slice_notes(const Cluster& cluster,
                     std::span<const std::int64_t> devices,
                     std::vector<std::string>& notes);
/// "training.images is not given: 1 image of 336 x 336 pixels with each sequence, 576 tokens each".
[[nodiscard]] std::optional<std::string> images_note(const Scenario& scenario);
/// What images were taken; how many layers the stages have, where these do not go into all of them
/// alike; how many devices of each node are used, or should be, where ranks do not fill nodes or
/// groups are cut by their ends.
[[nodiscard]] std::vector<std::string> plan_notes(const Scenario& scenario);
/// A line each: the note on the sequence, where there is one, and "beyond what megatron-lm can do:
/// …", where its software misses something.
[[nodiscard]] std::vector<std::string> notes_of(const std::optional<std::string>& sequence,
                                                std::string_view stack,
                                                const std::vector<std::string>& missing);
/// What its files say that no answer follows from: keys of a model's configuration that are not
/// read, and the notes of a run. A line each, whatever the plan.
[[nodiscard]] std::vector<std::string> source_notes(const ScenarioSource& source);
/// A line each. `scenario`: as the source reads it.
[[nodiscard]] std::vector<std::string> answer_notes(const ScenarioSource& source,
                                                    const Scenario& scenario);

/// The notes of an answer about several scenarios: each line once, with the names of those that it
/// is true of where that is not all.
class ScenarioNotes {
 public:
  void add(const std::string& whose, const std::vector<std::string>& notes);
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::size_t scenarios_ = 0;
  std::vector<std::pair<std::string, std::vector<std::string>>> notes_;  // and whose each is
};

}  // namespace titer
