// The most bytes alive on a rank, found by following its actions.

#include <algorithm>

#include "titer/plan/memory.hpp"

namespace titer {
namespace {

class ActivationWalk {
 public:
  ActivationWalk(Placement placement,
                 int rank,
                 const PipelineShape& shape,
                 std::span<const StageActivations> stages)
      : placement_(placement), rank_(rank), shape_(shape), stages_(stages) {}

  ActivationPeak run(std::span<const Action> actions) {
    while (!actions.empty()) {
      std::size_t together = 1;
      while (together < actions.size() && actions[together - 1].with_next) {
        ++together;
      }
      step(actions.first(together));
      actions = actions.subspan(together);
    }
    return peak_;
  }

 private:
  [[nodiscard]] int stage_of_chunk(int chunk) const {
    return stage_of(placement_, {.rank = rank_, .chunk = chunk}, shape_);
  }
  [[nodiscard]] const StageActivations& bytes_of(const Action& action) const {
    return stages_[static_cast<std::size_t>(stage_of_chunk(action.chunk))];
  }
  [[nodiscard]] int heads(const Action& action) const {
    return stage_of_chunk(action.chunk) == static_cast<int>(stages_.size()) - 1 ? 1 : 0;
  }

  /// Actions that run together: what they make comes to what is alive, is looked at with what they
  /// need meanwhile, and then what they free goes.
  void step(std::span<const Action> actions) {
    Bytes working;
    for (const Action& action : actions) {
      working += action.pass == Pass::weight_gradient ? Bytes{} : bytes_of(action).working;
      begin(action);
    }
    if (alive_ + working > peak_.total()) {
      peak_ = {.kept = alive_, .working = working, .last_stages = heads_};
    }
    for (const Action& action : actions) {
      end(action);
    }
  }

  void begin(const Action& action) {
    const StageActivations& bytes = bytes_of(action);
    if (action.pass == Pass::forward) {
      alive_ += bytes.kept;
      heads_ += heads(action);
    } else if (action.pass == Pass::input_gradient) {
      alive_ += std::max(bytes.kept, bytes.after_input_gradient) - bytes.kept;
    }
  }

  void end(const Action& action) {
    const StageActivations& bytes = bytes_of(action);
    if (action.pass == Pass::backward) {
      alive_ -= bytes.kept;
    } else if (action.pass == Pass::input_gradient) {
      alive_ -= std::max(bytes.kept, bytes.after_input_gradient) - bytes.after_input_gradient;
    } else if (action.pass == Pass::weight_gradient) {
      alive_ -= bytes.after_input_gradient;
    }
    heads_ -= sends_gradient(action.pass) ? heads(action) : 0;
  }

  Placement placement_;
  int rank_;
  PipelineShape shape_;
  std::span<const StageActivations> stages_;
  Bytes alive_;
  int heads_ = 0;
  ActivationPeak peak_;
};

}  // namespace

ActivationPeak activation_peak(std::span<const Action> actions,
                               Placement placement,
                               int rank,
                               const PipelineShape& shape,
                               std::span<const StageActivations> stages) {
  return ActivationWalk(placement, rank, shape, stages).run(actions);
}

}  // namespace titer
