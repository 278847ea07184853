#include <fmt/format.h>

#include "ask/report_parts.hpp"
#include "ask/scenario_options.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/ask/network.hpp"
#include "titer/model/routing/zipf.hpp"
#include "titer/report/network/traffic_matrix_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

constexpr int kMostTrafficDevices = 131'072;
constexpr std::int64_t kMostIterations = 100'000;

constexpr std::array kTrafficOptions = options::with_scenario<&TrafficRequest::scenario>(std::array{
    options::text<&TrafficRequest::kind>(
        "kind", "KIND", "all, tensor, context, expert, data, pipeline or embedding traffic only")
        .or_else("all"),
    options::text<&TrafficRequest::spread>(
        "spread",
        "SPREAD",
        "where a rank of a collective sends: ring (to the next of its group) "
        "or direct (to all others alike); an all-to-all always goes to all")
        .or_else("ring"),
    options::integer<&TrafficRequest::seed>(
        "seed", "N", "draw which experts tokens choose, instead of what they choose on average"),
    options::integer<&TrafficRequest::iterations>(
        "iterations",
        "N",
        "show how the drawn all-to-all of experts changes over so many iterations"),
    options::text<&TrafficRequest::routing_exponent>(
        "routing_exponent",
        "A:B",
        "route by Zipf's law with this exponent, or from one to "
        "another over the iterations, such as 1.0:0.1")});

/// From the first iteration to the last.
struct Exponents {
  double first = 0;
  double last = 0;

  [[nodiscard]] double at(std::int64_t iteration, std::int64_t iterations) const {
    return iterations < 2
               ? first
               : std::lerp(first,
                           last,
                           static_cast<double>(iteration) / static_cast<double>(iterations - 1));
  }
};

std::optional<Exponents> exponents_of(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const std::size_t colon = text.find(':');
  const auto number = [](const std::string& word) -> std::optional<double> {
    const auto value = number_of_text<double>(word);
    return value && *value >= kZipfExponents.least && *value <= kZipfExponents.most ? value
                                                                                    : std::nullopt;
  };
  const auto first = number(text.substr(0, colon));
  const auto last = colon == std::string::npos ? first : number(text.substr(colon + 1));
  if (!first || !last) {
    throw InputError("--routing-exponent: " + text +
                     ": expected an exponent of 0 to 10, or two of them such as 1.0:0.1");
  }
  return Exponents{*first, *last};
}

std::optional<TrafficKind> kind_called(const std::string& word) {
  if (word == "all") {
    return std::nullopt;
  }
  constexpr std::array<Choice<std::optional<TrafficKind>>, kTrafficKinds.size() + 1> choices = [] {
    std::array<Choice<std::optional<TrafficKind>>, kTrafficKinds.size() + 1> all{};
    all[0] = {"all", std::nullopt};
    for (std::size_t i = 0; i < kTrafficKinds.size(); ++i) {
      all[i + 1] = {kTrafficKinds[i].name, kTrafficKinds[i].value};
    }
    return all;
  }();
  return chosen("--kind", word, choices);
}

Scenario sending_scenario(const ScenarioSource& source) {
  Scenario scenario = source.read();
  if (scenario.formula == Formula::e7) {
    throw InputError("formula.name: e7: expected titer, whose transfers are listed one by one");
  }
  if (scenario.plan.devices() > kMostTrafficDevices) {
    throw InputError(fmt::format(
        "plan: {} devices: expected at most {}", scenario.plan.devices(), kMostTrafficDevices));
  }
  scenario.conditions = {};  // they change times, not bytes
  return scenario;
}

/// The model's. Throws InputError where the plan has no all-to-all of experts.
Routing routing_of(const Scenario& scenario) {
  const Transformer* transformer = scenario.model.if_transformer();
  if (transformer == nullptr || !transformer->experts || scenario.plan.expert == 1) {
    throw InputError(
        fmt::format("plan.expert: {}: expected a model with experts on several ranks, whose "
                    "all-to-all changes from iteration to iteration",
                    scenario.plan.expert));
  }
  return transformer->experts->routing;
}

