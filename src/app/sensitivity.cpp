#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <memory>

#include "command.hpp"
#include "titer/report/sensitivity_report.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

struct SensitivityCommand {
  ScenarioOptions scenario;
  std::string format = "text";
  std::string fidelity = "closed";
  std::string of = "iteration_time_s";
  std::string by = "1%";
  std::string reach;
  std::vector<std::string> costs;
};

std::optional<double> plain_number(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

/// "1%", "1 %" or "0.01".
double step_of(std::string_view text) {
  constexpr double least = 1e-4;
  constexpr double most = 0.5;
  std::string_view digits = text;
  const bool is_percent = digits.ends_with('%');
  if (is_percent) {
    digits.remove_suffix(digits.ends_with(" %") ? 2 : 1);
  }
  const auto number = plain_number(digits);
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
  const auto dollars = plain_number(digits);
  if (equals == 0 || !dollars || !(*dollars > 0)) {
    throw InputError(fmt::format(
        "--cost: {}: expected PATH=DOLLARS, what a tenth more of a figure costs, such as "
        "cluster.chip.memory.bandwidth=200",
        text));
  }
  return {.path = text.substr(0, equals), .dollars = *dollars};
}

int sensitivity_command(const SensitivityCommand& command) {
  const Format format = chosen("--format", command.format, kFormats);
  const Fidelity fidelity = chosen("--fidelity", command.fidelity, kFidelities);
  SensitivityOptions options{.of = outcome_figure(command.of, "--of"), .step = step_of(command.by)};
  for (const std::string& cost : command.costs) {
    options.costs.push_back(cost_of(cost));
  }
  const auto target =
      command.reach.empty() ? std::nullopt : std::optional(parse_target(command.reach));
  const ScenarioSource source = command.scenario.source();
  ScenarioProbe probe(source, fidelity);
  SensitivityReport report{.probe = &probe, .sensitivity = sensitivity(probe, options)};
  if (fidelity == Fidelity::closed) {
    report.break_even = break_even(probe);
  }
  if (target) {
    report.reach = reach(probe, *target);
  }
  print(format, sensitivity_view(report), answer_notes(source, probe.scenario()));
  return kSuccess;
}

}  // namespace

Command add_sensitivity(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "sensitivity", "Show what a scenario depends on, how much, and where that changes");
  app->footer(
      "Examples:\n"
      "  titer sensitivity gpt3-175b-64xa100\n"
      "  titer sensitivity gpt3-175b-64xa100 --reach 12s\n"
      "  titer sensitivity gpt3-175b-64xa100 --of mfu --format csv\n"
      "  titer sensitivity gpt3-175b-64xa100 --cost cluster.chip.memory.bandwidth=200 "
      "--cost cluster.node.nic_bandwidth=50");
  const auto command = std::make_shared<SensitivityCommand>();
  command->scenario.add_to(*app);
  add_format(*app, command->format);
  app->add_option("--fidelity", command->fidelity, "closed, event or network")
      ->default_str("closed")
      ->type_name("NAME");
  app->add_option("--of",
                  command->of,
                  "the figure of the result: iteration_time_s, mfu, tokens_per_s, data_comm_s, "
                  "memory_peak_bytes, ...")
      ->default_str("iteration_time_s")
      ->type_name("NAME");
  app->add_option("--by", command->by, "the largest step of a figure")
      ->default_str("1%")
      ->type_name("PERCENT");
  app->add_option("--reach",
                  command->reach,
                  "what each figure alone must be for this: 12s of the iteration time, or mfu=0.5")
      ->type_name("TARGET");
  app->add_option("--cost",
                  command->costs,
                  "what a tenth more of a figure costs, in dollars; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=DOLLARS");
  return {app, [command] { return sensitivity_command(*command); }};
}

}  // namespace titer
