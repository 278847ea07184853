#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "titer/report/network/traffic_matrix_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/view/view.hpp"

namespace titer {
namespace {

constexpr int kMostDevices = 131'072;
constexpr std::uint32_t kMostIterations = 100'000;

enum class TrafficFormat { text, csv, json, svg };
constexpr std::array<Choice<TrafficFormat>, 4> kTrafficFormats = {{{"text", TrafficFormat::text},
                                                                   {"csv", TrafficFormat::csv},
                                                                   {"json", TrafficFormat::json},
                                                                   {"svg", TrafficFormat::svg}}};

struct MatrixCommand {
  ScenarioOptions scenario;
  std::string kind = "all";
  std::string spread = "ring";
  std::optional<std::uint64_t> seed;
  std::optional<std::uint32_t> iterations;
  std::string exponents;  // "1.0:0.1"
  std::string format = "text";
  std::string out;
};

/// From the first iteration to the last.
struct Exponents {
  double first = 0;
  double last = 0;

  [[nodiscard]] double at(std::uint32_t iteration, std::uint32_t iterations) const {
    return iterations < 2
               ? first
               : std::lerp(first, last, static_cast<double>(iteration) / (iterations - 1));
  }
};

std::optional<Exponents> exponents_of(const std::string& text) {
  constexpr double steepest = 10;
  if (text.empty()) {
    return std::nullopt;
  }
  const std::size_t colon = text.find(':');
  const auto number = [](const std::string& word) -> std::optional<double> {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    const bool whole = !word.empty() && *end == '\0';
    return whole && value >= 0 && value <= steepest ? std::optional(value) : std::nullopt;
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

Scenario read_scenario_of(const ScenarioSource& source) {
  Scenario scenario = source.read();
  if (scenario.formula == Formula::e7) {
    throw InputError("formula.name: e7: expected titer, whose transfers are listed one by one");
  }
  if (scenario.plan.devices() > kMostDevices) {
    throw InputError(fmt::format(
        "plan: {} devices: expected at most {}", scenario.plan.devices(), kMostDevices));
  }
  check_export(scenario);
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

using Notes = std::vector<std::string>;

std::string iterations_of(const MatrixCommand& options,
                          const ExportedStep& step,
                          TrafficFormat format,
                          const Notes& notes) {
  const std::uint32_t count = *options.iterations;
  if (count < 1 || count > kMostIterations) {
    throw InputError(fmt::format("--iterations: {}: expected 1 to {}", count, kMostIterations));
  }
  if (options.kind != "all" && options.kind != name(TrafficKind::expert)) {
    throw InputError("--kind: " + options.kind +
                     ": expected expert with --iterations, in which nothing else changes");
  }
  const Scenario& scenario = step.scenario();
  TrafficOptions what{.only = TrafficKind::expert, .routing = routing_of(scenario)};
  const auto exponents = exponents_of(options.exponents);
  const StepTraffic traffic(step);
  std::vector<ExpertIteration> list;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (exponents) {
      what.routing->shape = RoutingShape::zipf;
      what.routing->exponent = exponents->at(i, count);
    }
    what.draw = ExpertDraw{.seed = options.seed.value_or(1), .iteration = i};
    const bool zipf = what.routing->shape == RoutingShape::zipf;
    list.push_back(
        {.iteration = i,
         .exponent = zipf ? std::optional(what.routing->exponent) : std::nullopt,
         .statistics = traffic_statistics(
             traffic.matrix(what), traffic.expert_pairs(), scenario.cluster.devices_per_node)});
  }
  View view = expert_iterations_view(step_title(scenario), list);
  switch (format) {
    case TrafficFormat::text:
      return written(TextView(notes_text(notes)).append(view.text), options.out);
    case TrafficFormat::csv:
      return written(Format::csv, view);
    case TrafficFormat::json:
      view.figures.push_back(notes_figure(notes));
      return written(Format::json, view);
    case TrafficFormat::svg:
      break;
  }
  throw InputError("--format: svg: expected text, csv or json with --iterations");
}

std::string matrix_of(const MatrixCommand& options,
                      const ExportedStep& step,
                      TrafficFormat format,
                      const Notes& notes) {
  TrafficOptions what{.spread = chosen("--spread", options.spread, kCollectiveSpreads),
                      .only = kind_called(options.kind)};
  if (const auto exponents = exponents_of(options.exponents)) {
    if (exponents->first != exponents->last) {
      throw InputError("--routing-exponent: " + options.exponents +
                       ": expected one exponent, or --iterations for it to change over");
    }
    what.routing = routing_of(step.scenario());
    what.routing->shape = RoutingShape::zipf;
    what.routing->exponent = exponents->first;
  }
  if (options.seed) {
    what.draw = ExpertDraw{.seed = *options.seed};
  }
  const TrafficMatrixView view = traffic_matrix_view(step, what, StepTraffic(step).matrix(what));
  switch (format) {
    case TrafficFormat::text:
      return written(TextView(notes_text(notes)).append(traffic_matrix_text(view)), options.out);
    case TrafficFormat::csv:
      return traffic_matrix_csv(view);
    case TrafficFormat::json: {
      Value json = traffic_matrix_json(view);
      add_notes(notes, json);
      return to_json(json) + "\n";
    }
    case TrafficFormat::svg:
      return traffic_matrix_svg(view);
  }
  return {};
}

int traffic_command(const MatrixCommand& options) {
  const TrafficFormat format = chosen("--format", options.format, kTrafficFormats);
  const ScenarioSource source = options.scenario.source();
  const ExportedStep step(read_scenario_of(source), ExportDetail::pass);
  const Notes notes = answer_notes(source, step.scenario());
  OutputFile out(options.out);
  out.write(options.iterations ? iterations_of(options, step, format, notes)
                               : matrix_of(options, step, format, notes));
  out.finish();
  if (format == TrafficFormat::csv || format == TrafficFormat::svg) {
    tell_notes(notes);  // a matrix that other programs read, and a picture of it
  }
  return kSuccess;
}

}  // namespace

Command add_traffic(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "traffic", "Show who sends how much to whom in one iteration: the traffic matrix");
  app->footer(
      "Examples:\n"
      "  titer traffic gpt3-175b-64xa100\n"
      "  titer traffic gpt3-175b-64xa100 --format svg --out traffic.svg\n"
      "  titer traffic gpt3-175b-64xa100 --format csv --out traffic.csv\n"
      "  titer topology fat-tree-2-level-1024 --traffic traffic.csv\n"
      "  titer traffic mixtral-8x7b-64xh100 --iterations 5 --routing-exponent 1.0:0.1");
  const auto options = std::make_shared<MatrixCommand>();
  options->scenario.add_to(*app);
  app->add_option("--kind",
                  options->kind,
                  "all, tensor, context, expert, data, pipeline or embedding traffic only")
      ->default_str("all")
      ->type_name("KIND");
  app->add_option("--spread",
                  options->spread,
                  "where a rank of a collective sends: ring (to the next of its group) or direct "
                  "(to all others alike); an all-to-all always goes to all")
      ->default_str("ring")
      ->type_name("SPREAD");
  app->add_option("--seed",
                  options->seed,
                  "draw which experts tokens choose, instead of what they choose on average");
  app->add_option("--iterations",
                  options->iterations,
                  "show how the drawn all-to-all of experts changes over so many iterations");
  app->add_option("--routing-exponent",
                  options->exponents,
                  "route by Zipf's law with this exponent, or from one to another over the "
                  "iterations, such as 1.0:0.1")
      ->type_name("A:B");
  app->add_option("--format", options->format, "text, csv, json or svg (a heat map)")
      ->default_str("text")
      ->type_name("FORMAT");
  app->add_option("--out", options->out, "write to this file, whole or not at all")
      ->type_name("FILE");
  return {app, [options] { return traffic_command(*options); }};
}

}  // namespace titer
