#include "titer/report/search_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "search_figures.hpp"
#include "titer/report/step_report.hpp"

namespace titer {
namespace {

using Key = const SearchKey*;

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::text:
      return value.text;
    case Value::Kind::null:
      return "-";
    case Value::Kind::boolean:
      return value.boolean ? "yes" : "no";
    case Value::Kind::object: {
      std::string text;
      for (const auto& [key, member] : value.members) {
        text += (text.empty() ? "" : "+") + key;
      }
      return text;
    }
    default:
      return to_json(value, 0);
  }
}

std::string text_of(const Plan& plan, const SearchKey& key) { return shown(key.value(plan)); }

/// The keys in which some of the plans differ.
std::vector<Key> varied_keys(const SearchAnswer& answer) {
  std::vector<Key> keys;
  for (const SearchKey& key : search_keys()) {
    const bool varies =
        std::any_of(answer.plans.begin(), answer.plans.end(), [&](const FoundPlan& found) {
          return text_of(found.plan, key) != text_of(answer.plans.front().plan, key);
        });
    if (varies) {
      keys.push_back(&key);
    }
  }
  return keys;
}

/// "micro_batch 2, recompute full": what is not as in the best plan.
std::string difference(const FoundPlan& found, const FoundPlan& best) {
  std::string text;
  for (const SearchKey& key : search_keys()) {
    const std::string own = text_of(found.plan, key);
    if (own != text_of(best.plan, key)) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key.name, own);
    }
  }
  return text;
}

std::string grouped_digits(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::ptrdiff_t at = std::ssize(text) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

struct CountName {
  std::string_view name;
  std::string_view key;
  std::size_t SearchCounts::*value;
};
constexpr std::array<CountName, 7> kCounts = {
    {{"not sound", "refused", &SearchCounts::refused},
     {"over the memory", "over_memory", &SearchCounts::over_memory},
     {"over a limit", "over_limit", &SearchCounts::over_limit},
     {"no better by a bound", "bounded", &SearchCounts::bounded},
     {"evaluated", "evaluated", &SearchCounts::evaluated},
     {"left out for a defect", "defects", &SearchCounts::defects},
     {"not reached", "unreached", &SearchCounts::unreached}}};

std::string counts_text(const SearchCounts& counts) {
  std::string text = fmt::format("{} plans", grouped_digits(counts.plans));
  for (const CountName& count : kCounts) {
    if (counts.*count.value > 0) {
      text += fmt::format("{} {} {}",
                          text.find(':') == std::string::npos ? ":" : ",",
                          grouped_digits(counts.*count.value),
                          count.name);
    }
  }
  return text;
}

bool devices_vary(const SearchAnswer& answer) {
  return std::any_of(answer.plans.begin(), answer.plans.end(), [&](const FoundPlan& found) {
    return found.devices != answer.plans.front().devices;
  });
}

std::string plans_table(const SearchAnswer& answer) {
  const std::vector<Key> keys = varied_keys(answer);
  const std::vector<const FoundFigure*> columns = found_figures(answer);
  const bool devices = devices_vary(answer);
  std::vector<Row> rows(1, Row{""});
  for (const FoundFigure* figure : columns) {
    rows.front().emplace_back(figure->name);
  }
  const std::vector<std::string_view> counted = {"devices", "data"};
  for (const std::string_view name : counted) {
    if (devices) {
      rows.front().emplace_back(name);
    }
  }
  for (const Key key : keys) {
    rows.front().emplace_back(key->name);
  }
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const FoundPlan& found = answer.plans[i];
    Row row = {std::to_string(i + 1)};
    for (const FoundFigure* figure : columns) {
      row.push_back(figure->text(found));
    }
    if (devices) {
      row.push_back(std::to_string(found.devices));
      row.push_back(std::to_string(found.plan.data));
    }
    for (const Key key : keys) {
      row.push_back(text_of(found.plan, *key));
    }
    rows.push_back(std::move(row));
  }
  return text_table(rows);
}

