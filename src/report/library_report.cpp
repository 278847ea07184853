#include "titer/report/library_report.hpp"

#include <fmt/format.h>

#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

Row candidate_row(Bytes size, const NcclChoice& choice, const NcclCandidate& candidate) {
  const bool enabled = candidate.disabled.empty();
  const bool taken =
      candidate.algorithm == choice.algorithm && candidate.protocol == choice.protocol;
  return {std::string(name_of(candidate.algorithm)),
          std::string(name_of(candidate.protocol)),
          enabled ? std::to_string(candidate.channels) : "",
          enabled ? format(candidate.time(size)) : "-",
          taken ? "taken" : std::string(candidate.disabled)};
}

std::string candidates_text(const LibraryResult& result) {
  std::vector<Row> rows = {{"algorithm", "protocol", "channels", "time", ""}};
  for (const NcclCandidate& candidate : result.choice.candidates()) {
    rows.push_back(candidate_row(result.size, result.choice, candidate));
  }
  return text_table(rows, {Align::left, Align::left, Align::right, Align::right, Align::left});
}

Row with_measured(Row row, const Row& measured) {
  row.insert(row.end(), measured.begin(), measured.end());
  return row;
}

}  // namespace

std::string library_text(const std::string& what, const std::vector<LibraryResult>& results) {
  std::string text = fmt::format("{}, by the rules of NCCL's tuner\n\n", what);
  std::vector<Row> rows = {
      {"size", "time", "measured", "error (%)", "algorithm", "protocol", "channels"}};
  std::vector<Align> aligns = {Align::right,
                               Align::right,
                               Align::right,
                               Align::right,
                               Align::left,
                               Align::left,
                               Align::right};
  for (const auto& [size, choice, measured] : results) {
    rows.push_back(
        {format(size),
         format(choice.time),
         measured ? format(measured->time) : "",
         measured ? fmt::format("{:+.1f}", 100.0 * (choice.time / measured->time - 1.0)) : "",
         std::string(name_of(choice.algorithm)),
         std::string(name_of(choice.protocol)),
         std::to_string(choice.channels)});
  }
  if (!results.front().measured) {
    for (Row& row : rows) {
      row.erase(row.begin() + 2, row.begin() + 4);
    }
    aligns.erase(aligns.begin() + 2, aligns.begin() + 4);
  }
  text += text_table(rows, aligns);
  return results.size() == 1 ? fmt::format("{}\nwhy: the least expected time of those enabled\n{}",
                                           text,
                                           candidates_text(results.front()))
                             : text;
}

std::string library_csv(const std::vector<LibraryResult>& results) {
  std::string text = csv_line(
      with_measured({"bytes", "time_s", "algorithm", "protocol", "channels"},
                    results.front().measured ? Row{"measured_time_s", "measured_grade"} : Row{}));
  for (const auto& [size, choice, measured] : results) {
    text += csv_line(with_measured(
        {number_text(size.si()),
         number_text(choice.time.si()),
         std::string(name_of(choice.algorithm)),
         std::string(name_of(choice.protocol)),
         std::to_string(choice.channels)},
        measured ? Row{number_text(measured->time.si()), std::string(name(measured->grade))}
                 : Row{}));
  }
  return text;
}

Value library_json(const std::string& what, const std::vector<LibraryResult>& results) {
  Value root = Value::make_object();
  root.add("format_version", Value(1));
  root.add("collective", Value(what));
  Value list = Value::make_array();
  for (const auto& [size, choice, measured] : results) {
    Value item = Value::make_object();
    item.add("bytes", Value(size.si()));
    item.add("time_s", Value(choice.time.si()));
    item.add("algorithm", Value(name_of(choice.algorithm)));
    item.add("protocol", Value(name_of(choice.protocol)));
    item.add("channels", Value(choice.channels));
    if (measured) {
      item.add("measured_time_s", Value(measured->time.si()));
      item.add("measured_grade", Value(name(measured->grade)));
    }
    Value candidates = Value::make_array();
    for (const NcclCandidate& candidate : choice.candidates()) {
      Value entry = Value::make_object();
      entry.add("algorithm", Value(name_of(candidate.algorithm)));
      entry.add("protocol", Value(name_of(candidate.protocol)));
      if (candidate.disabled.empty()) {
        entry.add("time_s", Value(candidate.time(size).si()));
      } else {
        entry.add("disabled", Value(candidate.disabled));
      }
      candidates.push(std::move(entry));
    }
    item.add("candidates", std::move(candidates));
    list.push(std::move(item));
  }
  root.add("results", std::move(list));
  return root;
}

}  // namespace titer
