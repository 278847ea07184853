// What a search found, for programs: CSV and JSON.

#include <algorithm>

#include "search_figures.hpp"
#include "search_parts.hpp"
#include "titer/report/search_report.hpp"
#include "titer/report/step_report.hpp"

namespace titer {
namespace {

Value counts_json(const SearchCounts& counts) {
  const auto number = [](std::size_t count) { return Value(static_cast<std::int64_t>(count)); };
  Value json = Value::make_object();
  json.add("plans", number(counts.plans));
  for (const SearchCountName& count : kSearchCounts) {
    json.add(std::string(count.key), number(counts.*count.value));
  }
  json.add("beyond_software", number(counts.beyond));
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

Value lines_json(const std::vector<std::string>& lines) {
  Value json = Value::make_array();
  for (const std::string& line : lines) {
    json.push(Value(line));
  }
  return json;
}

/// The values of the keys that were given; of the others there are all.
Value space_json(const Search& search) {
  Value json = Value::make_object();
  for (const SearchKey& key : search_keys()) {
    if (std::find(search.narrowed.begin(), search.narrowed.end(), key.name) ==
        search.narrowed.end()) {
      continue;
    }
    Value list = Value::make_array();
    for (const Value& value : key.values(search.space)) {
      list.push(value);
    }
    json.add(std::string(key.name), std::move(list));
  }
  return json;
}

Value alike_json(const FoundPlan& found) {
  std::vector<std::string> differ;
  for (const Plan& plan : found.alike) {
    differ.push_back(plan_difference(plan, found.plan));
  }
  Value json = Value::make_object();
  json.add("count", Value(static_cast<std::int64_t>(found.alike_count)));
  json.add("differ", lines_json(differ));
  return json;
}

Value found_json(const FoundPlan& found, const Plan& best) {
  Value item = Value::make_object();
  item.add("plan", plan_object(found));
  item.add("devices", Value(found.devices));
  item.add("differs", Value(plan_difference(found.plan, best)));
  item.add("alike", alike_json(found));
  item.add("iteration_time_s", Value(found.result.iteration_time.si()));
  item.add("tokens_per_s", Value(found.result.tokens_per_s));
  item.add("mfu", Value(found.result.mfu));
  item.add("mfu_causal", Value(found.result.mfu_causal));
  item.add("memory_peak_bytes", Value(found.result.memory_peak.si()));
  for (const FoundFigure& figure : found_figures()) {
    if (!figure.column.empty() && figure.exists(found)) {
      item.add(std::string(figure.column), Value(figure.number(found)));
    }
  }
  return item;
}

/// The best plan of any software, and what of it the search's own does not have.
Value beyond_json(const Search& search, const BeyondSoftware& beyond) {
  const FoundPlan& best = beyond.best.plans.front();
  Value json = found_json(best, best.plan);
  if (!beyond.best.model.empty()) {
    json.add("model", Value(beyond.best.model));
  }
  json.add("beyond", lines_json(leaving_software(search, beyond.best)));
  return json;
}

/// Null where staying inside costs nothing. Of a front a list: which objectives it costs, and what.
Value beyond_json(const Search& search, std::span<const BeyondSoftware> beyond) {
  if (beyond.empty()) {
    return {};
  }
  if (search.objectives.size() == 1) {
    return beyond_json(search, beyond.front());
  }
  Value list = Value::make_array();
  for (const BeyondSoftware& one : beyond) {
    Value item = beyond_json(search, one);
    item.add("objective", Value(name(search.objectives[one.objective])));
    list.push(std::move(item));
  }
  return list;
}

Row csv_heads(const std::vector<std::pair<std::string, Value>>& asked,
              const std::vector<const FoundFigure*>& more) {
  Row heads = {"rank"};
  for (const auto& [key, value] : asked) {
    heads.push_back(key);
  }
  heads.insert(heads.end(), {"devices", "data"});
  for (const SearchKey& key : search_keys()) {
    heads.emplace_back(key.name);
  }
  const Row results = result_columns();
  heads.insert(heads.end(), results.begin(), results.end());
  for (const FoundFigure* figure : more) {
    heads.emplace_back(figure->column);
  }
  heads.emplace_back("alike");
  return heads;
}

}  // namespace

std::string search_csv(const Search& search, const SearchAnswer& answer) {
  std::vector<const FoundFigure*> more = found_figures(answer);
  std::erase_if(more, [](const FoundFigure* figure) { return figure->column.empty(); });
  const auto asked = asked_of(search, answer);
  std::string text = csv_line(csv_heads(asked, more));
  for (std::size_t i = 0; i < answer.plans.size(); ++i) {
    const FoundPlan& found = answer.plans[i];
    Row row = {std::to_string(i + 1)};
    for (const auto& [key, value] : asked) {
      row.push_back(csv_cell(value));
    }
    row.insert(row.end(), {std::to_string(found.devices), std::to_string(found.plan.data)});
    for (const SearchKey& key : search_keys()) {
      const Value value = key.value(found.plan);
      row.push_back(value.kind == Value::Kind::null ? "" : shown(value));
    }
    const Row cells = result_cells(found.result);
    row.insert(row.end(), cells.begin(), cells.end());
    for (const FoundFigure* figure : more) {
      row.push_back(figure->exists(found) ? number_text(figure->number(found)) : "");
    }
    row.push_back(std::to_string(found.alike_count));
    text += csv_line(row);
  }
  return text;
}

Value search_json(const Search& search,
                  const SearchAnswer& answer,
                  const std::vector<std::string>& notes,
                  std::span<const BeyondSoftware> beyond) {
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
  Value scenario = Value::make_object();
  for (auto& [key, value] : asked_of(search, answer)) {
    scenario.add(key, value);
  }
  json.add("scenario", std::move(scenario));
  json.add("space", space_json(searched(search, answer)));
  json.add("memory_margin", Value(search.limits.memory_margin));
  json.add("complete", Value(answer.complete));
  json.add("counts", counts_json(answer.counts));
  if (answer.counts.defects > 0) {
    json.add("defect", Value(answer.counts.defect));
  }
  json.add("without_plan", lines_json(answer.without_plan));
  json.add("degrees_left_out", lines_json(degrees_left_out(searched(search, answer))));
  json.add("beyond_software", beyond_json(search, beyond));
  Value plans = Value::make_array();
  for (const FoundPlan& found : answer.plans) {
    plans.push(found_json(found, answer.plans.front().plan));
  }
  json.add("plans", std::move(plans));
  json.add("notes", lines_json(notes));
  return json;
}

}  // namespace titer
