#include "titer/report/collective_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

std::string_view name_of(NetworkFidelity fidelity) {
  switch (fidelity) {
    case NetworkFidelity::closed:
      return "closed";
    case NetworkFidelity::busiest:
      return "busiest";
    case NetworkFidelity::flow:
      return "flow";
  }
  return "";
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
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tier, name);
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

/// The catalogue of the collective: what each algorithm would take, the fastest first, or what it
/// is missing.
std::string candidates_text(const CollectiveAnswer& answer) {
  std::vector<Candidate> sorted = answer.candidates;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Candidate& a, const Candidate& b) {
    return a.time && (!b.time || *a.time < *b.time);
  });
  std::vector<Row> rows = {{"algorithm", "closed form", "", "how"}};
  for (const Candidate& candidate : sorted) {
    const AlgorithmEntry& algorithm = *candidate.algorithm;
    rows.push_back({std::string(algorithm.name),
                    candidate.time ? format(*candidate.time) : "-",
                    standing(candidate, answer),
                    candidate.time ? std::string(algorithm.formula)
                                   : fmt::format("needs {}", algorithm.needs)});
  }
  return text_table(rows, {Align::left, Align::right, Align::left, Align::left});
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
                     name(measured.grade),
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

Value candidates_json(const CollectiveAnswer& answer) {
  Value candidates = Value::make_array();
  for (const Candidate& candidate : answer.candidates) {
    Value entry = Value::make_object();
    entry.add("algorithm", Value(candidate.algorithm->name));
    if (candidate.time) {
      entry.add("time_s", Value(candidate.time->si()));
    } else {
      entry.add("needs", Value(candidate.algorithm->needs));
    }
    candidates.push(std::move(entry));
  }
  return candidates;
}

/// What the closed form would have taken, and what is to be said of the one that is named.
void add_choice(const CollectiveAnswer& answer, Value& item) {
  if (const auto& other = answer.by_closed_form) {
    item.add("by_closed_form", Value(other->algorithm->name));
    item.add("by_closed_form_time_s", Value(other->time.si()));
  }
  if (!answer.remark.empty()) {
    item.add("note", Value(answer.remark));
  }
}

