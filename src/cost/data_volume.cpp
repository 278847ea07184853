#include "titer/cost/data_volume.hpp"

#include "titer/cost/move_clock.hpp"
#include "titer/cost/root_cost.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

std::string_view formula_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return "2 (1 - 1/n) S";
    case Collective::reduce:
      return "n reduces of S / n, each sent by n-1 ranks: (1 - 1/n) S";
    case Collective::broadcast:
      return "n broadcasts of S / n, each sent on by n-1 ranks: (1 - 1/n) S";
    default:
      return "(1 - 1/n) S";
  }
}

/// Of a rank of the pipeline.
class MoveList {
 public:
  MoveList(const Scenario& scenario, const StepCosts& costs, int rank)
      : scenario_(scenario),
        plan_(scenario.plan),
        costs_(costs),
        rank_(rank),
        groups_(sync_groups(scenario, costs.placement, rank)),
        trained_(trained_parameters(costs.blocks, costs.contents, plan_, rank)),
        passes_(static_cast<double>(scenario.micro_batches())) {}

  std::vector<DataMove> run() {
    for (const Move& move : list_moves(scenario_)) {
      if (has_parts(move)) {
        for (const MovePart& part : parts_of(move, count_of(move.when), groups_)) {
          add(part.experts ? move.text->of_experts : move.text->what,
              move.collective,
              part.size / move.every,
              part.among->group.ranks());
        }
      } else if (move.among == MoveAmong::servers) {
        add_served(move);
      }
    }
    if (plan_.sharding == Sharding::data_parallel_root) {
      add_root();
    }
    return std::move(moves_);
  }

 private:
  /// Of the passes all together what moves with them, whatever pass it is.
  void add(std::string_view what, Collective collective, Bytes size, int ranks) {
    if (ranks == 1 || size <= Bytes{}) {
      return;
    }
    auto* const known = first_with(moves_, what, &DataMove::what);
    const bool is_new = known == nullptr;
    DataMove& move = is_new ? moves_.emplace_back() : *known;
    size += move.size;
    move = {.what = std::string(what),
            .collective = collective,
            .formula = std::string(formula_of(collective)),
            .ranks = static_cast<double>(ranks),
            .size = size,
            .moved = volume(all_at_once(collective), size, ranks)};
  }

  /// Parameters that are moved then, by all passes of all micro-batches.
  [[nodiscard]] DeviceParameters count_of(MoveTime when) const {
    switch (when) {
      case MoveTime::forward:
      case MoveTime::backward:
        return gathered_by_passes(when == MoveTime::backward);
      case MoveTime::gradients:
        return {.dense = passes_ * trained_.dense, .experts = passes_ * trained_.experts};
      default:
        return trained_;
    }
  }
  /// The ends of the model keep what they have for the backward pass.
  [[nodiscard]] DeviceParameters gathered_by_passes(bool backward) const {
    DeviceParameters sum;
    const ModelBlocks& blocks = costs_.blocks;
    for (int chunk = 0; chunk < costs_.contents.chunks(); ++chunk) {
      const int stage = costs_.contents.of(rank_, chunk);
      const std::span<const double> counts = costs_.contents.kinds(stage);
      for (std::size_t kind = 0; kind < counts.size(); ++kind) {
        const bool moves = !backward || blocks.kinds[kind].backward;
        add_times(moves ? counts[kind] : 0.0, blocks.kinds[kind].parameters, sum);
      }
      if (stage == 0 && !backward) {
        add_times(1, blocks.embedding.parameters, sum);
      }
      if (stage == costs_.contents.last() && !backward) {
        add_times(1, blocks.head.parameters, sum);
        add_times(1, {.split = blocks.tied_table}, sum);
      }
    }
    return sum;
  }
  void add_times(double times, const ParameterCount& parameters, DeviceParameters& sum) const {
    const DeviceParameters count = on_device(parameters, plan_);
    sum.dense += passes_ * times * count.dense;
    sum.experts += passes_ * times * count.experts;
  }

  /// A worker's own; it has one message for all servers together.
  void add_served(const Move& move) {
    const Bytes size = trained_.total() * move.each;
    moves_.push_back({.what = std::string(move.text->what),
                      .collective = move.collective,
                      .formula = "S",
                      .ranks = static_cast<double>(plan_.replicas()),
                      .size = size,
                      .moved = size});
  }

  /// One way each: what comes back is as much.
  void add_root() {
    const RootMoves root = root_moves(scenario_, costs_);
    for (const RootMove& of : root.moves) {
      if (root.ranks > 1) {
        moves_.push_back({.what = std::string(of.move.text->what) +
                                  (of.move.text->back.empty() ? "" : " and their gradients back"),
                          .collective = of.move.collective,
                          .formula = "(n-1) S",
                          .ranks = static_cast<double>(root.ranks),
                          .size = passes_ * of.size,
                          .moved = (root.ranks - 1) * passes_ * of.size});
      }
    }
  }

  const Scenario& scenario_;
  const Plan& plan_;
  const StepCosts& costs_;
  int rank_;
  SyncGroups groups_;
  DeviceParameters trained_;
  double passes_;
  std::vector<DataMove> moves_;
};

}  // namespace

std::vector<DataMove> data_moves(const Scenario& scenario, const StepCosts& costs, int rank) {
  return MoveList(scenario, costs, rank).run();
}

}  // namespace titer
