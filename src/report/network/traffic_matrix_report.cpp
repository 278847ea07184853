#include "titer/report/network/traffic_matrix_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "titer/report/step/step_report.hpp"
#include "titer/view/table.hpp"

namespace titer {
namespace {

constexpr int kMostDrawn = 32;  // devices, as characters
constexpr NumberStyle kThreeDigits = {.format = "{:.3f}"};
constexpr std::string_view kLetters = "tcxdpe";  // of kTrafficKinds

/// The pairs of one kind.
TrafficMatrix part_of(const TrafficMatrix& matrix, TrafficKind kind) {
  std::vector<TrafficPair> pairs;
  std::ranges::copy_if(matrix.pairs(), std::back_inserter(pairs), [kind](const TrafficPair& pair) {
    return pair.kind == kind;
  });
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
        traffic_statistics(part_of(view.matrix, kind.value), view.possible, view.nodes);
    if (found.pairs > 0) {
      list.push_back({kind.name, found});
    }
  }
  list.push_back({"all", traffic_statistics(view.matrix, view.possible, view.nodes)});
  return list;
}

Figures kind_row(const KindStatistics& kind, int ranks) {
  const TrafficStatistics& found = kind.statistics;
  const auto pairs = static_cast<double>(std::max<std::int64_t>(1, found.pairs));
  return {{"", kind.name, "kind"},
          {"", found.total, "in all"},
          {"", found.total / static_cast<double>(ranks), "per device"},
          {"", found.pairs, "pairs"},
          {"", found.total / pairs, "per pair"},
          {"", found.largest, "largest"},
          {"", Datum(found.share_within_nodes(), kPercent), "in nodes"}};
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

Figures statistics_figures(const TrafficStatistics& found) {
  return {{"bytes", found.total},
          {"bytes_within_nodes", found.within_nodes},
          {"largest_pair_bytes", found.largest},
          {"pairs", found.pairs},
          {"possible_pairs", found.possible},
          {"entropy_bits", found.entropy},
          {"uniformity", found.uniformity},
          {"largest_over_mean", found.largest_over_mean}};
}

Figures traffic_pair_figures(const TrafficPair& pair) {
  return {{"from", pair.from}, {"to", pair.to}, {"kind", name(pair.kind)}, {"bytes", pair.bytes}};
}

/// As people read it: more digits than of a matrix by itself, as it changes little.
Figures iteration_row(const ExpertIteration& one) {
  const TrafficStatistics& found = one.statistics;
  return {{"", one.iteration, "iteration"},
          {"", Datum(one.exponent, kThreeDigits), "exponent"},
          {"", found.total, "in all"},
          {"", found.pairs, "pairs"},
          {"", fmt::format("{:.4f} bits", found.entropy), "entropy"},
          {"", fmt::format("{:.3f} %", 100 * found.uniformity), "uniformity"},
          {"", Datum(found.largest_over_mean, kThreeDigits), "largest over mean"}};
}

Figures iteration_figures(const ExpertIteration& one) {
  return {{"iteration", one.iteration},
          if_any({"exponent", one.exponent}),
          {"statistics", statistics_figures(one.statistics)}};
}

TextView traffic_matrix_text(const TrafficMatrixView& view) {
  const std::vector<KindStatistics> kinds = statistics_of(view);
  const TrafficStatistics& all = kinds.back().statistics;
  const auto row = [&](const KindStatistics& kind) { return kind_row(kind, view.matrix.ranks()); };
  TextView text = fmt::format("{}\n{}\n\n", view.title, view.note);
  text.table(rows_of(kinds, row));
  text.add(
      fmt::format("\n  {} of {} pairs communicate; entropy {:.2f} bits, uniformity {:.1f} %; the "
                  "largest has {:.1f} times the mean\n",
                  all.pairs,
                  all.possible,
                  all.entropy,
                  100 * all.uniformity,
                  all.largest_over_mean));
  const bool is_drawn = view.matrix.ranks() <= kMostDrawn && all.pairs > 0;
  return is_drawn ? text.add("\n" + characters(view)) : text;
}

std::string traffic_matrix_csv(const TrafficMatrixView& view, const Figures& asked) {
  Row names;
  Row same;
  for (const Figure& figure : asked) {
    names.push_back(figure.key);
    same.push_back(csv_cell(figure.datum.value()));
  }
  std::string begin = csv_line(same);
  begin.back() = ',';  // in place of the end of the line
  names.insert(names.end(), {"from", "to", "kind", "bytes"});
  std::string text = csv_line(names);
  for (const TrafficPair& pair : view.matrix.pairs()) {
    text += same.empty() ? std::string_view() : begin;
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
  Figures kinds;
  for (const auto& [kind, found] : statistics_of(view)) {
    kinds.push_back({std::string(kind), statistics_figures(found)});
  }
  return answer_json({{"title", view.title},
                      {"devices", view.matrix.ranks()},
                      {"devices_per_node", view.devices_per_node},
                      {"kinds", kinds}})
      .add("pairs", objects_of(view.matrix.pairs(), traffic_pair_figures));
}

Figures matrix_headline(const TrafficMatrixView& view) {
  const TrafficStatistics statistics = traffic_statistics(view.matrix, view.possible, view.nodes);
  return {{"", statistics.total, "bytes of an iteration"},
          {"", Datum(statistics.share_within_nodes(), kPercent), "of them within nodes"},
          {"", statistics.largest, "the most from one device to another"}};
}

}  // namespace

TrafficMatrixView traffic_matrix_view(const ExportedStep& step,
                                      const TrafficOptions& options,
                                      TrafficMatrix matrix) {
  const Plan& plan = step.scenario().plan;
  TrafficMatrixView view{.title = step_title(step.scenario()),
                         .note = {},
                         .devices_per_node = step.scenario().cluster.devices_per_node,
                         .nodes = step.nodes(),
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
  for (int rank = 0; rank < step.devices(); ++rank) {
    view.stages.push_back(step.place_of_rank(rank).pipeline);
  }
  return view;
}

View traffic_view(TrafficMatrixView matrix, const std::vector<std::string>& notes) {
  const auto kept = std::make_shared<const TrafficMatrixView>(std::move(matrix));
  View view{.text = TextView(notes_text(notes)).append(traffic_matrix_text(*kept)),
            .figures = {},
            .rows = {},
            .columns = {},
            .title = kept->title,
            .headline = matrix_headline(*kept)};
  view.long_csv = [kept](const Figures& asked) { return traffic_matrix_csv(*kept, asked); };
  view.long_json = [kept, notes] {
    Value json = traffic_matrix_json(*kept);
    add_notes(notes, json);
    return to_json(json) + "\n";
  };
  return view;
}

View expert_iterations_view(const std::string& title,
                            const std::vector<ExpertIteration>& iterations) {
  View view{.text = title +
                    "\nexpert traffic of one iteration after the other, of the pairs of its "
                    "groups\n\n",
            .figures = {},
            .rows = rows_of(iterations, iteration_figures),
            .columns =
                "iteration exponent bytes=statistics.bytes pairs=statistics.pairs "
                "entropy_bits=statistics.entropy_bits uniformity=statistics.uniformity "
                "largest_over_mean=statistics.largest_over_mean"};
  view.figures.push_back({"iterations", view.rows});
  view.text.table(rows_of(iterations, iteration_row), "r");
  return view;
}

}  // namespace titer
