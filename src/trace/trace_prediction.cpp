// A scenario's step in the terms of a trace.

#include <algorithm>
#include <array>
#include <memory>

#include "titer/cost/moves.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/export/exported_step.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/trace/trace_comparison.hpp"

namespace titer {
namespace {

using enum TraceCategory;

constexpr double kMostNodes = 3e6;  // of a rank's graph; beyond that, a node for each pass

using CategoryShares = std::array<double, kTraceCategories>;

TraceCategory category_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return all_reduce;
    case Collective::all_gather:
      return all_gather;
    case Collective::reduce_scatter:
      return reduce_scatter;
    case Collective::all_to_all:
      return all_to_all;
    case Collective::broadcast:
      return broadcast;
    case Collective::send_recv:
      return send_recv;
    case Collective::reduce:
      break;
  }
  return other_comm;
}

/// The purposes in the order of kCommunicationParts, which is that of parts.
std::optional<std::size_t> purpose_of(TaskPart part) {
  const auto first = static_cast<std::size_t>(TaskPart::tensor_comm);
  const auto place = static_cast<std::size_t>(part);
  return place < first ? std::nullopt : std::optional(place - first);
}
constexpr std::size_t kPurposes = kCommunicationParts.size();

/// What the sharding's moves are made of, by their bytes.
CategoryShares shares_of_moves(const Scenario& scenario) {
  CategoryShares shares{};
  double sum = 0;
  for (const Move& move : list_moves(scenario)) {
    if (move.is_of_host()) {
      continue;
    }
    const double sent = move.collective == Collective::all_reduce ? 2.0 : 1.0;
    const double parts = move.own ? static_cast<double>(scenario.plan.group().value_or(1)) : 1.0;
    const double times = move.is_of_pass() ? static_cast<double>(scenario.micro_batches()) : 1.0;
    const double bytes = times * sent / parts / move.every * move.each.si();
    shares[static_cast<std::size_t>(category_of(move.collective))] += bytes;
    sum += bytes;
  }
  for (double& share : shares) {
    share /= sum;
  }
  return shares;
}

/// What each purpose is made of where no graph tells.
std::array<CategoryShares, kPurposes> usual_shares(const Scenario& scenario) {
  std::array<CategoryShares, kPurposes> shares{};
  const auto set = [&](std::size_t purpose, TraceCategory category, double share) {
    shares[purpose][static_cast<std::size_t>(category)] = share;
  };
  if (scenario.plan.sequence_parallel) {
    set(0, all_gather, 0.5);
    set(0, reduce_scatter, 0.5);
  } else {
    set(0, all_reduce, 1);
  }
  set(1, send_recv, 1);
  set(2, all_to_all, 1);
  set(3, send_recv, 1);
  shares[4] = shares_of_moves(scenario);
  set(5, host_to_device, 0.5);
  set(5, device_to_host, 0.5);
  return shares;
}

/// The collectives of a rank's graph, added up.
class GraphSums {
 public:
  explicit GraphSums(const ExportedStep& step) : step_(step) {}

  void add(const RankGraph& graph) {
    for (const GraphNode& node : graph.nodes()) {
      if (node.kind != NodeKind::compute && node.kind != NodeKind::copy) {
        add(node);
      }
    }
  }

  /// Replaces what the graph knows better.
  void put_shares(std::array<CategoryShares, kPurposes>& shares) const {
    for (std::size_t purpose = 0; purpose < kPurposes; ++purpose) {
      double sum = 0;
      for (const double time : times_[purpose]) {
        sum += time;
      }
      for (std::size_t i = 0; i < kTraceCategories && sum > 0; ++i) {
        shares[purpose][i] = times_[purpose][i] / sum;
      }
    }
  }

  void put_calls(PredictedStep& step) const {
    for (std::size_t i = 0; i < kTraceCategories; ++i) {
      const Calls& calls = calls_[i];
      if (calls.number > 0) {
        step.communication[i].calls = calls.number;
        step.communication[i].bytes = Bytes::from_si(calls.bytes / calls.number);
        step.communication[i].ranks = calls.ranks;
      }
    }
  }

