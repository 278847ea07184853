#include "titer/search/bound/search_bound.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "one_way_bound.hpp"

namespace titer {
namespace {

constexpr double kBelowRounding = 1 - 1e-6;  // more than what whole picoseconds make of a pass

/// Kernels and launches alone.
Seconds launched_work(const BlockCost& cost) {
  return cost.forward.launched + cost.recompute.launched +
         std::min(cost.backward.launched,
                  cost.input_gradient.launched + cost.weight_gradient.launched);
}

/// All that is transferred, hidden or not.
Seconds transferred_work(const BlockCost& cost) {
  return cost.forward.comm_total() + cost.recompute.comm_total() +
         std::min(cost.backward.comm_total(),
                  cost.input_gradient.comm_total() + cost.weight_gradient.comm_total());
}

/// By how much longer it is alone than with another one beside it, if it is.
Seconds longer_alone(const PassCost& pass) {
  return std::max(Seconds{}, pass.hidden_by_other.sum() - pass.slowed_by_other);
}
Seconds least_busy(const PassCost& pass) { return pass.busy() - longer_alone(pass); }

BlockWork block_work(const BlockCost& cost) {
  const PassCost& again = cost.recompute;
  const Seconds backward = least_busy(cost.backward);
  return {.forward = least_busy(cost.forward),
          .backward = backward,
          .parts = std::min(backward,
                            least_busy(cost.input_gradient) + least_busy(cost.weight_gradient)),
          .launched = launched_work(cost) - again.launched,
          .transferred = transferred_work(cost) - again.comm_total(),
          .alone = longer_alone(cost.forward) + longer_alone(cost.backward),
          .recompute = {.busy = least_busy(again),
                        .launched = again.launched,
                        .transferred = again.comm_total()}};
}

/// `count` blocks, of which the backward pass repeats some.
void add_blocks(const BlockWork& block, double count, double repeated, BlockWork& sum) {
  sum.forward += count * block.forward;
  sum.backward += count * block.backward;
  sum.parts += count * block.parts;
  sum.launched += count * block.launched;
  sum.transferred += count * block.transferred;
  sum.alone += count * block.alone;
  sum.recompute.busy += repeated * block.recompute.busy;
  sum.recompute.launched += repeated * block.recompute.launched;
  sum.recompute.transferred += repeated * block.recompute.transferred;
}

BlockWork stage_work(const ModelWork& work, const StageBlocks& contents, int stage) {
  BlockWork sum;
  for (std::size_t kind = 0; kind < work.kinds.size(); ++kind) {
    add_blocks(work.kinds[kind], contents.kinds(stage)[kind], contents.repeated(stage)[kind], sum);
  }
  if (stage == 0) {
    add_blocks(work.embedding, 1, 1, sum);
  }
  if (stage == contents.last()) {
    add_blocks(work.head, 1, 1, sum);
  }
  return sum;
}

/// What a stage takes for one micro-batch.
struct ChunkWork {
  Seconds forth;  // its forward pass
  Seconds back;   // and its backward one
  Seconds alone;  // more, of both, with nothing beside them
};

/// That of a pipeline's stages. Most have as many layers as another one, and few are told apart.
class ChunkWorks {
 public:
  ChunkWorks(const ModelWork& work, const StageBlocks& contents, bool whole)
      : work_(work), contents_(contents), whole_(whole) {}

  [[nodiscard]] ChunkWork find(int stage) {
    if (stage == 0 || stage == contents_.last()) {
      return afresh(stage);
    }
    const int like = contents_.first_like(stage);
    auto& [of, known] = known_[static_cast<std::size_t>(like) % known_.size()];
    if (of != like) {
      of = like;
      known = afresh(stage);
    }
    return known;
  }

 private:
  [[nodiscard]] ChunkWork afresh(int stage) const {
    const BlockWork sum = stage_work(work_, contents_, stage);
    return {.forth = sum.forward,
            .back = sum.recompute.busy + (whole_ ? sum.backward : sum.parts),
            .alone = sum.alone};
  }

