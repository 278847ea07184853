#include "titer/scenario/source.hpp"

#include <algorithm>
#include <array>

#include "derived_data.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

/// Whether an object is shipped data with changes rather than a whole of its own.
bool changes_shipped_data(const Value& value, const DataKind& kind) {
  const Value* name = value.find("name");
  if (name == nullptr || name->kind != Value::Kind::text) {
    return false;
  }
  const auto has = [&](std::string_view key) { return value.find(key) != nullptr; };
  if (std::ranges::all_of(kind.essential, has)) {
    return false;
  }
  const bool is_other_model = kind.name == kModelData.name && (has("blocks") || has("tables"));
  return is_known(kind, name->text) ||
         (!is_other_model && std::ranges::none_of(kind.essential, has));
}

/// Throws InputError where a document is of another kind, with what takes it.
void refuse_other_file(const Document& document, std::string_view file) {
  if (document.root.find("model") != nullptr || document.root.find("cluster") != nullptr) {
    return;
  }
  for (const NoRun& other : kNoRuns) {
    for (const std::string_view key : words_of(other.keys)) {
      if (const Value* value = document.root.find(key); value != nullptr) {
        throw InputError(document.where(value->origin) + ": " + std::string(key) + ": this is " +
                         std::string(other.what) + ", no scenario: `" + std::string(other.command) +
                         " " + std::string(file) + "` takes it");
      }
    }
  }
}

/// "set cluster", or "--set-b cluster=dgx-b200" of what was given so: what to write instead of the
/// label of a whole.
std::string whole_of(const Assignment& assignment) {
  const std::string whole = assignment.path.substr(0, assignment.path.rfind('.'));
  std::string written = assignment.source;
  const std::size_t at = written.find(" " + assignment.path + "=");
  return at == std::string::npos ? "set " + whole
                                 : written.replace(at + 1, assignment.path.size(), whole);
}

/// The data that the value names or starts from, with its changes.
void expand_name(Document& document, Value& value, const DataKind& kind) {
  if (has_base(value, kind)) {
    resolve_base(document, value, kind, folder_of(document, value.find("base")->origin));
  }
  const bool is_name = value.kind == Value::Kind::text;
  if (!is_name && !changes_shipped_data(value, kind)) {
    return;
  }
  const Value* name = is_name ? &value : value.find("name");
  try {
    Value loaded = adopt(document, load_data(kind, name->text, folder_of(document, name->origin)));
    if (!is_name) {
      merge(loaded, std::move(value), document);
    }
    value = std::move(loaded);
  } catch (const InputError& error) {
    // The place of the name, unless the problem lies inside the file that it names.
    const std::string where = document.where(name->origin);
    const bool of_name = error.lines.size() == 1 && error.lines.front().starts_with(name->text);
    if (!of_name || where.empty()) {
      throw;
    }
    throw InputError(where + ": " + std::string(kind.name) + ": " + error.lines.front());
  }
}

}  // namespace

std::string_view usual_stack(const Document& scenario) {
  constexpr std::string_view usual = "megatron-core";
  // Of chips for which that is not written, by their maker.
  constexpr std::array<Choice<std::string_view>, 3> others = {
      {{"Google", "maxtext"}, {"AWS", "neuronx"}, {"Intel", "deepspeed"}}};
  const ScenarioSource source(scenario);
  const Value* maker = source.document().at("cluster.chip.vendor");
  const auto* other = std::ranges::find_if(
      others, [&](const auto& one) { return maker != nullptr && one.name == maker->text; });
  return other == others.end() ? usual : other->value;
}

std::optional<ScenarioPart> scenario_part(std::string_view path) {
  const auto* found = std::ranges::find_if(kScenarioParts, [&](const auto& part) {
    return part.name == path.substr(0, path.find('.'));
  });
  return found == kScenarioParts.end() ? std::nullopt : std::optional(found->value);
}

ScenarioSource ScenarioSource::load(std::string_view name_or_file) {
  Document document = load_data(kRunData, name_or_file);
  refuse_other_file(document, name_or_file);
  return ScenarioSource(std::move(document));
}

ScenarioSource::ScenarioSource(Document document) : document_(std::move(document)) {
  if (document_.root.kind == Value::Kind::object) {
    expand_all();
  }
}

void ScenarioSource::expand_all() {
  Value& root = document_.root;
  if (Value* model = root.find("model"); model != nullptr) {
    expand(*model, kModelData);
  }
  if (root.find("stack") == nullptr) {
    root.add("stack", Value(kDefaultStack));
  }
  expand(*root.find("stack"), kStackData);
  if (Value* cluster = root.find("cluster"); cluster != nullptr) {
    expand_cluster(*cluster);
  }
  if (Value* conditions = root.find("conditions"); conditions != nullptr) {
    expand_conditions(*conditions);
  }
  if (root.find("plan") == nullptr) {
    root.add("plan", Value::make_object());  // every degree has a default
  }
  if (Value* formula = root.find("formula");
      formula != nullptr && formula->kind == Value::Kind::text) {
    Value named = Value::make_object();
    named.origin = formula->origin;
    named.add("name", *formula);
    named.key_origins.back() = formula->origin;
    *formula = std::move(named);
  }
}

void ScenarioSource::expand_cluster(Value& cluster) {
  expand(cluster, kClusterData);
  if (Value* chip = cluster.find("chip"); chip != nullptr) {
    expand(*chip, kChipData);
  }
  Value* node = cluster.find("node");
  Value* fabric = node == nullptr ? nullptr : node->find("fabric");
  if (fabric != nullptr && fabric->kind == Value::Kind::text) {
    expand(*fabric, kTopologyData);
  }
  Value* topology = fabric == nullptr ? nullptr : fabric->find("topology");
  if (topology != nullptr) {
    expand(*topology, kTopologyData);
  }
  if (Value* network = cluster.find("network"); network != nullptr) {
    expand(*network, kNetworkData);
    if (Value* ports = network->find("topology"); ports != nullptr) {
      expand(*ports, kTopologyData);
    }
  }
}

void ScenarioSource::expand_conditions(Value& conditions) {
  Value* devices = conditions.find("devices");
  if (devices == nullptr) {
    return;
  }
  for (Value& entry : devices->items) {
    if (Value* chip = entry.find("chip"); chip != nullptr) {
      expand(*chip, kChipData);
    }
  }
}

void ScenarioSource::expand(Value& value, const DataKind& kind) {
  expand_name(document_, value, kind);
  if (may_refer_to_others(kind)) {
    give_values(document_, value, kind);
  }
}

void ScenarioSource::assign(const Assignment& assignment) {
  constexpr std::array<std::string_view, 7> labels = {"model.name",
                                                      "cluster.name",
                                                      "cluster.base",
                                                      "cluster.chip.name",
                                                      "cluster.chip.base",
                                                      "stack.name",
                                                      "stack.base"};
  if (includes(labels, assignment.path)) {
    throw InputError(assignment.source + ": " + assignment.path +
                     ": a name is only a label here; to take another, " + whole_of(assignment));
  }
  size_.before(document_, assignment.path);
  titer::assign(document_, assignment);
  const Origin origin = document_.at(assignment.path)->origin;
  expand_all();
  size_.after(document_, assignment.path, origin);
}

}  // namespace titer
