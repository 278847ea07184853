// What a layer, the embedding or the head takes: kernels, and transfers behind or beside them.

#include <algorithm>

#include "pass_list.hpp"
#include "titer/collectives/choice.hpp"
#include "titer/cost/cost.hpp"
#include "titer/cost/group_fabric.hpp"
#include "titer/cost/host_pace.hpp"
#include "titer/model/routing/routing.hpp"

namespace titer {
namespace {

/// What one pass takes. Compute is the sum of its kernels, but no less than the host needs to
/// launch them. In the gaps where the device waits for the host, transfers beside compute go on;
/// counted otherwise, a faster chip, which leaves them less compute to hide behind, would make the
/// pass longer.
///
/// While a kernel and a transfer are beside one another, both take `slowdown` as long: together
/// max(k, c) + (slowdown - 1) min(k, c). What comes on top of them counts as compute.
class PassClock {
 public:
  explicit PassClock(const BlockClock& clock) : clock_(clock) {}

  void operator()(const PassItem& item) {
    if (!item.aside) {
      end_aside();
    }
    launch(item);
    if (!item.is_transfer()) {
      add_kernel(item);
      return;
    }
    const PassComm comm = comm_of(item.transfer.group);
    total_[comm] += item.time;
    if (item.meets_aside) {
      exchange_ = item.time;
      exchange_comm_ = comm;
    } else if (item.beside) {
      guest_ = item.time;
      guest_comm_ = comm;
    } else {
      blocking_[comm] += item.time;
      pace_.keep_busy(item.time);
      if (item.apart) {
        apart_[comm] += item.time;
      } else {
        overlapped_pace_.keep_busy(item.time);
      }
      if (item.aside) {
        static_cast<void>(pass_beside_exchange(item.time));
      }
      if (clock_.awaits_tensor_groups && comm == PassComm::tensor) {
        await();
      }
    }
  }
  [[nodiscard]] PassCost cost() const {
    CommTimes comm = blocking_;
    comm += exposed_;
    comm[exchange_comm_] += exchange_;
    PassCost cost{.compute = kernels_ + pace_.idle(),
                  .exposed = comm,
                  .transfers = total_,
                  .launched = std::max(kernels_, pace_.host()),
                  .host = pace_.host()};
    if (const Seconds apart = apart_.sum(); apart > Seconds{}) {
      const Seconds hidden = std::min(apart, kernels_);
      cost.hidden_by_other = hidden / apart * apart_;
      cost.slowed_by_other =
          (clock_.slowdown - 1.0) * hidden + overlapped_pace_.idle() - pace_.idle();
    }
    return cost;
  }

 private:
  void keep_busy(Seconds time) {
    pace_.keep_busy(time);
    if (clock_.experts_apart) {
      overlapped_pace_.keep_busy(time);
    }
  }
  void launch(Seconds time) {
    pace_.launch(time);
    if (clock_.experts_apart) {
      overlapped_pace_.launch(time);
    }
  }
  void await() {
    pace_.wait();
    overlapped_pace_.wait();
  }
  /// What comes next waits for the exchange that others were beside.
  void end_aside() {
    exposed_[exchange_comm_] += exchange_;
    keep_busy(exchange_);
    exchange_ = {};
  }
  /// How much of so long a time it goes on.
  Seconds pass_beside_exchange(Seconds time) {
    const Seconds together = std::min(exchange_, time);
    exchange_ -= together;
    return together;
  }
  void launch(const PassItem& item) {
    if (item.time <= Seconds{}) {
      return;
    }
    if (item.awaited) {
      await();
    }
    if (!item.captured) {
      launch(item.launch);
    } else if (!in_graph_) {
      launch(clock_.dispatch);
    }
    in_graph_ = item.captured;
  }
  void add_kernel(const PassItem& item) {
    Seconds busy = item.time;
    if (guest_ > Seconds{}) {
      const Seconds longer = std::max(Seconds{}, guest_ - item.time);
      exposed_[guest_comm_] += longer;
      busy += (clock_.slowdown - 1.0) * std::min(guest_, item.time);
      keep_busy(longer);
      guest_ = {};
    }
    if (item.aside) {
      busy += (clock_.slowdown - 1.0) * pass_beside_exchange(item.time);
    }
    kernels_ += busy;
    // Of a loop at an even pace, either the device has the next kernel all along, or it is done
    // with each before the next comes.
    if (const double further = item.captured ? 0.0 : item.kernels - 1.0; further > 0) {
      const double last = 1.0 / item.kernels;
      keep_busy((1.0 - last) * busy);
      launch(further * clock_.loop_dispatch);
      busy = last * busy;
    }
    keep_busy(busy);
  }

