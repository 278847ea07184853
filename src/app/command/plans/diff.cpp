#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "titer/ask/whatif.hpp"

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
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();

  /// With the changes of both, then its own, which were given with that option.
  [[nodiscard]] Asked asked(const std::string& scenario,
                            const std::vector<std::string>& own,
                            std::string_view option) const {
    std::vector<Assignment> changes = parse_assignments(sets);
    const std::vector<Assignment> last = parse_assignments(own, option);
    changes.insert(changes.end(), last.begin(), last.end());
    return {.what = scenario, .changes = std::move(changes)};
  }
};

int diff_command(const DiffOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  return print(format,
               ask(DiffRequest{.a = options.asked(options.a, options.a_sets, "--set-a"),
                               .b = options.asked(options.b, options.b_sets, "--set-b"),
                               .fidelity = fidelity,
                               .for_report = options.report->is_wanted()}),
               *options.report);
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
  add_format(*app, options->format, *options->report);
  options->report->add_plot_to(*app);
  app->add_option("--fidelity", options->fidelity, "closed, event or network")
      ->default_str("closed")
      ->type_name("NAME");
  return {app, [options] { return diff_command(*options); }, options->report};
}

}  // namespace titer
