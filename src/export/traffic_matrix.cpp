#include "titer/export/traffic_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "expert_spread.hpp"

namespace titer {
namespace {

constexpr double kMostDraws = 1e9;

TrafficKind kind_of(const GraphNode& node, GroupRole role) {
  switch (node.part) {
    case TaskPart::context_comm:
      return TrafficKind::context;
    case TaskPart::expert_comm:
      return TrafficKind::expert;
    case TaskPart::data_comm:
      return TrafficKind::data;
    case TaskPart::pipeline_comm:
      return role == GroupRole::ends ? TrafficKind::embedding : TrafficKind::pipeline;
    default:
      return TrafficKind::tensor;
  }
}

/// By each of so many ranks, who send alike.
Bytes sent_alike(const GraphNode& node, int ranks) {
  return volume(all_at_once(node.collective), node.bytes, ranks);
}

bool has_experts(const Block& block) {
  return std::ranges::any_of(block.operations, [](const Operation& op) {
    return op.forward_transfer.exists() && op.forward_transfer.group == LayerGroup::expert;
  });
}

}  // namespace

TrafficMatrix::TrafficMatrix(int ranks, std::vector<TrafficPair> pairs)
    : ranks_(ranks), pairs_(std::move(pairs)) {
  const auto key = [](const TrafficPair& pair) {
    return std::tuple(pair.from, pair.to, pair.kind);
  };
  std::ranges::stable_sort(
      pairs_, [&](const TrafficPair& a, const TrafficPair& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (const TrafficPair& pair : pairs_) {
    if (kept > 0 && key(pairs_[kept - 1]) == key(pair)) {
      pairs_[kept - 1].bytes += pair.bytes;
    } else {
      pairs_[kept++] = pair;
    }
  }
  pairs_.resize(kept);
}

StepTraffic::StepTraffic(const ExportedStep& step) : step_(step) {
  std::vector<bool> known(step.classes() * static_cast<std::size_t>(stages()));
  sends_.resize(known.size());
  for (int rank = 0; rank < step.devices(); ++rank) {
    const std::size_t like = like_rank(rank);
    if (!known[like]) {
      known[like] = true;
      sends_[like] = sends_of(rank);
    }
  }
}

std::size_t StepTraffic::like_rank(int rank) const {
  return step_.class_of(rank) * static_cast<std::size_t>(stages()) +
         static_cast<std::size_t>(step_.place_of_rank(rank).pipeline);
}

double StepTraffic::expert_layers(int pipeline) const {
  const StepCosts& costs = step_.costs();
  double layers = 0;
  for (int chunk = 0; chunk < chunks_per_rank(costs.placement, costs.shape); ++chunk) {
    const int stage = stage_of(costs.placement, {.rank = pipeline, .chunk = chunk}, costs.shape);
    const auto kinds = costs.contents.kinds(stage);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      layers += has_experts(costs.blocks.kinds[kind]) ? kinds[kind] : 0.0;
    }
  }
  return layers * micro_batches_per_chunk(costs.placement, costs.shape);
}

StepTraffic::RankSends StepTraffic::sends_of(int rank) const {
  const RankGraph graph = step_.graph(rank);
  RankSends sends;
  sends.expert_layers = expert_layers(step_.place_of_rank(rank).pipeline);
  for (const GraphNode& node : graph.nodes()) {
    if (node.kind == NodeKind::send && node.peer >= step_.devices()) {
      sends.to_servers += node.bytes;
    } else if (node.kind == NodeKind::send) {
      sends.to_stages[step_.place_of_rank(node.peer).pipeline] += node.bytes;
    } else if (node.kind == NodeKind::collective) {
      const RankGroup& group = step_.group(node.group);
      const GroupSends to = {.role = group.role,
                             .kind = kind_of(node, group.role),
                             .to_all = node.collective == Collective::all_to_all,
                             .senders = node.senders};
      sends.to_groups[to] += node.senders == Senders::all
                                 ? sent_alike(node, static_cast<int>(group.ranks.size()))
                                 : node.bytes;
    }
  }
  return sends;
}

std::int64_t StepTraffic::expert_pairs() const {
  std::int64_t pairs = 0;
  for (const RankGroup& group : step_.groups()) {
    const auto ranks = static_cast<std::int64_t>(group.ranks.size());
    pairs += group.role == GroupRole::expert ? ranks * (ranks - 1) : 0;
  }
  return pairs;
}

/// Fills one matrix, group by group.
class StepTraffic::Filler {
 public:
  Filler(const StepTraffic& traffic, const TrafficOptions& options)
      : traffic_(traffic),
        step_(traffic.step_),
        sends_(traffic.sends_),
        options_(options),
        experts_(step_.scenario(), options),
        received_(static_cast<std::size_t>(step_.ranks()), experts_.sent()) {}

  TrafficMatrix run() {
    check_draws();
    for (const RankGroup& group : step_.groups()) {  // experts' before those of parts of experts
      add_members(group);
      if (group.role == GroupRole::expert) {
        finish_experts(group);
      }
    }
    for (int rank = 0; wanted(TrafficKind::pipeline) && rank < step_.devices(); ++rank) {
      add_messages(rank);
    }
    if (wanted(TrafficKind::data)) {
      add_served();
    }
    return {step_.ranks(), std::move(pairs_)};
  }

 private:
  void add_members(const RankGroup& group) {
    for (std::size_t member = 0; member < group.ranks.size(); ++member) {
      for (const auto& [to, bytes] : sends_at(group.ranks[member]).to_groups) {
        if (to.role == group.role && wanted(to.kind)) {
          add_member(group, member, to, bytes);
        }
      }
    }
  }
  [[nodiscard]] const RankSends& sends_at(int rank) const {
    return sends_[traffic_.like_rank(rank)];
  }
  [[nodiscard]] bool wanted(TrafficKind kind) const {
    return !options_.only || *options_.only == kind;
  }

  void check_draws() const {
    double draws = 0;
    for (const RankSends& sends : sends_) {
      draws += experts_.draws(sends.expert_layers);
    }
    draws *= static_cast<double>(step_.devices()) / static_cast<double>(sends_.size());
    if (draws > kMostDraws) {
      throw InputError(fmt::format(
          "traffic: {:.2g} draws of experts' tokens: expected at most {:.0e}; a routing without "
          "capacity needs one for all layers and micro-batches",
          draws,
          kMostDraws));
    }
  }

  void add(int from, int to, TrafficKind kind, Bytes bytes) {
    if (from == to || bytes <= Bytes{}) {
      return;
    }
    if (pairs_.size() == kMostTrafficPairs) {
      throw InputError(fmt::format(
          "traffic: more than {} pairs of ranks: expected fewer devices, one --kind, or "
          "--spread ring",
          kMostTrafficPairs));
    }
    pairs_.push_back({.from = from, .to = to, .kind = kind, .bytes = bytes});
  }

  void add_member(const RankGroup& group, std::size_t member, const GroupSends& to, Bytes bytes) {
    const std::size_t n = group.ranks.size();
    const int rank = group.ranks[member];
    if (to.senders != Senders::all) {
      const GraphNode node = {.senders = to.senders, .bytes = bytes, .group = group.number};
      for (const RankMessage& message : step_.messages(node, rank)) {
        add(rank, message.peer, to.kind, message.sends ? message.bytes : Bytes{});
      }
      return;
    }
    if (to.kind == TrafficKind::expert && to.role == GroupRole::expert && to.to_all) {
      add_tokens(group, member, bytes * (static_cast<double>(n) / static_cast<double>(n - 1)));
      return;
    }
    if (to.kind == TrafficKind::expert) {
      bytes = bytes * (experts_.wanted_over_busiest() * mean_received(group));
    }
    if (!to.to_all && options_.spread == CollectiveSpread::ring) {
      add(rank, group.ranks[(member + 1) % n], to.kind, bytes);
      return;
    }
    for (const int other : group.ranks) {
      add(rank, other, to.kind, bytes / static_cast<double>(n - 1));
    }
  }

  /// Half of the bytes are tokens on their way to experts, or gradients of what came back; the
  /// other half goes the other way.
  void add_tokens(const RankGroup& group, std::size_t member, Bytes bytes) {
    const int rank = group.ranks[member];
    const std::vector<double> shares = experts_.shares(rank, sends_at(rank).expert_layers);
    gathered_.resize(group.ranks.size());
    for (std::size_t other = 0; other < shares.size(); ++other) {
      const Bytes half = bytes * (experts_.wanted_over_busiest() * shares[other] / 2);
      add(rank, group.ranks[other], TrafficKind::expert, half);
      add(group.ranks[other], rank, TrafficKind::expert, half);
      gathered_[other] += shares[other];
    }
  }
  void finish_experts(const RankGroup& group) {
    for (std::size_t member = 0; member < gathered_.size(); ++member) {
      received_[static_cast<std::size_t>(group.ranks[member])] = gathered_[member];
    }
    gathered_.clear();
  }
  /// What the ranks with parts of the same experts get of tokens, over what each of them sends.
  [[nodiscard]] double mean_received(const RankGroup& group) const {
    double sum = 0;
    for (const int rank : group.ranks) {
      sum += received_[static_cast<std::size_t>(rank)];
    }
    return sum / static_cast<double>(group.ranks.size());
  }

  void add_messages(int rank) {
    RankPlace place = step_.place_of_rank(rank);
    for (const auto& [pipeline, bytes] : sends_at(rank).to_stages) {
      place.pipeline = pipeline;
      add(rank, step_.rank_at(place), TrafficKind::pipeline, bytes);
    }
  }

  /// All workers send alike; each server sends its part back to all of them.
  void add_served() {
    for (int server = step_.devices(); server < step_.ranks(); ++server) {
      for (int worker = 0; worker < step_.devices(); ++worker) {
        add(worker, server, TrafficKind::data, sends_at(worker).to_servers / step_.servers());
      }
      const RankGraph graph = step_.graph(server);
      for (const GraphNode& node : graph.nodes()) {
        if (node.kind == NodeKind::send) {
          add(server, node.peer, TrafficKind::data, node.bytes);
        }
      }
    }
  }

  const StepTraffic& traffic_;
  const ExportedStep& step_;
  const std::vector<RankSends>& sends_;
  const TrafficOptions& options_;
  ExpertSpread experts_;
  std::vector<double> received_;  // by rank: pairs that it gets, over those that a rank wants
  std::vector<double> gathered_;  // likewise, by member of the group at hand
  std::vector<TrafficPair> pairs_;
};

TrafficMatrix StepTraffic::matrix(const TrafficOptions& options) const {
  return Filler(*this, options).run();
}

TrafficStatistics traffic_statistics(const TrafficMatrix& matrix,
                                     std::int64_t possible,
                                     std::span<const int> nodes) {
  TrafficStatistics found;
  found.possible = possible;
  std::vector<Bytes> sums;  // of pairs, kinds together
  const auto& pairs = matrix.pairs();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const TrafficPair& pair = pairs[i];
    const bool again = i > 0 && pairs[i - 1].from == pair.from && pairs[i - 1].to == pair.to;
    if (!again) {
      sums.emplace_back();
    }
    sums.back() += pair.bytes;
    found.total += pair.bytes;
    if (nodes[static_cast<std::size_t>(pair.from)] == nodes[static_cast<std::size_t>(pair.to)]) {
      found.within_nodes += pair.bytes;
    }
  }
  found.pairs = static_cast<std::int64_t>(sums.size());
  for (const Bytes bytes : sums) {
    const double share = bytes / found.total;
    found.entropy -= share * std::log2(share);
    found.largest = std::max(found.largest, bytes);
  }
  if (possible > 1) {
    found.uniformity = found.entropy / std::log2(static_cast<double>(possible));
  }
  if (found.pairs > 0) {
    found.largest_over_mean = found.largest / (found.total / static_cast<double>(possible));
  }
  return found;
}

}  // namespace titer
