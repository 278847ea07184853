// Reading a search's file.

#include <fmt/format.h>

#include <algorithm>

#include "search_reading.hpp"
#include "titer/hardware/noted_fields.hpp"
#include "titer/plan/place/torus_place.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/search.hpp"
#include "titer/search/search_schema.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::int64_t kMostPlansListed = 10'000;

bool is_layer_rule(const Value& layers) {
  return layers.kind == Value::Kind::text &&
         includes(kLayerRules, layers.text, &Choice<LayerRule>::name);
}

/// The searched keys of a plan's object, taken out of it. Layers that are told of some numbers of
/// stages stay, for plans with these.
std::vector<std::pair<const SearchKey*, Value>> take_keys(Value& plan) {
  std::vector<std::pair<const SearchKey*, Value>> taken;
  for (const SearchKey& key : search_keys()) {
    const Value* value = plan.find(key.name);
    if (value != nullptr && (key.name != "layers" || is_layer_rule(*value))) {
      taken.emplace_back(&key, *value);
      plan.erase(key.name);
    }
  }
  return taken;
}

using F = SearchFile;

/// Whether a change is of this key of the plan.
bool is_set(const SearchFile& file, std::string_view key) {
  return std::ranges::any_of(file.changes, [&](const Assignment& change) {
    return change.path == "plan." + std::string(key);
  });
}

/// The run with what changes put into it.
ScenarioSource changed_scenario(const SearchFile& file, const Value& written) {
  Document document = scenario_document(*file.document, written);
  if (document.root.find("plan") == nullptr) {
    document.root.add("plan", Value::make_object());
  }
  ScenarioSource whole(std::move(document));
  for (const Assignment& change : file.changes) {
    whole.assign(change);
  }
  return whole;
}

/// A run lends its model, cluster, stack and training, and what no search varies of its plan; a
/// scenario that the file holds keeps its plan's keys, and so do changes.
void read_scenario(const Field<F>& /*own*/, Reader& in, F& file) {
  const Value* written = scenario_value(in);
  file.problems->raise();
  const bool is_own = written->kind == Value::Kind::object;
  const ScenarioSource whole = changed_scenario(file, *written);
  if (!is_own) {
    Scenario run;
    whole.read_unchecked(run);
    file.run_devices = run.plan.devices();
  }
  Document open = whole.document();
  Value& plan = *open.root.find("plan");
  file.kept = take_keys(plan);
  std::erase_if(file.kept,
                [&](const auto& kept) { return !is_own && !is_set(file, kept.first->name); });
  if (Value* data = plan.find("data"); data != nullptr) {
    if (is_own || is_set(file, "data")) {
      file.problems->add("plan.data: expected none in a search: it follows from the other degrees");
    }
    *data = Value();
  }
  Search& search = file.search;
  search.source = ScenarioSource(std::move(open));
  search.source.read_unchecked(search.scenario);
  demand_sequence(search);
  search.abilities = software_abilities(search.source);
}

void find_devices(const Field<F>& own, Reader& in, F& file) {
  Search& search = file.search;
  const Value* written = in.raw(own.key);
  const Cluster& cluster = search.scenario.cluster;
  if (written == nullptr) {
    // A run on a pod has the slice that its plan asks for.
    const bool has_slice = file.run_devices && cluster.torus() != nullptr &&
                           no_slice_text(cluster, *file.run_devices).empty();
    if (cluster.nodes && !has_slice) {
      search.devices = {*cluster.nodes * cluster.devices_per_node};
    } else if (file.run_devices) {
      search.devices = {*file.run_devices};
    } else {
      in.fail("", "expected \"devices\": a number, a list, {\"nodes\": …} or {\"most\": …}");
    }
    return;
  }
  search.devices = read_device_numbers(in, cluster.devices_per_node);
  if (cluster.nodes) {
    search.source.assign({"cluster.nodes", Value(), "devices"});
    search.source.read_part(ScenarioPart::cluster, search.scenario);
  }
}

void read_devices(const Field<F>& own, Reader& in, F& file) {
  find_devices(own, in, file);
  Cluster& cluster = file.search.scenario.cluster;
  const std::vector<std::int64_t>& devices = file.search.devices;
  cluster.use_for(devices);
  for (const std::int64_t& number : devices) {
    const int used = cluster.used_of_node({&number, 1});
    if (number > cluster.devices_per_node && used != cluster.devices_per_node) {
      in.fail(own.key,
              fmt::format("{} devices use {} of the {} of each node, the others together use {}; "
                          "expected numbers that use as many, or one of them at a time",
                          number,
                          used,
                          cluster.devices_of_whole_node(),
                          cluster.devices_per_node));
      break;
    }
  }
  file.problems->raise();
}

constexpr Range kTokensPerSecond = {1e-6, 1e18};
using L = SearchLimits;
constexpr std::array kLimitFields = {
    fields::number<&L::memory_margin>(
        "memory_margin", {0, 1}, "share of a device's memory that stays free"),
    fields::quantity<&L::most_time>("most_iteration_time", "of an iteration").or_else("any"),
    fields::number<&L::least_tokens_per_s>("least_tokens_per_s", kTokensPerSecond, "of all devices")
        .or_else("any"),
    fields::number<&L::least_mfu>("least_mfu", {1e-6, 1}, "utilization").or_else("any")};
constexpr std::array kTargetFields = {
    fields::number<&L::least_tokens_per_s>("tokens_per_s", kTokensPerSecond, "of all devices")
        .needed()};

