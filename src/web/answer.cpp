#include "titer/web/answer.hpp"

#include <array>
#include <atomic>

#include "choices.hpp"
#include "request_check.hpp"
#include "titer/ask/question.hpp"
#include "titer/ask/run.hpp"
#include "titer/ask/search.hpp"
#include "titer/ask/version.hpp"
#include "titer/input/read_document.hpp"
#include "titer/launch/launch.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/view/html.hpp"

namespace titer {
namespace {

/// A question as it was read: what it is about, apart from how it is to be answered.
struct WebQuestion {
  Document about;  // a scenario
  Value search;    // of "search": what its file holds besides the scenario
  std::optional<LaunchFormat> launcher;
  bool as_report = false;
};

Value view_answer(const Answer& answer) {
  Value value = Value::make_object();
  value.add("good", answer.good)
      .add("figures", answer.view.as_json())
      .add("html", html_fragment_of(answer.view));
  return value;
}

Value answer_choices(const WebQuestion&, const WebLimits&) { return web_choices(); }

Value answer_run(const WebQuestion& question, const WebLimits&) {
  RunRequest request{.scenario = {.what = question.about}, .for_report = question.as_report};
  const Answer answer = ask(request);
  if (!question.as_report) {
    return view_answer(answer);
  }
  Value value = Value::make_object();
  value.add("text",
            html_of(answer.view,
                    {.command = "titer run SCENARIO.json, of the inputs above",
                     .version = std::string(version())}));
  return value;
}

Value answer_search(const WebQuestion& question, const WebLimits& limits) {
  Document search{.root = Value::make_object(), .sources = question.about.sources};
  search.root.add("scenario", question.about.root);
  for (const auto& [key, value] : question.search.members) {
    search.root.add(key, value);
  }
  std::atomic<bool> stop = false;
  SearchRequest request{
      .search = {.what = std::move(search)}, .threads = limits.threads, .stop = &stop};
  request.progress = [&](std::size_t, std::size_t) {
    stop = stop || (limits.is_late && limits.is_late());
  };
  const SearchOutcome outcome = ask(request);
  Value value = view_answer(outcome);
  Value defects = Value::make_array();
  for (const std::string& line : outcome.defects) {
    defects.push(line);
  }
  return value.add("defects", std::move(defects));
}

Value texts(const std::vector<std::string>& lines) {
  Value list = Value::make_array();
  for (const std::string& line : lines) {
    list.push(line);
  }
  return list;
}

Value answer_launch(const WebQuestion& question, const WebLimits&) {
  if (!question.launcher) {
    throw InputError("launcher: missing; expected the software that is to launch the run");
  }
  const LaunchFile file = launch_file(*question.launcher, ScenarioSource(question.about).read());
  Value value = Value::make_object();
  value.add("text", file.text)
      .add("elsewhere", texts(file.elsewhere))
      .add("lost", texts(file.lost));
  return value;
}

struct WebKind {
  bool about_scenario = false;
  Value (*answer)(const WebQuestion&, const WebLimits&) = nullptr;
};
constexpr std::array<Choice<WebKind>, 4> kWebKinds = {{{"choices", {false, answer_choices}},
                                                       {"run", {true, answer_run}},
                                                       {"search", {true, answer_search}},
                                                       {"launch", {true, answer_launch}}}};

/// The page's own kinds, and all other questions.
WebKind kind_of(Reader& in) {
  std::vector<Choice<WebKind>> kinds(kWebKinds.begin(), kWebKinds.end());
  for (const Question& question : questions()) {
    kinds.push_back({question.name, {}});
  }
  return in.choice<WebKind>("question", kinds);
}

Value answer_by_options(const Document& request, const WebLimits& limits) {
  return view_answer(
      ask(request, {.threads = limits.threads, .may_read_files = limits.may_read_files}));
}

Value answered(const Document& request, const WebLimits& limits) {
  Problems problems;
  Reader in(request, problems);
  const WebKind kind = kind_of(in);
  if (kind.answer == nullptr) {
    problems.raise();
    if (!limits.may_read_files) {
      refuse_files(request);
    }
    return answer_by_options(request, limits);
  }
  WebQuestion question;
  if (kind.about_scenario) {
    const Value* scenario = in.raw("scenario");
    if (scenario == nullptr || scenario->kind != Value::Kind::object) {
      in.fail("scenario", "expected an object, as a run's file holds it");
    } else {
      question.about = {.root = *scenario, .sources = request.sources};
    }
  }
  if (const Value* search = in.raw("search")) {
    question.search = *search;
  }
  question.launcher = in.maybe_choice<LaunchFormat>("launcher", kLaunchFormats);
  question.as_report = in.flag("report", false);
  in.finish();
  problems.raise();
  if (!limits.may_read_files) {
    refuse_files(request);
  }
  return kind.answer(question, limits);
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
