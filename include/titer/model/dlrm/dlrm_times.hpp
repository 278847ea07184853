#pragma once
// The critical path of a recommendation model's step, as published and as tasks.

#include "titer/engine/task_graph.hpp"
#include "titer/units/quantity.hpp"

namespace titer {

/// How long each part of a step takes.
struct DlrmTimes {
  Seconds bottom_forward;
  Seconds lookup;
  Seconds all_to_all_forward;  // with the reduce-scatter of row-wise tables
  Seconds interaction_forward;
  Seconds top_forward;
  Seconds top_backward;
  Seconds interaction_backward;
  Seconds all_to_all_backward;  // with their all-gather
  Seconds update;               // of embeddings
  Seconds bottom_backward;
  Seconds top_all_reduce;
  Seconds bottom_all_reduce;
};

/// E1: T_fwd = max(BotMLP_fwd, lookup + alltoall_fwd) + Interaction_fwd + TopMLP_fwd.
/// [Mudigere et al. 2022]
[[nodiscard]] Seconds forward_time(const DlrmTimes& times);
/// E1: T_bwd = max(TopMLP_bwd + Interaction_bwd + max(alltoall_bwd + update, BotMLP_bwd),
///                 TopMLP_allreduce + BotMLP_allreduce).
/// The all-reduces run beside all of the backward pass, although gradients only come during it: a
/// bound from below. Without copies from the host, and without the exchange of indices, which are
/// fetched ahead.  [Mudigere et al. 2022]
[[nodiscard]] Seconds backward_time(const DlrmTimes& times);
[[nodiscard]] Seconds total_time(const DlrmTimes& times);

/// The step as tasks: MLPs and interaction on one resource, look-ups and updates, all-to-alls and
/// all-reduces on one each. Its makespan is total_time.
[[nodiscard]] TaskGraph dlrm_graph(const DlrmTimes& times);

}  // namespace titer