/// "best by time", "no other is better in time and memory".
std::string objective_text(const Search& search) {
  std::string text;
  for (const Objective objective : search.objectives) {
    text += (text.empty() ? "" : ", ") + std::string(name(objective));
  }
  return search.objectives.size() == 1 ? "best by " + text : "Pareto front of " + text;
}

std::string heading(const Search& search, const SearchAnswer& answer) {
  const Search& of = searched(search, answer);
  const std::size_t numbers = of.devices.size();
  const std::string devices =
      !answer.plans.empty() && !devices_vary(answer) ? std::to_string(answer.plans.front().devices)
      : numbers == 1                                 ? std::to_string(of.devices.front())
                     : fmt::format("{} to {}", of.devices.front(), of.devices.back());
  const std::string model = of.scenario.model.title();
  return fmt::format("{} on {} x {}, batch {}: {}\n",
                     answer.model.empty() ? model : model + " (" + answer.model + ")",
                     devices,
                     of.scenario.cluster.chip.title,
                     of.scenario.training.global_batch,
                     objective_text(search));
}

std::string best_plan_text(const FoundPlan& best) {
  std::string text = fmt::format("  best: data {}", best.plan.data);
  for (const SearchKey& key : search_keys()) {
    const Value value = key.value(best.plan);
    if (value.kind != Value::Kind::null) {
      text += fmt::format(", {} {}", key.name, shown(value));
    }
  }
  return text + "\n";
}

std::string join_lines(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : "; ") + item;
  }
  return text;
}

Value counts_json(const SearchCounts& counts) {
  Value json = Value::make_object();
  json.add("plans", Value(static_cast<std::int64_t>(counts.plans)));
  for (const CountName& count : kCounts) {
    json.add(std::string(count.key), Value(static_cast<std::int64_t>(counts.*count.value)));
  }
  return json;
}

Value plan_object(const FoundPlan& found) {
  Value plan = Value::make_object();
  plan.add("data", Value(found.plan.data));
  for (const SearchKey& key : search_keys()) {
    const Value value = key.value(found.plan);
    if (value.kind != Value::Kind::null) {
      plan.add(std::string(key.name), value);
    }
  }
  return plan;
}

Row csv_heads(bool names_model, const std::vector<const FoundFigure*>& more) {
  Row heads = {"rank"};
  if (names_model) {
    heads.emplace_back("model");
  }
  heads.emplace_back("data");
  for (const SearchKey& key : search_keys()) {
    heads.emplace_back(key.name);
  }
  const Row results = result_columns();
  heads.insert(heads.end(), results.begin(), results.end());
  for (const FoundFigure* figure : more) {
    heads.emplace_back(figure->column);
  }
  return heads;
}

}  // namespace

std::string no_plan_sentence(const SearchAnswer& answer) {
  std::vector<CountName> counts(kCounts.begin(), kCounts.end());
  std::stable_sort(counts.begin(), counts.end(), [&](const CountName& a, const CountName& b) {
    return answer.counts.*a.value > answer.counts.*b.value;
  });
  std::string text;
  for (const CountName& count : counts) {
    if (answer.counts.*count.value > 0) {
      text += fmt::format("{}{} {}",
                          text.empty() ? "" : ", ",
                          grouped_digits(answer.counts.*count.value),
                          count.name);
    }
  }
  return fmt::format("no plan is left of {}{}",
                     grouped_digits(answer.counts.plans),
                     text.empty() ? ": no degrees divide the devices and the batch" : ": " + text) +
         (answer.counts.refusal.empty() ? "" : "; not sound, for one: " + answer.counts.refusal);
}

