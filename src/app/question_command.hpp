#pragma once
// Subcommands whose options are tables: what they are asked, and what they do with the answer.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "app/command.hpp"
#include "app/fail_on.hpp"
#include "app/output/processes.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"

namespace titer {

/// How an answer is printed.
struct Printed {
  Format format = Format::text;
};
inline constexpr std::array kPrintedOptions = {format_option<&Printed::format, kFormats>()};

/// `--jobs`; 0 where it is left out.
struct Jobs {
  unsigned jobs = 0;
};
[[nodiscard]] constexpr Option<Jobs> jobs_option(std::string_view about) {
  return options::integer<&Jobs::jobs>("jobs", "N", about).within({1, 4096});
}

/// `--fail-on`.
struct FailOnLimits {
  std::vector<std::string> limits = {};
};
inline constexpr std::array kFailOnOptions = {options::list<&FailOnLimits::limits>(
    "fail_on",
    "LIMIT[,LIMIT…]",
    "exit 1 where no row of the answer (--format csv) keeps all limits: out-of-memory, or a figure "
    "and its value, such as 'time>12s', 'mfu<40%' or 'memory>70GiB'; may be repeated")};

/// What a subcommand has besides its tables.
struct CommandWords {
  std::string_view threads = {};  // about --jobs; "": has none
  std::string_view counted = {};  // what its progress counts, "plans"
  bool has_plot = false;
  bool has_report = true;
  bool has_fail_on = false;  // its rows are answers, of which one is enough
};

/// The options of a request, reports, and what else is done with its answer: its own options. It
/// must stay where it is: the parser puts into it what it finds.
template <class R, class Own = Printed>
class QuestionCommand {
 public:
  QuestionCommand(CLI::App& app,
                  std::span<const Option<R>> table,
                  std::span<const Option<Own>> own,
                  const CommandWords& words = {})
      : options_(app, table), words_(words) {
    if (!words.threads.empty()) {
      jobs_.emplace(app, std::array{jobs_option(words.threads)});
    }
    own_.emplace(app, own);
    if (words.has_fail_on) {
      fail_on_.emplace(app, kFailOnOptions);
    }
    if (words.has_report) {
      report_->add_to(app);
    }
    if (words.has_plot) {
      report_->add_plot_to(app);
    }
  }
  QuestionCommand(const QuestionCommand&) = delete;
  QuestionCommand& operator=(const QuestionCommand&) = delete;

  [[nodiscard]] R request() const {
    R request = options_.request();
    if constexpr (requires { request.for_report; }) {
      request.for_report = report_->is_wanted();
    }
    if constexpr (requires { request.threads; }) {
      request.threads = threads_or_usual(jobs(), this_process(""));
    }
    return request;
  }
  [[nodiscard]] Own own() const { return own_->request(); }
  [[nodiscard]] unsigned jobs() const { return jobs_ ? jobs_->request().jobs : 0; }
  /// The request as it was typed.
  [[nodiscard]] std::string typed() const { return options_.typed(); }
  [[nodiscard]] auto answer(R& request) const {
    static_cast<void>(fail_on());  // what is no limit is told before any work
    return ask_with_progress(request, words_.counted);
  }
  /// What its exit code is, `--fail-on` included.
  [[nodiscard]] int print(Format format, const Answer& answer) const {
    const int code = titer::print(format, answer, *report_);
    return fail_on().fails(answer.view.rows) ? kNo : code;
  }
  [[nodiscard]] const std::shared_ptr<ReportFile>& report() const { return report_; }
  [[nodiscard]] FailOn fail_on() const {
    return FailOn(fail_on_ ? fail_on_->request().limits : std::vector<std::string>());
  }

 private:
  RequestOptions<R> options_;
  CommandWords words_;
  std::optional<RequestOptions<Jobs>> jobs_;
  std::optional<RequestOptions<Own>> own_;
  std::optional<RequestOptions<FailOnLimits>> fail_on_;
  std::shared_ptr<ReportFile> report_ = std::make_shared<ReportFile>();
};

/// One that asks, and does what `run` does.
template <class R, class Own>
[[nodiscard]] Command question_command(CLI::App& app,
                                       std::type_identity_t<std::span<const Option<R>>> table,
                                       std::type_identity_t<std::span<const Option<Own>>> own,
                                       int (*run)(const QuestionCommand<R, Own>&),
                                       const CommandWords& words = {}) {
  const auto command = std::make_shared<QuestionCommand<R, Own>>(app, table, own, words);
  return {&app,
          [command, run] { return run(*command); },
          words.has_report ? command->report() : nullptr};
}

/// One that does nothing but print the answer.
template <class R>
[[nodiscard]] Command question_command(CLI::App& app,
                                       std::span<const Option<R>> table,
                                       const CommandWords& words = {}) {
  constexpr auto run = [](const QuestionCommand<R>& command) {
    const Printed printed = command.own();
    R request = command.request();
    return command.print(printed.format, command.answer(request));
  };
  return question_command<R, Printed>(app, table, kPrintedOptions, run, words);
}

/// One that asks nothing: all its options are its own.
template <class Own, std::size_t N, class Run>
[[nodiscard]] Command own_command(CLI::App& app,
                                  const std::array<Option<Own>, N>& table,
                                  const Run& run) {
  const auto options = std::make_shared<RequestOptions<Own>>(app, table);
  return {&app, [options, run] { return run(options->request()); }};
}

}  // namespace titer