Row csv_heading() {
  return {"op",
          "bytes",
          "ranks",
          "nodes",
          "groups",
          "fidelity",
          "algorithm",
          "time_s",
          "closed_time_s",
          "algorithm_bandwidth_Bps",
          "bus_bandwidth_Bps",
          "busiest_link",
          "busiest_link_bytes",
          "busiest_link_time_s",
          "measured_time_s",
          "measured_grade",
          "by_closed_form",
          "by_closed_form_time_s"};
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

std::string collective_text(const Cluster& cluster,
                            const CollectiveDesk& desk,
                            const CollectiveResult& result) {
  const auto& [query, answer, measured] = result;
  std::string text = fmt::format(
      "{} of {}, {}\n", name_of(query.collective), format(query.size), ranks_text(cluster, desk));
  for (const std::string& remark : {desk.group().remark, answer.remark}) {
    text += remark.empty() ? "" : fmt::format("  note: {}\n", remark);
  }
  if (answer.algorithm == nullptr) {
    return text + "  nothing to send: there is one rank\n";
  }
  std::vector<Row> rows = {
      {"time", format(answer.time)},
      {"algorithm", fmt::format("{}: {}", answer.algorithm->name, answer.algorithm->formula)},
      {"source", std::string(answer.algorithm->source)}};
  if (const auto& other = answer.by_closed_form) {
    rows.push_back({"taken",
                    fmt::format("{}, {}; the closed form would take {}, {} here",
                                answer.algorithm->name,
                                format(answer.time),
                                other->algorithm->name,
                                format(other->time))});
  }
  if (const std::string protocols = protocols_text(answer.protocols); !protocols.empty()) {
    rows.push_back({"protocols", protocols});
  }
  if (const auto found = bandwidths(desk, result)) {
    rows.push_back({"algorithm bandwidth", format(found->algorithm)});
    rows.push_back({"bus bandwidth", format(found->bus)});
  }
  if (measured) {
    rows.push_back({"measured", measured_text(*measured, answer.time)});
  }
  if (answer.execution) {
    const Execution& execution = *answer.execution;
    rows.push_back({"closed form",
                    fmt::format("{} (contention: x {:.3f})",
                                format(answer.closed_time),
                                answer.time / answer.closed_time)});
    rows.push_back({"executed",
                    fmt::format("{} in {}",
                                counted_text(execution.messages, "message"),
                                counted_text(execution.rounds, "round"))});
    if (execution.busiest) {
      rows.push_back({"busiest link",
                      fmt::format("{}: {}, {}",
                                  answer.busiest,
                                  format(execution.busiest->bytes),
                                  format(execution.busiest->time))});
    }
  }
  return fmt::format("{}\n{}\nwhy: {}\n{}",
                     text,
                     text_table(rows, {Align::left, Align::left}),
                     why_text(result),
                     candidates_text(answer));
}

std::string collective_table(const Cluster& cluster,
                             const CollectiveDesk& desk,
                             const std::vector<CollectiveResult>& results) {
  std::string text = fmt::format("{}, {}, {}\n\n",
                                 name_of(results.front().query.collective),
                                 ranks_text(cluster, desk),
                                 name_of(results.front().query.fidelity));
  std::vector<Row> rows = {
      {"size (B)", "time (us)", "algbw (GB/s)", "busbw (GB/s)", "algorithm", "protocols"}};
  const bool has_measured = results.front().measured.has_value();
  if (has_measured) {
    const Row columns = {"measured (us)", "error (%)"};
    rows.front().insert(rows.front().begin() + 2, columns.begin(), columns.end());
  }
  for (const CollectiveResult& result : results) {
    const auto found = bandwidths(desk, result).value_or(Bandwidths{});
    rows.push_back({fmt::format("{:.0f}", result.query.size.si()),
                    fmt::format("{:.2f}", result.answer.time.si() * 1e6),
                    fmt::format("{:.2f}", found.algorithm.si() * 1e-9),
                    fmt::format("{:.2f}", found.bus.si() * 1e-9),
                    algorithm_cell(result.answer),
                    protocols_text(result.answer.protocols)});
    if (has_measured) {
      const Seconds measured = result.measured->time;
      const Row cells = {fmt::format("{:.2f}", measured.si() * 1e6),
                         fmt::format("{:+.1f}", 100.0 * (result.answer.time / measured - 1.0))};
      rows.back().insert(rows.back().begin() + 2, cells.begin(), cells.end());
    }
  }
  std::vector<Align> aligns(has_measured ? 6 : 4, Align::right);
  aligns.insert(aligns.end(), 2, Align::left);
  return text + text_table(rows, aligns);
}

std::string collective_csv(const CollectiveDesk& desk,
                           const std::vector<CollectiveResult>& results) {
  std::string text = csv_line(csv_heading());
  for (const CollectiveResult& result : results) {
    const auto& [query, answer, measured] = result;
    Row row = {std::string(name_of(query.collective)),
               number_text(query.size.si()),
               std::to_string(desk.group().group.ranks()),
               std::to_string(desk.group().group.nodes),
               std::to_string(desk.groups()),
               std::string(name_of(query.fidelity)),
               std::string(algorithm_name(answer)),
               number_text(answer.time.si()),
               number_text(answer.closed_time.si())};
    row.resize(csv_heading().size());  // what does not apply stays empty
    auto cell = row.begin() + 9;
    if (const auto found = bandwidths(desk, result)) {
      cell[0] = number_text(found->algorithm.si());
      cell[1] = number_text(found->bus.si());
    }
    if (answer.execution && answer.execution->busiest) {
      cell[2] = answer.busiest;
      cell[3] = number_text(answer.execution->busiest->bytes.si());
      cell[4] = number_text(answer.execution->busiest->time.si());
    }
    if (measured) {
      cell[5] = number_text(measured->time.si());
      cell[6] = std::string(name(measured->grade));
    }
    if (const auto& other = answer.by_closed_form) {
      cell[7] = std::string(other->algorithm->name);
      cell[8] = number_text(other->time.si());
    }
    text += csv_line(row);
  }
  return text;
}

Value collective_json(const Cluster& cluster,
                      const CollectiveDesk& desk,
                      const std::vector<CollectiveResult>& results) {
  Value root = Value::make_object();
  root.add("format_version", Value(1));
  root.add("cluster", Value(cluster.name));
  root.add("ranks", Value(desk.group().group.ranks()));
  root.add("nodes", Value(desk.group().group.nodes));
  root.add("groups", Value(static_cast<std::int64_t>(desk.groups())));
  Value list = Value::make_array();
  for (const CollectiveResult& result : results) {
    const auto& [query, answer, measured] = result;
    Value item = Value::make_object();
    item.add("op", Value(name_of(query.collective)));
    item.add("bytes", Value(query.size.si()));
    item.add("fidelity", Value(name_of(query.fidelity)));
    item.add("algorithm", Value(algorithm_name(answer)));
    item.add("time_s", Value(answer.time.si()));
    item.add("closed_time_s", Value(answer.closed_time.si()));
    add_choice(answer, item);
    if (const auto found = bandwidths(desk, result)) {
      item.add("algorithm_bandwidth_Bps", Value(found->algorithm.si()));
      item.add("bus_bandwidth_Bps", Value(found->bus.si()));
    }
    if (answer.execution && answer.execution->busiest) {
      Value busiest = Value::make_object();
      busiest.add("link", Value(answer.busiest));
      busiest.add("bytes", Value(answer.execution->busiest->bytes.si()));
      busiest.add("time_s", Value(answer.execution->busiest->time.si()));
      item.add("busiest", std::move(busiest));
    }
    if (measured) {
      item.add("measured_time_s", Value(measured->time.si()));
      item.add("measured_grade", Value(name(measured->grade)));
    }
    item.add("candidates", candidates_json(answer));
    list.push(std::move(item));
  }
  root.add("results", std::move(list));
  return root;
}

}  // namespace titer
