#pragma once
// The critical path of a recommendation model's step, as published and as tasks.

#include "titer/collectives/choice.hpp"
#include "titer/engine/task_graph.hpp"
#include "titer/hardware/kernel.hpp"
#include "titer/model/dlrm/dlrm.hpp"

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
  Seconds table_all_reduce{};  // of data-parallel tables

  [[nodiscard]] Seconds communication() const {
    return all_to_all_forward + all_to_all_backward + all_reduces();
  }
  [[nodiscard]] Seconds all_reduces() const {
    return top_all_reduce + bottom_all_reduce + table_all_reduce;
  }
};

/// E1: T_fwd = max(BotMLP_fwd, lookup + alltoall_fwd) + Interaction_fwd + TopMLP_fwd.
/// [Mudigere et al. 2022]
[[nodiscard]] Seconds forward_time(const DlrmTimes& times);
/// E1: T_bwd = max(TopMLP_bwd + Interaction_bwd + max(alltoall_bwd + update, BotMLP_bwd),
///                 TopMLP_allreduce + BotMLP_allreduce).
/// The all-reduces (here of data-parallel tables too) run beside all of the backward pass, although
/// gradients only come during it: a bound from below. Without copies from the host, and without the
/// exchange of indices, which are fetched ahead.  [Mudigere et al. 2022]
[[nodiscard]] Seconds backward_time(const DlrmTimes& times);
[[nodiscard]] Seconds total_time(const DlrmTimes& times);
/// What the total would be shorter by if nothing had to be sent.
[[nodiscard]] Seconds exposed_communication(const DlrmTimes& times);

/// When a gradient's all-reduce starts.
enum class GradientStart {
  with_backward,  // as E1 has it
  when_complete,  // after the MLP's or the tables' backward pass, one after the other
};

/// The step as tasks: MLPs and interaction on one resource, look-ups and updates, all-to-alls and
/// all-reduces on one each. Started with_backward, its makespan is total_time.
[[nodiscard]] TaskGraph dlrm_graph(const DlrmTimes& times, GradientStart start);

/// The parts' times on devices that lie as `group` says; batch.devices of them. Look-ups move rows
/// at the rate of long streams: rows of a few hundred bytes do, narrower ones are slower. REQUIRES
/// group.ranks() == batch.devices.
[[nodiscard]] DlrmTimes dlrm_times(const Dlrm& model,
                                   const DlrmBatch& batch,
                                   const KernelClock& clock,
                                   const Group& group,
                                   const Fabric& fabric);

}  // namespace titer
