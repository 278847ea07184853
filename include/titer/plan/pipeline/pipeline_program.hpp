#pragma once
// The passes of a whole pipeline, in an order in which their ends can be found one after the other.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "titer/plan/schedule/pass_kinds.hpp"
#include "titer/plan/schedule/schedule.hpp"

namespace titer {

/// The end of a pass, as a number: 0 is the start of the step, i + 1 the end of the program's i-th
/// pass.
using PassEnd = std::uint32_t;

/// A pass starts at the later of two ends, of passes before it in the program. A forward and a
/// backward done together are three: one of no duration that waits for the forward's input, the
/// pair, which sends the gradient, and one that only sends the activation.
struct PipelinePass {
  PassEnd before = 0;  // of its rank's previous pass
  PassEnd input = 0;   // of the pass whose activation or gradient it takes
  std::uint16_t rank = 0;
  std::uint16_t kind = 0;  // pass_kind(), pair_kind(), instant_kind() or pair_end_kind()
};

/// Whether it is such a pass, and none of a pair.
[[nodiscard]] inline bool is_alone(const PipelinePass& pass, Pass as, std::size_t places) {
  return pass.kind < instant_kind(places) && is_of(pass.kind, as);
}

/// How often each kind of pass is done at a place. Pairs are counted where their forward is.
struct PassCounts {
  std::array<int, kPasses> alone{};
  std::array<int, kPasses> overlapped{};
  int pairs = 0;

  /// Not of pairs.
  [[nodiscard]] int of(Pass pass) const {
    const auto i = static_cast<std::size_t>(pass);
    return alone[i] + overlapped[i];
  }
  [[nodiscard]] int of(Pass pass, bool as_overlapped) const {
    return (as_overlapped ? overlapped : alone)[static_cast<std::size_t>(pass)];
  }
};

/// Those of all places of a pipeline.
class PipelineCounts {
 public:
  PipelineCounts() = default;
  /// Where every micro-batch goes the same way, of so many at each place.
  PipelineCounts(std::shared_ptr<const std::vector<PassCounts>> places,
                 std::optional<int> micro_batches)
      : places_(std::move(places)), micro_batches_(micro_batches) {}

  /// Of a place; see pass_place(). The steady phase that is longer has its passes overlapped, where
  /// any are.
  [[nodiscard]] PassCounts of(std::size_t place) const {
    PassCounts own = (*places_)[place];
    for (std::size_t i = 0; micro_batches_ && i < own.alone.size(); ++i) {
      if (own.overlapped[i] > 0) {
        own.overlapped[i] = *micro_batches_ - own.alone[i];
      } else if (own.alone[i] > 0) {
        own.alone[i] = *micro_batches_;
      }
    }
    return own;
  }

 private:
  std::shared_ptr<const std::vector<PassCounts>> places_;  // of the program that was followed
  std::optional<int> micro_batches_;
};

/// The passes of one schedule and shape, in the order in which they would run if all took as long,
/// but for a period that can be repeated: that is in one piece.
class PipelineProgram {
 public:
  PipelineProgram(const Schedule& schedule, PipelineShape shape);

  [[nodiscard]] std::span<const PipelinePass> passes() const { return passes_; }
  /// Of each rank's last pass.
  [[nodiscard]] std::span<const PassEnd> last() const { return last_; }
  [[nodiscard]] const PipelineShape& shape() const { return shape_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }

  /// Of the place; see pass_place().
  [[nodiscard]] const PassCounts& counts(std::size_t place) const { return (*counts_)[place]; }
  [[nodiscard]] std::size_t places() const { return counts_->size(); }
  /// Of a pipeline whose chunks have so many micro-batches, some whole periods more than these.
  [[nodiscard]] PipelineCounts counts_of(int micro_batches) const {
    return {counts_, uniform_ ? std::optional(micro_batches) : std::nullopt};
  }

  /// A period of the steady phase among the passes: those before `begin` do not wait for it, those
  /// from `end` on for nothing before it. A pipeline of `micro_batches` more does all of it once
  /// more. `carried`: what passes of the period take from before it, each with the end that those
  /// of the next period take instead.
  struct Repeated {
    std::size_t begin = 0;
    std::size_t end = 0;
    int micro_batches = 0;  // none: there is no such period
    std::vector<std::pair<PassEnd, PassEnd>> carried;
  };
  [[nodiscard]] const Repeated& repeated() const { return repeated_; }
  /// A pass after which a place has made all of its gradients.
  struct Made {
    std::size_t pass = 0;  // its index
    std::size_t place = 0;
    GradientPass kind = GradientPass::whole;  // which made the last of them
  };
  /// The passes from the first of these on. `taken`: ends of passes before that these start at.
  /// Here an end is a number in `taken`, or taken.size() + i of the i-th of these passes.
  struct Ending {
    std::vector<PassEnd> taken;
    std::vector<PipelinePass> passes;
    std::vector<Made> made;     // in their order
    std::vector<PassEnd> last;  // of each rank
  };
  [[nodiscard]] const Ending& ending() const { return ending_; }
  /// How many passes there are until every place has done its first forward by itself.
  [[nodiscard]] std::size_t started() const { return started_; }

 private:
  class Ordering;
  class Cutting;
  void count(std::size_t places);
  void find_repeated();
  void find_made();
  void cut_ending(std::size_t begin);
  void find_started();

  PipelineShape shape_;
  Schedule schedule_;
  std::vector<PipelinePass> passes_;
  std::vector<PassEnd> last_;
  std::shared_ptr<const std::vector<PassCounts>> counts_;
  // No place does a pass in several ways: every micro-batch goes the same way.
  bool uniform_ = true;
  Repeated repeated_;
  Ending ending_;
  std::size_t started_ = 0;
};

/// The least number of micro-batches whose program has a period to repeat, some whole periods short
/// of m; m where there is none, or the schedule has no steady phase.
[[nodiscard]] int few_micro_batches(const Schedule& schedule, PipelineShape shape);

}  // namespace titer
