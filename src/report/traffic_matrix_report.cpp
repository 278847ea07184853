#include "titer/report/traffic_matrix_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "titer/report/step_report.hpp"
#include "titer/report/table.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr int kMostDrawn = 32;                   // devices, as characters
constexpr std::string_view kLetters = "tcxdpe";  // of kTrafficKinds

/// The pairs of one kind.
TrafficMatrix part_of(const TrafficMatrix& matrix, TrafficKind kind) {
  std::vector<TrafficPair> pairs;
  std::copy_if(matrix.pairs().begin(),
               matrix.pairs().end(),
               std::back_inserter(pairs),
               [kind](const TrafficPair& pair) { return pair.kind == kind; });
  return {matrix.ranks(), std::move(pairs)};
}

struct KindStatistics {
  std::string_view name;
  TrafficStatistics statistics;
};

/// Of each kind that there is, and last of all.
std::vector<KindStatistics> statistics_of(const TrafficMatrixView& view) {
  std::vector<KindStatistics> list;
  for (const Choice<TrafficKind>& kind : kTrafficKinds) {
    const TrafficStatistics found =
        traffic_statistics(part_of(view.matrix, kind.value), view.possible, view.devices_per_node);
    if (found.pairs > 0) {
      list.push_back({kind.name, found});
    }
  }
  list.push_back({"all", traffic_statistics(view.matrix, view.possible, view.devices_per_node)});
  return list;
}

std::string kinds_table(const std::vector<KindStatistics>& kinds, int ranks) {
  std::vector<Row> rows = {
      {"kind", "in all", "per device", "pairs", "per pair", "largest", "in nodes"}};
  for (const auto& [name, found] : kinds) {
    rows.push_back(
        {std::string(name),
         format(found.total),
         format(found.total / static_cast<double>(ranks)),
         std::to_string(found.pairs),
         format(found.total / static_cast<double>(std::max<std::int64_t>(1, found.pairs))),
         format(found.largest),
         fmt::format("{:.1f} %", 100 * found.share_within_nodes())});
  }
  return text_table(rows);
}

/// A letter for the kind that a pair sends most of.
std::string characters(const TrafficMatrixView& view) {
  const auto ranks = static_cast<std::size_t>(view.matrix.ranks());
  std::map<std::pair<int, int>, TrafficPair> most;
  for (const TrafficPair& pair : view.matrix.pairs()) {
    TrafficPair& known = most.try_emplace({pair.from, pair.to}, pair).first->second;
    known = pair.bytes > known.bytes ? pair : known;
  }
  std::string units = "         ";
  for (std::size_t to = 0; to < ranks; ++to) {
    units += fmt::format(" {}", to % 10);
  }
  std::string text = units + "\n";
  for (std::size_t from = 0; from < ranks; ++from) {
    text += fmt::format("  {:>6} ", from);
    for (std::size_t to = 0; to < ranks; ++to) {
      const auto found = most.find({static_cast<int>(from), static_cast<int>(to)});
      text += found == most.end()
                  ? " ."
                  : fmt::format(" {}", kLetters[static_cast<std::size_t>(found->second.kind)]);
    }
    text += "\n";
  }
  return text +
         "  t tensor, c context, x expert, d data, p pipeline, e embedding: what a device "
         "(row) sends most of to another (column)\n";
}

Value statistics_json(const TrafficStatistics& found) {
  Value json = Value::make_object();
  json.add("bytes", Value(found.total.si()));
  json.add("bytes_within_nodes", Value(found.within_nodes.si()));
  json.add("largest_pair_bytes", Value(found.largest.si()));
  json.add("pairs", Value(found.pairs));
  json.add("possible_pairs", Value(found.possible));
  json.add("entropy_bits", Value(found.entropy));
  json.add("uniformity", Value(found.uniformity));
  json.add("largest_over_mean", Value(found.largest_over_mean));
  return json;
}

}  // namespace

TrafficMatrixView traffic_matrix_view(const ExportedStep& step,
                                      const TrafficOptions& options,
                                      TrafficMatrix matrix) {
  const Plan& plan = step.scenario().plan;
  TrafficMatrixView view{.title = step_title(step.scenario()),
                         .note = {},
                         .devices_per_node = step.scenario().cluster.devices_per_node,
                         .stages = {},
                         .possible = std::int64_t{step.ranks()} * (step.ranks() - 1),
                         .matrix = std::move(matrix)};
  std::string degrees =
      fmt::format("p = {}, t = {}, d = {}", plan.pipeline, plan.tensor, plan.data);
  degrees += plan.context > 1 ? fmt::format(", cp = {}", plan.context) : "";
  degrees += plan.expert > 1 ? fmt::format(", ep = {}", plan.expert) : "";
  view.note =
      fmt::format("{}{} of one iteration; {}; ranks {}; collectives {}{}",
                  options.only ? name(*options.only) : "all",
                  " traffic",
                  degrees,
                  rank_order_name(plan),
                  options.spread == CollectiveSpread::ring ? "around rings" : "between all pairs",
                  options.draw ? fmt::format("; experts drawn, seed {}", options.draw->seed) : "");
  for (int rank = 0; rank < step.ranks(); ++rank) {
    view.stages.push_back(step.place_of_rank(rank).pipeline);
  }
  return view;
}

