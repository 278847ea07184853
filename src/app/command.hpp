#pragma once
// The subcommands. Each file of this room adds one to the program and returns what runs it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/output/report_file.hpp"
#include "titer/ask/asked.hpp"
#include "titer/simulate/evaluate.hpp"

namespace CLI {
class App;
}

namespace titer {

/// Exit codes of the contract.
inline constexpr int kSuccess = 0;
inline constexpr int kNo = 1;
inline constexpr int kUserError = 2;
inline constexpr int kDefect = 3;
inline constexpr int kInterrupted = 130;  // before the answer was complete

/// A subcommand: the App that was added, and what to do when it is chosen (returns the exit code).
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
  std::shared_ptr<ReportFile> report = nullptr;  // of those that can write one
};

[[nodiscard]] Command add_run(CLI::App& program);
[[nodiscard]] Command add_check(CLI::App& program);
[[nodiscard]] Command add_explain(CLI::App& program);
[[nodiscard]] Command add_list(CLI::App& program);
[[nodiscard]] Command add_schema(CLI::App& program);
[[nodiscard]] Command add_sweep(CLI::App& program);
[[nodiscard]] Command add_merge(CLI::App& program);
[[nodiscard]] Command add_search(CLI::App& program);
[[nodiscard]] Command add_collective(CLI::App& program);
[[nodiscard]] Command add_topology(CLI::App& program);
[[nodiscard]] Command add_traffic(CLI::App& program);
[[nodiscard]] Command add_timeline(CLI::App& program);
[[nodiscard]] Command add_export(CLI::App& program);
[[nodiscard]] Command add_import(CLI::App& program);
[[nodiscard]] Command add_validate(CLI::App& program);
[[nodiscard]] Command add_calibrate(CLI::App& program);
[[nodiscard]] Command add_support(CLI::App& program);
[[nodiscard]] Command add_trace(CLI::App& program);
[[nodiscard]] Command add_seeds(CLI::App& program);
[[nodiscard]] Command add_compare(CLI::App& program);
[[nodiscard]] Command add_course(CLI::App& program);
[[nodiscard]] Command add_capacity(CLI::App& program);
[[nodiscard]] Command add_sensitivity(CLI::App& program);
[[nodiscard]] Command add_diff(CLI::App& program);
[[nodiscard]] Command add_show(CLI::App& program);
[[nodiscard]] Command add_tune(CLI::App& program);
[[nodiscard]] Command add_doctor(CLI::App& program);
[[nodiscard]] Command add_replay(CLI::App& program);
[[nodiscard]] Command add_new(CLI::App& program);
[[nodiscard]] Command add_ask(CLI::App& program);
[[nodiscard]] Command add_serve(CLI::App& program);
[[nodiscard]] Command add_report(CLI::App& program);
[[nodiscard]] Command add_completion(CLI::App& program);
[[nodiscard]] Command add_help(CLI::App& program);
[[nodiscard]] Command add_version(CLI::App& program);

enum class Format { text, csv, json };
inline constexpr std::array<Choice<Format>, 3> kFormats = {
    {{"text", Format::text}, {"csv", Format::csv}, {"json", Format::json}}};

/// Writes all of `text` to standard output.
void print(std::string_view text);
/// What a file has of a text; standard output, of no path, as it is shown there.
[[nodiscard]] std::string written(const TextView& text, const std::string& path = {});
/// An answer in the format that was asked for, likewise.
[[nodiscard]] std::string written(Format format, const View& view, const std::string& path = {});
/// Prints it with what must be said beside its numbers (answer_notes()).
void print(Format format, View view, const std::vector<std::string>& notes = {});
/// Writes the report that is wanted, then prints it; kSuccess where it is good, else kNo.
[[nodiscard]] int print(Format format, const Answer& answer, ReportFile& report);
/// The same without a report.
[[nodiscard]] int print(Format format, const Answer& answer);
/// Says it on standard error, of an answer in a format of other programs that has no place for it.
void tell_notes(const std::vector<std::string>& notes);

}  // namespace titer
