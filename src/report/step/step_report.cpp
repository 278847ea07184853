#include "titer/report/step/step_report.hpp"

#include <fmt/format.h>

#include <array>

#include "memory_report.hpp"
#include "report/plot/step_plots.hpp"
#include "scenario_words.hpp"
#include "step_remarks.hpp"
#include "titer/estimate/figures.hpp"
#include "titer/plan/place/placement.hpp"
#include "titer/plan/plan_fields.hpp"
#include "titer/report/step/sample_report.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

Figures rank_figures(const SimulatedRank& rank, Seconds iteration) {
  return {{"rank", rank.rank, "stage"},
          {"start_s", rank.start},
          {"end_s", rank.end},
          {"compute_s", rank.compute, "compute"},
          {"communication_s", rank.communication, "exposed comm"},
          {"idle_s", rank.idle, "idle"},
          {"", Datum(rank.idle / iteration, kPercent), "idle share"},
          {"memory_peak_bytes", Datum(whole_bytes(rank.memory.in_use), kGibibytes), "peak GiB"},
          {"memory_peak_s", rank.memory.at, "at"},
          {"memory_peak_operation", rank.memory.operation, "during"}};
}

FigureRows rank_rows(const StepResult& result) {
  return rows_of(result.ranks, [&](const SimulatedRank& rank) {
    return rank_figures(rank, result.iteration_time);
  });
}

/// Context and expert groups, where there are any.
Figures context_figures(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  Figures figures;
  if (plan.context > 1) {
    figures = {{"context", plan.context}, {"context_method", name(plan.context_method)}};
    if (plan.context_method == ContextMethod::hierarchical) {
      figures.push_back({"context_inner", plan.context_inner});
    }
    figures.push_back({"context_balanced", plan.context_balanced});
  }
  if (has_own_expert_groups(plan)) {
    figures.push_back({"expert", plan.expert});
    figures.push_back({"expert_tensor", plan.expert_tensor_degree()});
    figures.push_back({"expert_dispatch", name(scenario.expert_dispatch())});
    figures.push_back({"expert_overlap", plan.expert_overlap});
    figures.push_back({"shared_expert_overlap", plan.shared_expert_overlap});
  }
  return figures;
}

/// The same for a reader: "context 2 (ring), expert 4 (expert tensor 1, deduplicated), ".
std::string groups_text(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  std::string text;
  if (plan.context > 1) {
    const bool inner = plan.context_method == ContextMethod::hierarchical;
    text += fmt::format("context {} ({}{}), ",
                        plan.context,
                        name(plan.context_method),
                        inner ? fmt::format(" {}", plan.context_inner) : "");
  }
  if (has_own_expert_groups(plan)) {
    constexpr std::array<std::string_view, 3> how = {
        "", ", tokens deduplicated", ", tokens gathered"};
    text += fmt::format("expert {} (expert tensor {}{}{}{}), ",
                        plan.expert,
                        plan.expert_tensor_degree(),
                        how[static_cast<std::size_t>(scenario.expert_dispatch())],
                        plan.expert_overlap ? ", overlapped" : "",
                        plan.shared_expert_overlap ? ", beside the shared experts" : "");
  }
  return text;
}

/// Where anything is launched as one.
Figures graph_figures(const Plan& plan) {
  return plan.cuda_graph == 0 ? Figures{} : Figures{{"cuda_graph", graph_text(plan.cuda_graph)}};
}

/// Where some are trained instead of the weights.
Figures adapter_figures(const Scenario& scenario) {
  if (!scenario.training.adapters) {
    return {};
  }
  const std::int64_t trained = adapter_parameters(scenario);
  return {{"trained_parameters", trained}, {"parameters", parameters(scenario) + trained}};
}

/// Where devices differ.
Figures condition_figures(const Conditions& conditions) {
  return conditions.uniform() ? Figures{} : Figures{{"conditions", condition_words(conditions)}};
}

/// Where not every stage has as many.
std::string layers_words(const Scenario& scenario) {
  const LayerSplit& split = scenario.plan.layers;
  const std::int64_t layers = scenario.model.layers();
  const int stages = model_stages(placement(scenario.plan.schedule), scenario.shape());
  if (left_over(split, layers, stages) > 0) {
    return ", layers " + shares_text(split, layers, stages);
  }
  return is_even(split) ? "" : ", layers " + text_of(split);
}

