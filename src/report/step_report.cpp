#include "titer/report/step_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "memory_report.hpp"
#include "scenario_words.hpp"
#include "step_remarks.hpp"
#include "titer/plan/placement.hpp"
#include "titer/report/notes_report.hpp"
#include "titer/step/figures.hpp"

namespace titer {
namespace {

Value ranks_json(const StepResult& result) {
  Value ranks = Value::make_array();
  for (const SimulatedRank& rank : result.ranks) {
    Value item = Value::make_object();
    item.add("rank", Value(rank.rank));
    item.add("start_s", Value(rank.start.si()));
    item.add("end_s", Value(rank.end.si()));
    item.add("compute_s", Value(rank.compute.si()));
    item.add("communication_s", Value(rank.communication.si()));
    item.add("idle_s", Value(rank.idle.si()));
    item.add("memory_peak_bytes", json_bytes(rank.memory.in_use));
    item.add("memory_peak_s", Value(rank.memory.at.si()));
    item.add("memory_peak_operation", Value(rank.memory.operation));
    ranks.push(std::move(item));
  }
  return ranks;
}

/// Context and expert groups, where there are any.
void add_groups(const Plan& plan, Value& json) {
  if (plan.context > 1) {
    json.add("context", Value(plan.context));
    json.add("context_method", Value(name(plan.context_method)));
    if (plan.context_method == ContextMethod::hierarchical) {
      json.add("context_inner", Value(plan.context_inner));
    }
    json.add("context_balanced", Value(plan.context_balanced));
  }
  if (has_own_expert_groups(plan)) {
    json.add("expert", Value(plan.expert));
    json.add("expert_tensor", Value(plan.expert_tensor_degree()));
  }
}

/// The same for a reader: "context 2 (ring), expert 4 (expert tensor 1), ".
std::string groups_text(const Plan& plan) {
  std::string text;
  if (plan.context > 1) {
    const bool inner = plan.context_method == ContextMethod::hierarchical;
    text += fmt::format("context {} ({}{}), ",
                        plan.context,
                        name(plan.context_method),
                        inner ? fmt::format(" {}", plan.context_inner) : "");
  }
  if (has_own_expert_groups(plan)) {
    text += fmt::format("expert {} (expert tensor {}), ", plan.expert, plan.expert_tensor_degree());
  }
  return text;
}

Value scenario_json(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  Value json = Value::make_object();
  json.add("model", Value(scenario.model.name()));
  json.add("cluster", Value(scenario.cluster.name));
  json.add("chip", Value(scenario.cluster.chip.name));
  json.add("stack", Value(scenario.stack.name));
  json.add("devices", Value(plan.devices()));
  json.add("pipeline", Value(plan.pipeline));
  json.add("tensor", Value(plan.tensor));
  json.add("data", Value(plan.data));
  add_groups(plan, json);
  json.add("virtual_stages", Value(plan.virtual_stages));
  json.add("micro_batch", Value(plan.micro_batch));
  json.add("micro_batches", Value(scenario.micro_batches()));
  json.add("schedule", Value(name(plan.schedule)));
  json.add("recompute", Value(name(plan.recompute)));
  json.add("sequence_parallel", Value(plan.sequence_parallel));
  json.add("sharding", Value(name(plan.sharding)));
  json.add("rank_order", Value(rank_order_name(plan)));
  json.add("attention", Value(name(scenario.slice().attention)));
  json.add("tensor_overlap", Value(name(scenario.tensor_overlap())));
  json.add("pipeline_send", Value(name(scenario.pipeline_send())));
  json.add("overlap_grad_reduce", Value(scenario.overlap_grad_reduce()));
  json.add("overlap_param_gather", Value(scenario.overlap_param_gather()));
  json.add("global_batch", Value(scenario.training.global_batch));
  json.add("sequence", Value(scenario.training.sequence));
  json.add("precision", Value(name(scenario.training.precision)));
  json.add("gradient_precision", Value(name(scenario.gradient_type())));
  json.add("optimizer", Value(scenario.training.optimizer.name));
  json.add("formula", Value(kFormulas[static_cast<std::size_t>(scenario.formula)].name));
  return json;
}

std::string heading(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const Plan& plan = scenario.plan;
  std::string text = fmt::format("{} on {} x {} ({})\n",
                                 scenario.model.title(),
                                 plan.devices(),
                                 cluster.chip.title,
                                 cluster.name);
  text += fmt::format(
      "plan: pipeline {}{}{}, tensor {}{}, {}data {}; micro-batch {} x {}; {}, recompute {}, "
      "sharding "
      "{}\n",
      plan.pipeline,
      plan.virtual_stages > 1 ? fmt::format(" (interleaved {})", plan.virtual_stages) : "",
      is_even(plan.layers) ? "" : ", layers " + text_of(plan.layers),
      plan.tensor,
      plan.sequence_parallel ? " with sequence parallelism" : "",
      groups_text(plan),
      plan.data,
      plan.micro_batch,
      scenario.micro_batches(),
      name(plan.schedule),
      name(plan.recompute),
      name(plan.sharding));
  text += fmt::format("training: {}\n", training_words(scenario));
  return text;
}

/// "2.86 s (four of five between 2.71 s and 3.02 s)"
std::string time_text(const StepResult& result) {
  if (!result.error_bar) {
    return format(result.iteration_time);
  }
  return fmt::format("{} (four of five between {} and {})",
                     format(result.iteration_time),
                     format(result.error_bar->low),
                     format(result.error_bar->high));
}

std::string rates(const StepResult& result) {
  std::vector<Row> rows;
  rows.push_back({"iteration time", time_text(result)});
  rows.push_back(
      {"tokens per second",
       fmt::format(
           "{:.0f} ({:.1f} per device)", result.tokens_per_s, result.tokens_per_s_per_device)});
  rows.push_back({"model FLOP/s per device", format(result.model_flops_per_device)});
  rows.push_back({"MFU (full attention)", percent_text(result.mfu)});
  rows.push_back({"MFU (causal attention)", percent_text(result.mfu_causal)});
  rows.push_back({"HFU (with recomputation)", percent_text(result.hfu)});
  return text_table(rows, {Align::left, Align::left});
}

std::string breakdown_text(const StepResult& result) {
  constexpr double bar_width = 40.0;
  std::vector<Row> rows;
  for (const BreakdownPart& part : kBreakdownParts) {
    const Seconds time = result.breakdown.*part.value;
    if (time == Seconds{}) {
      continue;
    }
    const double share = time / result.iteration_time;
    const auto bar = static_cast<std::size_t>(std::lround(std::max(0.0, share) * bar_width));
    rows.push_back(
        {std::string(part.name), format(time), percent_text(share), std::string(bar, '#')});
  }
  return fmt::format("where the time goes (pipeline stage {}, the last to finish; exposed parts)\n",
                     result.reference_stage) +
         text_table(rows, {Align::left, Align::right, Align::right, Align::left});
}

/// Null where this software's runs were not compared with measured ones.
Value error_bar_json(const StepResult& result) {
  if (!result.error_bar) {
    return {};
  }
  Value json = Value::make_object();
  json.add("low_s", Value(result.error_bar->low.si()));
  json.add("high_s", Value(result.error_bar->high.si()));
  json.add("share", Value(0.8));
  return json;
}

}  // namespace

Row result_columns() {
  Row columns;
  for (const ResultFigure& figure : kResultFigures) {
    columns.emplace_back(figure.name);
  }
  for (const BreakdownPart& part : kBreakdownParts) {
    columns.push_back(std::string(part.name) + "_s");
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    columns.push_back(std::string(part.name) + "_total_s");
  }
  columns.insert(columns.end(),
                 {"memory_peak_bytes", "memory_capacity_bytes", "fits", "peak_stage", "grade"});
  return columns;
}

Row result_cells(const StepResult& result) {
  Row cells;
  for (const ResultFigure& figure : kResultFigures) {
    cells.push_back(number_text(figure.value(result)));
  }
  for (const BreakdownPart& part : kBreakdownParts) {
    cells.push_back(number_text((result.breakdown.*part.value).si()));
  }
  for (const CommunicationPart& part : kCommunicationParts) {
    cells.push_back(number_text((result.comm_total.*part.value).si()));
  }
  cells.insert(cells.end(),
               {csv_cell(json_bytes(result.memory_peak)),
                csv_cell(json_bytes(result.memory_capacity)),
                result.fits() ? "true" : "false",
                std::to_string(result.peak_stage().stage),
                std::string(name(result.grade))});
  return cells;
}

Row no_result_cells() { return Row(result_columns().size()); }

std::string step_csv(const Scenario& scenario, const StepResult& result, const MoreCells& more) {
  Row columns;
  Row cells;
  const Value asked = scenario_json(scenario);
  for (const auto& [key, value] : asked.members) {
    columns.push_back(key);
    cells.push_back(csv_cell(value));
  }
  for (const MoreCells& part :
       {MoreCells{result_columns(), result_cells(result)}, remark_cells(result), more}) {
    columns.insert(columns.end(), part.columns.begin(), part.columns.end());
    cells.insert(cells.end(), part.cells.begin(), part.cells.end());
  }
  return csv_line(columns) + csv_line(cells);
}

Value step_json(const Scenario& scenario,
                const StepResult& result,
                std::span<const FitAdvice> advice,
                std::span<const std::string> notes) {
  Value json = Value::make_object();
  json.add("format_version", Value(kFormatVersion));
  json.add("scenario", scenario_json(scenario));
  for (const ResultFigure& figure : kResultFigures) {
    json.add(std::string(figure.name), Value(figure.value(result)));
  }
  Value breakdown = Value::make_object();
  for (const BreakdownPart& part : kBreakdownParts) {
    breakdown.add(std::string(part.name), Value((result.breakdown.*part.value).si()));
  }
  json.add("breakdown_s", std::move(breakdown));
  json.add("breakdown_stage", Value(result.reference_stage));
  Value comm = Value::make_object();
  for (const CommunicationPart& part : kCommunicationParts) {
    comm.add(std::string(part.name), Value((result.comm_total.*part.value).si()));
  }
  json.add("comm_total_s", std::move(comm));
  if (!result.ranks.empty()) {
    json.add("ranks", ranks_json(result));
  }
  add_remarks(scenario, result, json);
  json.add("memory", memory_json(result, advice));
  json.add("error_bar", error_bar_json(result));
  json.add("grade", Value(name(result.grade)));
  add_notes(notes, json);
  return json;
}

std::string step_title(const Scenario& scenario) {
  return fmt::format("{} on {} x {}: {}",
                     scenario.model.title(),
                     scenario.plan.devices(),
                     scenario.cluster.chip.title,
                     name(scenario.plan.schedule));
}

std::string ranks_text(const StepResult& result) {
  if (result.ranks.empty()) {
    return {};
  }
  std::vector<Row> rows = {
      {"stage", "compute", "exposed comm", "idle", "idle share", "peak GiB", "at", "during"}};
  for (const SimulatedRank& rank : result.ranks) {
    rows.push_back({std::to_string(rank.rank),
                    format(rank.compute),
                    format(rank.communication),
                    format(rank.idle),
                    percent_text(rank.idle / result.iteration_time),
                    fmt::format("{:.2f}", rank.memory.in_use / 1_GiB),
                    format(rank.memory.at),
                    rank.memory.operation});
  }
  std::vector<Align> columns(rows.front().size(), Align::right);
  columns.back() = Align::left;
  return "what each pipeline stage does, and when its memory peaks\n" + text_table(rows, columns) +
         "\n";
}

std::string step_text(const Scenario& scenario,
                      const StepResult& result,
                      std::span<const FitAdvice> advice,
                      std::span<const std::string> notes) {
  return heading(scenario) + notes_text(notes) + "\n" + rates(result) + "\n" +
         breakdown_text(result) + "\n" + ranks_text(result) + remarks_text(scenario, result) +
         memory_text(result, advice) + "\n" +
         fmt::format("basis: {} figures; `titer explain` shows every term and its source\n",
                     name(result.grade));
}

}  // namespace titer
