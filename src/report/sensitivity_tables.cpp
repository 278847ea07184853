// Sensitivities as CSV and JSON, in SI units.

#include "titer/report/sensitivity_report.hpp"
#include "titer/report/step_report.hpp"
#include "titer/report/table.hpp"

namespace titer {
namespace {

std::string cell_of(const std::optional<double>& value) { return value ? number_text(*value) : ""; }
Value json_of(const std::optional<double>& value) { return value ? Value(*value) : Value(); }

/// A row by its columns; what is left out is empty.
struct SensitivityRow {
  std::string section;
  std::string path{};
  std::string value{};
  std::string elasticity{};
  std::string down{};
  std::string up{};
  std::string derivation{};
  std::string resource{};
  std::string to{};
  std::string outcome{};
  std::string gain{};
  std::string note{};

  [[nodiscard]] std::string line() const {
    return csv_line({section,
                     path,
                     value,
                     elasticity,
                     down,
                     up,
                     derivation,
                     resource,
                     to,
                     outcome,
                     gain,
                     note});
  }
};

SensitivityRow figure_row(std::string section, const FigureEffect& effect) {
  SensitivityRow row{.section = std::move(section),
                     .path = effect.figure.path,
                     .value = number_text(effect.figure.value),
                     .elasticity = number_text(effect.elasticity.value),
                     .down = cell_of(effect.elasticity.down),
                     .up = cell_of(effect.elasticity.up),
                     .derivation = std::string(name(effect.elasticity.derivation)),
                     .resource = std::string(name(effect.resource))};
  if (effect.gain) {
    row.to = number_text(effect.gain->to);
    row.outcome = number_text(effect.gain->outcome);
    row.gain = number_text(effect.gain->relative);
    row.note = effect.gain->per_cost
                   ? number_text(*effect.gain->per_cost) + " of the outcome per dollar"
                   : "";
  }
  return row;
}

std::string count_rows(const CountEffect& effect) {
  std::string lines;
  for (const auto& move : {effect.down, effect.up}) {
    if (!move) {
      continue;
    }
    std::string note;
    for (const Assignment& along : move->along) {
      note += (note.empty() ? "with " : ", ") + along.path + "=" + to_json(along.value, 0);
    }
    lines += SensitivityRow{.section = "count",
                            .path = effect.figure.path,
                            .value = number_text(effect.figure.value),
                            .elasticity = number_text(move->elasticity),
                            .to = std::to_string(move->to),
                            .outcome = number_text(move->outcome),
                            .note = std::move(note)}
                 .line();
  }
  return lines;
}

std::string break_even_rows(const BreakEven& one) {
  std::string lines;
  const std::string value = number_text(one.figure.value);
  for (const Settled& settled : one.settled) {
    lines += SensitivityRow{.section = settled.upward ? "settled from" : "settled below",
                            .path = one.figure.path,
                            .value = value,
                            .to = number_text(settled.from),
                            .outcome = number_text(settled.rest.si()),
                            .note = std::string(settled.part)}
                 .line();
  }
  for (const auto& bend : {one.below, one.above}) {
    if (!bend) {
      continue;
    }
    std::string note;
    for (const PartSlope& part : bend->parts) {
      note += (note.empty() ? "" : " ") + std::string(part.part);
    }
    lines += SensitivityRow{.section = "bend",
                            .path = one.figure.path,
                            .value = value,
                            .elasticity = number_text(bend->after),
                            .to = number_text(bend->at),
                            .note = std::move(note)}
                 .line();
  }
  return lines;
}

Value figure_json(const FigureEffect& effect) {
  Value json = Value::make_object();
  json.add("path", Value(effect.figure.path));
  if (!effect.figure.owner.empty()) {
    json.add("of", Value(effect.figure.owner));
  }
  json.add("kind", Value(name(effect.figure.kind)));
  json.add("value", Value(effect.figure.value));
  json.add("elasticity", Value(effect.elasticity.value));
  json.add("elasticity_down", json_of(effect.elasticity.down));
  json.add("elasticity_up", json_of(effect.elasticity.up));
  json.add("derivation", Value(name(effect.elasticity.derivation)));
  json.add("within", Value(effect.elasticity.within));
  json.add("resource", Value(name(effect.resource)));
  if (effect.gain) {
    Value gain = Value::make_object();
    gain.add("to", Value(effect.gain->to));
    gain.add("outcome", Value(effect.gain->outcome));
    gain.add("relative", Value(effect.gain->relative));
    if (effect.gain->per_cost) {
      gain.add("per_dollar", Value(*effect.gain->per_cost));
    }
    json.add("tenth_better", std::move(gain));
  }
  return json;
}

Value move_json(const std::optional<CountMove>& move) {
  if (!move) {
    return {};
  }
  Value along = Value::make_object();
  for (const Assignment& one : move->along) {
    along.add(one.path, one.value);
  }
  Value json = Value::make_object();
  json.add("to", Value(move->to)).add("with", std::move(along));
  json.add("outcome", Value(move->outcome)).add("elasticity", Value(move->elasticity));
  return json;
}

Value bend_json(const std::optional<Bend>& bend) {
  if (!bend) {
    return {};
  }
  Value parts = Value::make_object();
  for (const PartSlope& part : bend->parts) {
    Value slope = Value::make_object();
    slope.add("before", Value(part.before)).add("after", Value(part.after));
    parts.add(std::string(part.part), std::move(slope));
  }
  Value json = Value::make_object();
  json.add("at", Value(bend->at));
  json.add("elasticity_before", Value(bend->before));
  json.add("elasticity_after", Value(bend->after));
  json.add("parts", std::move(parts));
  json.add("last_stage", bend->last_stage ? Value(*bend->last_stage) : Value());
  return json;
}

Value break_even_json(const std::vector<BreakEven>& list) {
  Value items = Value::make_array();
  for (const BreakEven& one : list) {
    Value settled = Value::make_array();
    for (const Settled& point : one.settled) {
      Value item = Value::make_object();
      item.add("part", Value(point.part)).add("from", Value(point.from));
      item.add("upward", Value(point.upward));
      item.add("rest_s", Value(point.rest.si())).add("now_s", Value(point.now.si()));
      settled.push(std::move(item));
    }
    Value item = Value::make_object();
    item.add("path", Value(one.figure.path)).add("value", Value(one.figure.value));
    item.add("settled", std::move(settled));
    item.add("bend_below", bend_json(one.below)).add("bend_above", bend_json(one.above));
    items.push(std::move(item));
  }
  return items;
}

Value reach_json(const ReachTable& table) {
  Value figures = Value::make_array();
  for (const Reach& one : table.figures) {
    Value item = Value::make_object();
    item.add("path", Value(one.figure.path)).add("value", Value(one.figure.value));
    item.add("needs", json_of(one.value)).add("outcome", Value(one.limit));
    figures.push(std::move(item));
  }
  Value json = Value::make_object();
  json.add("of", Value(table.target.of.name)).add("target", Value(table.target.value));
  json.add("met", Value(table.met)).add("figures", std::move(figures));
  return json;
}

template <class Item, class Json>
Value json_list(const std::vector<Item>& items, const Json& json) {
  Value list = Value::make_array();
  for (const Item& item : items) {
    list.push(json(item));
  }
  return list;
}

Value count_json(const CountEffect& effect) {
  Value json = Value::make_object();
  json.add("path", Value(effect.figure.path)).add("value", Value(effect.figure.value));
  json.add("down", move_json(effect.down)).add("up", move_json(effect.up));
  return json;
}

}  // namespace

std::string sensitivity_csv(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  std::string text = csv_line({"section",
                               "path",
                               "value",
                               "elasticity",
                               "elasticity_down",
                               "elasticity_up",
                               "derivation",
                               "resource",
                               "to",
                               "outcome",
                               "gain",
                               "note"});
  for (const FigureEffect& effect : found.figures) {
    text += figure_row("figure", effect).line();
  }
  for (const CountEffect& effect : found.counts) {
    text += count_rows(effect);
  }
  for (const ResourceShare& share : found.shares) {
    text += SensitivityRow{.section = "share",
                           .value = number_text(share.share),
                           .resource = std::string(name(share.resource))}
                .line();
  }
  for (const FigureEffect& effect : found.by_cost) {
    text += figure_row("cost", effect).line();
  }
  for (const BreakEven& one : report.break_even.value_or(std::vector<BreakEven>{})) {
    text += break_even_rows(one);
  }
  for (const Reach& one : report.reach ? report.reach->figures : std::vector<Reach>{}) {
    text += SensitivityRow{.section = "reach",
                           .path = one.figure.path,
                           .value = number_text(one.figure.value),
                           .to = cell_of(one.value),
                           .outcome = number_text(one.limit)}
                .line();
  }
  for (const std::string& path : found.unmoved) {
    text += SensitivityRow{.section = "unmoved", .path = path}.line();
  }
  return text;
}

Value sensitivity_json(const SensitivityReport& report) {
  const Sensitivity& found = report.sensitivity;
  Value json = Value::make_object();
  json.add("format_version", Value(kFormatVersion));
  json.add("of", Value(found.of)).add("outcome", Value(found.outcome));
  json.add("figures", json_list(found.figures, figure_json));
  json.add("counts", json_list(found.counts, count_json));
  Value shares = Value::make_object();
  for (const ResourceShare& share : found.shares) {
    shares.add(std::string(name(share.resource)), Value(share.share));
  }
  json.add("shares", std::move(shares));
  json.add("by_cost", json_list(found.by_cost, figure_json));
  json.add("break_even", report.break_even ? break_even_json(*report.break_even) : Value());
  json.add("reach", report.reach ? reach_json(*report.reach) : Value());
  json.add("unmoved",
           json_list(found.unmoved, [](const std::string& path) { return Value(path); }));
  json.add("evaluations", Value(report.probe->evaluations()));
  return json;
}

}  // namespace titer