 private:
  struct Calls {
    double number = 0;
    double bytes = 0;
    int ranks = 0;       // of the largest of its groups by time
    double longest = 0;  // its time
  };

  void add(const GraphNode& node) {
    const std::optional<std::size_t> purpose = purpose_of(node.part);
    if (!purpose) {
      return;
    }
    const bool collective = node.kind == NodeKind::collective;
    const auto category =
        static_cast<std::size_t>(collective ? category_of(node.collective) : send_recv);
    const auto time = static_cast<double>(node.duration);
    times_[*purpose][category] += time;
    Calls& calls = calls_[category];
    const bool of_each =
        collective && node.senders == Senders::all && goes_in_turn(node.collective);
    calls.number += of_each ? static_cast<double>(step_.group(node.group).ranks.size()) : 1.0;
    calls.bytes += node.bytes.si();
    if (time > calls.longest) {
      calls.longest = time;
      calls.ranks = collective ? static_cast<int>(step_.group(node.group).ranks.size()) : 2;
    }
  }

  const ExportedStep& step_;
  std::array<CategoryShares, kPurposes> times_{};
  std::array<Calls, kTraceCategories> calls_{};
};

/// Follows the collectives one by one.
void follow(const Scenario& scenario,
            std::optional<int> rank,
            std::array<CategoryShares, kPurposes>& shares,
            PredictedStep& step) {
  auto exported = std::make_unique<ExportedStep>(scenario, ExportDetail::layer);
  const bool whole_passes = exported->most_nodes() > kMostNodes;
  if (whole_passes) {
    exported = std::make_unique<ExportedStep>(scenario, ExportDetail::pass);
  }
  const int stage = step.result.reference_stage % static_cast<int>(scenario.plan.pipeline);
  GraphSums sums(*exported);
  sums.add(exported->graph(rank.value_or(exported->rank_at({.pipeline = stage}))));
  sums.put_shares(shares);
  if (!whole_passes) {
    sums.put_calls(step);
  }
}

}  // namespace

PredictedStep predict_step(const Scenario& scenario, std::optional<int> rank) {
  PredictedStep step;
  Estimator estimator;
  const Fidelity fidelity = usual_fidelity(scenario);
  evaluate(scenario, fidelity, estimator, step.result);
  if (rank && *rank >= step.result.devices) {
    step.remarks.push_back("the trace is of rank " + std::to_string(*rank) + " of more than the " +
                           std::to_string(step.result.devices) + " of the scenario");
    rank.reset();
  }
  std::array<CategoryShares, kPurposes> shares = usual_shares(scenario);
  follow(scenario, rank, shares, step);
  const Breakdown& parts = step.result.breakdown;
  const std::array<Seconds, kPurposes> exposed = {parts.tensor_comm,
                                                  parts.context_comm,
                                                  parts.expert_comm,
                                                  parts.pipeline_comm,
                                                  parts.data_comm,
                                                  parts.host_comm};
  Seconds hidden;
  for (std::size_t purpose = 0; purpose < kPurposes; ++purpose) {
    const Seconds total =
        std::max(step.result.comm_total.*kCommunicationParts[purpose].value, exposed[purpose]);
    const bool of_host = purpose == kPurposes - 1;  // copies count after compute
    const Seconds counted = of_host ? exposed[purpose] : total;
    hidden += counted - exposed[purpose];
    for (std::size_t i = 0; i < kTraceCategories; ++i) {
      step.communication[i].busy += shares[purpose][i] * total;
      step.communication[i].counted += shares[purpose][i] * counted;
      step.communication[i].exposed += shares[purpose][i] * exposed[purpose];
    }
  }
  step.optimizer = parts.optimizer;
  // What is hidden runs beside compute, or while the device would wait.
  const Seconds compute = parts.forward + parts.backward + parts.recompute;
  const Seconds beside = std::min(hidden, compute);
  step.compute = compute - beside;
  step.idle = std::max(Seconds{}, parts.bubble + parts.input + parts.other - (hidden - beside));
  return step;
}

}  // namespace titer
