#include <CLI/CLI.hpp>

#include "app/question_command.hpp"
#include "page_server.hpp"

namespace titer {
namespace {

constexpr Range kOneOrMore = {1, 1'000'000};
constexpr std::array kServeOptions = {
    options::integer<&ServeOptions::port>("port", "N", "of this machine; 0: any that is free")
        .or_else("8080")
        .within({0, 65535}),
    options::text<&ServeOptions::host>(
        "host", "ADDRESS", "the address to listen at; one that others reach lets them compute here")
        .or_else("127.0.0.1"),
    options::integer<&ServeOptions::at_once>(
        "at_once", "N", "questions answered at the same time; others wait")
        .or_else("as many as there are cores")
        .within(kOneOrMore),
    options::integer<&ServeOptions::seconds>("seconds", "N", "the longest that a question may take")
        .or_else("60")
        .within(kOneOrMore),
    options::integer<&ServeOptions::memory_gib>(
        "memory_gib", "N", "the most memory that a question may take")
        .or_else("4")
        .within(kOneOrMore)};

int serve_command(ServeOptions options) {
  if (options.at_once == 0) {
    options.at_once = threads_or_usual(0, this_process(""));
  }
  serve_page(options);
  return kSuccess;
}

}  // namespace

Command add_serve(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "serve", "Serve a page that asks, with fields and sliders, to browsers on this machine");
  app->footer(
      "Examples:\n"
      "  titer serve\n"
      "  titer serve --port 9000 --at-once 4");
  return own_command(*app, kServeOptions, serve_command);
}

}  // namespace titer
