#pragma once
// Subcommands that ask one request and print its answer.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/command.hpp"
#include "app/output/processes.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"

namespace titer {

/// What a subcommand has besides its request's options.
struct CommandWords {
  std::string_view threads = {};  // about --jobs; "": has none
  std::string_view counted = {};  // what its progress counts, "plans"
  bool has_plot = false;
};

/// The options of a request, formats and reports. It must stay where it is: the parser puts into it
/// what it finds.
template <class R>
class QuestionCommand {
 public:
  QuestionCommand(CLI::App& app, std::span<const Option<R>> table, const CommandWords& words = {})
      : options_(app, table), words_(words) {
    if (!words.threads.empty()) {
      add_jobs(app, words.threads, jobs_);
    }
    add_format(app, format_, *report_);
    if (words.has_plot) {
      report_->add_plot_to(app);
    }
  }
  QuestionCommand(const QuestionCommand&) = delete;
  QuestionCommand& operator=(const QuestionCommand&) = delete;

  [[nodiscard]] R request() const {
    static_cast<void>(format());
    R request = options_.request();
    if constexpr (requires { request.for_report; }) {
      request.for_report = report_->is_wanted();
    }
    if constexpr (requires { request.threads; }) {
      request.threads = threads_or_usual(jobs_, this_process(""));
    }
    return request;
  }
  [[nodiscard]] auto answer(R& request) const { return ask_with_progress(request, words_.counted); }
  [[nodiscard]] int print(const Answer& answer) const {
    return titer::print(format(), answer, *report_);
  }
  [[nodiscard]] const std::shared_ptr<ReportFile>& report() const { return report_; }

 private:
  [[nodiscard]] Format format() const { return chosen("--format", format_, kFormats); }

  RequestOptions<R> options_;
  CommandWords words_;
  unsigned jobs_ = 0;
  std::string format_ = "text";
  std::shared_ptr<ReportFile> report_ = std::make_shared<ReportFile>();
};

/// One that does nothing else.
template <class R>
[[nodiscard]] Command question_command(CLI::App& app,
                                       std::span<const Option<R>> table,
                                       const CommandWords& words = {}) {
  const auto command = std::make_shared<QuestionCommand<R>>(app, table, words);
  const auto answer = [command] {
    R request = command->request();
    return command->print(command->answer(request));
  };
  return {&app, answer, command->report()};
}

}  // namespace titer
