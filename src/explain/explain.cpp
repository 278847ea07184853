// Every section recomputes its terms by the same functions as the estimate, and writes down what it
// hands to them.

#include "titer/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "explain_parts.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/estimate/model_state.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kOurs = "this program, docs/physics.md";

Term layers_term(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  const std::int64_t l = scenario.model.layers();
  const int stages = model_stages(placement(plan.schedule), scenario.shape());
  if (!is_even(plan.layers) || l % stages != 0) {
    std::vector<std::int64_t> layers;
    layers.reserve(static_cast<std::size_t>(stages));
    for (int stage = 0; stage < stages; ++stage) {
      layers.push_back(layers_of(plan.layers, stage, l, stages));
    }
    return {"layers of each stage of the model",
            "plan.layers",
            fmt::format("{} over {} stages", l, stages),
            text_of(LayerSplit(layers)),
            "the plan"};
  }
  const bool has_chunks = stages != plan.pipeline;
  return {"layers per chunk",
          has_chunks ? "l / (p v)" : "l / p",
          has_chunks ? fmt::format("{} / ({} x {})", l, plan.pipeline, plan.virtual_stages)
                     : fmt::format("{} / {}", l, plan.pipeline),
          std::to_string(l / stages),
          "Narayanan et al. 2021"};
}

Section shape_section(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  const PipelineShape shape = scenario.shape();
  Section section{.title = "shape", .terms = {}};
  section.terms.push_back({"devices",
                           "p t d",
                           fmt::format("{} x {} x {}", plan.pipeline, plan.tensor, plan.data),
                           std::to_string(plan.devices()),
                           "Narayanan et al. 2021"});
  section.terms.push_back(
      {"micro-batches m",
       "gb / (b d)",
       fmt::format("{} / ({} x {})", scenario.training.global_batch, plan.micro_batch, plan.data),
       std::to_string(shape.micro_batches),
       "seeds, notation of E6 to E9"});
  section.terms.push_back(layers_term(scenario));
  section.terms.push_back({"parameters N",
                           "layers + embeddings + final norm",
                           scenario.model.source(),
                           std::to_string(parameters(scenario)),
                           "Narayanan et al. 2021, eq. 2, for a GPT"});
  return section;
}

std::string pass_text(const PassCost& cost) {
  return fmt::format("({} + {})", format(cost.compute), format(cost.comm()));
}

/// Whether the schedule puts weight gradients off.
bool splits_backward(const Scenario& scenario) {
  const ActionList list = actions(scenario.plan.schedule, 0, scenario.shape());
  return includes(list, Pass::weight_gradient, &Action::pass);
}

/// The passes of chunks that have the same blocks.
class PassTerms {
 public:
  PassTerms(const StepCosts& costs, bool split, Section& section)
      : costs_(costs), split_(split), section_(section) {}

  /// Of a stage of the model; `edge`: what it has beside layers.
  void add(const std::string& chunk, const BlockCost& edge, int stage) {
    stage_ = stage;
    add(chunk + ": forward", &BlockCost::forward, edge);
    add(chunk + ": recompute", &BlockCost::recompute, edge);
    add(chunk + ": backward", &BlockCost::backward, edge);
    if (split_) {
      add(chunk + ": input gradient", &BlockCost::input_gradient, edge);
      add(chunk + ": weight gradient", &BlockCost::weight_gradient, edge);
    }
  }

 private:
  void add(std::string name, PassCost BlockCost::*pass, const BlockCost& edge) {
    const std::span<const double> counts = pass == &BlockCost::recompute
                                               ? costs_.contents.repeated(stage_)
                                               : costs_.contents.kinds(stage_);
    PassCost sum = edge.*pass;
    std::string numbers;
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      if (counts[kind] > 0 || counts.size() == 1) {
        sum += counts[kind] * (costs_.kinds[kind].*pass);
        numbers += fmt::format("{} x {} + ", counts[kind], pass_text(costs_.kinds[kind].*pass));
      }
    }
    section_.terms.push_back({name,
                              "layers x (compute + exposed comm) + embedding or head",
                              numbers + pass_text(edge.*pass),
                              format(sum.busy()),
                              std::string(kOurs)});
    if (sum.hidden_by_other.sum() > Seconds{}) {
      section_.terms.push_back({name + ", beside another micro-batch's",
                                "as alone - exchanges that the other's compute hides + what both "
                                "slow down and launches then wait",
                                fmt::format("{} - {} + {}",
                                            format(sum.busy()),
                                            format(sum.hidden_by_other.sum()),
                                            format(sum.slowed_by_other)),
                                format(sum.overlapped().busy()),
                                "Megatron-Core, combined_1f1b"});
    }
  }

  const StepCosts& costs_;
  bool split_;
  Section& section_;
  int stage_ = 0;
};

