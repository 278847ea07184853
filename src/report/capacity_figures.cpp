// A capacity plan as CSV and JSON.

#include "capacity_names.hpp"
#include "titer/report/capacity_report.hpp"
#include "titer/report/step_report.hpp"

namespace titer {
namespace {

const Row kColumns = {
    "devices",      "nodes",       "spare_devices",  "status",           "tensor",
    "pipeline",     "data",        "context",        "expert",           "virtual_stages",
    "micro_batch",  "recompute",   "global_batch",   "iteration_time_s", "tokens_per_s",
    "mfu",          "goodput",     "tokens",         "possible_tokens",  "time_s",
    "time_low_s",   "time_high_s", "device_hours",   "dollars",          "dollars_low",
    "dollars_high", "energy_j",    "kilograms_co2e", "problem"};

/// By the names of the columns; those that a point lacks are left out.
Value point_json(const CapacityPoint& point) {
  Value json = Value::make_object();
  json.add("devices", point.devices);
  json.add("status", point.has_plan() ? "ok" : "no plan");
  if (!point.has_plan()) {
    json.add("problem", point.planned.problem);
    return json;
  }
  const Plan& plan = point.planned.scenario->plan;
  json.add("nodes", point.nodes).add("spare_devices", point.spare_devices);
  json.add("tensor", plan.tensor).add("pipeline", plan.pipeline).add("data", plan.data);
  json.add("context", plan.context).add("expert", plan.expert);
  json.add("virtual_stages", plan.virtual_stages);
  json.add("micro_batch", plan.micro_batch).add("recompute", recompute_name(plan));
  json.add("global_batch", point.planned.scenario->training.global_batch);
  const StepResult& step = point.planned.step;
  json.add("iteration_time_s", step.iteration_time.si()).add("tokens_per_s", step.tokens_per_s);
  json.add("mfu", step.mfu).add("goodput", point.goodput.fraction);
  json.add("tokens", point.tokens).add("time_s", point.time.si());
  if (point.possible) {
    json.add("possible_tokens", *point.possible);
  }
  if (point.spread) {
    json.add("time_low_s", point.spread->low.si()).add("time_high_s", point.spread->high.si());
  }
  json.add("device_hours", point.device_time() / kHour);
  if (point.bill) {
    if (point.spread) {  // all of it is in proportion to the time
      json.add("dollars_low", point.bill->dollars * (point.spread->low / point.time));
      json.add("dollars_high", point.bill->dollars * (point.spread->high / point.time));
    }
    json.add("dollars", point.bill->dollars).add("energy_j", point.bill->energy.si());
    json.add("kilograms_co2e", point.bill->kilograms_co2e);
  }
  return json;
}

Value lost_json(const LostTime& lost) {
  Value json = Value::make_object();
  json.add("checkpoints", lost.checkpoints).add("rework", lost.rework);
  json.add("restarts", lost.restarts).add("slow_devices", lost.slow_devices);
  json.add("too_few_nodes", lost.too_few_nodes);
  return json;
}

Value years_json(const CapacityResult& result) {
  Value years = Value::make_array();
  for (const CapacityYear& year : result.years) {
    Value json = Value::make_object();
    json.add("year", year.year).add("tokens", year.tokens);
    if (year.point) {
      json.add("devices", result.points[*year.point].devices).add("time_s", year.time.si());
    }
    if (year.dollars) {
      json.add("dollars", *year.dollars);
    }
    years.push(std::move(json));
  }
  return years;
}

Value answers_json(const CapacityResult& result) {
  Value json = Value::make_object();
  const auto add = [&](std::string key, const std::optional<std::size_t>& point) {
    json.add(std::move(key), point ? Value(result.points[*point].devices) : Value());
  };
  add("fewest", result.fewest);
  add("certain", result.certain);
  add("cheapest", result.cheapest);
  add("fastest", result.fastest);
  add("most_tokens", result.most);
  return json;
}

}  // namespace

std::string recompute_name(const Plan& plan) {
  const bool is_mlp = plan.recompute == Recompute::modules && plan.recomputed == bit(Module::mlp);
  return std::string(is_mlp ? "mlp" : name(plan.recompute));
}

std::string capacity_csv(const CapacityResult& result) {
  std::string text = csv_line(kColumns);
  for (const CapacityPoint& point : result.points) {
    const Value json = point_json(point);
    Row row;
    for (const std::string& column : kColumns) {
      const Value* value = json.find(column);
      row.push_back(value == nullptr ? "" : csv_cell(*value));
    }
    text += csv_line(row);
  }
  return text;
}

Value capacity_json(const CapacityQuestion& question, const CapacityResult& result) {
  Value points = Value::make_array();
  for (const CapacityPoint& point : result.points) {
    Value json = point_json(point);
    if (point.has_plan() && question.reliability) {
      json.add("mtbf_s", point.goodput.job.rates.mtbf().si());
      json.add("checkpoint_interval_s", point.goodput.checkpoint_interval.si());
      json.add("lost", lost_json(point.goodput.lost));
    }
    points.push(std::move(json));
  }
  Value misses = Value::make_array();
  for (const std::string& miss : result.misses) {
    misses.push(miss);
  }
  Value json = Value::make_object();
  json.add("format_version", kFormatVersion);
  json.add("title", question.title);
  json.add("reliability", question.reliability ? Value(question.reliability->name) : Value());
  json.add("prices", question.economy ? Value(question.economy->name) : Value());
  json.add("prices_date", question.economy ? Value(question.economy->date) : Value());
  json.add("points", std::move(points));
  json.add("answers", answers_json(result));
  json.add("misses", std::move(misses));
  json.add("years", years_json(result));
  return json;
}

}  // namespace titer
