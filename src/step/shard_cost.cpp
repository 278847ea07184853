#include "shard_cost.hpp"

#include <algorithm>

#include "pass_slot.hpp"
#include "root_cost.hpp"
#include "sync_cost.hpp"

namespace titer {
namespace {

/// What a block moves.
struct Moves {
  Seconds gather;        // parameters, before its forward pass
  Seconds gather_again;  // before its backward pass
  Seconds reduce;        // gradients, after its backward pass
  Seconds fetch;         // parameters from the host
  Seconds fetch_again;
  Seconds keep;  // activations to the host after its forward pass, and back before its backward
};

class MoveClock {
 public:
  MoveClock(const Scenario& scenario, const SyncGroups& groups)
      : scenario_(scenario), plan_(scenario.plan), groups_(groups) {}

  [[nodiscard]] Moves of(const DeviceParameters& parameters) const {
    Moves moves;
    if (plan_.sharding == Sharding::zero3) {
      moves.gather = time(parameters, [&](double count, const SyncGroup& of) {
        return group_time(
            Collective::all_gather, count * scenario_.weight_message(), of.group, of.fabric);
      });
      moves.gather_again = plan_.reshard_after_forward ? moves.gather : Seconds{};
    }
    if (plan_.offload.weights) {
      moves.fetch = fetch_time(parameters);
      moves.fetch_again = moves.fetch;
    }
    return moves;
  }
  [[nodiscard]] Seconds reduce(const DeviceParameters& trained) const {
    if (!plan_.reduces_every_pass()) {
      return {};
    }
    return time(trained, [&](double count, const SyncGroup& of) {
      return exchange_time(
          plan_.gradient_exchange(), count * scenario_.gradient_message(), of.group, of.fabric);
    });
  }
  [[nodiscard]] Seconds keep(const Block& block) const {
    if (!plan_.offload.activations) {
      return {};
    }
    const Bytes kept = plan_.recompute == Recompute::full
                           ? block.input
                           : saved_bytes(block.operations, plan_.recomputed_modules());
    return host_path(scenario_, *plan_.offload.activations).time(kept);
  }

 private:
  /// Of the dense part and of experts: `of` (number of parameters, group -> Seconds).
  template <class Of>
  [[nodiscard]] Seconds time(const DeviceParameters& count, const Of& of) const {
    const Seconds dense = of(count.dense, groups_.dense_shard);
    return count.experts > 0 ? dense + of(count.experts, groups_.expert_shard) : dense;
  }
  /// Every device supplies its own part: the bandwidth grows with the devices.
  /// [ZeRO-Infinity: bandwidth-centric partitioning]
  [[nodiscard]] Seconds fetch_time(const DeviceParameters& count) const {
    const bool parted = plan_.sharding == Sharding::zero3;
    const double dense = parted ? groups_.dense_shard.group.ranks() : 1.0;
    const double experts = parted ? groups_.expert_shard.group.ranks() : 1.0;
    const Bytes size = (count.dense / dense + count.experts / experts) * scenario_.weight_message();
    return host_path(scenario_, *plan_.offload.weights).time(size);
  }

  const Scenario& scenario_;
  const Plan& plan_;
  const SyncGroups& groups_;
};

/// Goes through the blocks of the model and adds to each what is moved beside it.
class PassMover {
 public:
  PassMover(const Scenario& scenario, StepCosts& costs)
      : costs_(costs),
        gathers_beside_(scenario.plan.prefetch),
        copies_beside_(scenario.plan.offload.prefetch),
        reduces_beside_(scenario.overlap_grad_reduce()),
        embedding_(costs.kinds.size()),
        head_(costs.kinds.size() + 1) {
    const MoveClock clock(scenario, costs.groups);
    moves_.reserve(head_ + 1);
    for (const Block& block : costs.blocks.kinds) {
      const DeviceParameters count = on_device(block.parameters, scenario.plan);
      Moves moves = clock.of(count);
      moves.reduce = block.has_gradients() ? clock.reduce(count) : Seconds{};
      moves.keep = clock.keep(block);
      if (!block.backward) {
        moves.gather_again = {};
        moves.fetch_again = {};
        moves.keep = {};
      }
      moves_.push_back(moves);
    }
    const Block& embedding = costs.blocks.embedding;
    const DeviceParameters first = on_device(embedding.parameters, scenario.plan);
    moves_.push_back(clock.of(first));
    moves_.back().reduce = embedding.frozen ? Seconds{} : clock.reduce(first);
    DeviceParameters last = on_device(costs.blocks.head.parameters, scenario.plan);
    last += on_device(ParameterCount{.split = costs.blocks.tied_table}, scenario.plan);
    moves_.push_back(clock.of(last));
    moves_.back().reduce = clock.reduce(head_count(scenario, costs));
    for (const std::size_t end : {embedding_, head_}) {
      moves_[end].gather_again = {};
      moves_[end].fetch_again = {};
    }
    more_.resize(moves_.size());
  }

  void run() {
    add_places();
    for (std::size_t kind = 0; kind < costs_.kinds.size(); ++kind) {
      if (places_of(kind) > 0) {
        costs_.kinds[kind] += (1.0 / places_of(kind)) * more_[kind];
      }
    }
    costs_.embedding += more_[embedding_];
    costs_.head += more_[head_];
  }

 private:
  /// Every place of the model once, but equal places of a run together.
  void add_places() {
    const std::vector<LayerRun>& order = costs_.blocks.order;
    std::size_t before = embedding_;
    add_first(order.empty() ? head_ : static_cast<std::size_t>(order.front().kind));
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto kind = static_cast<std::size_t>(order[i].kind);
      const std::size_t after =
          i + 1 < order.size() ? static_cast<std::size_t>(order[i + 1].kind) : head_;
      const std::int64_t count = order[i].count;
      if (count == 1) {
        add(kind, before, after, 1);
      } else if (count > 1) {
        add(kind, before, kind, 1);
        add(kind, kind, kind, static_cast<double>(count - 2));
        add(kind, kind, after, 1);
      }
      before = count > 0 ? kind : before;
    }
    add(head_, before, head_, 1);
  }

