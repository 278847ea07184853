#include "titer/plan/zero_bubble_schedules.hpp"

#include <array>

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

}  // namespace

ActionList ZeroBubbleH1::actions(int rank, const PipelineShape& shape) {
  return one_forward_one_gradient(shape.stages - 1 - rank, rank, shape.micro_batches);
}

std::optional<Seconds> ZeroBubbleH1::bubble(const PipelineShape& shape, const PassTimes& times) {
  if (!weights_take_least(times) || shape.micro_batches < shape.stages) {
    return std::nullopt;
  }
  return (shape.stages - 1) * (times.forward + times.input_gradient - times.weight_gradient);
}

ActionList ZeroBubbleH2::actions(int rank, const PipelineShape& shape) {
  return one_forward_one_gradient(2 * (shape.stages - 1 - rank), 2 * rank, shape.micro_batches);
}

std::optional<Seconds> ZeroBubbleH2::bubble(const PipelineShape& shape, const PassTimes& times) {
  if (!weights_take_least(times) || shape.micro_batches < 2 * shape.stages - 1) {
    return std::nullopt;
  }
  return (shape.stages - 1) * (times.forward + times.input_gradient - 2 * times.weight_gradient);
}

ActionList ZeroBubbleV::actions(int rank, const PipelineShape& shape) {
  // Without some micro-batches an order that cannot deadlock still cannot.
  ActionList list =
      long_enough(rank, shape.stages, std::max(shape.micro_batches, 2 * shape.stages));
  std::erase_if(list, [&](const Action& a) { return a.micro_batch >= shape.micro_batches; });
  return list;
}

std::optional<Seconds> ZeroBubbleV::bubble(const PipelineShape& shape, const PassTimes& times) {
  const bool alike =
      times.forward == times.input_gradient && times.forward == times.weight_gradient;
  return alike && shape.micro_batches >= 2 * shape.stages ? std::optional(Seconds{}) : std::nullopt;
}

}  // namespace titer
