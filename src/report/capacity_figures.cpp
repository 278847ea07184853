// A capacity plan as CSV and JSON.

#include <fmt/format.h>

#include "capacity_names.hpp"
#include "titer/report/capacity_report.hpp"
#include "titer/report/step_report.hpp"

namespace titer {
namespace {

const Row kColumns = {"model",
                      "cluster",
                      "chip",
                      "stack",
                      "sequence",
                      "precision",
                      "global_batch",
                      "reliability",
                      "deadline_s",
                      "budget",
                      "prices",
                      "prices_date",
                      "grid",
                      "dollars_per_device_hour",
                      "device_power_w",
                      "devices",
                      "nodes",
                      "spare_devices",
                      "status",
                      "tensor",
                      "pipeline",
                      "data",
                      "context",
                      "expert",
                      "virtual_stages",
                      "micro_batch",
                      "recompute",
                      "iteration_time_s",
                      "tokens_per_s",
                      "mfu",
                      "goodput",
                      "tokens",
                      "possible_tokens",
                      "time_s",
                      "time_low_s",
                      "time_high_s",
                      "chance_in_time",
                      "device_hours",
                      "dollars",
                      "dollars_low",
                      "dollars_high",
                      "energy_j",
                      "kilograms_co2e",
                      "problem"};

/// What tells the rows of different questions apart.
Value question_json(const CapacityQuestion& question) {
  const Scenario& scenario = question.scenario;
  Value json = Value::make_object();
  json.add("model", scenario.model.name()).add("cluster", scenario.cluster.name);
  json.add("chip", scenario.cluster.chip.name).add("stack", scenario.stack.name);
  json.add("sequence", scenario.training.sequence);
  json.add("precision", name(scenario.training.precision));
  json.add("global_batch", scenario.training.global_batch);
  json.add("reliability", question.reliability ? Value(question.reliability->name) : Value());
  if (question.deadline) {
    json.add("deadline_s", question.deadline->si());
  }
  if (question.budget) {
    json.add("budget", *question.budget);
  }
  const Chip& chip = scenario.cluster.chip;
  if (question.economy) {
    if (const DevicePrice* price = known_price(*question.economy, chip)) {
      json.add("dollars_per_device_hour", price->dollars_per_hour);
    }
    if (question.economy->draw) {
      json.add("grid", question.economy->grid.name);
    }
  }
  if (chip.power) {
    json.add("device_power_w", chip.power->si());
  }
  json.add("prices", question.economy ? Value(question.economy->name) : Value());
  json.add("prices_date", question.economy ? Value(question.economy->date) : Value());
  return json;
}

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
    if (point.spread->in_time) {
      json.add("chance_in_time", *point.spread->in_time);
    }
  }
  json.add("device_hours", point.device_time() / kHour);
  if (point.bill && point.bill->dollars) {
    if (point.spread) {  // all of it is in proportion to the time
      json.add("dollars_low", *point.bill->dollars * (point.spread->low / point.time));
      json.add("dollars_high", *point.bill->dollars * (point.spread->high / point.time));
    }
    json.add("dollars", *point.bill->dollars);
  }
  if (point.bill && point.bill->energy) {
    json.add("energy_j", point.bill->energy->si());
    json.add("kilograms_co2e", *point.bill->kilograms_co2e);
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

std::string capacity_title(const CapacityQuestion& question) {
  const Cluster& cluster = question.scenario.cluster;
  return fmt::format("devices for {} on {} ({})",
                     question.scenario.model.title(),
                     cluster.chip.title,
                     cluster.name);
}

double memory_margin(const CapacityResult& result) {
  return result.points.front().planned.memory_margin;
}

std::vector<BillGap> question_gaps(const CapacityQuestion& question) {
  return question.economy ? bill_gaps(*question.economy, question.scenario.cluster.chip)
                          : std::vector<BillGap>();
}

std::string gap_words(const CapacityQuestion& question, const BillGap& gap) {
  if (gap.figure == BillGap::Figure::price) {
    return "dollars: " + gap.reason + "; --dollars-per-hour X or --prices FILE gives it";
  }
  const bool has_draw = question.economy && question.economy->draw;
  return "energy and carbon: " + gap.reason +
         (has_draw ? "; --watts X gives it" : "; --prices NAME does");
}

std::string capacity_csv(const CapacityQuestion& question, const CapacityResult& result) {
  std::string text = csv_line(kColumns);
  const Value asked = question_json(question);
  for (const CapacityPoint& point : result.points) {
    const Value json = point_json(point);
    Row row;
    for (const std::string& column : kColumns) {
      const Value* own = json.find(column);
      const Value* value = own == nullptr ? asked.find(column) : own;
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
  Value missing = Value::make_array();
  for (const BillGap& gap : question_gaps(question)) {
    missing.push(gap_words(question, gap));
  }
  Value json = Value::make_object();
  json.add("format_version", kFormatVersion);
  json.add("title", capacity_title(question));
  Value asked = question_json(question);
  for (auto& [key, value] : asked.members) {
    json.add(key, std::move(value));
  }
  json.add("memory_margin", memory_margin(result));
  json.add("missing", std::move(missing));
  json.add("points", std::move(points));
  json.add("answers", answers_json(result));
  json.add("misses", std::move(misses));
  json.add("years", years_json(result));
  return json;
}

}  // namespace titer
