#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/measured_option.hpp"
#include "app/output/interrupt.hpp"
#include "app/output/output_file.hpp"
#include "app/output/processes.hpp"
#include "app/output/progress.hpp"
#include "titer/ask/search.hpp"
#include "titer/search/search.hpp"

namespace titer {
namespace {

struct SearchCommandOptions {
  std::string search;
  std::vector<std::string> sets;
  std::string model;
  std::string cluster;
  std::int64_t devices = 0;
  std::int64_t batch = 0;
  std::int64_t sequence = 0;
  std::string precision;
  std::string stack;
  bool any_software = false;
  std::string objective;
  std::size_t top = 0;
  std::string best_of;
  std::string format = "text";
  std::string refine;
  std::string out;
  bool exhaustive = false;
  unsigned jobs = 0;
  MeasuredOption measured;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

/// The options as a search's file.
Document own_document(const SearchCommandOptions& options) {
  if (options.cluster.empty() || options.batch == 0) {
    throw InputError("titer search: expected a SEARCH, or --model, --cluster and --batch");
  }
  Value training = Value::make_object();
  training.add("global_batch", Value(options.batch));
  Value scenario = Value::make_object();
  scenario.add("model", Value(options.model));
  scenario.add("cluster", Value(options.cluster));
  scenario.add("training", std::move(training));
  scenario.add("stack", Value(usual_stack({.root = scenario, .sources = {}})));
  Document document{.root = Value::make_object(), .sources = {}};
  document.root.add("scenario", std::move(scenario));
  return document;
}

Asked asked_search(const SearchCommandOptions& options) {
  if (options.search.empty() == options.model.empty()) {
    throw InputError("titer search: expected either a SEARCH or --model, --cluster and --batch");
  }
  std::vector<std::string> sets = options.sets;
  const auto put = [&](bool given, const std::string& text) {
    if (given) {
      sets.push_back(text);
    }
  };
  const bool has_search = !options.search.empty();
  put(has_search && !options.cluster.empty(), "cluster=" + options.cluster);
  put(has_search && options.batch > 0, fmt::format("training.global_batch={}", options.batch));
  put(options.devices > 0, fmt::format("devices={}", options.devices));
  put(options.sequence > 0, fmt::format("training.sequence={}", options.sequence));
  put(!options.precision.empty(), "training.precision=" + options.precision);
  put(!options.stack.empty(), "stack=" + options.stack);
  put(options.any_software, "any_software=true");
  put(!options.objective.empty(), "objective=" + options.objective);
  put(options.top > 0, fmt::format("top={}", options.top));
  put(!options.best_of.empty(), "best_of=" + options.best_of);
  Asked asked{.what = options.search, .changes = parse_assignments(sets)};
  if (!options.model.empty()) {
    asked.what = own_document(options);
  }
  return asked;
}

int search_command(const SearchCommandOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  SearchRequest request{.search = {.what = {}, .changes = {}},
                        .exhaustive = options.exhaustive,
                        .threads = threads_or_usual(options.jobs, this_process(""))};
  if (!options.refine.empty()) {
    request.refine = chosen("--refine", options.refine, kFidelities);
  }
  request.search = asked_search(options);
  const std::vector<std::string> learned = options.measured.learn(kSearchData, request.search);
  std::unique_ptr<OutputFile> out;
  if (!options.out.empty()) {
    out = std::make_unique<OutputFile>(options.out);
  }
  const Interrupt interrupt;  // what was found until then is the answer
  request.stop = &interrupt.requested();
  SearchOutcome outcome = ask_with_progress(request, "plans");
  add_notes(learned, outcome.view);
  if (out && outcome.best) {
    out->write(to_json(outcome.best->root) + "\n");
    out->finish();
  }
  const int found = print(format, outcome, *options.report);
  if (!outcome.complete) {
    return kInterrupted;
  }
  for (const std::string& defect : outcome.defects) {
    fmt::print(stderr, "{}\n", defect);
  }
  return outcome.defects.empty() ? found : kDefect;
}

/// What is searched for: a file, or a model on a cluster.
void add_question(CLI::App& app, SearchCommandOptions& options) {
  app.add_option(
         "search",
         options.search,
         "a search file, or a shipped search (titer list searches); around a run: its file or name")
      ->type_name("SEARCH");
  app.add_option("--model", options.model, "without a SEARCH: the model")->type_name("NAME");
  app.add_option("--cluster", options.cluster, "the cluster")->type_name("NAME");
  app.add_option("--devices", options.devices, "the number of devices")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--batch", options.batch, "the global batch, sequences")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--sequence", options.sequence, "tokens of a sequence; needed with --model")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_option("--precision", options.precision, "of products: bf16 (usual), fp8, …")
      ->type_name("TYPE");
  app.add_option(
         "--stack",
         options.stack,
         "the training software; otherwise that of the SEARCH, with --model megatron-core, or "
         "what there is for the cluster's chips")
      ->type_name("NAME");
}

}  // namespace

Command add_search(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "search", "Find the best plans for a model, a cluster and a batch, under constraints");
  app->footer(
      "Examples:\n"
      "  titer search gpt3-175b-4096xa100\n"
      "  titer search --model gpt3-175b --cluster dgx-a100-80gb --devices 512 --batch 1536 "
      "--sequence 2048\n"
      "  titer search llama3-70b-64xh100 --stack megatron-core\n"
      "  titer search my-search.json --objective mfu --top 3 --refine event --out best.json");
  const auto options = std::make_shared<SearchCommandOptions>();
  add_question(*app, *options);
  app->add_flag(
      "--any-software", options->any_software, "plans that the stack's software cannot run, too");
  app->add_option("--set",
                  options->sets,
                  "put a value at a path of the search or of its scenario, such as "
                  "space.schedule=1f1b or constraints.memory_margin=0; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app->add_option("--objective",
                  options->objective,
                  "time, cost, tokens_per_dollar, mfu, energy, goodput, memory or devices")
      ->type_name("NAME");
  app->add_option("--top", options->top, "how many plans to show")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  options->measured.add_to(*app);
  app->add_option("--best-of",
                  options->best_of,
                  "shape: of the same tensor, pipeline, context and expert degree the best plan "
                  "only (usual); or plan: all")
      ->type_name("WHAT");
  add_format(*app, options->format, *options->report);
  options->report->add_plot_to(*app);
  app->add_option("--refine",
                  options->refine,
                  "event or network: evaluate the plans that were found at this fidelity, too")
      ->type_name("FIDELITY");
  app->add_option("--out", options->out, "write the best plan to this file, for titer run")
      ->type_name("FILE");
  app->add_flag("--exhaustive", options->exhaustive, "evaluate every plan: no bounds");
  app->add_option("--jobs", options->jobs, "threads; default: all cores")
      ->check(CLI::Range(1U, 4096U))
      ->type_name("N");
  return {app, [options] { return search_command(*options); }, options->report};
}

}  // namespace titer
