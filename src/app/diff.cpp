#include <CLI/CLI.hpp>
#include <memory>

#include "command.hpp"
#include "titer/report/difference_report.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

struct DiffOptions {
  std::string a;
  std::string b;
  std::vector<std::string> sets;
  std::vector<std::string> a_sets;
  std::vector<std::string> b_sets;
  std::string format = "text";
  std::string fidelity = "closed";

  /// With the changes of both, then its own, which were given with that option.
  [[nodiscard]] ScenarioSource source(const std::string& scenario,
                                      const std::vector<std::string>& own,
                                      std::string_view option) const {
    ScenarioSource changed =
        ScenarioOptions{.scenario = scenario, .sets = sets, .formula = ""}.source();
    for (const std::string& set : own) {
      changed.assign(parse_assignment(set, option));
    }
    return changed;
  }
};

int diff_command(const DiffOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  const ScenarioSource a = options.source(options.a, options.a_sets, "--set-a");
  const ScenarioSource b = options.source(options.b, options.b_sets, "--set-b");
  const Difference found = difference(a, b, fidelity, fidelity == Fidelity::closed ? 8 : 4);
  ScenarioNotes notes;
  notes.add("A", answer_notes(a, found.a_scenario));
  notes.add("B", answer_notes(b, found.b_scenario));
  print(format, difference_view(found), notes.lines());
  return kSuccess;
}

void add_sets(CLI::App& app, const char* flag, std::vector<std::string>& sets, const char* help) {
  app.add_option(flag, sets, help)->take_all()->allow_extra_args(false)->type_name("PATH=VALUE");
}

}  // namespace

Command add_diff(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "diff", "Show term by term why one scenario is faster than another, and by which inputs");
  app->footer(
      "Examples:\n"
      "  titer diff gpt3-175b-64xa100 gpt3-175b-64xa100 --set-b plan.recompute=full\n"
      "  titer diff a.json b.json --format json");
  const auto options = std::make_shared<DiffOptions>();
  app->add_option("a", options->a, "a run file, or the name of a shipped run")
      ->required()
      ->type_name("A");
  app->add_option("b", options->b, "the one to compare with it")->required()->type_name("B");
  add_sets(*app, "--set", options->sets, "put a value at a path of both; may be repeated");
  add_sets(*app, "--set-a", options->a_sets, "of A alone");
  add_sets(*app, "--set-b", options->b_sets, "of B alone");
  add_format(*app, options->format);
  app->add_option("--fidelity", options->fidelity, "closed, event or network")
      ->default_str("closed")
      ->type_name("NAME");
  return {app, [options] { return diff_command(*options); }};
}

}  // namespace titer
