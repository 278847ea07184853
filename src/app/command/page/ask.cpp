#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <iterator>

#include "app/question_command.hpp"
#include "titer/input/file.hpp"
#include "titer/web/answer.hpp"

namespace titer {
namespace {

struct AskOptions {
  std::string question = "-";
  unsigned jobs = 0;
  unsigned seconds = 0;
  unsigned gib = 0;
  bool no_files = false;
};
constexpr Range kNoneOrMore = {0, 1'000'000};
constexpr std::array kAskOptions = {
    options::text<&AskOptions::question>("question", "FILE", "a file; -: standard input")
        .first()
        .or_else("-"),
    options::integer<&AskOptions::jobs>("jobs", "N", "threads of searches")
        .or_else("as many as there are cores")
        .within({0, 4096}),
    options::integer<&AskOptions::seconds>(
        "seconds", "N", "of a search: answer with what was found until then")
        .within(kNoneOrMore),
    options::integer<&AskOptions::gib>("memory_gib", "N", "take no more memory than this")
        .within(kNoneOrMore),
    options::flag<&AskOptions::no_files>("no_files", "refuse files that a question names")};

/// Beyond it the system refuses this process memory.
void limit_memory(unsigned gib) {
  const rlim_t most = static_cast<rlim_t>(gib) << 30U;
  const rlimit both{.rlim_cur = most, .rlim_max = most};
  if (most > 0 && setrlimit(RLIMIT_AS, &both) != 0) {
    throw InputError("titer ask: the system does not take the limit that was asked for");
  }
}

std::string question_text(const std::string& path) {
  if (path != "-") {
    return read_text(path);
  }
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

int ask_command(const AskOptions& options) {
  limit_memory(options.gib);
  WebLimits limits{.threads = threads_or_usual(options.jobs, this_process("")),
                   .may_read_files = !options.no_files};
  if (options.seconds > 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.seconds);
    limits.is_late = [end] { return std::chrono::steady_clock::now() > end; };
  }
  const Value answer = web_answer(question_text(options.question), "question", limits);
  print(to_json(answer, 0) + "\n");
  return answer.find("errors") != nullptr ? kUserError : kSuccess;
}

}  // namespace

Command add_ask(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "ask", "Answer a question that is written as JSON, as JSON: what pages and programs ask");
  app->footer(
      "Examples:\n"
      "  echo '{\"question\": \"choices\"}' | titer ask\n"
      "  titer ask question.json");
  return own_command(*app, kAskOptions, ask_command);
}

}  // namespace titer
