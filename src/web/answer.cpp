#include "titer/web/answer.hpp"

#include <atomic>

#include "choices.hpp"
#include "request_check.hpp"
#include "titer/ask/question.hpp"
#include "titer/ask/shipped.hpp"
#include "titer/input/reader.hpp"
#include "titer/view/html.hpp"

namespace titer {
namespace {

Value texts(const std::vector<std::string>& lines) {
  Value list = Value::make_array();
  for (const std::string& line : lines) {
    list.push(line);
  }
  return list;
}

Value view_answer(const Answer& answer) {
  Value value = Value::make_object();
  return value.add("good", answer.good)
      .add("figures", answer.view.as_json())
      .add("html", html_fragment_of(answer.view))
      .add("defects", texts(answer.defects));
}

Value report_answer(std::string_view question, const Answer& answer) {
  Value value = Value::make_object();
  return value.add("text",
                   html_of(answer.view,
                           {.command = "titer " + std::string(question) + ", of the inputs above",
                            .version = std::string(version())}));
}

Value csv_answer(const Answer& answer) {
  Value value = Value::make_object();
  return value.add("text", answer.view.as_csv());
}

constexpr std::string_view kChoices = "choices";

/// What is asked: the page's own, or one of all other questions.
std::string_view name_of(Reader& in) {
  std::vector<Choice<std::string_view>> names = {{kChoices, kChoices}};
  for (const Question& question : questions()) {
    names.push_back({question.name, question.name});
  }
  return in.choice<std::string_view>("question", names);
}

Value answered(Document request, const WebLimits& limits) {
  Problems problems;
  Reader in(request, problems);
  const std::string_view question = name_of(in);
  const bool as_report = in.flag(kAnswerForms[0].first, false);
  const bool as_csv = in.flag(kAnswerForms[1].first, false);
  problems.raise();
  if (!limits.may_read_files) {
    refuse_files(request);
  }
  if (question == kChoices) {
    in.finish();
    problems.raise();
    return web_choices();
  }
  for (const auto& [key, about] : kAnswerForms) {
    request.root.erase(key);
  }
  std::atomic<bool> stop = false;
  const Answer answer = ask(request,
                            {.threads = limits.threads,
                             .may_read_files = limits.may_read_files,
                             .stop = &stop,
                             .for_report = as_report,
                             .progress = [&](std::size_t /*done*/, std::size_t /*of*/) {
                               stop = stop || (limits.is_late && limits.is_late());
                             }});
  return as_report ? report_answer(question, answer)
         : as_csv  ? csv_answer(answer)
                   : view_answer(answer);
}

Value refused(const InputError& error) {
  Value value = Value::make_object();
  return value.add("errors", texts(error.lines));
}

}  // namespace

Value web_answer(std::string_view question, std::string_view source, const WebLimits& limits) {
  Value answer;
  try {
    answer = answered(parse_json(question, std::string(source)), limits);
  } catch (const InputError& error) {
    answer = refused(error);
  }
  return answer.add("format_version", kFormatVersion);
}

}  // namespace titer
