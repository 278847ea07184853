#include <fmt/format.h>

#include <algorithm>

#include "titer/simulate/step_program.hpp"

namespace titer {
namespace {

/// Micro-batches of a chunk that hold their activations, or what their weight gradient needs.
struct Held {
  int whole = 0;
  int pending = 0;
  int growing = 0;  // whose input gradient runs, which may leave more than the forward pass kept
};

class Walker {
 public:
  Walker(const StepCosts& costs, int rank, const std::vector<StageActivations>& stages)
      : costs_(costs),
        rank_(rank),
        stages_(stages),
        held_(static_cast<std::size_t>(chunks_per_rank(costs.placement, costs.shape))) {}

  void begin(const Action& action) {
    held(action).whole += action.pass == Pass::forward ? 1 : 0;
    held(action).growing += action.pass == Pass::input_gradient ? 1 : 0;
    work(action);
  }
  void work(const Action& action) {
    working_ += action.pass == Pass::weight_gradient ? Bytes{} : of(action.chunk).working;
  }
  void end(const Action& action) {
    held(action).whole -= sends_gradient(action.pass) ? 1 : 0;
    held(action).pending += action.pass == Pass::input_gradient ? 1 : 0;
    held(action).growing -= action.pass == Pass::input_gradient ? 1 : 0;
    held(action).pending -= action.pass == Pass::weight_gradient ? 1 : 0;
    rest();
  }
  void rest() { working_ = {}; }
  /// Whole multiples of whole chunks: nothing drifts.
  [[nodiscard]] Bytes in_use() const {
    Bytes sum = working_;
    for (std::size_t chunk = 0; chunk < held_.size(); ++chunk) {
      const StageActivations& bytes = of(static_cast<int>(chunk));
      const Bytes growth = std::max(bytes.kept, bytes.after_input_gradient) - bytes.kept;
      sum += held_[chunk].whole * bytes.kept + held_[chunk].pending * bytes.after_input_gradient +
             held_[chunk].growing * growth;
    }
    return sum;
  }

 private:
  Held& held(const Action& action) { return held_[static_cast<std::size_t>(action.chunk)]; }
  [[nodiscard]] const StageActivations& of(int chunk) const {
    return stages_[static_cast<std::size_t>(
        stage_of(costs_.placement, {.rank = rank_, .chunk = chunk}, costs_.shape))];
  }

  const StepCosts& costs_;
  int rank_;
  const std::vector<StageActivations>& stages_;
  std::vector<Held> held_;
  Bytes working_;
};

std::string_view pass_name(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return "forward";
    case Pass::backward:
      return "backward";
    case Pass::input_gradient:
      return "input gradient";
    case Pass::weight_gradient:
      return "weight gradient";
  }
  return {};
}

std::size_t unit_end(const RankProgram& program, std::uint32_t unit) {
  const std::uint32_t begin = program.units[unit];
  return begin + done_together(program.actions, begin);
}

/// Two overlapped passes, each a unit: the layers of one are kept as those of the other go.
void walk_by_layers(const Action& forward,
                    const Action& backward,
                    Walker& walker,
                    MemoryWalk& walk) {
  walker.begin(backward);
  walker.work(forward);
  walk.during.push_back(walker.in_use());
  walker.rest();
  walk.after.push_back(walker.in_use());
  walker.end(backward);
  walker.begin(forward);
  walker.work(backward);
  walk.during.push_back(walker.in_use());
  walker.end(forward);
  walk.after.push_back(walker.in_use());
}

}  // namespace

MemoryWalk walk_memory(const StepCosts& costs,
                       const RankProgram& program,
                       int rank,
                       const std::vector<StageActivations>& stages) {
  MemoryWalk walk;
  Walker walker(costs, rank, stages);
  for (std::uint32_t unit = 0; unit < program.units.size(); ++unit) {
    const std::size_t end = unit_end(program, unit);
    const std::uint32_t begin = program.units[unit];
    if (program.actions[begin].overlapped) {
      const OppositePasses both = opposite_passes(program.actions[begin].pass, begin);
      walk_by_layers(program.actions[both.forward], program.actions[both.backward], walker, walk);
      ++unit;
      continue;
    }
    for (std::size_t i = begin; i < end; ++i) {
      walker.begin(program.actions[i]);
    }
    walk.during.push_back(walker.in_use());
    for (std::size_t i = begin; i < end; ++i) {
      walker.end(program.actions[i]);
    }
    walk.after.push_back(walker.in_use());
  }
  const auto peak = std::ranges::max_element(walk.during);
  walk.peak = static_cast<std::uint32_t>(peak - walk.during.begin());
  return walk;
}

std::string unit_text(const StepCosts& costs,
                      const RankProgram& program,
                      int rank,
                      std::uint32_t unit) {
  std::string text;
  for (std::size_t i = program.units[unit]; i < unit_end(program, unit); ++i) {
    const Action& action = program.actions[i];
    text += fmt::format("{}{} of stage {}, micro-batch {}",
                        text.empty() ? "" : ", with ",
                        pass_name(action.pass),
                        stage_of(costs.placement, {rank, action.chunk}, costs.shape),
                        action.micro_batch);
  }
  return text;
}

}  // namespace titer
