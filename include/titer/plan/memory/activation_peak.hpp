#pragma once
// The most bytes of activations alive on a rank of a pipeline, whatever its schedule.

#include <cstddef>
#include <span>
#include <vector>

#include "titer/plan/schedule/actions.hpp"

namespace titer {

/// What the passes of one micro-batch through a stage of the model keep in memory. A forward pass
/// needs what it keeps from its start on, an input gradient what it leaves where that is more; what
/// is freed is freed at the end of a pass.
struct StageActivations {
  Bytes kept;                  // after the forward pass
  Bytes after_input_gradient;  // what the weight gradient still needs, where it comes later
  Bytes working;               // beyond that, while a pass but a weight gradient runs
};

/// The most bytes alive on a rank, and how much of it is of the passes that run then.
struct ActivationPeak {
  Bytes kept;
  Bytes working;
  int last_stages = 0;  // micro-batches between the last stage's forward pass and its backward pass

  [[nodiscard]] Bytes total() const { return kept + working; }
};

/// What is alive while a rank follows its actions, as numbers of micro-batches: the moments of
/// which none has as many of everything as another. Whatever its stages keep, one of them is the
/// peak.
class ActivationMoments {
 public:
  /// Actions done together need the bytes of all.
  explicit ActivationMoments(const ActionList& actions);

  /// Right for any stages. `stages`: of the model.
  [[nodiscard]] ActivationPeak peak(Placement placement,
                                    int rank,
                                    const PipelineShape& shape,
                                    std::span<const StageActivations> stages) const;

 private:
  class Walk;
  /// Of a chunk.
  struct Counts {
    int kept = 0;
    int in_input_gradient = 0;
    int after_input_gradient = 0;
    int working = 0;
  };

  std::size_t chunks_ = 0;
  std::vector<Counts> counts_;  // of every chunk at one moment, then at the next
};

}  // namespace titer
