#include "report_questions.hpp"

#include <fmt/format.h>

#include <array>

#include "titer/input/read_document.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/shell_word.hpp"

namespace titer {
namespace {

/// Throws InputError.
void choose_command(WrittenAnswer& answer) {
  const std::optional<std::vector<std::string>> words = shell_words(answer.command);
  if (!words || words->empty() || words->front() != "titer") {
    throw InputError(
        "expected a command as it is typed, such as \"titer run gpt3-175b-64xa100\": no shell "
        "reads "
        "it, so without variables, pipes and redirections");
  }
  answer.program = std::make_shared<Program>();
  answer.chosen = &answer.program->choose({words->begin() + 1, words->end()});
  if (!answer.chosen->report) {
    throw InputError(fmt::format(
        "{} has no report; expected one of {}", words->at(1), listed(answer.program->reporting())));
  }
  if (answer.chosen->report->is_any_wanted()) {
    throw InputError("expected neither --report nor --plot: the answer is a part of this report");
  }
}

void read_command(const Field<WrittenAnswer>& own, Reader& in, WrittenAnswer& answer) {
  answer.command = in.text(own.key);
  answer.place = in.raw(own.key);
  if (answer.place == nullptr || answer.place->kind != Value::Kind::text) {
    return;
  }
  try {
    choose_command(answer);
  } catch (const InputError& error) {
    in.fail(own.key, error.lines.front());
  }
}

constexpr std::array kAnswerFields = {
    fields::text<&WrittenAnswer::question>("question", "its heading")
        .or_else("what the answer calls itself"),
    fields::text<&WrittenAnswer::text>("text",
                                       "what is to be said of the answer; a line is a paragraph")
        .or_else("nothing"),
    fields::special<WrittenAnswer>(
        "command",
        {read_command, [](const Field<WrittenAnswer>& /*own*/) { return schema::text(); }, nullptr},
        "what answers it, as it is typed; files are found from where the report is made")
        .needed()};

void read_answers(const Field<WrittenReport>& own, Reader& in, WrittenReport& report) {
  for (Reader& one : in.objects(own.key)) {
    read_fields<WrittenAnswer>(kAnswerFields, one, report.answers.emplace_back());
  }
  if (in.has(own.key) && report.answers.empty()) {
    in.fail(own.key, "expected a question or more");
  }
}

constexpr std::array kReportFields = {
    fields::text<&WrittenReport::title>("title", "of the report").needed(),
    fields::text<&WrittenReport::text>("text", "what is to be said first; a line is a paragraph")
        .or_else("nothing"),
    fields::special<WrittenReport>("answers",
                                   {read_answers,
                                    [](const Field<WrittenReport>& /*own*/) {
                                      return schema::list_of(
                                          schema_of<WrittenAnswer>(kAnswerFields));
                                    },
                                    nullptr},
                                   "questions in their order")
        .needed()};

}  // namespace

WrittenReport read_report(const Document& document) {
  return read_document(document, [](Reader& in) {
    WrittenReport report;
    read_fields<WrittenReport>(kReportFields, in, report);
    return report;
  });
}

Value report_schema() { return schema_of<WrittenReport>(kReportFields); }

}  // namespace titer
