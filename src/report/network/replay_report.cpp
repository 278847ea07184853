#include "titer/report/network/replay_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostShownRanks = 8;

Figures replayed_figures(const Replay& replay, std::size_t rank) {
  const ReplayedRank& of = replay.ranks[rank];
  return {{"rank", rank, "rank"},
          {"end_s", of.end, "end"},
          {"compute_s", of.compute, "compute"},
          {"communication_s", of.communication, "communication"},
          {"exposed_communication_s", of.exposed, "exposed"},
          {"idle_s", of.idle, "idle"}};
}

Seconds replay_mean(const Replay& replay, Seconds ReplayedRank::*part) {
  Seconds sum;
  for (const ReplayedRank& rank : replay.ranks) {
    sum += rank.*part;
  }
  return sum / static_cast<double>(replay.ranks.size());
}

/// ", times 0.5": of what the files say, whatever chip they are of.
std::string scale_words(double scale) {
  return scale == 1 ? "" : fmt::format(", times {:g} (--compute-scale)", scale);
}

}  // namespace

View replay_view(const Workload& workload,
                 const Replay& replay,
                 const Cluster& cluster,
                 const ReplayOptions& options) {
  FigureRows rows;
  for (std::size_t rank = 0; rank < replay.ranks.size(); ++rank) {
    rows.push_back(replayed_figures(replay, rank));
  }
  const Figures means = {
      {"makespan_s", replay.makespan, "makespan"},
      {"compute_s", replay_mean(replay, &ReplayedRank::compute), "compute of a rank, mean"},
      {"exposed_communication_s",
       replay_mean(replay, &ReplayedRank::exposed),
       "communication beside no compute, mean"},
      {"communication_s",
       replay_mean(replay, &ReplayedRank::communication),
       "all communication, mean"},
      {"idle_s", replay_mean(replay, &ReplayedRank::idle), "idle, mean"}};
  View view{.text = fmt::format("{}: {}, {} ranks, {} nodes, {} collectives, {} messages\n"
                                "on {} ({}); compute as the files say{}, communication as this "
                                "cluster's links have it\n\n",
                                workload.source,
                                workload.format,
                                workload.ranks.size(),
                                replay.nodes,
                                replay.collectives,
                                replay.messages,
                                cluster.name,
                                cluster.chip.title,
                                scale_words(options.compute_scale)),
            .figures = joined({{"source", workload.source},
                               {"format", workload.format},
                               {"cluster", cluster.name},
                               {"nodes", replay.nodes},
                               {"collectives", replay.collectives},
                               {"messages", replay.messages},
                               {"sent_bytes", whole_bytes(replay.sent)},
                               {"compute_scale", options.compute_scale}},
                              joined(means, {{"ranks", rows}, {"remarks", workload.remarks}})),
            .rows = rows,
            .columns = {},
            .title = fmt::format("{} on {}", workload.source, cluster.name),
            .headline = {{"", replay.makespan, "makespan"}}};
  view.text.pairs(means).add("\n");
  FigureRows shown = rows;
  std::ranges::stable_sort(shown, [](const Figures& a, const Figures& b) {
    return a[1].datum.value().number > b[1].datum.value().number;
  });
  const bool cut = shown.size() > kMostShownRanks;
  shown.resize(std::min(shown.size(), kMostShownRanks));
  view.text.add(cut ? "the ranks that end last\n" : "").table(shown, "r");
  for (const std::string& remark : workload.remarks) {
    view.text.add(remark + "\n");
  }
  return view;
}

}  // namespace titer
