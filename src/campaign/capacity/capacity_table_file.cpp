// Reading a table of questions of capacity.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "capacity_lists.hpp"
#include "titer/campaign/capacity_table.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::int64_t kUsualTokens = std::int64_t{16} << 20;  // of a step
constexpr std::int64_t kUsualSequence = 8192;

bool is_changed(const TableLists& lists, std::string_view path) {
  return includes(lists.changes, path, &Assignment::path);
}

Value& object_in(Value& object, std::string_view key) {
  if (object.find(key) == nullptr) {
    object.add(std::string(key), Value::make_object());
  }
  return *object.find(key);
}

/// Questions of one model on one cluster.
class PairReader {
 public:
  /// `problems`: each line once.
  PairReader(std::size_t pair,
             const TableLists& lists,
             CapacityCase names,
             CapacityTable& table,
             std::vector<std::string>& problems)
      : pair_(pair),
        lists_(lists),
        names_(std::move(names)),
        table_(table),
        problems_(problems),
        document_(lists.rest) {}

  /// REQUIRES values of the lists; null: the run's, or nobody says.
  void read(const Value* model, const Value* cluster, std::size_t number) {
    const bool is_stack_open = document_.root.find("scenario") == nullptr && lists_.stacks.empty();
    put("model", model);
    put("cluster", cluster);
    put("stack", TableLists::of_cluster(lists_.stacks, number));
    ask("prices", TableLists::of_cluster(lists_.prices, number));
    ask("dollars_per_hour", TableLists::of_cluster(lists_.rents, number));
    ask("power", TableLists::of_cluster(lists_.powers, number));
    changes_.insert(changes_.end(), lists_.changes.begin(), lists_.changes.end());
    if (Value* scenario = document_.root.find("scenario"); scenario->kind == Value::Kind::object) {
      try {
        if (is_stack_open) {
          scenario->add("stack",
                        Value(usual_stack({.root = *scenario, .sources = document_.sources})));
        }
        take_usual_training(*scenario);
      } catch (const InputError& error) {
        add_problem(error);
        return;
      }
    }
    if (lists_.deadlines.empty()) {
      add(nullptr);
    }
    for (const Value& deadline : lists_.deadlines) {
      add(&deadline);
    }
  }

 private:
  /// Of a scenario that is written out, or as a change to a run.
  void put(std::string_view key, const Value* value) {
    Value& scenario = object_in(document_.root, "scenario");
    if (value == nullptr) {
      return;
    }
    if (scenario.kind != Value::Kind::object) {
      changes_.push_back(
          {.path = std::string(key), .value = *value, .source = document_.where(value->origin)});
      return;
    }
    scenario.erase(key);
    scenario.add(std::string(key), *value);
  }

  /// Of the question; a dash leaves it open.
  void ask(std::string_view key, const Value* value) {
    if (value != nullptr && value->text != "-") {
      document_.root.add(std::string(key), *value);
    }
  }

  /// Batch and sequence, where nothing says them.
  void take_usual_training(Value& scenario) {
    object_in(scenario, "plan");
    Value& training = object_in(scenario, "training");
    const auto is_open = [&](std::string_view key) {
      return training.find(key) == nullptr && !is_changed(lists_, "training." + std::string(key));
    };
    const bool is_batch_open = is_open("global_batch");
    const bool is_sequence_open = is_open("sequence");
    if (!is_batch_open && !is_sequence_open) {
      return;
    }
    if (is_batch_open) {
      training.add("global_batch", Value(1));
    }
    Scenario first;
    ScenarioSource source({.root = scenario, .sources = document_.sources});
    for (const Assignment& change : changes_) {
      source.assign(change);
    }
    source.read_unchecked(first);
    if (!first.model.is_transformer()) {
      throw InputError(
          "training.global_batch: missing; expected the samples of a step (--batch N)");
    }
    std::int64_t sequence = first.training.sequence;
    if (is_sequence_open) {
      sequence = std::min(sequence, kUsualSequence);
      training.add("sequence", Value(sequence));
    }
    if (is_batch_open) {
      training.erase("global_batch");
      training.add("global_batch", Value(std::max<std::int64_t>(1, kUsualTokens / sequence)));
    }
    table_.assumed.clear();
    if (is_batch_open) {
      table_.assumed.emplace_back(
          "the batch is not given: 16 Mi tokens a step, as Llama 3 405B had (--batch SEQUENCES)");
    }
    if (is_sequence_open) {
      table_.assumed.emplace_back(
          "the sequence is not given: 8192 tokens, or the model's longest if shorter (--sequence)");
    }
  }

  void add_problem(const InputError& error) {
    CapacityCase one = names_;
    one.problem = error.lines.front();
    table_.cases.push_back(std::move(one));
    for (const std::string& line : error.lines) {
      if (!includes(problems_, line)) {
        problems_.push_back(line);
      }
    }
  }