/// What is no transformer has samples, and no attention.
Figures rates(const Scenario& scenario, const StepResult& result) {
  const bool has_tokens = scenario.model.is_transformer();
  Figures figures = {
      {"", time_words(result), "iteration time"},
      {"",
       fmt::format(
           "{:.0f} ({:.1f} per device)", result.tokens_per_s, result.tokens_per_s_per_device),
       has_tokens ? "tokens per second" : "samples per second"},
      {"", result.model_flops_per_device, "model FLOP/s per device"},
      {"", Datum(result.mfu, kPercent), has_tokens ? "MFU (full attention)" : "MFU"}};
  if (has_tokens) {
    figures.push_back({"", Datum(result.mfu_causal, kPercent), "MFU (causal attention)"});
  }
  figures.push_back({"", Datum(result.hfu, kPercent), "HFU (with recomputation)"});
  return figures;
}

/// Before any figure: a time that no device has the memory for is none to be had.
std::string unfit_text(const StepResult& result) {
  return result.fits() ? "" : "does not fit in memory (see below): the time is as if it did\n";
}

TextView breakdown_text(const StepResult& result) {
  std::vector<Row> rows;
  for (const BreakdownPart& part : kBreakdownParts) {
    const Seconds time = result.breakdown.*part.value;
    if (time == Seconds{}) {
      continue;
    }
    const double share = time / result.iteration_time;
    rows.push_back({std::string(part.name), format(time), percent_text(share), bar_text(share)});
  }
  return TextView(fmt::format("where the time goes (pipeline stage {}, the last to finish; exposed "
                              "parts)\n",
                              result.reference_stage))
      .lines(rows, "lrrb");
}

/// Nothing where this software's runs were not compared with measured ones.
Datum error_bar(const StepResult& result) {
  if (!result.error_bar) {
    return {};
  }
  return Figures{
      {"low_s", result.error_bar->low}, {"high_s", result.error_bar->high}, {"share", 0.8}};
}

/// Each of a list of parts, by its name and what follows it.
template <class Parts, class Of>
Figures part_figures(const Parts& parts, const Of& of, std::string_view suffix = "") {
  return each_of(parts, [&](const auto& part) {
    return Figure{std::string(part.name) + std::string(suffix), of.*part.value};
  });
}

Figures rate_figures(const StepResult& result) {
  return each_of(kResultFigures, [&](const ResultFigure& figure) {
    return Figure{std::string(figure.name), figure.value(result)};
  });
}

}  // namespace

Figures result_figures(const StepResult& result) {
  Figures figures = rate_figures(result);
  figures = joined(figures, part_figures(kBreakdownParts, result.breakdown, "_s"));
  figures = joined(figures, part_figures(kCommunicationParts, result.comm_total, "_total_s"));
  return joined(figures,
                {{"memory_peak_bytes", whole_bytes(result.memory_peak)},
                 {"memory_capacity_bytes", whole_bytes(result.memory_capacity)},
                 {"fits", result.fits()},
                 {"peak_stage", result.peak_stage().stage},
                 {"grade", name(result.grade)}});
}

Row result_columns() {
  StepResult none;
  none.memory.resize(1);
  return each_of(result_figures(none), &Figure::key);
}

Figures step_figures(const Scenario& scenario,
                     const StepResult& result,
                     const std::vector<FitAdvice>& advice,
                     const std::vector<std::string>& notes) {
  Figures figures = {{"scenario", asked_figures(scenario)}};
  figures = joined(figures, rate_figures(result));
  figures = joined(figures,
                   {{"breakdown_s", part_figures(kBreakdownParts, result.breakdown)},
                    {"breakdown_stage", result.reference_stage},
                    {"comm_total_s", part_figures(kCommunicationParts, result.comm_total)}});
  if (!result.ranks.empty()) {
    figures.push_back({"ranks", rank_rows(result)});
  }
  figures = joined(figures, remark_figures(scenario, result));
  return joined(figures,
                {{"memory", memory_figures(result, advice)},
                 {"error_bar", error_bar(result)},
                 {"grade", name(result.grade)},
                 notes_figure(notes)});
}

