#include "titer/report/network/collective_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/plot/network_plots.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

std::string_view name_of(NetworkFidelity fidelity) {
  return kNetworkFidelities[static_cast<std::size_t>(fidelity)].name;
}

std::string torus_text(const TorusShape& torus) {
  std::string text;
  for (std::size_t axis = 0; axis < torus.axes; ++axis) {
    text += fmt::format(
        "{}{}{}", axis == 0 ? "" : " x ", torus.length[axis], torus.wrap[axis] ? "" : " (open)");
    text += torus.hops[axis] > 1 ? fmt::format(" ({} hops apart)", torus.hops[axis]) : "";
  }
  return text;
}

std::string protocols_text(const ProtocolChoice& protocols) {
  std::string text;
  for (const auto& [tier, name] :
       {std::pair{"node", protocols.node}, std::pair{"network", protocols.network}}) {
    if (!name.empty()) {
      add_listed(text, fmt::format("{} {}", tier, name));
    }
  }
  return text;
}

std::string standing(const Candidate& candidate, const CollectiveAnswer& answer) {
  if (candidate.algorithm == answer.algorithm) {
    return "taken";
  }
  return candidate.time && candidate.algorithm->in_library ? "library" : "";
}

/// The catalogue of the collective: what each algorithm would take, or what it is missing.
Figures candidate_figures(const Candidate& candidate, const CollectiveAnswer& answer) {
  const AlgorithmEntry& algorithm = *candidate.algorithm;
  const std::string needs = candidate.time ? "" : std::string(algorithm.needs);
  return {{"algorithm", algorithm.name, "algorithm"},
          if_known({"time_s", candidate.time, "closed form"}),
          {"", standing(candidate, answer), kNoHeading},
          {"", candidate.time ? std::string(algorithm.formula) : "needs " + needs, "how"},
          if_any({"needs", said(needs)})};
}

/// The fastest first.
FigureRows candidate_rows(const CollectiveAnswer& answer) {
  std::vector<Candidate> sorted = answer.candidates;
  std::ranges::stable_sort(sorted, [](const Candidate& a, const Candidate& b) {
    return a.time && (!b.time || *a.time < *b.time);
  });
  return rows_of(sorted, [&](const Candidate& one) { return candidate_figures(one, answer); });
}

struct Bandwidths {
  BytesPerSecond algorithm;
  BytesPerSecond bus;
};

/// Nothing for one rank: nothing moves.
std::optional<Bandwidths> bandwidths(const CollectiveDesk& desk, const CollectiveResult& result) {
  if (!(result.answer.time > Seconds{})) {
    return std::nullopt;
  }
  const CollectiveQuery& query = result.query;
  return Bandwidths{.algorithm = query.size / result.answer.time,
                    .bus = desk.bus_bandwidth(query.collective, query.size, result.answer.time)};
}

/// "1.1 ms, fitted; the prediction is off by -7.0 %".
std::string measured_text(const MeasuredTime& measured, Seconds predicted) {
  return fmt::format("{}, {}; the prediction is off by {:+.1f} %",
                     format(measured.time),
                     measured.grade,
                     100.0 * (predicted / measured.time - 1.0));
}

std::string_view algorithm_name(const CollectiveAnswer& answer) {
  return answer.algorithm == nullptr ? "none" : answer.algorithm->name;
}

/// Why this algorithm.
std::string why_text(const CollectiveResult& result) {
  if (!result.query.algorithm.empty()) {
    return "it was asked for";
  }
  if (result.answer.named) {
    return "the cluster names it";
  }
  return result.query.fidelity == NetworkFidelity::closed
             ? "of the algorithms that libraries run, the fastest by its closed form"
             : "of the algorithms that libraries run, the fastest on the links";
}

/// "rail-direct", with what the closed form would take if that is another.
std::string algorithm_cell(const CollectiveAnswer& answer) {
  return answer.by_closed_form ? fmt::format("{} (closed form: {})",
                                             algorithm_name(answer),
                                             answer.by_closed_form->algorithm->name)
                               : std::string(algorithm_name(answer));
}

Figures busiest_figures(const CollectiveAnswer& answer) {
  const BusiestLink& busiest = *answer.execution->busiest;
  return {{"link", answer.busiest}, {"bytes", busiest.bytes}, {"time_s", busiest.time}};
}

