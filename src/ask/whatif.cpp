#include "titer/ask/whatif.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report_parts.hpp"
#include "scenario_options.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/launch/launch.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/report/study/difference_report.hpp"
#include "titer/report/study/sensitivity_report.hpp"
#include "titer/report/study/tune_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/units/number_text.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

template <Asked DiffRequest::*... scenarios>
constexpr Option<DiffRequest> changes_of(std::string_view key, std::string_view about) {
  return {.words = {.key = key, .type = "PATH=VALUE", .about = about, .kind = OptionKind::changes},
          .read = [](const OptionWords& own, Reader& in, const Document&, DiffRequest& request) {
            const std::vector<Assignment> changes = read_changes(own, in);
            (std::ranges::copy(changes, std::back_inserter((request.*scenarios).changes)), ...);
          }};
}

constexpr std::array kDiffOptions = {
    options::asked<&DiffRequest::a>("a", "A", "a run file, or the name of a shipped run")
        .needed()
        .first()
        .file(kOnly<kRunData>),
    options::asked<&DiffRequest::b>("b", "B", "the one to compare with it")
        .needed()
        .first()
        .file(kOnly<kRunData>),
    changes_of<&DiffRequest::a, &DiffRequest::b>("set",
                                                 "put a value at a path of both; may be repeated"),
    changes_of<&DiffRequest::a>("set_a", "of A alone"),
    changes_of<&DiffRequest::b>("set_b", "of B alone"),
    options::choice<&DiffRequest::fidelity, kFidelities>(
        "fidelity", "NAME", "closed, event or network")
        .or_else("closed")};

constexpr std::array kSensitivityOptions =
    options::with_scenario<&SensitivityRequest::scenario>(std::array{
        options::choice<&SensitivityRequest::fidelity, kFidelities>(
            "fidelity", "NAME", "closed, event or network")
            .or_else("closed"),
        options::text<&SensitivityRequest::of>(
            "of",
            "NAME",
            "the figure of the result, such as iteration_time_s, mfu, tokens_per_s, data_comm_s or "
            "memory_peak_bytes")
            .or_else("iteration_time_s"),
        options::text<&SensitivityRequest::by>("by", "PERCENT", "the largest step of a figure")
            .or_else("1%"),
        options::text<&SensitivityRequest::reach>(
            "reach",
            "TARGET",
            "what each figure alone must be for this: 12s of the iteration time, or mfu=0.5"),
        options::texts<&SensitivityRequest::costs>(
            "cost",
            "PATH=DOLLARS",
            "what a tenth more of a figure costs, in dollars; may be repeated")});

constexpr std::array kTuneOptions = options::with_scenario<&TuneRequest::scenario>(
    std::array{options::choice<&TuneRequest::fidelity, kFidelities>(
                   "fidelity", "NAME", "closed, event or network")
                   .or_else("closed; event where devices differ"),
               options::text<&TuneRequest::measured>(
                   "measured",
                   "TIME",
                   "what an iteration of the run was measured to take: gains are shares of it"),
               options::integer<&TuneRequest::top>("top", "N", "how many changes the text shows")
                   .or_else("10")
                   .within({1, 1000})});

/// Inputs whose contributions are told apart, as far as time allows.
constexpr std::size_t kMostInputs = 8;
constexpr std::size_t kMostInputsOfEvents = 4;

/// "1%", "1 %" or "0.01".
double step_of(std::string_view text) {
  constexpr double least = 1e-4;
  constexpr double most = 0.5;
  std::string_view digits = text;
  const bool is_percent = digits.ends_with('%');
  if (is_percent) {
    digits.remove_suffix(digits.ends_with(" %") ? 2 : 1);
  }
  const auto number = number_of_text<double>(digits);
  const double step = number.value_or(0) / (is_percent ? 100.0 : 1.0);
  if (!(step >= least && step <= most)) {
    throw InputError(fmt::format("--by: {}: expected a step from 0.01% to 50%, such as 1%", text));
  }
  return step;
}

/// "PATH=$200"
FigureCost cost_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::string_view digits;
  if (equals != std::string::npos) {
    digits = std::string_view(text).substr(equals + 1);
    digits.remove_prefix(digits.starts_with('$') ? 1 : 0);
  }
  const auto dollars = number_of_text<double>(digits);
  if (equals == 0 || !dollars || !(*dollars > 0)) {
    throw InputError(fmt::format(
        "--cost: {}: expected PATH=DOLLARS, what a tenth more of a figure costs, such as "
        "cluster.chip.memory.bandwidth=200",
        text));
  }
  return {.path = text.substr(0, equals), .dollars = *dollars};
}