std::string traffic_matrix_text(const TrafficMatrixView& view) {
  const std::vector<KindStatistics> kinds = statistics_of(view);
  const TrafficStatistics& all = kinds.back().statistics;
  std::string text =
      fmt::format("{}\n{}\n\n{}\n", view.title, view.note, kinds_table(kinds, view.matrix.ranks()));
  text += fmt::format(
      "  {} of {} pairs communicate; entropy {:.2f} bits, uniformity {:.1f} %; the "
      "largest has {:.1f} times the mean\n",
      all.pairs,
      all.possible,
      all.entropy,
      100 * all.uniformity,
      all.largest_over_mean);
  if (view.matrix.ranks() <= kMostDrawn && all.pairs > 0) {
    text += "\n" + characters(view);
  }
  return text;
}

std::string traffic_matrix_csv(const TrafficMatrixView& view) {
  std::string text = csv_line({"from", "to", "kind", "bytes"});
  for (const TrafficPair& pair : view.matrix.pairs()) {
    fmt::format_to(std::back_inserter(text),
                   "{},{},{},{}\n",
                   pair.from,
                   pair.to,
                   name(pair.kind),
                   number_text(pair.bytes.si()));
  }
  return text;
}

Value traffic_matrix_json(const TrafficMatrixView& view) {
  Value root = Value::make_object();
  root.add("format_version", Value(kFormatVersion));
  root.add("title", Value(view.title));
  root.add("devices", Value(view.matrix.ranks()));
  root.add("devices_per_node", Value(view.devices_per_node));
  Value kinds = Value::make_object();
  for (const auto& [kind, found] : statistics_of(view)) {
    kinds.add(std::string(kind), statistics_json(found));
  }
  root.add("kinds", std::move(kinds));
  Value pairs = Value::make_array();
  for (const TrafficPair& pair : view.matrix.pairs()) {
    Value item = Value::make_object();
    item.add("from", Value(pair.from));
    item.add("to", Value(pair.to));
    item.add("kind", Value(name(pair.kind)));
    item.add("bytes", Value(pair.bytes.si()));
    pairs.push(std::move(item));
  }
  root.add("pairs", std::move(pairs));
  return root;
}

std::string expert_iterations_text(const std::string& title,
                                   const std::vector<ExpertIteration>& iterations) {
  std::vector<Row> rows = {
      {"iteration", "exponent", "in all", "pairs", "entropy", "uniformity", "largest over mean"}};
  for (const auto& [iteration, exponent, found] : iterations) {
    rows.push_back({std::to_string(iteration),
                    exponent ? fmt::format("{:.3f}", *exponent) : "-",
                    format(found.total),
                    std::to_string(found.pairs),
                    fmt::format("{:.4f} bits", found.entropy),
                    fmt::format("{:.3f} %", 100 * found.uniformity),
                    fmt::format("{:.3f}", found.largest_over_mean)});
  }
  return title +
         "\nexpert traffic of one iteration after the other, of the pairs of its groups\n\n" +
         text_table(rows, {Align::right});
}

std::string expert_iterations_csv(const std::vector<ExpertIteration>& iterations) {
  std::string text = csv_line({"iteration",
                               "exponent",
                               "bytes",
                               "pairs",
                               "entropy_bits",
                               "uniformity",
                               "largest_over_mean"});
  for (const auto& [iteration, exponent, found] : iterations) {
    text += csv_line({std::to_string(iteration),
                      exponent ? number_text(*exponent) : "",
                      number_text(found.total.si()),
                      std::to_string(found.pairs),
                      number_text(found.entropy),
                      number_text(found.uniformity),
                      number_text(found.largest_over_mean)});
  }
  return text;
}

Value expert_iterations_json(const std::vector<ExpertIteration>& iterations) {
  Value root = Value::make_object();
  root.add("format_version", Value(kFormatVersion));
  Value list = Value::make_array();
  for (const auto& [iteration, exponent, found] : iterations) {
    Value item = Value::make_object();
    item.add("iteration", Value(static_cast<std::int64_t>(iteration)));
    if (exponent) {
      item.add("exponent", Value(*exponent));
    }
    item.add("statistics", statistics_json(found));
    list.push(std::move(item));
  }
  root.add("iterations", std::move(list));
  return root;
}

}  // namespace titer
