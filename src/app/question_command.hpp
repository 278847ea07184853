#pragma once
// Subcommands that do nothing but ask one request and print its answer.

#include <memory>
#include <span>
#include <string>

#include "app/command.hpp"
#include "app/output/progress.hpp"
#include "app/question_options.hpp"

namespace titer {

/// Gives a subcommand the options of a request, formats and reports.
template <class R>
[[nodiscard]] Command question_command(CLI::App& app, std::span<const Option<R>> table) {
  struct Given {
    RequestOptions<R> options;
    std::string format = "text";
    std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
  };
  const auto given = std::make_shared<Given>(Given{.options = {app, table}});
  add_format(app, given->format, *given->report);
  const auto answer = [given] {
    const Format format = chosen("--format", given->format, kFormats);
    R request = given->options.request();
    if constexpr (requires { request.for_report; }) {
      request.for_report = given->report->is_wanted();
    }
    return print(format, ask_with_progress(request), *given->report);
  };
  return {&app, answer, given->report};
}

}  // namespace titer