  struct Known {
    int of = -1;  // no stage
    ChunkWork work{};
  };
  const ModelWork& work_;
  const StageBlocks& contents_;
  bool whole_;
  std::array<Known, 8> known_{};
};

/// What a rank takes for one micro-batch.
struct RankWork {
  Seconds busy;
  Seconds alone;  // more, of one of its chunks at least, with nothing beside it
  Seconds forth;  // of `busy`, its first stage's forward passes
  Seconds back;   // and its backward ones
};

RankWork rank_work(ChunkWorks& works, const StageBlocks& contents, int rank) {
  RankWork sum;
  for (int chunk = contents.chunks(); chunk > 0; --chunk) {
    const ChunkWork stage = works.find(contents.of(rank, chunk - 1));
    sum.forth = stage.forth;
    sum.back = stage.back;
    sum.busy += sum.forth + sum.back;
    sum.alone = chunk == contents.chunks() ? stage.alone : std::min(sum.alone, stage.alone);
  }
  return sum;
}

/// The same without messages, and with nothing after the last pass.
Seconds one_way_bound(const Scenario& scenario,
                      const ModelWork& work,
                      const StageBlocks& contents) {
  const Schedule& schedule = scenario.plan.schedule;
  const bool whole = !schedule.entry().splits;
  const PipelineShape shape = scenario.shape();
  ChunkWorks works(work, contents, whole);
  RankWork of_rank;
  Seconds head;
  Seconds drain;
  Seconds bound;
  for (int rank = 0; rank < shape.stages; ++rank) {
    of_rank = contents.as_before(rank) ? of_rank : rank_work(works, contents, rank);
    const Seconds passes =
        shape.micro_batches * of_rank.busy + passes_alone(schedule, rank, shape) * of_rank.alone;
    bound = std::max(bound, head + passes + (whole ? drain : Seconds{}));
    head += of_rank.forth;
    drain += of_rank.back;
  }
  return kBelowRounding * bound;
}

/// What a stage takes for one micro-batch where passes run in pairs or alone.
struct PairedWork {
  Seconds forward;    // alone
  Seconds backward;   // likewise, with its recomputation
  Seconds launched;   // of both
  Seconds transfers;  // of both, hidden or not
};

PairedWork paired_work(const BlockWork& stage, bool alone) {
  PairedWork work{.forward = stage.forward,
                  .backward = stage.recompute.busy + stage.backward,
                  .launched = stage.launched + stage.recompute.launched,
                  .transfers = stage.transferred + stage.recompute.transferred};
  if (alone) {
    work.launched = work.forward + work.backward;
  }
  return work;
}

/// A rank begins after forward passes that have nothing to be paired with: nothing goes back before
/// something has gone all the way forth. Then it does the passes of its chunks for all
/// micro-batches, or with two copies of the model for half of them. A pair takes no less than its
/// compute, nor than its transfers, and so do passes alone. Where all are alone and whole
/// (Chimera), after the last one of a rank come those of the stages before.
/// `work_of`: of a stage. `tail_of`: of a rank, after its last pass.
template <class WorkOf, class TailOf>
Seconds paired_bound(const Scenario& scenario,
                     const StageBlocks& contents,
                     const WorkOf& work_of,
                     const TailOf& tail_of) {
  const Schedule& schedule = scenario.plan.schedule;
  const PipelineShape shape = scenario.shape();
  const bool alone = !schedule.entry().pairs && !schedule.entry().splits;
  std::vector<PairedWork> work;
  std::vector<Seconds> heads(1);   // forward passes of the stages before
  std::vector<Seconds> drains(1);  // and their backward passes
  for (int stage = 0; stage < contents.count(); ++stage) {
    work.push_back(paired_work(work_of(stage), alone));
    heads.push_back(heads.back() + work.back().forward);
    drains.push_back(drains.back() + work.back().backward);
  }
  const double passes =
      (contents.placement() == Placement::two_ways ? 0.5 : 1.0) * shape.micro_batches;
  Seconds bound;
  for (int rank = 0; rank < shape.stages; ++rank) {
    Seconds launched;
    Seconds transfers;
    std::size_t first = work.size();
    for (int chunk = 0; chunk < contents.chunks(); ++chunk) {
      const auto stage = static_cast<std::size_t>(contents.of(rank, chunk));
      launched += work[stage].launched;
      transfers += work[stage].transfers;
      first = std::min(first, stage);
    }
    const Seconds end = heads[first] + passes * std::max(launched, transfers);
    bound = std::max({bound, end + tail_of(rank), end + (alone ? drains[first] : Seconds{})});
  }
  return kBelowRounding * bound;
}

bool is_one_way(const Schedule& schedule, Placement placement) {
  return placement != Placement::two_ways && !schedule.entry().pairs;
}

}  // namespace

ModelWork model_work(const StepCosts& costs) {
  ModelWork work{.embedding = block_work(costs.embedding),
                 .head = block_work(costs.head),
                 .order = costs.blocks.order};
  for (const BlockCost& kind : costs.kinds) {
    work.kinds.push_back(block_work(kind));
  }
  return work;
}

Seconds place_bound(const Scenario& scenario, const ModelWork& work) {
  const Plan& plan = scenario.plan;
  BlockWork all;
  const auto add = [&](const BlockWork& block, double count) {
    add_blocks(block, count, plan.recompute_layers ? 0 : count, all);
  };
  add(work.embedding, 1);
  add(work.head, 1);
  for (const LayerRun& run : work.order) {
    add(work.kinds[static_cast<std::size_t>(run.kind)], static_cast<double>(run.count));
  }
  const Seconds alone = all.forward + all.recompute.busy + all.parts;
  const Seconds paired =
      std::max(all.launched + all.recompute.launched, all.transferred + all.recompute.transferred);
  const double passes = static_cast<double>(scenario.training.global_batch) /
                        static_cast<double>(plan.micro_batch * plan.data * plan.pipeline);
  return kBelowRounding * passes * std::min(alone, paired);
}

Seconds pipeline_bound(const Scenario& scenario,
                       const ModelWork& work,
                       const StageBlocks& contents) {
  if (is_one_way(scenario.plan.schedule, contents.placement())) {
    return one_way_bound(scenario, work, contents);
  }
  return kBelowRounding * paired_bound(
                              scenario,
                              contents,
                              [&](int stage) { return stage_work(work, contents, stage); },
                              [](int /*rank*/) { return Seconds{}; });
}

Seconds compute_bound(const Scenario& scenario,
                      const ModelWork& work,
                      const StageBlocks& contents) {
  const PipelineShape shape = scenario.shape();
  const double passes =
      (contents.placement() == Placement::two_ways ? 0.5 : 1.0) * shape.micro_batches;
  std::optional<Seconds> least;
  for (int rank = 0; rank < shape.stages; ++rank) {
    Seconds launched;
    for (int chunk = 0; chunk < contents.chunks(); ++chunk) {
      const BlockWork stage = stage_work(work, contents, contents.of(rank, chunk));
      launched += stage.launched + stage.recompute.launched;
    }
    least = least ? std::min(*least, launched) : launched;
  }
  return kBelowRounding * passes * least.value_or(Seconds{});
}

Seconds step_bound(const Scenario& scenario, const StepCosts& costs) {
  if (is_one_way(scenario.plan.schedule, costs.placement)) {
    return one_way_step_bound(scenario, costs);
  }
  return paired_bound(
      scenario,
      costs.contents,
      [&](int stage) { return block_work(costs.chunk(stage)); },
      [&](int rank) { return costs.tails[static_cast<std::size_t>(rank)].total(); });
}

}  // namespace titer
