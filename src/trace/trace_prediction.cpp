// A scenario's step in the terms of a trace.

#include <algorithm>
#include <array>
#include <memory>

#include "titer/cost/moves.hpp"
#include "titer/cost/sync_cost.hpp"
#include "titer/export/exported_step.hpp"
#include "titer/simulate/accounts.hpp"
#include "titer/simulate/evaluate.hpp"
#include "titer/trace/trace_comparison.hpp"

namespace titer {
namespace {

using enum TraceCategory;

constexpr double kMostNodes = 3e6;  // of a rank's graph; beyond that, a node for each pass

using CategoryShares = std::array<double, kTraceCategories>;
using PartShares = std::array<CategoryShares, kTaskParts>;

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

/// What each part is made of where no graph tells.
PartShares usual_shares(const Scenario& scenario) {
  PartShares shares{};
  const auto set = [&](TaskPart part, TraceCategory category, double share) {
    shares[static_cast<std::size_t>(part)][static_cast<std::size_t>(category)] = share;
  };
  if (scenario.plan.sequence_parallel) {
    set(TaskPart::tensor_comm, all_gather, 0.5);
    set(TaskPart::tensor_comm, reduce_scatter, 0.5);
  } else {
    set(TaskPart::tensor_comm, all_reduce, 1);
  }
  set(TaskPart::context_comm, send_recv, 1);
  set(TaskPart::expert_comm, all_to_all, 1);
  set(TaskPart::pipeline_comm, send_recv, 1);
  shares[static_cast<std::size_t>(TaskPart::data_comm)] = shares_of_moves(scenario);
  set(TaskPart::host_copy, host_to_device, 0.5);
  set(TaskPart::host_copy, device_to_host, 0.5);
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
  void put_shares(PartShares& shares) const {
    for (std::size_t part = 0; part < kTaskParts; ++part) {
      double sum = 0;
      for (const double time : times_[part]) {
        sum += time;
      }
      for (std::size_t i = 0; i < kTraceCategories && sum > 0; ++i) {
        shares[part][i] = times_[part][i] / sum;
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
    const auto part = static_cast<std::size_t>(node.part);
    if (part < kComputeParts) {
      return;
    }
    const bool collective = node.kind == NodeKind::collective;
    const auto category =
        static_cast<std::size_t>(collective ? category_of(node.collective) : send_recv);
    const auto time = static_cast<double>(node.duration);
    times_[part][category] += time;
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
  PartShares times_{};
  std::array<Calls, kTraceCategories> calls_{};
};

/// Follows the collectives one by one.
void follow(const Scenario& scenario,
            std::optional<int> rank,
            PartShares& shares,
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
  PartShares shares = usual_shares(scenario);
  follow(scenario, rank, shares, step);
  const Breakdown& parts = step.result.breakdown;
  Seconds hidden;
  for (const CountedPart& of : kCountedParts) {
    if (of.total == nullptr) {
      continue;
    }
    const CategoryShares& made_of = shares[static_cast<std::size_t>(of.part)];
    const Seconds exposed = parts.*of.exposed;
    const Seconds total = std::max(step.result.comm_total.*of.total, exposed);
    // Copies count after compute.
    const Seconds counted = of.part == TaskPart::host_copy ? exposed : total;
    hidden += counted - exposed;
    for (std::size_t i = 0; i < kTraceCategories; ++i) {
      step.communication[i].busy += made_of[i] * total;
      step.communication[i].counted += made_of[i] * counted;
      step.communication[i].exposed += made_of[i] * exposed;
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
