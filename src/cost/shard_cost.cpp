#include "titer/cost/shard_cost.hpp"

#include <algorithm>

#include "pass_slot.hpp"
#include "titer/cost/block_moves.hpp"
#include "titer/cost/root_cost.hpp"

namespace titer {
namespace {

constexpr std::array kMoved = {PassComm::data, PassComm::host};

/// Goes through the blocks of the model and adds to each what is moved beside it.
class PassMover {
 public:
  PassMover(const Scenario& scenario, StepCosts& costs)
      : costs_(costs),
        gathers_beside_(scenario.plan.prefetch),
        copies_beside_(scenario.plan.offload.prefetch),
        reduces_beside_(scenario.overlap_grad_reduce()),
        repeats_some_(scenario.plan.recompute_layers.has_value()),
        concatenates_(scenario.stack.kernels.concatenates_shards),
        embedding_(costs.kinds.size()),
        head_(costs.kinds.size() + 1),
        memory_(scenario.cluster.chip),
        clock_(scenario, costs.groups),
        moves_(block_moves(scenario, costs, clock_)),
        more_(moves_.size()) {}

  void run() {
    add_places();
    if (concatenates_) {
      add_concatenations();
    }
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

  /// Shards are copied together in the device's memory, once for every time that they are gathered
  /// or reduced: torch.cat of what came.  [DeepSpeed, AllGatherCoalescedHandle,
  /// reduce_scatter_coalesced]
  void add_concatenations() {
    for (std::size_t block = 0; block < more_.size(); ++block) {
      const Seconds again = concatenation(block, MoveTime::backward);
      const Seconds gradients = concatenation(block, MoveTime::gradients);
      BlockCost more;
      more.forward.compute = concatenation(block, MoveTime::forward);
      more.backward.compute = again + gradients;
      more.input_gradient.compute = again;
      more.weight_gradient.compute = gradients;
      more_[block] += std::max(1.0, block < embedding_ ? places_of(block) : 1.0) * more;
    }
  }
  [[nodiscard]] Seconds concatenation(std::size_t block, MoveTime when) const {
    Bytes bytes;
    for (const BlockMove& of : moves_[block]) {
      if (of.move->when == when && of.move->among == MoveAmong::shard) {
        bytes += of.parameters.total() * of.move->each;
      }
    }
    return memory_.time(2.0 * bytes);
  }

  /// The embedding: nothing is before it, and nothing comes after its backward pass.
  void add_first(std::size_t next) {
    const BlockCost& cost = costs_.embedding;
    PassSlot forward(cost.forward, costs_.slowdown);
    for (const PassComm comm : kMoved) {
      forward.expose(time(embedding_, MoveTime::forward, comm), comm);
    }
    add_next(next, forward);
    more_[embedding_].forward = forward.more();
    for (const Pass pass : {Pass::backward, Pass::weight_gradient}) {
      PassSlot last(cost.of(pass), costs_.slowdown);
      last.put(reduces_beside_ ? reduce(next) : Seconds{}, PassComm::data, true);
      last.expose(reduce(embedding_), PassComm::data);
      last.put(copies_beside_ ? copied_out(next) : Seconds{}, PassComm::host, true);
      last.expose(copied_out(embedding_), PassComm::host);
      more_[embedding_].of(pass) = last.more();
    }
  }

  /// `times` places of a block, with these before and after it in the model.
  void add(std::size_t block, std::size_t before, std::size_t after, double times) {
    if (times <= 0) {
      return;
    }
    const BlockCost& cost = block == head_ ? costs_.head : costs_.kinds[block];
    BlockCost more;
    PassSlot forward(cost.forward, costs_.slowdown);
    expose_own(block, MoveTime::forward, forward);
    forward.put(kept(block), PassComm::host, copies_beside_);
    if (after != block || block != head_) {
      add_next(after, forward);
    }
    more.forward = forward.more();

    PassSlot repeated(cost.recompute, costs_.slowdown);
    Seconds gather = gathers_beside_ ? time(before, MoveTime::backward, PassComm::data) : Seconds{};
    Seconds copies = copies_beside_ ? fetched_again(before) : Seconds{};
    if (!repeats_some_) {
      gather = repeated.hide(gather, PassComm::data);
      copies = repeated.hide(copies, PassComm::host);
    }
    more.recompute = repeated.more();
    const Seconds above = block == head_ ? Seconds{} : reduce(after);
    const Seconds copied_above = block == head_ ? Seconds{} : copied_out(after);
    const auto add_inputs = [&](PassSlot& slot) {
      expose_own(block, MoveTime::backward, slot);
      slot.put(gather, PassComm::data, true);
      slot.put(copies, PassComm::host, true);
    };
    const auto add_outputs = [&](PassSlot& slot) {
      slot.put(reduces_beside_ ? above : reduce(block), PassComm::data, reduces_beside_);
      slot.put(copies_beside_ ? copied_above : copied_out(block), PassComm::host, copies_beside_);
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

  [[nodiscard]] Seconds time(std::size_t block, MoveTime when, PassComm comm) const {
    return time_of(moves_[block], when, comm);
  }
  [[nodiscard]] Seconds reduce(std::size_t block) const {
    return time(block, MoveTime::gradients, PassComm::data);
  }
  [[nodiscard]] Seconds copied_out(std::size_t block) const {
    return time(block, MoveTime::gradients, PassComm::host);
  }
  [[nodiscard]] Seconds kept(std::size_t block) const {
    return time(block, MoveTime::there_and_back, PassComm::host);
  }
  /// With what its forward pass put out.
  [[nodiscard]] Seconds fetched_again(std::size_t block) const {
    return time(block, MoveTime::backward, PassComm::host) + kept(block);
  }
  [[nodiscard]] bool beside(PassComm comm) const {
    return comm == PassComm::data ? gathers_beside_ : copies_beside_;
  }

  /// What the block waits for itself where nothing is fetched ahead.
  void expose_own(std::size_t block, MoveTime when, PassSlot& slot) const {
    const Seconds copies =
        when == MoveTime::backward ? fetched_again(block) : time(block, when, PassComm::host);
    slot.expose(gathers_beside_ ? Seconds{} : time(block, when, PassComm::data), PassComm::data);
    slot.expose(copies_beside_ ? Seconds{} : copies, PassComm::host);
  }
  /// What the next block's forward pass needs, beside this one's.
  void add_next(std::size_t next, PassSlot& slot) const {
    for (const PassComm comm : kMoved) {
      slot.put(beside(comm) ? time(next, MoveTime::forward, comm) : Seconds{}, comm, true);
    }
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
  bool repeats_some_;  // of a stage's layers: what goes beside that is not known to be hidden
  bool concatenates_;
  std::size_t embedding_;
  std::size_t head_;
  MemoryClock memory_;
  MoveClock clock_;
  std::vector<BlockMoves> moves_;  // of each kind, the embedding and the head; likewise below
  std::vector<BlockCost> more_;
};

}  // namespace

bool moves_with_passes(const Scenario& scenario) {
  const Moves moves = list_moves(scenario);
  return std::any_of(
      moves.begin(), moves.end(), [](const Move& move) { return move.is_of_pass(); });
}

void add_pass_transfers(const Scenario& scenario, StepCosts& costs) {
  if (scenario.plan.sharding == Sharding::data_parallel_root) {
    add_root_transfers(scenario, costs);
  } else if (moves_with_passes(scenario)) {
    PassMover(scenario, costs).run();
  }
}

}  // namespace titer
