// Reading a search's file.

#include <fmt/format.h>

#include <algorithm>

#include "search_reading.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/search.hpp"
#include "titer/simulate/evaluate.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostPlansListed = 10'000;

/// The plan that has this value and nothing else.
Plan plan_with(const Document& document, std::string_view key, const Value& value) {
  Document one{.root = Value::make_object(), .sources = document.sources};
  one.root.add(std::string(key), value);
  one.root.key_origins.back() = value.origin;
  Problems problems;
  Reader in(one, problems);
  Plan plan = read_plan(in);
  problems.raise();
  return plan;
}

/// The searched keys of a plan's object, taken out of it.
std::vector<std::pair<const SearchKey*, Value>> take_keys(Value& plan) {
  std::vector<std::pair<const SearchKey*, Value>> taken;
  for (const SearchKey& key : search_keys()) {
    if (const Value* value = plan.find(key.name)) {
      taken.emplace_back(&key, *value);
      plan.erase(key.name);
    }
  }
  return taken;
}

class SearchReader {
 public:
  SearchReader(const Document& document, std::span<const Assignment> changes)
      : document_(document), in_(document_, problems_), changes_(changes) {}

  Search read() {
    search_title_ = in_.maybe_text("title").value_or("");
    static_cast<void>(in_.maybe_text("name"));
    const Value* scenario = scenario_value(in_);
    problems_.raise();
    Search search = with_scenario(*scenario);
    search.title = search_title_;
    read_devices(search);
    problems_.raise();
    read_rest(search);
    in_.finish();
    problems_.raise();
    check_search(search);
    add_models(search);
    return search;
  }

 private:
  /// A run lends its model, cluster, stack and training, and what no search varies of its plan; a
  /// scenario that the file holds keeps its plan's keys, and so do changes.
  Search with_scenario(const Value& written) {
    const bool is_own = written.kind == Value::Kind::object;
    Document document = scenario_document(document_, written);
    if (document.root.find("plan") == nullptr) {
      document.root.add("plan", Value::make_object());
    }
    ScenarioSource whole(std::move(document));
    for (const Assignment& change : changes_) {
      whole.assign(change);
    }
    if (!is_own) {
      Scenario run;
      whole.read_unchecked(run);
      run_devices_ = run.plan.devices();
    }
    Document open = whole.document();
    Value& plan = *open.root.find("plan");
    kept_ = take_keys(plan);
    std::erase_if(kept_, [&](const auto& kept) { return !is_own && !is_set(kept.first->name); });
    if (Value* data = plan.find("data"); data != nullptr) {
      if (is_own || is_set("data")) {
        problems_.add("plan.data: expected none in a search: it follows from the other degrees");
      }
      *data = Value();
    }
    ScenarioSource source(std::move(open));
    Search search{.title = {}, .source = source, .scenario = {}, .space = {}, .devices = {}};
    search.source.read_unchecked(search.scenario);
    demand_sequence(search);
    search.abilities = software_abilities(search.source);
    return search;
  }

  /// Whether a change is of this key of the plan.
  [[nodiscard]] bool is_set(std::string_view key) const {
    return std::any_of(changes_.begin(), changes_.end(), [&](const Assignment& change) {
      return change.path == "plan." + std::string(key);
    });
  }

  void read_devices(Search& search) {
    const Value* written = in_.raw("devices");
    const Cluster& cluster = search.scenario.cluster;
    if (written == nullptr) {
      if (cluster.nodes) {
        search.devices = {*cluster.nodes * cluster.devices_per_node};
      } else if (run_devices_) {
        search.devices = {*run_devices_};
      } else {
        in_.fail("", "expected \"devices\": a number, a list, {\"nodes\": …} or {\"most\": …}");
      }
      return;
    }
    search.devices = read_device_numbers(in_, cluster.devices_per_node);
    if (cluster.nodes) {
      search.source.assign({"cluster.nodes", Value(), "devices"});
      search.source.read_part(ScenarioPart::cluster, search.scenario);
    }
  }

  void read_rest(Search& search) {
    read_space(search);
    if (auto limits = in_.maybe_object("constraints")) {
      read_limits(*limits, search.limits);
    }
    if (auto target = in_.maybe_object("target")) {
      search.limits.least_tokens_per_s = target->number("tokens_per_s", 1e-6, 1e18);
      search.fewest_devices = true;
      target->finish();
    }
    if (const auto economy = in_.maybe_text("economy")) {
      search.economy = load_economy(*economy);
    }
    if (const auto reliability = in_.maybe_text("reliability")) {
      search.reliability = load_reliability(*reliability);
    }
    read_objectives(search);
    if (in_.flag("any_software", false)) {
      search.abilities = {};
    }
    const auto top = in_.maybe_integer("top", 1, kMostPlansListed);
    search.top = static_cast<std::size_t>(top.value_or(10));
    largest_ = in_.raw("largest_model");
  }

