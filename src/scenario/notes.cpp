#include "titer/scenario/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/model/huggingface/huggingface.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/topology/family/node_families.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Of the groups inside which layers talk, the longest stretch of ranks that would lie in one node
/// and is cut by its end; 1: none.
std::int64_t cut_stretch(const Plan& plan, std::int64_t of_node) {
  std::int64_t longest = 1;
  for (const PlanGroup group : {PlanGroup::tensor, PlanGroup::context, PlanGroup::all_experts}) {
    const GroupRanks ranks = group_ranks(plan, group);
    const std::int64_t stretch = ranks.ranks * ranks.stride;
    if (ranks.ranks > 1 && stretch <= of_node && of_node % stretch != 0) {
      longest = std::max(longest, stretch);
    }
  }
  return longest;
}

std::optional<std::string> layers_note(const Scenario& scenario) {
  const LayerSplit& split = scenario.plan.layers;
  const std::int64_t layers = scenario.model.layers();
  const int stages = model_stages(placement(scenario.plan.schedule), scenario.shape());
  return left_over(split, layers, stages) == 0
             ? std::nullopt
             : std::optional(
                   fmt::format("plan.layers={} does not share out {} layers evenly over {} stages: "
                               "{}",
                               text_of(split),
                               layers,
                               stages,
                               shares_text(split, layers, stages)));
}

/// Of nodes of several hosts, how many are used.
std::optional<std::string> used_note(const Cluster& cluster) {
  return cluster.devices_per_node == cluster.devices_of_whole_node()
             ? std::nullopt
             : std::optional(fmt::format("{} of the {} devices of each node are used",
                                         cluster.devices_per_node,
                                         cluster.devices_of_whole_node()));
}

/// Where ranks fill nodes behind one switch so that the last is not full, or groups are cut: how
/// many devices of each node to use instead. Racks of 72 are mostly used by 64.
std::optional<std::string> uneven_note(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const std::int64_t devices = scenario.plan.devices();
  const std::int64_t of_node = cluster.devices_per_node;
  if (cluster.topology.as<SwitchedNode>() == nullptr || devices <= of_node) {
    return std::nullopt;
  }
  const std::int64_t stretch = cut_stretch(scenario.plan, of_node);
  if (stretch == 1 && devices % of_node == 0) {
    return std::nullopt;
  }
  std::int64_t used = of_node - of_node % stretch;
  while (used > of_node / 2 && devices % used != 0) {
    used -= stretch;
  }
  const bool is_other_way = used > of_node / 2;
  if (!is_other_way && stretch == 1) {
    return std::nullopt;
  }
  std::string what =
      stretch > 1
          ? fmt::format("groups of {} ranks are cut by nodes of {} devices", stretch, of_node)
          : fmt::format("{} devices do not fill nodes of {}", devices, of_node);
  if (!is_other_way) {
    return what;
  }
  std::string how = fmt::format("cluster.node.fabric.devices={}", used);
  if (cluster.nics * used % of_node == 0) {
    how += fmt::format(" and cluster.node.nics={}", cluster.nics * used / of_node);
  }
  return fmt::format("{}: {} use as many of each", what, how);
}

std::optional<std::string> islands_note(const Plan& plan) {
  return plan.local_steps
             ? std::optional(fmt::format("an iteration is the mean of {}, at the end of which "
                                         "islands of {} data-parallel ranks meet",
                                         plan.local_steps->steps,
                                         plan.data / plan.local_steps->islands))
             : std::nullopt;
}

}  // namespace

Abilities software_abilities(const ScenarioSource& source) {
  Problems problems;
  Reader root(source.document(), problems);
  Reader stack = root.object("stack");
  Abilities abilities = read_abilities(stack);
  problems.raise();
  return abilities;
}

bool can_share_heads(const Abilities& abilities, const Model& model, std::int64_t tensor) {
  const Transformer* transformer = model.if_transformer();
  return transformer == nullptr || !transformer->shares_kv_heads(tensor) ||
         abilities.tensor_beyond_kv_heads.value_or(true);
}

std::vector<std::string> beyond_software(const Abilities& abilities, const Scenario& scenario) {
  std::vector<std::string> missing = missing_abilities(abilities, scenario.plan);
  if (!can_share_heads(abilities, scenario.model, scenario.plan.tensor)) {
    missing.push_back(fmt::format("tensor {} of {} key-value heads",
                                  scenario.plan.tensor,
                                  scenario.model.if_transformer()->kv_heads));
  }
  const DataType precision = scenario.training.precision;
  const auto& known = abilities.precision;
  if (known && !includes(*known, precision)) {
    missing.push_back(
        fmt::format("precision {}", scenario.training.precision_name(scenario.cluster.chip)));
  }
  return missing;
}

std::optional<std::int64_t> assumed_sequence(const ScenarioSource& source,
                                             const Scenario& scenario) {
  const Transformer* transformer = scenario.model.if_transformer();
  const Value* written = source.document().at("training.sequence");
  const bool is_given = written != nullptr && written->kind != Value::Kind::null;
  return is_given || transformer == nullptr ? std::nullopt
                                            : std::optional(transformer->max_sequence);
}

std::string missing_sequence(const ScenarioSource& source,
                             std::int64_t longest,
                             std::string_view where_to_say) {
  constexpr std::int64_t usual = 8192;
  const Document& document = source.document();
  const Value* training = document.at("training");
  const std::string where = training == nullptr ? "" : document.where(training->origin);
  return fmt::format(
      "{}training.sequence: missing; expected {}, for example {}; the model's longest is {}",
      where.empty() ? "" : where + ": ",
      where_to_say,
      std::min(usual, longest),
      longest);
}

