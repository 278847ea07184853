#include "titer/cost/block_moves.hpp"

namespace titer {
namespace {

/// What there is to move of a block.
struct BlockLoad {
  DeviceParameters held;     // parameters
  DeviceParameters trained;  // of them, those with gradients
  bool trains = true;
  bool passed_back = true;      // needed for the backward pass too
  const Block* kept = nullptr;  // whose activations are
};

class BlockMover {
 public:
  BlockMover(const Scenario& scenario, const StepCosts& costs, const MoveClock& clock)
      : scenario_(scenario), clock_(clock), kept_share_(share_kept(scenario.plan, costs.blocks)) {}

  [[nodiscard]] BlockMoves of(const BlockLoad& load) const {
    BlockMoves moves;
    for (const Move& move : clock_.moves()) {
      switch (move.when) {
        case MoveTime::forward:
          add(move, load.held, moves);
          break;
        case MoveTime::backward:
          if (load.passed_back) {
            add(move, load.held, moves);
          }
          break;
        case MoveTime::gradients:
          if (load.trains) {
            add(move, load.trained, moves);
          }
          break;
        case MoveTime::there_and_back:
          if (load.kept != nullptr) {
            moves.add({.move = &move,
                       .time = clock_.time(
                           move, {}, kept_share_ * kept_bytes(scenario_.plan, *load.kept))});
          }
          break;
        case MoveTime::complete:
        case MoveTime::update:
        case MoveTime::updated:
        case MoveTime::met:
          break;
      }
    }
    return moves;
  }

 private:
  void add(const Move& move, const DeviceParameters& count, BlockMoves& moves) const {
    moves.add({.move = &move, .parameters = count, .time = clock_.time(move, count)});
  }

  /// What goes to the host, of all that is kept: copies of a few layers are spread over the
  /// compute of all.  [Transformer Engine, AsyncDoubleBufferGroupOffloadHandler]
  [[nodiscard]] static double share_kept(const Plan& plan, const ModelBlocks& blocks) {
    return plan.offload.share_of(static_cast<double>(layers_of(blocks)) /
                                 static_cast<double>(plan.pipeline));
  }

  const Scenario& scenario_;
  const MoveClock& clock_;
  double kept_share_;
};

}  // namespace

bool comes_with(MoveTime when, Pass pass) {
  switch (when) {
    case MoveTime::forward:
      return pass == Pass::forward;
    case MoveTime::backward:
      return sends_gradient(pass);
    case MoveTime::gradients:
      return makes_gradients(pass);
    default:
      return false;
  }
}

Seconds time_of(const BlockMoves& moves, MoveTime when, PassComm comm) {
  Seconds sum;
  for (const BlockMove& of : moves) {
    const PassComm counts_as = of.move->among == MoveAmong::host ? PassComm::host : PassComm::data;
    sum += of.move->when == when && counts_as == comm ? of.time : Seconds{};
  }
  return sum;
}

std::vector<BlockMoves> block_moves(const Scenario& scenario,
                                    const StepCosts& costs,
                                    const MoveClock& clock) {
  const BlockMover mover(scenario, costs, clock);
  std::vector<BlockMoves> all;
  all.reserve(costs.blocks.kinds.size() + 2);
  for (const Block& block : costs.blocks.kinds) {
    const DeviceParameters count = on_device(block.parameters, scenario.plan);
    all.push_back(mover.of({.held = count,
                            .trained = on_device(block.trained(), scenario.plan),
                            .trains = block.trains(),
                            .passed_back = block.backward,
                            .kept = block.backward ? &block : nullptr}));
  }
  const Block& embedding = costs.blocks.embedding;
  const DeviceParameters first = on_device(embedding.parameters, scenario.plan);
  all.push_back(mover.of(
      {.held = first, .trained = first, .trains = !embedding.frozen, .passed_back = false}));
  DeviceParameters last = on_device(costs.blocks.head.parameters, scenario.plan);
  last += on_device(ParameterCount{.split = costs.blocks.tied_table}, scenario.plan);
  all.push_back(mover.of({.held = last,
                          .trained = head_count(scenario, costs),
                          .trains = costs.blocks.head.trains(),
                          .passed_back = false}));
  return all;
}

}  // namespace titer
