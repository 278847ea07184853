#pragma once
// What a pass is made of: stretches of compute and the tensor-parallel transfers beside and after
// them, cut where buckets of gradients or parameters meet the pass.

#include <array>
#include <optional>
#include <vector>

#include "titer/cost/cost.hpp"
#include "titer/simulate/timeline.hpp"

namespace titer {

/// A bucket of a stage of the model.
struct BucketPlace {
  int stage = 0;
  std::size_t bucket = 0;
};

using CommTicks = std::array<Ticks, kPassComms>;  // by PassComm

/// A stretch of a pass's compute, and the transfers beside and after it.
struct Segment {
  Ticks compute = 0;
  CommTicks hidden{};  // transfers that begin with it and take no longer
  CommTicks exposed{};
  TaskPart part = TaskPart::forward;
  int stage = 0;  // of the model
  int micro_batch = 0;
  std::uint32_t gathers = 0;            // as many buckets of parameters are there before
  std::optional<BucketPlace> bucket{};  // of gradients, that it completes
};

struct PassWork {
  std::vector<Segment> segments;
};

/// The work of one rank's passes.
class PassCutter {
 public:
  PassCutter(const StepCosts& costs, int rank, const ActionList& list);

  [[nodiscard]] PassWork pass(std::size_t index) const;
  /// Before the pass; nothing where it does not send a gradient.
  [[nodiscard]] PassWork recomputation(std::size_t index) const;
  /// The pass and the next one together: forward, recomputation and backward in a row, all their
  /// transfers beside them.
  [[nodiscard]] PassWork pair(std::size_t index) const;
  /// Buckets of parameters in the order of the forward pass: stage by stage.
  [[nodiscard]] std::vector<BucketPlace> gathers() const;
  [[nodiscard]] int stage(std::size_t index) const;

 private:
  using BucketTime = Seconds GradientBucket::*;

  [[nodiscard]] std::size_t gathers_of(std::size_t index) const;
  /// Buckets of the stages before that the rank has.
  [[nodiscard]] std::uint32_t gathers_before(std::size_t index) const;
  [[nodiscard]] std::vector<GradientBucket> completed_by(std::size_t index) const;
  [[nodiscard]] const std::vector<GradientBucket>* buckets(std::size_t index,
                                                           BucketTime time) const;
  [[nodiscard]] Segment segment(std::size_t index, Ticks compute) const;

  const StepCosts& costs_;
  int rank_;
  const ActionList& list_;
  std::vector<std::optional<std::size_t>> first_;  // forward of each chunk
  std::vector<std::optional<std::size_t>> last_;   // pass of each chunk that completes gradients
};

}  // namespace titer
