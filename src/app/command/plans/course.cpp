#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "titer/ask/campaign.hpp"

namespace titer {
namespace {

struct CourseCommandOptions {
  std::string course;
  std::vector<std::string> sets;
  std::string fidelity = "closed";
  std::string format = "text";
};

int course_command(const CourseCommandOptions& options) {
  const Fidelity fidelity = chosen("--fidelity", options.fidelity, kFidelities);
  const Format format = chosen("--format", options.format, kFormats);
  return print(format,
               ask(CourseRequest{
                   .course = {.what = options.course, .changes = parse_assignments(options.sets)},
                   .fidelity = fidelity}));
}

}  // namespace

Command add_course(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "course",
      "Follow training over time: phases on changing devices, jobs that share devices, federated "
      "rounds, or devices that follow queries (exit 1 where something does not fit in memory)");
  app->footer(
      "Examples:\n"
      "  titer course elastic-2-then-6\n"
      "  titer course federated --set rounds.local_steps=1 --format json");
  const auto options = std::make_shared<CourseCommandOptions>();
  app->add_option("course", options->course, "a course file, or a shipped one (titer list courses)")
      ->required()
      ->type_name("COURSE");
  app->add_option("--set",
                  options->sets,
                  "put a value at a path of every scenario, such as plan.micro_batch=4, or of the "
                  "course, such as rounds.clients=100; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  app->add_option("--fidelity",
                  options->fidelity,
                  "closed (closed form), event (event engine) or network (events whose transfers "
                  "share the links of the cluster)")
      ->default_str("closed")
      ->type_name("NAME");
  add_format(*app, options->format);
  return {app, [options] { return course_command(*options); }};
}

}  // namespace titer