  static void read_limits(Reader& in, SearchLimits& limits) {
    limits.memory_margin = in.maybe_number("memory_margin", 0, 1).value_or(kMemoryError);
    limits.most_time = in.maybe_quantity<Seconds>("most_iteration_time");
    limits.least_tokens_per_s = in.maybe_number("least_tokens_per_s", 1e-6, 1e18);
    limits.least_mfu = in.maybe_number("least_mfu", 1e-6, 1);
    in.finish();
  }

  void read_objectives(Search& search) {
    const auto one = in_.maybe_choice<Objective>("objective", kObjectives);
    if (one) {
      search.objectives = {*one};
    }
    if (!in_.has("pareto")) {
      return;
    }
    search.objectives.clear();
    for (const std::string& word : in_.texts("pareto")) {
      const auto* const known =
          std::find_if(kObjectives.begin(), kObjectives.end(), [&](const Choice<Objective>& o) {
            return o.name == word;
          });
      if (known != kObjectives.end()) {
        search.objectives.push_back(known->value);
      }
    }
    const bool is_right = search.objectives.size() == in_.texts("pareto").size() &&
                          search.objectives.size() >= 2 && search.objectives.size() <= 3;
    if (!is_right || one) {
      in_.fail("pareto",
               one ? "expected either an \"objective\" or \"pareto\""
                   : "expected two or three of time, cost, tokens_per_dollar, mfu, energy, "
                     "goodput, memory, devices");
      search.objectives = {Objective::time};
    }
  }

  void read_space(Search& search) {
    search.space = full_space(search.scenario, search.devices);
    search.narrowed.clear();
    auto space = in_.maybe_object("space");
    for (const SearchKey& key : search_keys()) {
      const Value* written = space ? space->raw(key.name) : nullptr;
      const auto kept = std::find_if(
          kept_.begin(), kept_.end(), [&](const auto& entry) { return entry.first == &key; });
      const bool is_listed = written != nullptr && written->kind != Value::Kind::null;
      if (is_listed) {
        put_values(key, listed(*written), search.space);
        if (written->kind == Value::Kind::array && written->items.empty()) {
          space->fail(key.name, "expected at least one value");
        }
      } else if (kept != kept_.end()) {
        put_values(key, {kept->second}, search.space);
      }
      if (is_listed || kept != kept_.end()) {
        search.narrowed.push_back(key.name);
      }
    }
    if (space) {
      space->finish();
    }
  }

  void put_values(const SearchKey& key, const std::vector<Value>& values, SearchSpace& space) {
    key.clear(space);
    for (const Value& value : values) {
      try {
        key.add(plan_with(document_, key.name, value), space);
      } catch (const InputError& error) {
        for (const std::string& line : error.lines) {
          problems_.add(line);
        }
      }
    }
  }

  /// Shipped models, or changes to the scenario's: {"layers": 48, "hidden": 8192}. Sorted by their
  /// parameters, the largest first.
  void add_models(Search& search) {
    if (largest_ == nullptr) {
      return;
    }
    for (const Value& value : listed(*largest_)) {
      Search of_model = search;
      std::string title = value.text;
      if (value.kind == Value::Kind::object) {
        for (const auto& [key, changed] : value.members) {
          of_model.source.assign({"model." + key, changed, "largest_model"});
          title += (title.empty() ? "" : ", ") + key + " " + to_json(changed, 0);
        }
      } else {
        of_model.source.assign({"model", value, "largest_model"});
      }
      of_model.title = title;
      of_model.source.read_unchecked(of_model.scenario);
      read_space(of_model);
      search.models.push_back(std::move(of_model));
    }
    problems_.raise();
    std::stable_sort(
        search.models.begin(), search.models.end(), [](const Search& a, const Search& b) {
          return parameters(a.scenario.model) > parameters(b.scenario.model);
        });
  }

  Document document_;
  Problems problems_;
  Reader in_;
  std::span<const Assignment> changes_;
  std::string search_title_;
  std::vector<std::pair<const SearchKey*, Value>> kept_;  // of the scenario's own plan
  std::optional<std::int64_t> run_devices_;               // of the plan of the run that is named
  const Value* largest_ = nullptr;
};

}  // namespace

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
  return SearchReader(changed, of_scenario).read();
}

Search load_search(std::string_view name_or_file, std::span<const Assignment> changes) {
  return read_search(search_document(name_or_file), changes);
}

}  // namespace titer
