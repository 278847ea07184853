#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "app/output/output_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/search.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/blanks.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/number_text.hpp"

namespace titer {
namespace {

struct NewFiles {
  std::string out = {};
};
constexpr std::array kNewFiles = {out_option<&NewFiles::out>()};

/// A question on the terminal: its answer, or what is usual where only the return key is pressed.
std::string answer_to(std::string_view question, std::string_view usual) {
  fmt::print(stderr, "{}{}: ", question, usual.empty() ? "" : fmt::format(" [{}]", usual));
  std::string line;
  if (!std::getline(std::cin, line)) {
    throw InputError("titer new: the questions were not answered to their end");
  }
  const std::string_view answer = trimmed(line);
  return std::string(answer.empty() ? usual : answer);
}

void ask_name(std::string_view kind, std::string_view question, std::string& name) {
  if (!name.empty()) {
    return;
  }
  const std::vector<std::string> names = shipped(kind);
  for (;;) {
    name = answer_to(question, "");
    const bool is_file = name.find('/') != std::string::npos || name.ends_with(".json");
    if (is_file || includes(names, name)) {
      return;
    }
    fmt::print(stderr,
               "  none has this name{}\n",
               suggestion(name, names, fmt::format("; `titer list {}` shows what there is", kind)));
  }
}

void ask_number(std::string_view question, std::string_view usual, std::int64_t& number) {
  while (number <= 0) {
    const std::string text = answer_to(question, usual);
    if (text == usual) {
      return;
    }
    number = number_of_text<std::int64_t>(text).value_or(0);
    if (number <= 0) {
      fmt::print(stderr, "  expected a whole number of at least 1\n");
    }
  }
}

/// Asks for what no option says.
void ask_questions(NewRunRequest& run, std::string& out) {
  ask_name("models", "Which model, a name of `titer list models` or a config.json", run.model);
  ask_name("clusters", "On which cluster (`titer list clusters`)", run.cluster);
  ask_number("On how many devices", "", run.devices);
  ask_number("Tokens of a sequence", "8192, or the model's longest", run.sequence);
  ask_number("Sequences of a step", "about four million tokens", run.batch);
  if (out.empty()) {
    out = answer_to("Write to which file", "run.json");
  }
}

/// The JSON schema of runs that is installed beside the data, or built from this source.
std::string schema_file() {
  for (const char* folder : {"schemas", "build/schemas"}) {
    const std::filesystem::path file = data_root() / folder / "run.json";
    std::error_code missing;
    if (std::filesystem::is_regular_file(file, missing)) {
      return file.string();
    }
  }
  return "";
}

int new_command(const QuestionCommand<NewRunRequest, NewFiles>& command) {
  NewRunRequest run = command.request();
  std::string path = command.own().out;
  if (run.model.empty() || run.cluster.empty() || run.devices == 0) {
    if (isatty(STDIN_FILENO) == 0) {
      throw InputError(
          "titer new: expected --model, --cluster and --devices, or a terminal to ask");
    }
    ask_questions(run, path);
  }
  const NewRunOutcome made = ask(run);
  Value file = Value::make_object();
  if (const std::string schema = schema_file(); !schema.empty()) {
    file.add("$schema", Value(schema));
  }
  file.members.insert(file.members.end(), made.file.members.begin(), made.file.members.end());
  OutputFile out("--out", path, "json");
  out.write(to_json(file) + "\n");
  out.finish();
  fmt::print(stderr, "{}\n", made.says);
  tell_notes(made.notes);
  if (!path.empty()) {
    fmt::print(stderr, "next: titer run {}\n", path);
  }
  return kSuccess;
}

}  // namespace

Command add_new(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "new", "Write a run to begin with: the fastest plan of a model on so many devices");
  app->footer(
      "On a terminal it asks for what no option says.\n"
      "Examples:\n"
      "  titer new\n"
      "  titer new --model llama3-70b --cluster dgx-h100 --devices 64 --out my-run.json\n"
      "  titer new --model ./config.json --cluster dgx-b200 --devices 32 --batch 256 --sequence "
      "4096");
  return question_command(*app,
                          new_run_options(),
                          kNewFiles,
                          new_command,
                          {.threads = "threads; default: all cores", .has_report = false});
}

}  // namespace titer