/// One answer; what the closed form would have taken, and what is to be said of the one that is
/// named.
Figures collective_figures(const CollectiveDesk& desk, const CollectiveResult& result) {
  const CollectiveQuery& query = result.query;
  const CollectiveAnswer& answer = result.answer;
  const std::optional<MeasuredTime>& measured = result.measured;
  const auto found = bandwidths(desk, result).value_or(Bandwidths{});
  const bool moves = answer.time > Seconds{};
  const bool is_run = answer.execution && answer.execution->busiest;
  Figures figures = {{"op", name_of(query.collective)},
                     {"bytes", query.size},
                     {"fidelity", name_of(query.fidelity)},
                     {"algorithm", algorithm_name(answer)},
                     {"time_s", answer.time},
                     {"closed_time_s", answer.closed_time}};
  if (const auto& other = answer.by_closed_form) {
    figures.push_back({"by_closed_form", other->algorithm->name});
    figures.push_back({"by_closed_form_time_s", other->time});
  }
  Figures rest = {if_any({"note", said(answer.remark)}),
                  if_any({"algorithm_bandwidth_Bps", moves ? Datum(found.algorithm) : Datum()}),
                  if_any({"bus_bandwidth_Bps", moves ? Datum(found.bus) : Datum()}),
                  if_any({"busiest", is_run ? Datum(busiest_figures(answer)) : Datum()})};
  if (answer.algorithm != nullptr) {
    rest.push_back({"grade", name(answer.grade)});
  }
  if (const auto& support = result.support) {
    rest.push_back({"error_bar",
                    Figures{{"low_s", support->low * answer.time},
                            {"high_s", support->high * answer.time},
                            {"share", 0.8},
                            {"timings", support->timings}}});
  }
  if (measured) {
    rest.push_back({"measured_time_s", measured->time});
    rest.push_back({"measured_grade", measured->grade});
  }
  return joined(figures, rest);
}

/// In the units of nccl-tests.
Figures size_figures(const CollectiveDesk& desk, const CollectiveResult& result) {
  const CollectiveQuery& query = result.query;
  const CollectiveAnswer& answer = result.answer;
  const std::optional<MeasuredTime>& measured = result.measured;
  constexpr NumberStyle microseconds = {.format = "{:.2f}", .scale = 1e6};
  constexpr NumberStyle gigabytes = {.format = "{:.2f}", .scale = 1e-9};
  constexpr NumberStyle percent = {.format = "{:+.1f}", .scale = 100};
  const auto found = bandwidths(desk, result).value_or(Bandwidths{});
  Datum time;
  Datum error;
  if (measured) {
    time = Datum(measured->time, microseconds);
    error = Datum(answer.time / measured->time - 1.0, percent);
  }
  return {{"", Datum(query.size, NumberStyle{.format = "{:.0f}"}), "size (B)"},
          {"", Datum(answer.time, microseconds), "time (us)"},
          if_any({"", time, "measured (us)"}),
          if_any({"", error, "error (%)"}),
          {"", Datum(found.algorithm, gigabytes), "algbw (GB/s)"},
          {"", Datum(found.bus, gigabytes), "busbw (GB/s)"},
          {"", algorithm_cell(answer), "algorithm"},
          {"", protocols_text(answer.protocols), "protocols"}};
}

/// How one answer came about.
Figures detail_figures(const CollectiveDesk& desk, const CollectiveResult& result) {
  const CollectiveAnswer& answer = result.answer;
  const AlgorithmEntry& algorithm = *answer.algorithm;
  Figures figures = {{"", answer.time, "time"},
                     {"", fmt::format("{}: {}", algorithm.name, algorithm.formula), "algorithm"},
                     {"", algorithm.source, "source"}};
  const auto say = [&](std::string label, const Datum& what) {
    figures.push_back({"", what, std::move(label)});
  };
  if (const auto& other = answer.by_closed_form) {
    say("taken",
        fmt::format("{}, {}; the closed form would take {}, {} here",
                    algorithm.name,
                    format(answer.time),
                    other->algorithm->name,
                    format(other->time)));
  }
  say("protocols", said(protocols_text(answer.protocols)));
  if (const auto found = bandwidths(desk, result)) {
    say("algorithm bandwidth", found->algorithm);
    say("bus bandwidth", found->bus);
  }
  if (result.measured) {
    say("measured", measured_text(*result.measured, answer.time));
  }
  if (const auto& execution = answer.execution) {
    say("closed form",
        fmt::format("{} (contention: x {:.3f})",
                    format(answer.closed_time),
                    answer.time / answer.closed_time));
    say("executed",
        fmt::format("{} in {}",
                    counted_text(execution->messages, "message"),
                    counted_text(execution->rounds, "round")));
    if (const auto& busiest = execution->busiest) {
      say("busiest link",
          fmt::format("{}: {}, {}", answer.busiest, format(busiest->bytes), format(busiest->time)));
    }
  }
  return figures;
}

/// "four of five of 17 public timings across nodes from 1 MiB on with h100-sxm5-80gb"
std::string support_text(const CollectiveSupport& support) {
  return fmt::format("four of five of {} public timings {} {} with {}",
                     support.timings,
                     support.across_nodes ? "across nodes" : "within a node",
                     support.is_large ? "from 1 MiB on" : "below 1 MiB",
                     support.chip);
}

