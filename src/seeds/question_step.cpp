// Steps, models, schedules, profiles.

#include <filesystem>

#include <fmt/format.h>

#include "question_text.hpp"
#include "titer/estimate/figures.hpp"
#include "titer/plan/schedule/read_schedule.hpp"
#include "titer/scenario/load_part.hpp"
#include "titer/trace/op_profile.hpp"

namespace titer {
namespace {

/// Where runs that belong to seeds are, below the data.
constexpr std::string_view kSeedRuns = "configs/seeds/runs";

/// A run by the name of one that belongs to seeds, otherwise as titer run takes it.
std::string path_of_run(const std::string& name) {
  const std::string path = fmt::format("{}/{}.json", kSeedRuns, name);
  return std::filesystem::exists(data_root() / path) ? path : name;
}

void add_memory(const StepResult& result, NamedNumbers& numbers) {
  numbers.push_back({"memory.peak_bytes", result.memory_peak.si()});
  numbers.push_back({"memory.capacity_bytes", result.memory_capacity.si()});
  for (const MemoryPart& part : kMemoryParts) {
    numbers.push_back({"memory." + std::string(part.name), (result.peak_stage().*part.value).si()});
  }
  numbers.push_back({"fits", result.fits() ? 1.0 : 0.0});
}

}  // namespace

NamedNumbers result_numbers(const Scenario& scenario, const StepResult& result) {
  NamedNumbers numbers;
  for (const ResultFigure& figure : kResultFigures) {
    numbers.push_back({std::string(figure.name), figure.value(result)});
  }
  for (const BreakdownPart& part : kBreakdownParts) {
    numbers.push_back(
        {"breakdown_s." + std::string(part.name), (result.breakdown.*part.value).si()});
  }
  Seconds communication;
  for (const CommunicationPart& part : kCommunicationParts) {
    communication += result.comm_total.*part.value;
    numbers.push_back(
        {"comm_total_s." + std::string(part.name), (result.comm_total.*part.value).si()});
  }
  const Breakdown& parts = result.breakdown;
  const Seconds compute = parts.forward + parts.backward + parts.recompute;
  const Seconds exposed = parts.tensor_comm + parts.context_comm + parts.expert_comm +
                          parts.pipeline_comm + parts.data_comm + parts.host_comm;
  numbers.push_back({"compute_s", compute.si()});
  numbers.push_back({"comm_s", communication.si()});
  numbers.push_back({"exposed_comm_s", exposed.si()});
  numbers.push_back({"efficiency", compute / (compute + communication)});
  numbers.push_back({"devices", static_cast<double>(result.devices)});
  numbers.push_back({"micro_batches", static_cast<double>(scenario.micro_batches())});
  numbers.push_back({"parameters", static_cast<double>(parameters(scenario))});
  add_memory(result, numbers);
  return numbers;
}

RunReference RunReference::read(Reader& in,
                                std::string_view key,
                                const std::filesystem::path& folder) {
  RunReference reference;
  const Value* run = in.raw(key);
  reference.changes = read_changes(in);
  if (run->kind == Value::Kind::text) {
    reference.run = path_of_run(run->text);
    const bool of_seeds = reference.run != run->text;
    reference.document = load_data(
        kRunData, of_seeds ? (data_root() / reference.run).string() : reference.run, folder);
  } else {
    reference.document.root = without_places(*run);
  }
  return reference;
}

Scenario RunReference::scenario() const {
  ScenarioSource source(document);
  for (const Assignment& change : changes) {
    source.assign(change);
  }
  return source.read();
}

std::string RunReference::arguments() const { return run + set_options(changes); }

RunQuestion RunQuestion::read(Reader& in, const std::filesystem::path& folder) {
  RunQuestion question;
  question.reference = RunReference::read(in, key, folder);
  question.fidelity = in.maybe_choice<Fidelity>("fidelity", kFidelities).value_or(Fidelity::closed);
  return question;
}

NamedNumbers RunQuestion::answer() const {
  const Scenario asked = reference.scenario();
  Estimator estimator;
  StepResult result;
  evaluate(asked, fidelity, estimator, result);
  return result_numbers(asked, result);
}

std::string RunQuestion::command() const {
  if (reference.run.empty()) {
    return {};
  }
  const bool closed = fidelity == Fidelity::closed;
  return "titer run " + reference.arguments() +
         (closed ? std::string()
                 : fmt::format(" --fidelity {}",
                               kFidelities[static_cast<std::size_t>(fidelity)].name));
}

ModelQuestion ModelQuestion::read(Reader& in, const std::filesystem::path& /*folder*/) {
  const Value* model = in.raw("model");
  const Changes changes = read_changes(in);
  ModelQuestion question;
  question.batch = in.maybe_number("batch", 1e-6, 1e12).value_or(1.0);
  question.sequence = in.maybe_integer("sequence", 1).value_or(1);
  question.model = load_model(without_places(*model), changes);
  return question;
}

NamedNumbers ModelQuestion::answer() const {
  const ForwardFlops forward = forward_flops(model, batch, sequence, AttentionCount::full);
  return {{"parameters", static_cast<double>(parameters(model))},
          {"layers", static_cast<double>(model.layers())},
          {"forward_flops", forward.total().si()},
          {"layer_flops", forward.layers.si()},
          {"attention_flops", forward.core_attention.si()},
          {"logit_flops", forward.logits.si()},
          {"model_flops", 3 * forward.total().si()}};
}

ScheduleQuestion ScheduleQuestion::read(Reader& in, const std::filesystem::path& /*folder*/) {
  constexpr double longest = 10'000;  // relative
  ScheduleQuestion question;
  question.schedule = read_schedule(in);
  const auto whole = [&](std::string_view name, std::int64_t otherwise) {
    return static_cast<int>(in.maybe_integer(name, 1, 100'000).value_or(otherwise));
  };
  const auto duration = [&](std::string_view name) {
    return Seconds::from_si(in.maybe_number(name, 0.0, longest).value_or(1.0));
  };
  question.shape = {.stages = whole("pipeline", 1),
                    .micro_batches = whole("micro_batches", 1),
                    .virtual_stages = whole("virtual_stages", usual_chunks(question.schedule))};
  question.times = {.forward = duration("forward"),
                    .input_gradient = duration("input_gradient"),
                    .weight_gradient = duration("weight_gradient")};
  if (const auto problem = refusal(question.schedule, question.shape)) {
    in.fail("schedule", *problem);
  }
  return question;
}

NamedNumbers ScheduleQuestion::answer() const {
  const ScheduleRun run = run_schedule(schedule, shape, times);
  return {{"makespan", run.makespan.si()},
          {"busy", run.ranks.front().busy.si()},
          {"idle", run.idle(0).si()},
          {"utilization", run.ranks.front().busy / run.makespan},
          {"bubble_ratio", run.bubble_ratio()},
          {"bubble_overhead", run.bubble_overhead()},
          {"peak_chunks", static_cast<double>(run.ranks.front().peak_chunks)}};
}

std::string ScheduleQuestion::command() const {
  return fmt::format(
      "titer timeline --schedule {} --pipeline {} --micro-batches {} --virtual-stages {} --forward "
      "{} --input-gradient {} --weight-gradient {}",
      name(schedule),
      shape.stages,
      shape.micro_batches,
      shape.virtual_stages,
      times.forward.si(),
      times.input_gradient.si(),
      times.weight_gradient.si());
}

ProfileQuestion ProfileQuestion::read(Reader& in, const std::filesystem::path& folder) {
  ProfileQuestion question;
  question.file = folder / in.text("profile");
  return question;
}

NamedNumbers ProfileQuestion::answer() const {
  const StepBreakdown breakdown = load_op_profile(file);
  NamedNumbers numbers = {{"time", breakdown.time.si()}, {"idle", breakdown.idle / breakdown.time}};
  for (std::size_t i = 0; i < kTraceCategories; ++i) {
    const auto category = static_cast<TraceCategory>(i);
    numbers.push_back({expression_name(name(category)), breakdown[category].busy / breakdown.time});
  }
  return numbers;
}

std::string ProfileQuestion::command() const {
  std::error_code ignored;
  const auto shown = std::filesystem::relative(file, data_root(), ignored);
  return "titer trace " + (ignored || shown.empty() ? file : shown).string();
}

}  // namespace titer