std::uint64_t seed_of(const TrafficRequest& request) {
  return static_cast<std::uint64_t>(request.seed.value_or(1));
}

View iterations_view(const TrafficRequest& request, const ExportedStep& step) {
  const std::int64_t count = *request.iterations;
  if (count < 1 || count > kMostIterations) {
    throw InputError(fmt::format("--iterations: {}: expected 1 to {}", count, kMostIterations));
  }
  if (request.kind != "all" && request.kind != name(TrafficKind::expert)) {
    throw InputError("--kind: " + request.kind +
                     ": expected expert with --iterations, in which nothing else changes");
  }
  if (request.picture != AnswerPicture::none) {
    throw InputError("--format: svg: expected text, csv or json with --iterations");
  }
  const Scenario& scenario = step.scenario();
  const std::vector<int> nodes = step.nodes();
  TrafficOptions what{.only = TrafficKind::expert, .routing = routing_of(scenario)};
  const auto exponents = exponents_of(request.routing_exponent);
  const StepTraffic traffic(step);
  std::vector<ExpertIteration> list;
  for (std::int64_t i = 0; i < count; ++i) {
    if (exponents) {
      what.routing->shape = RoutingShape::zipf;
      what.routing->exponent = exponents->at(i, count);
    }
    what.draw = ExpertDraw{.seed = seed_of(request), .iteration = static_cast<std::uint32_t>(i)};
    const bool zipf = what.routing->shape == RoutingShape::zipf;
    list.push_back(
        {.iteration = static_cast<std::uint32_t>(i),
         .exponent = zipf ? std::optional(what.routing->exponent) : std::nullopt,
         .statistics = traffic_statistics(traffic.matrix(what), traffic.expert_pairs(), nodes)});
  }
  return expert_iterations_view(step_title(scenario), list);
}

TrafficMatrixView matrix_of(const TrafficRequest& request, const ExportedStep& step) {
  TrafficOptions what{.spread = chosen("--spread", request.spread, kCollectiveSpreads),
                      .only = kind_called(request.kind)};
  if (const auto exponents = exponents_of(request.routing_exponent)) {
    if (exponents->first != exponents->last) {
      throw InputError("--routing-exponent: " + request.routing_exponent +
                       ": expected one exponent, or --iterations for it to change over");
    }
    what.routing = routing_of(step.scenario());
    what.routing->shape = RoutingShape::zipf;
    what.routing->exponent = exponents->first;
  }
  if (request.seed) {
    what.draw = ExpertDraw{.seed = seed_of(request)};
  }
  return traffic_matrix_view(step, what, StepTraffic(step).matrix(what));
}

}  // namespace

std::span<const Option<TrafficRequest>> traffic_options() { return kTrafficOptions; }

PictureOutcome ask(const TrafficRequest& request) {
  const ScenarioSource source = source_of(request.scenario);
  const ExportedStep step(sending_scenario(source), ExportDetail::pass);
  const std::vector<std::string> notes = answer_notes(source, step.scenario());
  PictureOutcome outcome;
  outcome.notes = notes;
  if (request.iterations) {
    outcome.view = iterations_view(request, step);
    add_asked(request.scenario, step.scenario(), outcome.view);
    add_notes(notes, outcome.view);
    return outcome;
  }
  TrafficMatrixView matrix = matrix_of(request, step);
  if (request.picture != AnswerPicture::none) {
    outcome.picture = traffic_matrix_svg(matrix);
    if (!request.for_report) {
      return outcome;
    }
  }
  std::vector<Drawing> drawings;
  if (request.for_report) {
    drawings.push_back({.title = "Who sends how much to whom",
                        .svg = traffic_matrix_svg(matrix),
                        .note = "Senders downwards, receivers to the right.",
                        .is_large = true});
  }
  outcome.view = traffic_view(std::move(matrix), notes);
  outcome.view.drawings = std::move(drawings);
  add_asked(request.scenario, Figures(), outcome.view);  // of pairs there are many
  return outcome;
}

}  // namespace titer