/// "fitted figures; 430.1 us to 517.4 us, as four of five of 17 public timings ...".
std::string basis_text(const CollectiveResult& result) {
  std::string text = fmt::format("{} figures", name(result.answer.grade));
  if (const auto& support = result.support) {
    text += fmt::format("; {} to {}, as {}",
                        format(support->low * result.answer.time),
                        format(support->high * result.answer.time),
                        support_text(*support));
  }
  return text;
}

/// Of a table: of each class of sizes, in shares of what is predicted.
TextView sizes_basis(const std::vector<CollectiveResult>& results) {
  Grade grade = Grade::fitted;
  std::vector<std::string> lines;
  for (const CollectiveResult& result : results) {
    grade = std::max(grade, result.answer.grade);
    if (const auto& support = result.support) {
      const std::string line =
          fmt::format("  measured times are {:.2f} to {:.2f} times these: {}\n",
                      support->low,
                      support->high,
                      support_text(*support));
      if (!includes(lines, line)) {
        lines.push_back(line);
      }
    }
  }
  TextView text = fmt::format("\nbasis: {} figures\n", name(grade));
  for (const std::string& line : lines) {
    text.add(line);
  }
  return text;
}

/// The time, bandwidths, and why: the candidates, the busiest link.
TextView one_text(const Cluster& cluster,
                  const CollectiveDesk& desk,
                  const CollectiveResult& result) {
  const CollectiveQuery& query = result.query;
  const CollectiveAnswer& answer = result.answer;
  TextView text = fmt::format(
      "{} of {}, {}\n", name_of(query.collective), format(query.size), ranks_text(cluster, desk));
  for (const std::string& remark : {desk.group().remark, answer.remark}) {
    text.add(remark.empty() ? "" : fmt::format("  note: {}\n", remark));
  }
  if (answer.algorithm == nullptr) {
    return text.add("  nothing to send: there is one rank\n");
  }
  return text.add("\n")
      .pairs(joined(detail_figures(desk, result), {{"", basis_text(result), "basis"}}))
      .add(fmt::format("\nwhy: {}\n", why_text(result)))
      .table(candidate_rows(answer), "lrll");
}

TextView sizes_text(const Cluster& cluster,
                    const CollectiveDesk& desk,
                    const std::vector<CollectiveResult>& results) {
  const auto figures = [&](const CollectiveResult& one) { return size_figures(desk, one); };
  const bool has_measured = results.front().measured.has_value();
  return TextView(fmt::format("{}, {}, {}\n\n",
                              name_of(results.front().query.collective),
                              ranks_text(cluster, desk),
                              name_of(results.front().query.fidelity)))
      .table(rows_of(results, figures), has_measured ? "rrrrrrll" : "rrrrll")
      .append(sizes_basis(results));
}

}  // namespace

std::string ranks_text(const Cluster& cluster, const CollectiveDesk& desk) {
  const Group& group = desk.group().group;
  std::string text = counted_text(static_cast<std::size_t>(group.ranks()), "rank");
  if (group.torus.axes > 0) {
    text += fmt::format(" ({})", torus_text(group.torus));
  } else if (group.nodes > 1) {
    text += fmt::format(" ({} on each of {} nodes)", group.per_node, group.nodes);
  }
  text += " of " + cluster.name;
  if (desk.groups() > 1) {
    return fmt::format("{} groups at once, each {}", desk.groups(), text);
  }
  return text;
}

View collective_view(const Cluster& cluster,
                     const CollectiveDesk& desk,
                     const std::vector<CollectiveResult>& results,
                     bool of_sizes) {
  const Figures group = {{"ranks", desk.group().group.ranks()},
                         {"nodes", desk.group().group.nodes},
                         {"groups", desk.groups()}};
  View view{.text = of_sizes ? sizes_text(cluster, desk, results)
                             : one_text(cluster, desk, results.front()),
            .figures = joined({{"cluster", cluster.name}}, group),
            .rows = {},
            .columns =
                "op bytes ranks nodes groups fidelity algorithm time_s closed_time_s "
                "algorithm_bandwidth_Bps bus_bandwidth_Bps busiest_link=busiest.link "
                "busiest_link_bytes=busiest.bytes busiest_link_time_s=busiest.time_s "
                "measured_time_s measured_grade by_closed_form by_closed_form_time_s "
                "grade low_s=error_bar.low_s high_s=error_bar.high_s",
            .headline = collective_headline(desk, results),
            .plots = collective_plots(desk, results)};
  FigureRows list;
  for (const CollectiveResult& result : results) {
    const Figures figures = collective_figures(desk, result);
    const auto candidate = [&](const Candidate& one) {
      return candidate_figures(one, result.answer);
    };
    view.rows.push_back(joined(figures, group));
    list.push_back(joined(figures, {{"candidates", rows_of(result.answer.candidates, candidate)}}));
  }
  view.figures.push_back({"results", list});
  return view;
}

}  // namespace titer
