#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/output/output_file.hpp"
#include "app/output/silent_output.hpp"
#include "app/question_command.hpp"
#include "report_questions.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/scenario/source.hpp"
#include "titer/units/shell_word.hpp"
#include "titer/view/html.hpp"

namespace titer {
namespace {

struct ReportOptions {
  std::string report;
  std::string out;
};
constexpr std::array kReportOptions = {
    options::text<&ReportOptions::report>(
        "report",
        "REPORT",
        "a file with questions, each a command, or a shipped one (titer list reports)")
        .needed()
        .first(),
    options::text<&ReportOptions::out>(
        "out", "FILE.html", "write the page to this file, whole or not at all")};

/// An answer, or what is wrong with its question, and the exit code of its command.
struct MadeAnswer {
  std::optional<View> view = {};
  std::vector<std::string> wrong = {};
  int code = kUserError;
};

MadeAnswer made(const WrittenAnswer& answer) {
  MadeAnswer result;
  try {
    const SilentOutput silent;
    answer.chosen->report->keep(result.view);
    result.code = answer.chosen->run();
    if (!result.view && (result.code == kSuccess || result.code == kNo)) {
      throw InputError("has no report with these options");
    }
  } catch (const InputError& error) {
    result.wrong = error.lines;
  }
  return result;
}

ReportOrigin origin_of(const ReportOptions& options) {
  return {.command = fmt::format("titer report {}{}",
                                 shell_word(options.report),
                                 options.out.empty() ? "" : " --out " + shell_word(options.out)),
          .version = std::string(version())};
}

int report_command(const ReportOptions& options) {
  const Document document = load_data(kReportData, options.report);
  const WrittenReport report = read_report(document);
  OutputFile out("--out", options.out, "html");
  AnswerDocument page{.title = report.title,
                      .text = report.text,
                      .questions = {.title = "The questions, as a file",
                                    .text = {},
                                    .file = to_json(document.root) + "\n"},
                      .answers = {}};
  Problems problems;
  int code = kSuccess;
  for (std::size_t i = 0; i < report.answers.size(); ++i) {
    const WrittenAnswer& asked = report.answers[i];
    MadeAnswer answer = made(asked);
    for (const std::string& line : answer.wrong) {
      problems.add(
          fmt::format("{}: answers.{}.command: {}", document.where(asked.place->origin), i, line));
    }
    if (answer.code != kSuccess && answer.code != kNo && answer.wrong.empty()) {
      return answer.code;  // it has said why
    }
    if (answer.view) {
      page.answers.push_back({.question = asked.question,
                              .text = asked.text,
                              .command = asked.command,
                              .view = *std::move(answer.view),
                              .is_good = answer.code == kSuccess});
      code = std::max(code, answer.code);
    }
  }
  problems.raise();
  out.write(html_of(page, origin_of(options)));
  out.finish();
  return code;
}

}  // namespace

Command add_report(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "report",
      "Answer several questions in one page of HTML: what matters of each first, then every answer "
      "as its --report has it (exit 1 where one of them is no)");
  app->footer(
      "Examples:\n"
      "  titer report llama3-70b-10t-tokens --out report.html\n"
      "  titer report my-questions.json > report.html");
  return own_command(*app, kReportOptions, report_command);
}

}  // namespace titer
