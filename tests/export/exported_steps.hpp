#pragma once
// What must hold of any exported step, and plans that are exported.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "export/exported_graphs.hpp"
#include "plan/plans.hpp"
#include "plan/schedules.hpp"
#include "titer/export/exported_step.hpp"

namespace titer::exported_steps {

using plans::plan_of;

/// All that must hold of any step.
inline void expect_sound(const ExportedStep& step, const std::string& text) {
  const std::vector<RankGraph> graphs = exported::graphs(step);
  std::map<std::tuple<int, int, int>, std::pair<int, int>> ends;  // sends and receives
  std::map<std::tuple<int, int, int>, double> bytes;
  std::map<int, std::vector<std::tuple<Collective, double>>> first_member;
  for (int rank = 0; rank < step.ranks(); ++rank) {
    const RankGraph& graph = graphs[static_cast<std::size_t>(rank)];
    EXPECT_LE(static_cast<double>(graph.size()), step.most_nodes()) << text;
    std::map<int, std::vector<std::tuple<Collective, double>>> collectives;
    for (const GraphNode& node : graph.nodes()) {
      EXPECT_GE(node.duration, 0) << text << ": " << node.name();
      const bool sends = node.kind == NodeKind::send;
      if (sends || node.kind == NodeKind::receive) {
        const auto key =
            sends ? std::tuple(rank, node.peer, node.tag) : std::tuple(node.peer, rank, node.tag);
        (sends ? ends[key].first : ends[key].second) += 1;
        EXPECT_LT(node.tag, step.tags());
        const auto [known, added] = bytes.emplace(key, node.bytes.si());
        EXPECT_EQ(known->second, node.bytes.si()) << text;
      } else if (node.kind == NodeKind::collective) {
        collectives[node.group].emplace_back(node.collective, node.bytes.si());
      }
    }
    for (const auto& [group, list] : collectives) {
      const auto& members = step.group(group).ranks;
      EXPECT_EQ(std::count(members.begin(), members.end(), rank), 1) << text;
      const auto [known, added] = first_member.emplace(group, list);
      EXPECT_EQ(known->second, list) << text << ": group " << group;
    }
  }
  for (const auto& [key, count] : ends) {
    EXPECT_EQ(count, std::pair(1, 1)) << text;
  }
  EXPECT_TRUE(exported::Execution(step, graphs).run().has_value()) << text;
}

inline Plan plan_with(const Schedule& schedule, std::int64_t p, std::int64_t t, std::int64_t d) {
  Plan plan = plan_of(p, t, d);
  plan.schedule = schedule;
  plan.virtual_stages =
      interleaves(schedule) && usual_chunks(schedule) == 1 ? 2 : usual_chunks(schedule);
  return plan;
}

}  // namespace titer::exported_steps
