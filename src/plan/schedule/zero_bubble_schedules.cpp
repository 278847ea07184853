// Schedules that split the backward pass, so that gradients of the weights fill the waiting.

#include <algorithm>
#include <array>

#include "schedules.hpp"

namespace titer {
namespace {

/// Numbers the passes of each kind and chunk as they come.
class ZeroBubbleWriter {
 public:
  void add(Pass pass, int chunk = 0) {
    int& next = next_[static_cast<std::size_t>(pass)][static_cast<std::size_t>(chunk)];
    list_.push_back({.pass = pass, .chunk = chunk, .micro_batch = next++});
  }
  /// An input gradient and at once the gradient of the weights.
  void add_backward(int chunk) {
    add(Pass::input_gradient, chunk);
    add(Pass::weight_gradient, chunk);
  }
  [[nodiscard]] int count(Pass pass, int chunk = 0) const {
    return next_[static_cast<std::size_t>(pass)][static_cast<std::size_t>(chunk)];
  }
  [[nodiscard]] ActionList take() { return std::move(list_); }

 private:
  std::array<std::array<int, 2>, kPasses> next_{};
  ActionList list_;
};

/// `first` forwards; then a forward, an input gradient, and, once `lag` of these are done, a
/// gradient of the weights, in turn; then the gradients of the weights that are left.
ActionList one_forward_one_gradient(int first, int lag, int micro_batches) {
  ZeroBubbleWriter list;
  for (int i = 0; i < std::min(first, micro_batches); ++i) {
    list.add(Pass::forward);
  }
  for (int i = 0; i < micro_batches; ++i) {
    if (list.count(Pass::forward) < micro_batches) {
      list.add(Pass::forward);
    }
    list.add(Pass::input_gradient);
    if (i >= lag) {
      list.add(Pass::weight_gradient);
    }
  }
  while (list.count(Pass::weight_gradient) < micro_batches) {
    list.add(Pass::weight_gradient);
  }
  return list.take();
}

bool weights_take_least(const PassTimes& times) {
  return times.weight_gradient <= times.forward && times.weight_gradient <= times.input_gradient;
}

/// The order of ZB-V for as many micro-batches as its phases need, or more.
ActionList long_enough(int rank, int stages, int micro_batches) {
  ZeroBubbleWriter list;
  for (int i = 0; i < 2 * (stages - rank) - 1; ++i) {
    list.add(Pass::forward, 0);
  }
  for (int i = 0; i < rank; ++i) {
    list.add(Pass::forward, 1);
    list.add(Pass::forward, 0);
  }
  for (int i = 0; i < stages - rank; ++i) {
    list.add(Pass::forward, 1);
    list.add_backward(1);
  }
  while (list.count(Pass::forward, 1) < micro_batches) {
    if (list.count(Pass::forward, 0) < micro_batches) {
      list.add(Pass::forward, 0);
    }
    list.add_backward(0);
    list.add(Pass::forward, 1);
    list.add_backward(1);
  }
  for (int i = 0; i < rank; ++i) {
    list.add(Pass::input_gradient, 0);
    list.add(Pass::input_gradient, 1);
  }
  for (int i = 0; i < stages - rank; ++i) {
    list.add_backward(0);
  }
  for (const int chunk : {1, 0}) {
    while (list.count(Pass::weight_gradient, chunk) < micro_batches) {
      list.add(Pass::weight_gradient, chunk);
    }
  }
  return list.take();
}

ActionList wave_without_waiting(int rank, const PipelineShape& shape) {
  // Without some micro-batches an order that cannot deadlock still cannot.
  ActionList list =
      long_enough(rank, shape.stages, std::max(shape.micro_batches, 2 * shape.stages));
  std::erase_if(list, [&](const Action& a) { return a.micro_batch >= shape.micro_batches; });
  return list;
}

}  // namespace

/// 1F1B in whose end the gradients of the weights, put off by a rank's distance from the first,
/// fill the waiting. The formula counts on a gradient of the weights that is no longer than what
/// it stands beside, a forward or an input gradient.  [Qi 2024, arXiv 2401.10241]
constinit const ScheduleEntry kZeroBubbleH1{
    .name = "zb-h1",
    .formula = "(p - 1) (F + B - W), where W <= F, B and m >= p",
    .source = "Qi et al. 2024, arXiv 2401.10241",
    .actions =
        [](int rank, const PipelineShape& shape) {
          return one_forward_one_gradient(shape.stages - 1 - rank, rank, shape.micro_batches);
        },
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      if (!weights_take_least(times) || shape.micro_batches < shape.stages) {
        return std::nullopt;
      }
      return (shape.stages - 1) * (times.forward + times.input_gradient - times.weight_gradient);
    },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return std::min(shape.micro_batches, shape.stages);
    }};

/// Twice as many forwards first, and gradients of the weights put off twice as far. No rank waits
/// between its first and last pass if F = B = W, but the last rank begins (p - 1) F after the
/// first: the next step must begin without a barrier to gain by it.  [Qi 2024]
constinit const ScheduleEntry kZeroBubbleH2{
    .name = "zb-h2",
    .formula = "(p - 1) (F + B - 2 W) of a rank's own span, where W <= F, B and m >= 2 p - 1",
    .source = "Qi et al. 2024, arXiv 2401.10241",
    .bubble_of_span = true,
    .actions =
        [](int rank, const PipelineShape& shape) {
          return one_forward_one_gradient(
              2 * (shape.stages - 1 - rank), 2 * rank, shape.micro_batches);
        },
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      if (!weights_take_least(times) || shape.micro_batches < 2 * shape.stages - 1) {
        return std::nullopt;
      }
      return (shape.stages - 1) *
             (times.forward + times.input_gradient - 2 * times.weight_gradient);
    },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return std::min(shape.micro_batches, 2 * shape.stages - 1);
    }};

/// Two chunks per rank in a wave: the last stage is on the first rank, where the backward pass can
/// begin at once. Zero of each rank's span with the memory of 1F1B.  [Qi 2024]
constinit const ScheduleEntry kZeroBubbleV{
    .name = "zb-v",
    .formula = "0 of a rank's own span, where F = B = W and m >= 2 p",
    .source = "Qi et al. 2024, arXiv 2401.10241",
    .placement = Placement::wave,
    .chunks = 2,
    .bubble_of_span = true,
    .actions = wave_without_waiting,
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      const bool alike =
          times.forward == times.input_gradient && times.forward == times.weight_gradient;
      return alike && shape.micro_batches >= 2 * shape.stages ? std::optional(Seconds{})
                                                              : std::nullopt;
    },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return shape.micro_batches < 2 * shape.stages ? std::nullopt
                                                    : std::optional(2 * shape.stages);
    }};

}  // namespace titer