  const BlockClock& clock_;
  HostPace pace_;
  HostPace overlapped_pace_;  // while another pass is beside this one
  Seconds kernels_;
  CommTimes blocking_;
  CommTimes exposed_;
  CommTimes total_;
  CommTimes apart_;
  bool in_graph_ = false;
  Seconds guest_;  // beside the next kernel
  PassComm guest_comm_ = PassComm::tensor;
  Seconds exchange_;  // what is left of it, beside what is aside
  PassComm exchange_comm_ = PassComm::expert;
};

/// Devices for which one process launches kernels, one after the other.
double launchers(const Plan& plan) {
  return plan.sharding == Sharding::data_parallel_root ? static_cast<double>(plan.data) : 1.0;
}

}  // namespace

PassComm comm_of(LayerGroup group) {
  switch (group) {
    case LayerGroup::tensor:
      return PassComm::tensor;
    case LayerGroup::context:
    case LayerGroup::context_inner:
    case LayerGroup::context_outer:
      return PassComm::context;
    case LayerGroup::expert:
    case LayerGroup::expert_tensor:
    case LayerGroup::all_experts:
      return PassComm::expert;
    case LayerGroup::data:
      return PassComm::data;
  }
  return PassComm::tensor;
}

PlanGroup plan_group(LayerGroup group) {
  constexpr std::array<PlanGroup, kLayerGroups> groups = {PlanGroup::tensor,
                                                          PlanGroup::context,
                                                          PlanGroup::expert,
                                                          PlanGroup::expert_tensor,
                                                          PlanGroup::replicas,
                                                          PlanGroup::context_inner,
                                                          PlanGroup::context_outer,
                                                          PlanGroup::all_experts};
  return groups[static_cast<std::size_t>(group)];
}

Repeats repeats_of(const Scenario& scenario, const Block& layer) {
  if (!layer.backward) {
    return {};
  }
  const Plan& plan = scenario.plan;
  Repeats repeats{.all = plan.recompute == Recompute::full,
                  .by_operation = plan.recompute == Recompute::operations,
                  .modules = plan.recomputed_modules(),
                  .what_is_needed = scenario.stack.kernels.recomputes_what_is_needed};
  if (plan.distribute_saved_activations) {
    // Of layers whose input is kept together each has its share of the gather.
    const auto together = static_cast<double>(plan.recompute_every.value_or(1));
    repeats.input = {Collective::all_gather, layer.input / together, LayerGroup::tensor};
  }
  return repeats;
}

Seconds BlockClock::transfer_time(const Transfer& transfer) const {
  if (!transfer.exists()) {
    return {};
  }
  const Group& among = group(transfer.group);
  if (transfer.kind == Collective::send_recv) {  // each to its neighbours, all at once
    return neighbour_time(transfer.size, among, fabric(transfer.group));
  }
  const bool to_experts =
      transfer.group == LayerGroup::expert && transfer.kind == Collective::all_to_all;
  return (to_experts ? exchange_slowdown : 1.0) *
         collective_time(transfer.kind, transfer.size, among, fabric(transfer.group)).time;
}

Kernel BlockClock::tile(const Kernel& kernel) const {
  return kernel.part(1.0 / group(LayerGroup::tensor).ranks());
}

KernelPace kernel_pace(const Scenario& scenario) {
  const StackKernels& kernels = scenario.stack.kernels;
  const double of_own =
      kernels.attention == AttentionGeneration::flash_2 ? scenario.cluster.chip.flash_2 : 1.0;
  return {.memory = kernels.memory_traffic,
          .attention = kernels.attention_slowdown / of_own,
          .all = 1.0 + kernels.straggling * expected_maximum(scenario.plan.devices()),
          .loss = kernels.loss_traffic.value_or(kernels.memory_traffic),
          .operators = kernels.operator_traffic.value_or(kernels.memory_traffic),
          .mixer = kernels.mixer_slowdown};
}

namespace {

std::optional<Seconds> scaled(double factor, const std::optional<Seconds>& time) {
  return time ? std::optional(factor * *time) : std::nullopt;
}

std::array<std::optional<Seconds>, 3> dispatches(const Stack& stack, double slowdown) {
  std::array<std::optional<Seconds>, 3> each{};
  const auto put = [&](KernelKind kind, const std::optional<Seconds>& own) {
    each[static_cast<std::size_t>(kind)] = scaled(slowdown, own);
  };
  put(KernelKind::matrix, stack.matrix_dispatch);
  put(KernelKind::attention, stack.attention_dispatch);
  put(KernelKind::memory, stack.memory_dispatch);
  return each;
}

}  // namespace

BlockClock block_clock(const Scenario& scenario) {
  const double host = captures_all(scenario.plan.cuda_graph)
                          ? 0.0
                          : launchers(scenario.plan) * scenario.cluster.host_slowdown;
  BlockClock clock{
      .kernels = KernelClock(
          scenario.cluster.chip, scenario.training.base_type(), scenario.training.precision),
      .pace = kernel_pace(scenario),
      .groups = {},
      .fabrics = {},
      .overlap = scenario.tensor_overlap(),
      .experts_apart = scenario.plan.expert_overlap,
      .exchange_slowdown = scenario.expert_dispatch() == ExpertDispatch::deduplicated
                               ? scenario.stack.deduplication_slowdown
                               : 1.0,
      .dispatch = host * scenario.stack.dispatch,
      .dispatches = dispatches(scenario.stack, host),
      .transfer_dispatch = scaled(host, scenario.stack.transfer_dispatch),
      .loop_dispatch = host * scenario.stack.loop_dispatch,
      .batch_dispatch = host * scenario.stack.batch_dispatch,
      .graphs = scenario.plan.cuda_graph,
      .awaits_counts = scenario.stack.awaits_counts,
      .awaits_offsets = scenario.stack.awaits_offsets,
      .awaits_tensor_groups = scenario.stack.awaits_tensor_groups,
      .slowdown = scenario.stack.overlap_slowdown};
  for (std::size_t i = 0; i < kLayerGroups; ++i) {
    const PlanGroup group = plan_group(static_cast<LayerGroup>(i));
    if (group_ranks(scenario.plan, group).ranks > 1) {
      const GroupPlace at = place(scenario.plan, group, scenario.cluster);
      clock.groups[i] = at.group;
      clock.fabrics[i] = group_fabric(scenario, at);
    }
  }
  return clock;
}

BlockCost block_cost(const OperationList& operations,
                     const Repeats& repeats,
                     const BlockClock& clock) {
  const PassClock nothing(clock);
  EachPass<PassClock> passes{nothing, nothing, nothing, nothing, nothing};
  BlockList(operations, clock, passes).list(repeats);
  return map_passes([](const PassClock& pass) { return pass.cost(); }, passes);
}

}  // namespace titer
