#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/output/interrupt.hpp"
#include "app/output/output_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/search.hpp"

namespace titer {
namespace {

struct SearchFiles {
  Format format = Format::text;
  std::string out = {};
};
constexpr std::array kSearchFiles = {
    format_option<&SearchFiles::format, kFormats>(),
    out_option<&SearchFiles::out>("write the best plan to this file, for titer run")};

int search_command(const QuestionCommand<SearchRequest, SearchFiles>& command) {
  const SearchFiles own = command.own();
  SearchRequest request = command.request();
  std::unique_ptr<OutputFile> out;
  if (!own.out.empty()) {
    out = std::make_unique<OutputFile>("--out", own.out, "json");
  }
  const Interrupt interrupt;  // what was found until then is the answer
  request.stop = &interrupt.requested();
  const SearchOutcome outcome = command.answer(request);
  if (out && outcome.best) {
    out->write(to_json(outcome.best->root) + "\n");
    out->finish();
  }
  const int found = command.print(own.format, outcome);
  if (!outcome.complete) {
    return kInterrupted;
  }
  for (const std::string& defect : outcome.defects) {
    fmt::print(stderr, "{}\n", defect);
  }
  return outcome.defects.empty() ? found : kDefect;
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
  return question_command(*app,
                          search_options(),
                          kSearchFiles,
                          search_command,
                          {.threads = "threads; default: all cores",
                           .counted = "plans",
                           .has_plot = true,
                           .has_fail_on = true});
}

}  // namespace titer
