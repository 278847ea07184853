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

}  // namespace

std::string library_text(const std::string& what, const std::vector<LibraryResult>& results) {
  std::string text = fmt::format("{}, by the rules of NCCL's tuner\n\n", what);
  std::vector<Row> rows = {{"size", "time", "algorithm", "protocol", "channels"}};
  for (const auto& [size, choice] : results) {
    rows.push_back({format(size),
                    format(choice.time),
                    std::string(name_of(choice.algorithm)),
                    std::string(name_of(choice.protocol)),
                    std::to_string(choice.channels)});
  }
  text += text_table(rows, {Align::right, Align::right, Align::left, Align::left, Align::right});
  return results.size() == 1 ? fmt::format("{}\nwhy: the least expected time of those enabled\n{}",
                                           text,
                                           candidates_text(results.front()))
                             : text;
}

std::string library_csv(const std::vector<LibraryResult>& results) {
  std::string text = csv_line({"bytes", "time_s", "algorithm", "protocol", "channels"});
  for (const auto& [size, choice] : results) {
    text += csv_line({number_text(size.si()),
                      number_text(choice.time.si()),
                      std::string(name_of(choice.algorithm)),
                      std::string(name_of(choice.protocol)),
                      std::to_string(choice.channels)});
  }
  return text;
}

Value library_json(const std::string& what, const std::vector<LibraryResult>& results) {
  Value root = Value::make_object();
  root.add("format_version", Value(1));
  root.add("collective", Value(what));
  Value list = Value::make_array();
  for (const auto& [size, choice] : results) {
    Value item = Value::make_object();
    item.add("bytes", Value(size.si()));
    item.add("time_s", Value(choice.time.si()));
    item.add("algorithm", Value(name_of(choice.algorithm)));
    item.add("protocol", Value(name_of(choice.protocol)));
    item.add("channels", Value(choice.channels));
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