/// An object of limits with a table of its own.
template <const auto& table, bool is_target>
constexpr Field<F> limits(std::string_view key, std::string_view about) {
  return fields::special<F>(key,
                            {[](const Field<F>& own, Reader& in, F& file) {
                               if (auto written = in.maybe_object(own.key)) {
                                 read_fields<L>(table, *written, file.search.limits);
                                 file.search.fewest_devices = is_target;
                               }
                             },
                             [](const Field<F>& /*own*/) { return schema_of<L>(table); },
                             nullptr},
                            about);
}

void read_pareto(const Field<F>& own, Reader& in, F& file) {
  std::vector<Objective>& objectives = file.search.objectives;
  if (file.objective) {
    objectives = {*file.objective};
  }
  if (!in.has(own.key)) {
    return;
  }
  objectives.clear();
  const std::vector<std::string> words = in.texts(own.key);
  for (const std::string& word : words) {
    if (const auto* const known = first_with(kObjectives, word, &Choice<Objective>::name)) {
      objectives.push_back(known->value);
    }
  }
  const bool is_right =
      objectives.size() == words.size() && objectives.size() >= 2 && objectives.size() <= 3;
  if (!is_right || file.objective) {
    in.fail(own.key,
            file.objective ? "expected either an \"objective\" or \"pareto\""
                           : "expected two or three of time, cost, tokens_per_dollar, mfu, energy, "
                             "goodput, memory, devices");
    objectives = {Objective::time};
  }
}

Value models_schema(const Field<F>& /*own*/) {
  return schema::either({schema::named_data(), schema::list_of(schema::named_data())});
}

constexpr std::array kSearchFields = {
    fields::text<&F::title>("title", "a text"),
    fields::label<F>("name", "a text"),
    fields::of_schema<F, schema::named_data>(
        "scenario",
        read_scenario,
        "a run's name or file, which lends everything but its plan; or a scenario "
        "written out, which keeps the keys of its own `plan`")
        .needed(),
    fields::of_schema<F, device_numbers_schema>(
        "devices", read_devices, "how many, or one of several numbers")
        .or_else("the cluster's `nodes`, or the run's devices"),
    fields::of_schema<F, space_schema>(
        "space",
        [](const Field<F>& /*own*/, Reader& in, F& file) { put_space(file, in, file.search); },
        "what is searched of each key of the plan, one value or a list")
        .or_else("every value that may work"),
    limits<kLimitFields, false>("constraints", "what plans must keep"),
    limits<kTargetFields, true>("target", "stop at the fewest devices that reach it"),
    fields::text<&F::economy>(
        "economy", "prices of `titer list prices`; cost, energy and tokens_per_dollar need them"),
    fields::text<&F::reliability>("reliability", "a record of failures; goodput needs it"),
    fields::choice<&F::objective, kObjectives>("objective", "what is better").or_else("`time`"),
    fields::special<F>("pareto",
                       {read_pareto,
                        [](const Field<F>& /*own*/) {
                          return schema::list_of(schema::one_of<Objective>(kObjectives));
                        },
                        nullptr},
                       "two or three of them instead"),
    fields::flag<&F::any_software>("any_software",
                                   "plans that the stack's software cannot run, too"),
    fields::special<F>("top",
                       {[](const Field<F>& own, Reader& in, F& file) {
                          const auto top = in.maybe_integer(own.key, 1, kMostPlansListed);
                          file.search.top = static_cast<std::size_t>(top.value_or(10));
                        },
                        [](const Field<F>& /*own*/) {
                          return schema::figure(schema::integer({1, kMostPlansListed}));
                        },
                        nullptr},
                       "how many plans to show")
        .or_else("10"),
    fields::choice<&F::best_of, kBestPlanOf>(
        "best_of",
        "of what the best is one answer: of each shape (tensor, pipeline, context and expert "
        "degree "
        "on so many devices) its best plan, or each plan that reads otherwise")
        .or_else("`shape`; of a front `plan`"),
    fields::flag<&F::robust>(
        "robust",
        "whether the best is the plan with the least expected time over the spread of the figures "
        "behind it, not with the least time by these figures; of the objective time"),
    fields::special<F>(
        "largest_model",
        {[](const Field<F>& own, Reader& in, F& file) { file.largest = in.raw(own.key); },
         models_schema,
         nullptr},
        "models, or changes to the scenario's, such as `[\"llama3-8b\", {\"layers\": 96}]`: "
        "stop at the largest that has a plan")};

Search read_changed(const Document& document, std::span<const Assignment> changes) {
  Problems problems;
  Reader in(document, problems);
  SearchFile file;
  file.document = &document;
  file.problems = &problems;
  file.changes = changes;
  read_fields<SearchFile>(kSearchFields, in, file);
  problems.raise();
  Search search = std::move(file.search);
  search.title = file.title;
  if (file.any_software) {
    search.abilities = {};
  }
  if (file.economy) {
    search.economy = load_economy(*file.economy);
  }
  if (file.reliability) {
    search.reliability = load_reliability(*file.reliability);
  }
  search.best_of = file.best_of.value_or(BestPlanOf::shape);
  search.robust = file.robust;
  check_search(search);
  add_models(file, in, search);
  return search;
}

}  // namespace

Value search_schema() { return schema_of<SearchFile>(kSearchFields); }

Search read_search(const Document& document, std::span<const Assignment> changes) {
  Document changed = document;
  std::vector<Assignment> of_scenario;
  for (const Assignment& change : changes) {
    if (scenario_part(change.path)) {
      of_scenario.push_back(change);
    } else {
      assign(changed, change);
    }
  }
  return read_changed(changed, of_scenario);
}

Search load_search(std::string_view name_or_file, std::span<const Assignment> changes) {
  return read_search(search_document(name_or_file), changes);
}

}  // namespace titer