/// "16.5s"; nothing where none is given.
std::optional<Seconds> measured_time(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto time = parse<Seconds>(text);
  if (!time || !(*time > Seconds{})) {
    throw InputError(fmt::format(
        "--measured: {}: expected the time of an iteration, such as 16.5s or 850ms", text));
  }
  return time;
}

/// What was asked of one of two.
Figures columns_of(const std::string& prefix, const Asked& asked, const Scenario& scenario) {
  Figures columns = joined({{"asked", words_of(asked)}}, asked_columns(scenario));
  for (Figure& column : columns) {
    column.key = prefix + column.key;
  }
  return columns;
}

/// Of software whose file says nothing of what it can do every change is tried.
void note_unknown_abilities(const ScenarioSource& source,
                            const Scenario& scenario,
                            std::vector<std::string>& notes) {
  if (source.document().at("stack.abilities") == nullptr) {
    notes.push_back(fmt::format(
        "what {} can do is not known (\"abilities\" of its file): a change may be beyond it",
        scenario.stack.name));
  }
}

}  // namespace

std::span<const Option<DiffRequest>> diff_options() { return kDiffOptions; }

Answer ask(const DiffRequest& request) {
  const ScenarioSource a = source_of(request.a);
  const ScenarioSource b = source_of(request.b);
  const std::size_t inputs =
      request.fidelity == Fidelity::closed ? kMostInputs : kMostInputsOfEvents;
  const Difference found = difference(a, b, request.fidelity, inputs);
  ScenarioNotes notes;
  notes.add("A", answer_notes(a, found.a_scenario));
  notes.add("B", answer_notes(b, found.b_scenario));
  View view = difference_view(found);
  view.asked = joined(columns_of("a_", request.a, found.a_scenario),
                      columns_of("b_", request.b, found.b_scenario));
  add_notes(notes.lines(), view);
  if (request.for_report) {
    add_inputs(a, "A", view);
    add_inputs(b, "B", view);
  }
  return {.view = std::move(view)};
}

std::span<const Option<SensitivityRequest>> sensitivity_options() { return kSensitivityOptions; }

Answer ask(const SensitivityRequest& request) {
  SensitivityOptions options{.of = outcome_figure(request.of, "--of"), .step = step_of(request.by)};
  for (const std::string& cost : request.costs) {
    options.costs.push_back(cost_of(cost));
  }
  const auto target =
      request.reach.empty() ? std::nullopt : std::optional(parse_target(request.reach));
  const ScenarioSource source = source_of(request.scenario);
  ScenarioProbe probe(source, request.fidelity);
  SensitivityReport report{.probe = &probe, .sensitivity = sensitivity(probe, options)};
  if (request.fidelity == Fidelity::closed) {
    report.break_even = break_even(probe);
  }
  if (target) {
    report.reach = reach(probe, *target);
  }
  View view = sensitivity_view(report);
  add_asked(request.scenario, probe.scenario(), view);
  add_notes(answer_notes(source, probe.scenario()), view);
  if (request.for_report) {
    add_terms(probe.scenario(), view);
    add_inputs(source, "the scenario", view);
  }
  return {.view = std::move(view)};
}

std::span<const Option<TuneRequest>> tune_options() { return kTuneOptions; }

Answer ask(const TuneRequest& request) {
  const std::optional<Seconds> measured = measured_time(request.measured);
  const ScenarioSource source = source_of(request.scenario);
  const Scenario scenario = source.read();
  ScenarioProbe probe(source, request.fidelity.value_or(usual_fidelity(scenario)));
  TuneReport report{.probe = &probe,
                    .answer = tune(probe, software_abilities(source)),
                    .measured = measured,
                    .top = request.top};
  const auto format = launch_format(scenario.stack.name);
  if (format && scenario.model.is_transformer()) {
    report.software = software_name(*format);
    report.flags = [&probe, format](const Tuning& tuning) {
      static_cast<void>(probe.with(tuning.assignments()));
      return changed_settings(*format, probe.scenario(), probe.changed());
    };
  }
  std::vector<std::string> notes = answer_notes(source, scenario);
  note_unknown_abilities(source, scenario, notes);
  View view = tune_view(report, notes);
  add_asked(request.scenario, scenario, view);
  return {.view = std::move(view),
          .good = report.answer.run_fits || report.answer.best(true) != nullptr};
}

}  // namespace titer