std::string search_text(const Search& search,
                        const SearchAnswer& answer,
                        const std::vector<std::string>& notes) {
  std::string text = heading(search, answer);
  text += fmt::format("  {}{}\n",
                      answer.complete ? "" : "incomplete, stopped before all plans were through: ",
                      counts_text(answer.counts));
  if (answer.counts.defects > 0) {
    text += fmt::format("  a defect of the program, please report it: {}\n", answer.counts.defect);
  }
  if (!answer.without_plan.empty()) {
    text += fmt::format("  no plan for: {}\n", join_lines(answer.without_plan));
  }
  if (answer.plans.empty()) {
    text += "  " + no_plan_sentence(answer) + "\n";
  } else {
    text += best_plan_text(answer.plans.front()) + "\n" + plans_table(answer);
  }
  for (std::size_t i = 1; i < answer.plans.size(); ++i) {
    const FoundPlan& best = answer.plans.front();
    text += fmt::format("{}  {}: {}\n",
                        i == 1 ? "\n  other than the best:\n" : "",
                        i + 1,
                        difference(answer.plans[i], best));
  }
  for (const std::string& note : notes) {
    text += "  " + note + "\n";
  }
  return text;
}

std::string search_csv(const Search& search, const SearchAnswer& answer) {
  const bool names_model = !search.models.empty();
  std::vector<const FoundFigure*> more = found_figures(answer);
  std::erase_if(more, [](const FoundFigure* figure) { return figure->column.empty(); });
  std::string text = csv_line(csv_heads(names_model, more));
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const FoundPlan& found = answer.plans[i];
    Row row = {std::to_string(i + 1)};
    if (names_model) {
      row.push_back(answer.model);
    }
    row.push_back(std::to_string(found.plan.data));
    for (const SearchKey& key : search_keys()) {
      const Value value = key.value(found.plan);
      row.push_back(value.kind == Value::Kind::null ? "" : shown(value));
    }
    const Row cells = result_cells(found.result);
    row.insert(row.end(), cells.begin(), cells.end());
    for (const FoundFigure* figure : more) {
      row.push_back(figure->exists(found) ? number_text(figure->number(found)) : "");
    }
    text += csv_line(row);
  }
  return text;
}

Value search_json(const Search& search,
                  const SearchAnswer& answer,
                  const std::vector<std::string>& notes) {
  Value json = Value::make_object();
  json.add("format_version", Value(kFormatVersion));
  Value objectives = Value::make_array();
  for (const Objective objective : search.objectives) {
    objectives.push(Value(name(objective)));
  }
  json.add("objectives", std::move(objectives));
  if (!answer.model.empty()) {
    json.add("model", Value(answer.model));
  }
  json.add("complete", Value(answer.complete));
  json.add("counts", counts_json(answer.counts));
  if (answer.counts.defects > 0) {
    json.add("defect", Value(answer.counts.defect));
  }
  Value without = Value::make_array();
  for (const std::string& item : answer.without_plan) {
    without.push(Value(item));
  }
  json.add("without_plan", std::move(without));
  Value plans = Value::make_array();
  for (const FoundPlan& found : answer.plans) {
    Value item = Value::make_object();
    item.add("plan", plan_object(found));
    item.add("devices", Value(found.devices));
    item.add("differs", Value(difference(found, answer.plans.front())));
    item.add("iteration_time_s", Value(found.result.iteration_time.si()));
    item.add("tokens_per_s", Value(found.result.tokens_per_s));
    item.add("mfu", Value(found.result.mfu));
    item.add("memory_peak_bytes", Value(found.result.memory_peak.si()));
    for (const FoundFigure& figure : found_figures()) {
      if (!figure.column.empty() && figure.exists(found)) {
        item.add(std::string(figure.column), Value(figure.number(found)));
      }
    }
    plans.push(std::move(item));
  }
  json.add("plans", std::move(plans));
  Value lines = Value::make_array();
  for (const std::string& note : notes) {
    lines.push(Value(note));
  }
  json.add("notes", std::move(lines));
  return json;
}

}  // namespace titer