  void add(const Value* deadline) {
    std::vector<Assignment> changes = changes_;
    if (deadline != nullptr) {
      changes.push_back(
          {.path = "deadline", .value = *deadline, .source = document_.where(deadline->origin)});
    }
    try {
      const CapacityQuestion question = read_capacity(document_, changes);
      if (deadline == nullptr) {
        for (const std::int64_t devices : question.devices) {
          add(question, {devices});
        }
      } else {
        const bool is_asked = document_.root.find("devices") != nullptr;
        add(question, is_asked ? question.devices : std::vector<std::int64_t>());
      }
    } catch (const InputError& error) {
      add_problem(error);
    }
  }

  void add(CapacityQuestion question, std::vector<std::int64_t> devices) {
    CapacityCase one = names_;
    one.model = question.scenario.model.name();
    one.cluster = question.scenario.cluster.name;
    one.stack = question.scenario.stack.name;
    question.pair = pair_;
    question.devices = std::move(devices);
    one.question = std::move(question);
    table_.cases.push_back(std::move(one));
  }

  std::size_t pair_;
  const TableLists& lists_;
  CapacityCase names_;
  CapacityTable& table_;
  std::vector<std::string>& problems_;
  Document document_;
  std::vector<Assignment> changes_;
};

/// A list's values, or one that stands for the run's own.
std::vector<const Value*> cases_of(const std::vector<Value>& list) {
  const std::vector<const Value*> values =
      each_of(list, [&](const Value& value) { return &value; });
  return values.empty() ? std::vector<const Value*>{nullptr} : values;
}

/// How data is called: by its name, in an object its "name".
std::string name_of(const Value* value) {
  const Value* own = value == nullptr ? nullptr : value->find("name");
  return value == nullptr ? "" : (own != nullptr ? own->text : value->text);
}

/// Data of one name that stands several times in a list is called by what it was asked as, too:
/// "llama3-8b (deep.json)", or "llama3-8b (2)" where that is the same or written out. `places`: of
/// each case in the list.
void tell_apart(std::string CapacityCase::*name,
                const std::vector<Value>& list,
                const std::vector<std::size_t>& places,
                std::vector<CapacityCase>& cases) {
  std::map<std::string, std::set<std::size_t>> bearers;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    bearers[cases[i].*name].insert(places[i]);
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::string& called = cases[i].*name;
    const std::set<std::size_t>& others = bearers.at(called);
    if (others.size() > 1) {
      const std::string& asked = list[places[i]].text;
      const auto number = 1 + std::distance(others.begin(), others.find(places[i]));
      called +=
          fmt::format(" ({})", asked.empty() || asked == called ? std::to_string(number) : asked);
    }
  }
}

}  // namespace

CapacityTable read_capacity_table(const Document& document, std::span<const Assignment> changes) {
  const TableLists lists = table_lists(document, changes);
  CapacityTable table;
  const Value* scenario = lists.rest.root.find("scenario");
  table.has_run = scenario != nullptr &&
                  (scenario->kind == Value::Kind::text || scenario->find("plan") != nullptr);
  std::vector<std::string> problems;
  std::size_t pair = 0;
  std::vector<std::size_t> models;  // of each case, its place in the list
  std::vector<std::size_t> clusters;
  std::size_t model_number = 0;
  for (const Value* model : cases_of(lists.models)) {
    std::size_t number = 0;
    for (const Value* cluster : cases_of(lists.clusters)) {
      const CapacityCase names{.model = name_of(model),
                               .cluster = name_of(cluster),
                               .stack = name_of(TableLists::of_cluster(lists.stacks, number))};
      PairReader(pair++, lists, names, table, problems).read(model, cluster, number);
      models.resize(table.cases.size(), model_number);
      clusters.resize(table.cases.size(), number);
      ++number;
    }
    ++model_number;
  }
  tell_apart(&CapacityCase::model, lists.models, models, table.cases);
  tell_apart(&CapacityCase::cluster, lists.clusters, clusters, table.cases);
  const auto is_sound = [](const CapacityCase& one) { return one.question.has_value(); };
  if (std::ranges::none_of(table.cases, is_sound)) {
    throw InputError(problems);
  }
  return table;
}

CapacityTable load_capacity_table(std::string_view name_or_file,
                                  std::span<const Assignment> changes) {
  Document document = load_data(kRunData, name_or_file);
  const Value& root = document.root;
  const bool is_comparison = root.kind == Value::Kind::object &&
                             (root.find("models") != nullptr || root.find("clusters") != nullptr ||
                              root.find("scenario") != nullptr);
  if (is_comparison) {
    return read_capacity_table(document, changes);
  }
  Document around{.root = Value::make_object(), .sources = {}};
  around.root.add("scenario", Value(name_or_file));
  return read_capacity_table(around, changes);
}

}  // namespace titer
