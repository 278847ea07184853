#include "titer/ask/question.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "titer/ask/campaign.hpp"
#include "titer/ask/evidence.hpp"
#include "titer/ask/network.hpp"
#include "titer/ask/option.hpp"
#include "titer/ask/run.hpp"
#include "titer/ask/search.hpp"
#include "titer/ask/whatif.hpp"
#include "titer/scenario/source.hpp"

namespace titer {
namespace {

/// What a request takes of the limits; most take nothing.
template <class R>
void limit(const AnswerLimits& limits, R& request) {
  if constexpr (requires { request.threads; }) {
    request.threads = limits.threads;
  }
  if constexpr (requires { request.stop; }) {
    request.stop = limits.stop;
  }
  if constexpr (requires { request.progress; }) {
    request.progress = limits.progress;
  }
  if constexpr (requires { request.for_report; }) {
    request.for_report = limits.for_report;
  }
}

/// The question whose options are these, by the name of the program's subcommand.
template <auto table>
constexpr Question question(std::string_view name) {
  return {.name = name,
          .options = [] { return words_of(table()); },
          .answer = [](const Document& document, const AnswerLimits& limits) -> Answer {
            auto request = read_request(table(), document);
            limit(limits, request);
            // What it has besides is for who asks in C++.
            auto outcome = ask(request);
            return std::move(static_cast<Answer&>(outcome));
          }};
}

constexpr std::array kQuestions = {question<calibrate_options>("calibrate"),
                                   question<capacity_options>("capacity"),
                                   question<check_options>("check"),
                                   question<collective_options>("collective"),
                                   question<compare_options>("compare"),
                                   question<course_options>("course"),
                                   question<diff_options>("diff"),
                                   question<doctor_options>("doctor"),
                                   question<explain_options>("explain"),
                                   question<export_options>("export"),
                                   question<new_run_options>("new"),
                                   question<replay_options>("replay"),
                                   question<run_options>("run"),
                                   question<search_options>("search"),
                                   question<sensitivity_options>("sensitivity"),
                                   question<support_options>("support"),
                                   question<sweep_options>("sweep"),
                                   question<timeline_options>("timeline"),
                                   question<topology_options>("topology"),
                                   question<trace_options>("trace"),
                                   question<traffic_options>("traffic"),
                                   question<tune_options>("tune"),
                                   question<validate_options>("validate")};

/// Whether each name, of several between commas, is of what is shipped.
bool is_named(const OptionWords& option, std::string_view text) {
  const std::string name(text.substr(0, text.find(',')));
  const bool is_it = (option.names != nullptr && option.names(name)) ||
                     std::ranges::any_of(
                         option.kinds, [&](const DataKind* kind) { return is_known(*kind, name); });
  return is_it && (name.size() == text.size() || is_named(option, text.substr(name.size() + 1)));
}

}  // namespace

std::span<const Question> questions() { return kQuestions; }

void refuse_named_files(std::span<const OptionWords> options, const Document& question) {
  Problems problems;
  const auto look_at = [&](const OptionWords& option, const Value& value) {
    if (value.kind == Value::Kind::text && !is_named(option, value.text)) {
      const std::string where = question.where(value.origin);
      problems.add((where.empty() ? "" : where + ": ") + std::string(option.key) + ": " +
                   (option.kinds.empty()
                        ? "no file is read here"
                        : "expected a name of shipped data, or what the file holds: no file is "
                          "read here"));
    }
  };
  for (const OptionWords& option : options) {
    if (const Value* value = question.root.find(option.key); value != nullptr && option.is_file) {
      look_at(option, *value);
      std::ranges::for_each(value->items, [&](const Value& item) { look_at(option, item); });
    }
  }
  problems.raise();
}

Answer ask(const Document& document, const AnswerLimits& limits) {
  std::vector<Choice<const Question*>> choices;
  choices.reserve(kQuestions.size());
  for (const Question& one : kQuestions) {
    choices.push_back({one.name, &one});
  }
  Problems problems;
  Reader in(document, problems);
  const Question* asked = in.choice<const Question*>("question", choices);
  problems.raise();
  if (!limits.may_read_files) {
    refuse_named_files(asked->options(), document);
  }
  return asked->answer(document, limits);
}

}  // namespace titer
