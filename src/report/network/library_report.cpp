#include "titer/report/network/library_report.hpp"
#include "titer/units/text.hpp"

#include <fmt/format.h>

#include "report/plot/network_plots.hpp"

namespace titer {
namespace {

Figures candidate_pair_figures(Bytes size,
                               const NcclChoice& choice,
                               const NcclCandidate& candidate) {
  const std::string disabled(candidate.disabled);
  const bool taken =
      candidate.algorithm == choice.algorithm && candidate.protocol == choice.protocol;
  return {{"algorithm", name_of(candidate.algorithm), "algorithm"},
          {"protocol", name_of(candidate.protocol), "protocol"},
          {"", disabled.empty() ? Datum(candidate.channels) : Datum(""), "channels"},
          if_known({"time_s", disabled.empty() ? Datum(candidate.time(size)) : Datum(), "time"}),
          if_known({"disabled", Datum(said(disabled), taken ? "taken" : disabled), kNoHeading})};
}

FigureRows pair_rows(const LibraryResult& result) {
  return rows_of(result.choice.candidates(), [&](const NcclCandidate& candidate) {
    return candidate_pair_figures(result.size, result.choice, candidate);
  });
}

Figures library_figures(const LibraryResult& result) {
  const auto& [size, choice, measured] = result;
  Datum time;
  Datum error;
  Datum grade;
  if (measured) {
    time = measured->time;
    error = fmt::format("{:+.1f}", 100.0 * (choice.time / measured->time - 1.0));
    grade = measured->grade;
  }
  return {{"bytes", size, "size"},
          {"time_s", choice.time, "time"},
          if_any({"", time, "measured"}),
          if_any({"", error, "error (%)"}),
          {"algorithm", name_of(choice.algorithm), "algorithm"},
          {"protocol", name_of(choice.protocol), "protocol"},
          {"channels", choice.channels, "channels"},
          if_any({"measured_time_s", time}),
          if_any({"measured_grade", grade}),
          {"candidates", pair_rows(result)}};
}

}  // namespace

View library_view(const std::string& what,
                  const NcclSystem& system,
                  const std::vector<LibraryResult>& results) {
  View view{.text = fmt::format("{0}, by the rules of NCCL's tuner\n"
                                "as NCCL sees the cluster (`library` of its file, whatever its "
                                "network is): {1} GPUs of {2} in a node, {3} NICs of {4}\n\n",
                                what,
                                system.gpus_per_node,
                                format(system.node_bandwidth),
                                system.nics,
                                format(system.nic_bandwidth)),
            .figures = {},
            .rows = rows_of(results, library_figures),
            .columns = {},
            .headline = library_headline(results),
            .plots = library_plots(results)};
  view.figures = {{"collective", what}, {"results", view.rows}};
  view.text.table(view.rows, results.front().measured ? "rrrrllr" : "rrllr");
  if (results.size() == 1) {
    view.text.add("\nwhy: the least expected time of those enabled\n")
        .table(pair_rows(results.front()), "llrrl");
  }
  return view;
}

}  // namespace titer