  /// The embedding: nothing is before it, and nothing comes after its backward pass.
  void add_first(std::size_t next) {
    const Moves& own = moves_[embedding_];
    PassSlot forward(costs_.embedding.forward, costs_.slowdown);
    forward.expose(own.gather, PassComm::data);
    forward.expose(own.fetch, PassComm::host);
    add_next(next, forward);
    more_[embedding_].forward = forward.more();
    for (const bool whole : {true, false}) {
      const BlockCost& cost = costs_.embedding;
      PassSlot last(whole ? cost.backward : cost.weight_gradient, costs_.slowdown);
      last.put(reduces_beside_ ? moves_[next].reduce : Seconds{}, PassComm::data, true);
      last.expose(own.reduce, PassComm::data);
      (whole ? more_[embedding_].backward : more_[embedding_].weight_gradient) = last.more();
    }
  }

  /// `times` places of a block, with these before and after it in the model.
  void add(std::size_t block, std::size_t before, std::size_t after, double times) {
    if (times <= 0) {
      return;
    }
    const BlockCost& cost = block == head_ ? costs_.head : costs_.kinds[block];
    const Moves& own = moves_[block];
    BlockCost more;
    PassSlot forward(cost.forward, costs_.slowdown);
    expose_own(own.gather, own.fetch, forward);
    forward.put(own.keep, PassComm::host, copies_beside_);
    if (after != block || block != head_) {
      add_next(after, forward);
    }
    more.forward = forward.more();

    PassSlot repeated(cost.recompute, costs_.slowdown);
    const Moves& below = moves_[before];
    const Seconds gather =
        repeated.hide(gathers_beside_ ? below.gather_again : Seconds{}, PassComm::data);
    const Seconds copies =
        repeated.hide(copies_beside_ ? below.fetch_again + below.keep : Seconds{}, PassComm::host);
    more.recompute = repeated.more();
    const bool is_last = block == head_;
    const Seconds above = is_last ? Seconds{} : moves_[after].reduce;
    const auto add_inputs = [&](PassSlot& slot) {
      expose_own(own.gather_again, own.fetch_again + own.keep, slot);
      slot.put(gather, PassComm::data, true);
      slot.put(copies, PassComm::host, true);
    };
    const auto add_outputs = [&](PassSlot& slot) {
      slot.put(reduces_beside_ ? above : own.reduce, PassComm::data, reduces_beside_);
    };
    PassSlot backward(cost.backward, costs_.slowdown);
    add_inputs(backward);
    add_outputs(backward);
    more.backward = backward.more();
    PassSlot input(cost.input_gradient, costs_.slowdown);
    add_inputs(input);
    more.input_gradient = input.more();
    PassSlot weight(cost.weight_gradient, costs_.slowdown);
    add_outputs(weight);
    more.weight_gradient = weight.more();
    more_[block] += times * more;
  }

  /// What the block waits for itself where nothing is fetched ahead.
  void expose_own(Seconds gather, Seconds fetch, PassSlot& slot) const {
    slot.expose(gathers_beside_ ? Seconds{} : gather, PassComm::data);
    slot.expose(copies_beside_ ? Seconds{} : fetch, PassComm::host);
  }
  /// What the next block's forward pass needs, beside this one's.
  void add_next(std::size_t next, PassSlot& slot) const {
    slot.put(gathers_beside_ ? moves_[next].gather : Seconds{}, PassComm::data, true);
    slot.put(copies_beside_ ? moves_[next].fetch : Seconds{}, PassComm::host, true);
  }

  [[nodiscard]] double places_of(std::size_t kind) const {
    double sum = 0;
    for (const LayerRun& run : costs_.blocks.order) {
      sum += static_cast<std::size_t>(run.kind) == kind ? static_cast<double>(run.count) : 0.0;
    }
    return sum;
  }

  StepCosts& costs_;
  bool gathers_beside_;
  bool copies_beside_;
  bool reduces_beside_;
  std::size_t embedding_;
  std::size_t head_;
  std::vector<Moves> moves_;  // of each kind, the embedding and the head; likewise below
  std::vector<BlockCost> more_;
};

}  // namespace

HostPath host_path(const Scenario& scenario, HostPlace where) {
  const Cluster& cluster = scenario.cluster;
  const auto devices =
      static_cast<int>(std::min<std::int64_t>(scenario.plan.devices(), cluster.devices_per_node));
  ensure(cluster.host_memory.has_value(), "what is offloaded has a place");
  HostPath path{.host = cluster.host_memory->share(devices),
                .pipelined = scenario.plan.offload.prefetch};
  if (where == HostPlace::nvme) {
    ensure(cluster.nvme.has_value(), "what is offloaded to NVMe has a place");
    path.nvme = cluster.nvme->share(devices);
  }
  return path;
}

bool moves_with_passes(const Plan& plan) {
  return plan.gathers_every_pass() || plan.reduces_every_pass() || plan.offload.weights ||
         plan.offload.activations || plan.sharding == Sharding::data_parallel_root;
}

void add_pass_transfers(const Scenario& scenario, StepCosts& costs) {
  if (scenario.plan.sharding == Sharding::data_parallel_root) {
    add_root_transfers(scenario, costs);
  } else if (moves_with_passes(scenario.plan)) {
    PassMover(scenario, costs).run();
  }
}

}  // namespace titer