/// One of the stages between the ends for each way they are made up, those of few layers first.
std::vector<int> different_between(const StepCosts& costs) {
  std::vector<int> found;
  for (int stage = 1; stage + 1 < costs.stages; ++stage) {
    const bool known =
        std::ranges::any_of(found, [&](int other) { return costs.contents.same(stage, other); });
    if (!known) {
      found.push_back(stage);
    }
  }
  std::ranges::stable_sort(found, [&](int one, int other) {
    return costs.contents.layers(one) < costs.contents.layers(other);
  });
  return found;
}

std::string chunk_text(const StepCosts& costs, int stage) {
  if (costs.kinds.size() == 1) {
    return fmt::format("chunk of {} layers", costs.contents.layers(stage));
  }
  return fmt::format("chunk {}", stage);
}

Section pass_section(const Scenario& scenario, const StepCosts& costs) {
  Section section{.title = "passes of one micro-batch through one chunk, and sends", .terms = {}};
  PassTerms terms(costs, splits_backward(scenario), section);
  if (costs.stages == 1) {
    BlockCost both = costs.embedding;
    both += costs.head;
    terms.add("only chunk", both, 0);
    return section;
  }
  terms.add("first chunk", costs.embedding, 0);
  const std::vector<int> between = different_between(costs);
  for (const int stage : between) {
    terms.add(between.size() == 1 ? std::string("chunk between") : chunk_text(costs, stage),
              BlockCost{},
              stage);
  }
  terms.add("last chunk", costs.head, costs.stages - 1);
  return section;
}

std::string_view send_formula(PipelineSend send) {
  switch (send) {
    case PipelineSend::blocking:
      return "a stage computes on when its message is through: all of them exposed";
    case PipelineSend::overlapped:
      return "beside compute, one message after the other: exposed while the stage has nothing "
             "else";
    case PipelineSend::batched:
      return "only executed (--fidelity event); here as if the stage waited for each message";
  }
  return "";
}

Term send_mode_term(const Scenario& scenario, const StepResult& result) {
  return {
      fmt::format("sends {}, on stage {}", name(scenario.pipeline_send()), result.reference_stage),
      std::string(send_formula(scenario.pipeline_send())),
      fmt::format("{} of {} exposed",
                  format(result.breakdown.pipeline_comm),
                  format(result.comm_total.pipeline)),
      format(result.breakdown.pipeline_comm),
      "stack " + scenario.stack.name};
}

Section pipeline_section(const Scenario& scenario,
                         const StepCosts& costs,
                         const StepResult& result) {
  Section section{.title = "pipeline", .terms = {}};
  const PipelineShape shape = costs.shape;
  if (shape.stages > 1) {
    add_send_terms(scenario, costs, section);
    section.terms.push_back(send_mode_term(scenario, result));
  }
  add_bubble_terms(scenario, costs, result, section);
  return section;
}

/// Of what hosts read and prepare beside the step.
Term input_term(const Scenario& scenario, Seconds waits) {
  return {"input",
          "max(0, gb / (rate x hosts) - end of the stage)",
          fmt::format("gb = {}, rate = {}/s, hosts = {}",
                      scenario.training.global_batch,
                      *scenario.training.input_rate,
                      plan_hosts(scenario)),
          format(waits),
          std::string(kOurs)};
}

bool is_of_passes(std::string_view part) {
  return part == "forward" || part == "backward" || part == "recompute" || part == "tensor_comm";
}

/// What all passes of a rank take, and by how much they are slowed down by what is beside them.
Term passes_term(const BreakdownPart& part, const StepResult& result, const StepCosts& costs) {
  Term term{
      std::string(part.name),
      costs.shape.overlaps ? "m x (its chunks' passes, some beside another micro-batch's)"
                           : "m x (its chunks' passes)",
      fmt::format("m = {}, chunks = {}", costs.shape.micro_batches, costs.shape.virtual_stages),
      format(result.breakdown.*part.value),
      std::string(kOurs)};
  const Seconds slowed = part.name == "forward"    ? result.forward_slowed
                         : part.name == "backward" ? result.backward_slowed
                                                   : Seconds{};
  if (slowed > Seconds{}) {
    term.formula += " + what messages and buckets beside them slow down";
    term.numbers += fmt::format(", + {}", format(slowed));
  }
  return term;
}

