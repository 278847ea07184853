#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command.hpp"
#include "app/output/processes.hpp"
#include "page_server.hpp"

namespace titer {

Command add_serve(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "serve", "Serve a page that asks, with fields and sliders, to browsers on this machine");
  app->footer(
      "Examples:\n"
      "  titer serve\n"
      "  titer serve --port 9000 --at-once 4");
  const auto options = std::make_shared<ServeOptions>();
  app->add_option("--port", options->port, "of this machine; 0: any that is free")
      ->default_str("8080")
      ->check(CLI::Range(0, 65535))
      ->type_name("N");
  app->add_option("--host",
                  options->host,
                  "the address to listen at; one that others reach lets them compute here")
      ->default_str("127.0.0.1")
      ->type_name("ADDRESS");
  app->add_option("--at-once", options->at_once, "questions answered at the same time; others wait")
      ->default_str("as many as there are cores")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app->add_option("--seconds", options->seconds, "the longest that a question may take")
      ->default_str("60")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app->add_option("--memory-gib", options->memory_gib, "the most memory that a question may take")
      ->default_str("4")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  return {app, [options] {
            if (options->at_once == 0) {
              options->at_once = threads_or_usual(0, this_process(""));
            }
            serve_page(*options);
            return kSuccess;
          }};
}

}  // namespace titer
