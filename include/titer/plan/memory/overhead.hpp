#pragma once
// What a device holds besides a model's states and activations: buffers of the training software,
// and what lies outside its tensors.

#include <span>

#include "titer/plan/place/cluster.hpp"
#include "titer/plan/plan.hpp"
#include "titer/plan/stack.hpp"
#include "titer/plan/stage_blocks.hpp"

namespace titer {

/// Tensors that the software keeps allocated from step to step, beside parameters and gradients.
struct Buffers {
  Bytes gathered;        // sequence parallelism: a layer's input and output gradient, each whole
  Bytes received;        // the next activation and gradient, where they arrive beside a pass
  Bytes flat_gradients;  // one copy of the gradients, in a row for their collective
  Bytes
      weight_gradient_dummies;  // what autograd gets where the true gradients are summed elsewhere

  [[nodiscard]] Bytes total() const {
    return gathered + received + flat_gradients + weight_gradient_dummies;
  }
};

/// What the software keeps of these.
struct BufferRules {
  bool receives_ahead = false;
  bool flat_gradients = false;
  bool weight_gradient_dummies = false;
  bool gathers_by_matrix = false;  // zero3: no second layer is whole beside the one at work
};
/// A stage's layers of each kind, and what its parameters take.
struct StageStates {
  std::span<const double> kinds;
  Bytes weight;     // of one parameter
  Bytes gradients;  // of all
};
[[nodiscard]] Buffers buffers(const Plan& plan,
                              const BufferRules& rules,
                              const ModelBlocks& blocks,
                              const StageStates& stage);

/// Process groups of more than one rank that a device is in: the world, and one of each kind that
/// the plan asks for.
struct ProcessGroups {
  int collective = 0;
  bool sends = false;  // the pipeline's messages
};
[[nodiscard]] ProcessGroups process_groups(const Plan& plan);

/// Outside the tensors.
struct RuntimeMemory {
  Bytes context;        // of the device
  Bytes communicators;  // of the process groups
  Bytes rest;           // workspaces and whatever the stack has besides

  [[nodiscard]] Bytes total() const { return context + communicators + rest; }
};
/// Chips on a torus exchange by their compiled program, and have no communicators.
[[nodiscard]] RuntimeMemory runtime_memory(const Plan& plan,
                                           const Stack& stack,
                                           const Cluster& cluster);

}  // namespace titer