std::optional<std::string> sequence_note(const ScenarioSource& source, const Scenario& scenario) {
  const auto sequence = assumed_sequence(source, scenario);
  return sequence ? std::optional(fmt::format(
                        "training.sequence is not given: {} tokens, the longest of the model",
                        *sequence))
                  : std::nullopt;
}

void add_slice_notes(const Cluster& cluster,
                     std::span<const std::int64_t> devices,
                     std::vector<std::string>& notes) {
  for (const std::int64_t number : devices) {
    const Torus* slice = cluster.torus_of(number);
    if (slice != nullptr && slice != cluster.torus()) {
      notes.push_back(
          fmt::format("{} chips of {} are its slice {}", number, cluster.name, torus_name(*slice)));
    }
  }
}

std::vector<std::string> plan_notes(const Scenario& scenario) {
  std::vector<std::string> notes;
  for (const auto& note : {images_note(scenario),
                           layers_note(scenario),
                           used_note(scenario.cluster),
                           uneven_note(scenario),
                           islands_note(scenario.plan)}) {
    if (note) {
      notes.push_back(*note);
    }
  }
  return notes;
}

std::vector<std::string> notes_of(const std::optional<std::string>& sequence,
                                  std::string_view stack,
                                  const std::vector<std::string>& missing) {
  std::vector<std::string> notes;
  if (sequence) {
    notes.push_back(*sequence);
  }
  if (!missing.empty()) {
    notes.push_back(fmt::format("beyond what {} can do: {}", stack, listed(missing)));
  }
  return notes;
}

namespace {

/// What of a HuggingFace configuration the model does not follow from, though it may mean
/// something.
std::optional<std::string> unread_note(const ScenarioSource& source) {
  const Value* model = source.document().at("model");
  if (model == nullptr || model->kind != Value::Kind::object) {
    return std::nullopt;
  }
  const Document config{.root = *model, .sources = source.document().sources};
  Problems problems;
  Reader in(config, problems);
  if (!is_huggingface(in)) {
    return std::nullopt;
  }
  std::vector<std::string> unread = read_huggingface(in).ignored;
  std::erase_if(unread, [&](const std::string& key) {
    return meaning_of_ignored(config.root, key) != IgnoredKey::unread;
  });
  return unread.empty()
             ? std::nullopt
             : std::optional(fmt::format(
                   "not read of the model's configuration, and may change the result: {}",
                   listed(unread)));
}

/// The first of the notes that a run has as a list, and how many more there are. What an import
/// left open is told by now: there is no answer before.
std::optional<std::string> run_note(const ScenarioSource& source) {
  const Value* const notes = source.document().at("notes");
  if (notes == nullptr || notes->kind != Value::Kind::array) {
    return std::nullopt;
  }
  std::vector<std::string_view> said;
  for (const Value& note : notes->items) {
    if (!note.text.empty() && !note.text.starts_with("left open")) {
      said.push_back(note.text);
    }
  }
  if (said.empty()) {
    return std::nullopt;
  }
  return fmt::format("noted in the run: {}{}",
                     said.front(),
                     said.size() == 1 ? "" : fmt::format(", and {} more", said.size() - 1));
}

}  // namespace

std::vector<std::string> source_notes(const ScenarioSource& source) {
  std::vector<std::string> notes;
  for (const auto& note : {unread_note(source), run_note(source)}) {
    if (note) {
      notes.push_back(*note);
    }
  }
  return notes;
}

std::vector<std::string> answer_notes(const ScenarioSource& source, const Scenario& scenario) {
  std::vector<std::string> notes = notes_of(sequence_note(source, scenario),
                                            scenario.stack.name,
                                            beyond_software(software_abilities(source), scenario));
  add_slice_notes(scenario.cluster, std::array{scenario.plan.devices()}, notes);
  if (const auto& network = scenario.cluster.network_topology; network && network->failures.any()) {
    notes.push_back(
        fmt::format("of the network {} failed: what that costs is seen on its links (--fidelity "
                    "network) alone",
                    failures_text(network->failures)));
  }
  if (const auto& network = scenario.cluster.network_topology;
      network && network->places.placement != NodePlacement::contiguous) {
    notes.push_back(fmt::format(
        "nodes are placed {}: what that costs is seen on the network's links (--fidelity network) "
        "alone",
        places_text(network->places)));
  }
  std::ranges::move(plan_notes(scenario), std::back_inserter(notes));
  std::ranges::move(source_notes(source), std::back_inserter(notes));
  return notes;
}

void ScenarioNotes::add(const std::string& whose, const std::vector<std::string>& notes) {
  ++scenarios_;
  for (const std::string& note : notes) {
    auto known =
        std::ranges::find_if(notes_, [&](const auto& other) { return other.first == note; });
    if (known == notes_.end()) {
      known = notes_.insert(notes_.end(), {note, {}});
    }
    known->second.push_back(whose);
  }
}

std::vector<std::string> ScenarioNotes::lines() const {
  std::vector<std::string> lines;
  for (const auto& [note, owners] : notes_) {
    const bool of_all = owners.size() == scenarios_;
    lines.push_back(of_all ? note : fmt::format("{} (in {})", note, listed(owners)));
  }
  return lines;
}

}  // namespace titer