Figures asked_figures(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  const Figures degrees = {{"model", scenario.model.name()},
                           {"cluster", scenario.cluster.name},
                           {"chip", scenario.cluster.chip.name},
                           {"stack", scenario.stack.name},
                           {"devices", plan.devices()},
                           {"pipeline", plan.pipeline},
                           {"tensor", plan.tensor},
                           {"data", plan.data}};
  const Figures others = {{"virtual_stages", plan.virtual_stages},
                          {"micro_batch", plan.micro_batch},
                          {"micro_batches", scenario.micro_batches()},
                          {"schedule", name(plan.schedule)},
                          {"recompute", name(plan.recompute)},
                          {"sequence_parallel", plan.sequence_parallel},
                          {"sharding", name(plan.sharding)},
                          {"rank_order", rank_order_name(plan)},
                          {"attention", name(scenario.slice().attention)},
                          {"tensor_overlap", name(scenario.tensor_overlap())},
                          {"pipeline_send", name(scenario.pipeline_send())},
                          {"overlap_grad_reduce", scenario.overlap_grad_reduce()},
                          {"overlap_param_gather", scenario.overlap_param_gather()},
                          {"global_batch", scenario.training.global_batch},
                          {"sequence", scenario.training.sequence},
                          {"precision", scenario.training.precision_name(scenario.cluster.chip)},
                          {"gradient_precision", name(scenario.gradient_type())},
                          {"optimizer", scenario.training.optimizer.name},
                          {"formula", kFormulas[static_cast<std::size_t>(scenario.formula)].name}};
  return joined(joined(joined(degrees, context_figures(scenario)), others),
                joined(joined(graph_figures(plan), adapter_figures(scenario)),
                       condition_figures(scenario.conditions)));
}

Figures asked_columns(const Scenario& scenario) {
  constexpr std::array<std::string_view, 8> few = {
      "model", "cluster", "chip", "stack", "devices", "global_batch", "sequence", "precision"};
  Figures columns = asked_figures(scenario);
  std::erase_if(columns, [&](const Figure& figure) { return !includes(few, figure.key); });
  return columns;
}

std::string step_heading(const Scenario& scenario) {
  const Cluster& cluster = scenario.cluster;
  const Plan& plan = scenario.plan;
  std::string text = fmt::format("{} on {} x {} ({})\n",
                                 scenario.model.title(),
                                 plan.devices(),
                                 cluster.chip.title,
                                 cluster.name);
  text += fmt::format(
      "plan: pipeline {}{}{}, tensor {}{}, {}data {}; micro-batch {} x {}; {}, recompute {}, "
      "sharding {}{}{}\n",
      plan.pipeline,
      plan.virtual_stages > 1 ? fmt::format(" (interleaved {})", plan.virtual_stages) : "",
      layers_words(scenario),
      plan.tensor,
      plan.sequence_parallel ? " with sequence parallelism" : "",
      groups_text(scenario),
      plan.data,
      plan.micro_batch,
      scenario.micro_batches(),
      name(plan.schedule),
      name(plan.recompute),
      name(plan.sharding),
      plan.local_steps ? fmt::format(", {} islands that meet every {} steps",
                                     plan.local_steps->islands,
                                     plan.local_steps->steps)
                       : "",
      plan.cuda_graph == 0 ? "" : ", CUDA graph of " + graph_text(plan.cuda_graph));
  text += fmt::format("training: {}\n", training_words(scenario));
  return text;
}

std::string step_title(const Scenario& scenario) {
  return fmt::format("{} on {} x {}: {}",
                     scenario.model.title(),
                     scenario.plan.devices(),
                     scenario.cluster.chip.title,
                     name(scenario.plan.schedule));
}

TextView ranks_text(const StepResult& result) {
  if (result.ranks.empty()) {
    return {};
  }
  return TextView("what each pipeline stage does, and when its memory peaks\n")
      .table(rank_rows(result), "rrrrrrrl")
      .add("\n");
}

View step_view(const Scenario& scenario,
               const StepResult& result,
               const std::vector<FitAdvice>& advice,
               const std::vector<std::string>& notes,
               const std::optional<SampleStatistics>& samples) {
  View view{.text = step_heading(scenario) + unfit_text(result) + notes_text(notes) + "\n",
            .figures = step_figures(scenario, result, advice, notes),
            .rows = {joined(asked_figures(scenario), result_figures(result))},
            .columns = {},
            .headline = joined(rates(scenario, result), {memory_headline(result)}),
            .plots = {time_plot(result), memory_plot(result)}};
  view.text.pairs(rates(scenario, result)).add("\n").append(breakdown_text(result)).add("\n");
  view.text.append(ranks_text(result)).add(remarks_text(scenario, result));
  view.text.append(memory_text(result, advice))
      .add(fmt::format("\nbasis: {} figures; `titer explain` shows every term and its source\n",
                       name(result.grade)));
  Figures& row = view.rows.front();
  if (!result.algorithms.empty()) {
    row.push_back({"algorithms", algorithms_text(result)});
  }
  if (result.events) {
    row.push_back({"event_iteration_time_s", result.events->iteration_time});
  }
  if (samples) {
    view.text.add("\n").append(sample_text(*samples));
    view.figures.push_back({"samples", sample_figures(*samples)});
    row = joined(row, sample_columns(sample_figures(*samples)));
  }
  row.push_back(notes_column(notes));
  return view;
}

}  // namespace titer