Section sum_section(const Scenario& scenario, const StepResult& result, const StepCosts& costs) {
  Section section{.title = fmt::format("the iteration, seen from stage {}", result.reference_stage),
                  .terms = {}};
  for (const BreakdownPart& part : kBreakdownParts) {
    const Seconds time = result.breakdown.*part.value;
    if (time == Seconds{}) {
      continue;
    }
    if (part.name == "input") {
      section.terms.push_back(input_term(scenario, time));
      continue;
    }
    if (is_of_passes(part.name)) {
      section.terms.push_back(passes_term(part, result, costs));
      continue;
    }
    const bool is_bubble = part.name == "bubble";
    section.terms.push_back(
        {std::string(part.name),
         is_bubble ? "end of the stage - all other parts" : "as above",
         "",
         format(time),
         is_bubble ? "recurrence over the schedule's passes: start = max(stage free, input there)"
                   : std::string(kOurs)});
  }
  section.terms.push_back({"iteration time",
                           "sum of the parts",
                           "",
                           format(result.iteration_time),
                           "seeds E7, each term in detail"});
  return section;
}

Section utilization_section(const Scenario& scenario, const StepResult& result) {
  Section section{.title = "utilisation", .terms = {}};
  const auto batch = static_cast<double>(scenario.training.global_batch);
  const ForwardFlops forward = forward_flops(
      scenario.model, batch, scenario.training.sequence, AttentionCount::full, scenario.images());
  section.terms.push_back({"forward FLOPs",
                           "layers + core attention + logits",
                           fmt::format("{} + {} + {}",
                                       format(forward.layers),
                                       format(forward.core_attention),
                                       format(forward.logits)),
                           format(forward.total()),
                           "Narayanan et al. 2021, eq. 3 without recomputation"});
  const FlopsPerSecond peak = scenario.cluster.chip.rate(scenario.training.precision)->peak;
  section.terms.push_back({"MFU",
                           scenario.training.adapters
                               ? "(2 forward + core attention + 3 adapters) / (T devices peak)"
                               : "3 forward / (T devices peak)",
                           fmt::format("{} x {} / ({} x {} x {})",
                                       scenario.training.adapters ? 2 : 3,
                                       format(forward.total()),
                                       format(result.iteration_time),
                                       result.devices,
                                       format(peak)),
                           fmt::format("{:.4f}", result.mfu),
                           "Chowdhery et al. 2022; full attention"});
  section.terms.push_back({"HFU",
                           "(3 forward + recomputed) / (T devices peak)",
                           fmt::format("recompute {}", name(scenario.plan.recompute)),
                           fmt::format("{:.4f}", result.hfu),
                           "Korthikanti et al. 2022"});
  return section;
}

}  // namespace

std::vector<Section> explain(const Scenario& scenario) {
  if (const auto key = scenario.unlike()) {
    throw InputError(
        fmt::format("{}: expected none to explain: in closed form all devices are alike and "
                    "nothing is random",
                    *key));
  }
  std::vector<Section> sections = {shape_section(scenario)};
  if (scenario.formula == Formula::e7) {
    sections.push_back(e7_section(scenario));
  } else {
    StepCosts costs;
    step_costs(scenario, costs);
    const StepResult result = estimate(scenario);
    add_block_sections(scenario, sections);
    for (Section& moves : std::array{moves_section(scenario, costs),
                                     volume_section(scenario, costs, result.reference_stage)}) {
      if (!moves.terms.empty()) {
        sections.push_back(std::move(moves));
      }
    }
    sections.push_back(pass_section(scenario, costs));
    sections.push_back(pipeline_section(scenario, costs, result));
    sections.push_back(tail_section(scenario, costs, result));
    sections.push_back(sum_section(scenario, result, costs));
    sections.push_back(utilization_section(scenario, result));
    sections.push_back(memory_section(scenario, result));
  }
  sections.push_back(figure_section(scenario));
  return sections;
}

}  // namespace titer
