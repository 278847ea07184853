#pragma once
// The messages of a pipeline: which passes wait for which, and in what order they are sent.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "titer/cost/cost.hpp"
#include "titer/engine/streams.hpp"

namespace titer {

/// An activation or a gradient between neighbouring ranks of the pipeline.
struct PipelineMessage {
  int from = 0;
  int to = 0;
  bool onward = false;       // to the rank after (the first after the last); otherwise before
  std::uint32_t number = 0;  // of those that go this way between the two, from 1
  std::uint32_t unit = 0;    // pass or pair of the receiver that waits for it
  Ticks duration = 0;
};

/// Actions of a rank that start together: the first of each.
[[nodiscard]] std::vector<std::uint32_t> units_of(const ActionList& actions);

/// The actions that start together with `first`, in the order in which their results are sent: of a
/// pair, the gradient goes before the activation.
[[nodiscard]] FewOf<std::size_t, 2> sending_order(const ActionList& actions, std::size_t first);

class Messages {
 public:
  /// `lists`: the actions of every rank. What goes from one stage to the next within a rank needs
  /// no message: REQUIRES that the one pass comes before the other there.
  Messages(const StepCosts& costs, const std::vector<ActionList>& lists);

  /// What a pass sends on, if its result goes to another rank.
  [[nodiscard]] const PipelineMessage* after(StagePlace place, const Action& action) const;
  /// What it waits for, if it comes from another rank.
  [[nodiscard]] const PipelineMessage* before(StagePlace place, const Action& action) const;

 private:
  [[nodiscard]] std::size_t slot(bool gradient, int stage, int micro_batch) const;
  [[nodiscard]] std::optional<std::size_t> output(StagePlace place, const Action& action) const;
  [[nodiscard]] std::optional<std::size_t> input(StagePlace place, const Action& action) const;
  void send(StagePlace place, const Action& action, std::array<std::uint32_t, 2>& sent);
  void send_all(int rank, const ActionList& list);
  void receive_all(int rank, const ActionList& list);

  Placement placement_;
  PipelineShape shape_;
  int stages_;
  const StepCosts* costs_;
  std::vector<std::optional<PipelineMessage>> messages_;  // by what they carry
};

}  // namespace titer
