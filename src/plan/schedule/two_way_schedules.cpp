// Schedules whose micro-batches enter at both ends of the pipeline, or come back to where they
// entered, so that one's forward meets another's backward.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "schedules.hpp"

namespace titer {
namespace {

/// What a rank of DualPipe sees of the pipeline: a way of its own, in whose first half it is, and
/// the other way.
struct TwoWays {
  int ranks_inward = 0;         // between this rank and the middle, or the turn of the wave
  int ranks_outward = 0;        // between it and its own way's beginning
  int pairs = 0;                // of the middle phase
  std::array<int, 2> chunks{};  // of the own and the other way
  std::array<int, 2> first{};   // micro-batch of each
};

enum class Way : std::uint8_t { own, other };

constexpr Way opposite(Way way) { return way == Way::own ? Way::other : Way::own; }

/// Numbers the passes of each way as they come, and keeps what is put off.
class TwoWayWriter {
 public:
  explicit TwoWayWriter(const TwoWays& ways) : ways_(ways), backwards_(ways.first) {
    forwards_ = ways.first;
  }

  void forward(Way way) { add(Pass::forward, way, forwards_); }
  /// After an input gradient, that of the weights is put off.
  void backward(Pass pass, Way way) {
    add(pass, way, backwards_);
    if (pass == Pass::input_gradient) {
      put_off_.push_back(list_.back());
    }
  }
  void weight_gradient() {
    Action action = put_off_[done_++];
    action.pass = Pass::weight_gradient;
    list_.push_back(action);
  }
  /// A forward of one way together with a backward of the other.
  void pair(Way way) {
    forward(way);
    list_.back().with_next = true;
    backward(Pass::backward, opposite(way));
  }
  [[nodiscard]] ActionList finish() {
    while (done_ < put_off_.size()) {
      weight_gradient();
    }
    return std::move(list_);
  }

 private:
  void add(Pass pass, Way way, std::array<int, 2>& next) {
    const auto index = static_cast<std::size_t>(way);
    list_.push_back({.pass = pass, .chunk = ways_.chunks[index], .micro_batch = next[index]++});
  }

  TwoWays ways_;
  std::array<int, 2> forwards_{};
  std::array<int, 2> backwards_{};
  ActionList list_;
  ActionList put_off_;
  std::size_t done_ = 0;  // of those put off
};

/// The eight phases of DualPipe.
ActionList dual_actions(const TwoWays& ways) {
  const int inward = ways.ranks_inward;
  const int outward = ways.ranks_outward;
  TwoWayWriter list(ways);
  for (int i = 0; i < 2 * inward; ++i) {
    list.forward(Way::own);
  }
  for (int i = 0; i <= outward; ++i) {
    list.forward(Way::own);
    list.forward(Way::other);
  }
  for (int i = 0; i < inward; ++i) {
    list.backward(Pass::input_gradient, Way::other);
    list.weight_gradient();
    list.forward(Way::other);
  }
  for (int i = 0; i < ways.pairs; ++i) {
    list.pair(Way::own);
    list.pair(Way::other);
  }
  for (int i = 0; i < inward; ++i) {
    list.backward(Pass::backward, Way::other);
    list.pair(Way::other);
  }
  // The second half of these backwards is in parts, from the own way's on if their number is odd.
  for (int i = 0; i <= outward; ++i) {
    list.backward(2 * i > outward ? Pass::input_gradient : Pass::backward, Way::other);
    list.backward(2 * i >= outward ? Pass::input_gradient : Pass::backward, Way::own);
  }
  for (int i = 0; i < inward; ++i) {
    list.weight_gradient();
    list.backward(Pass::input_gradient, Way::own);
  }
  return list.finish();
}

/// (F&B + B - 2 W), where it is known to hold.
std::optional<Seconds> dual_bubble(const PassTimes& times) {
  const Seconds apart = times.forward + times.backward();
  const bool in_order =
      times.weight_gradient <= times.forward && times.forward <= times.input_gradient;
  if (!in_order || times.both() < times.forward + times.input_gradient || apart < times.both()) {
    return std::nullopt;
  }
  return times.both() + times.input_gradient - 2 * times.weight_gradient;
}

std::optional<std::string> unless_even(std::string_view what, int count) {
  return count % 2 == 0
             ? std::nullopt
             : std::optional(fmt::format("expected an even number of {}, got {}", what, count));
}

std::optional<std::string> refused_both_ways(const PipelineShape& shape) {
  if (auto odd = unless_even("pipeline stages", shape.stages)) {
    return odd;
  }
  if (shape.micro_batches % 2 != 0 || shape.micro_batches < 2 * shape.stages) {
    return fmt::format("expected an even number of micro-batches, at least 2 x {} stages, got {}",
                       shape.stages,
                       shape.micro_batches);
  }
  return std::nullopt;
}

ActionList both_ways(int rank, const PipelineShape& shape) {
  const int p = shape.stages;
  const int half = shape.micro_batches / 2;
  const int outward = std::min(rank, p - 1 - rank);
  const int own = rank < p / 2 ? 0 : 1;
  return dual_actions({.ranks_inward = p / 2 - 1 - outward,
                       .ranks_outward = outward,
                       .pairs = half - p + outward + 1,
                       .chunks = {own, 1 - own},
                       .first = {own * half, (1 - own) * half}});
}

ActionList two_copies(int rank, const PipelineShape& shape) {
  const int p = shape.stages;
  const int half = shape.micro_batches / 2;
  // In cells of one forward or backward. Two passes of a rank never share one: forwards of the two
  // ways, and a way's forwards and backwards, differ in parity; the others would have to be half a
  // unit apart.
  std::vector<std::pair<int, Action>> cells;
  for (const int chunk : {0, 1}) {
    const int stage = chunk == 0 ? rank : p - 1 - rank;
    for (int i = 0; i < half; ++i) {
      const int begin = i / (p / 2) * 2 * p + i % (p / 2) * 2;
      Action action{.pass = Pass::forward, .chunk = chunk, .micro_batch = chunk * half + i};
      cells.emplace_back(begin + stage, action);
      action.pass = Pass::backward;
      cells.emplace_back(begin + 2 * p - 1 - stage, action);
    }
  }
  std::ranges::sort(cells, [](const auto& a, const auto& b) { return a.first < b.first; });
  ActionList list;
  for (const auto& [cell, action] : cells) {
    list.push_back(action);
  }
  return list;
}

}  // namespace

/// Two copies of the model in opposite ways; in the middle phase each rank does a forward of one
/// way together with a backward of the other.  [DeepSeek-V3, arXiv 2412.19437]
/// The formula counts on the middle phase being the longer: W <= F <= B and a pair that takes at
/// least a forward and an input gradient.
constinit const ScheduleEntry kDualPipe{
    .name = "dualpipe",
    .formula = "(p/2 - 1) (F&B + B - 2 W), where W <= F <= B and F + B <= F&B <= F + B + W",
    .source = "DeepSeek-V3 2024, arXiv 2412.19437",
    .placement = Placement::two_ways,
    .pairs = true,
    .refusal = refused_both_ways,
    .actions = both_ways,
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      const auto each = dual_bubble(times);
      return each ? std::optional((0.5 * shape.stages - 1.0) * *each) : std::nullopt;
    },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return shape.stages + 1;
    }};

/// DualPipe cut in half: each rank has both of its stages in a wave of one copy of the model.
/// [DualPipe repository, 2025]
constinit const ScheduleEntry kDualPipeV{
    .name = "dualpipev",
    .formula = "(p - 1) (F&B + B - 2 W) / 2, where W <= F <= B and F + B <= F&B <= F + B + W",
    .source = "DualPipe repository 2025",
    .placement = Placement::wave,
    .chunks = 2,
    .pairs = true,
    .refusal = [](const PipelineShape& shape) -> std::optional<std::string> {
      return shape.micro_batches >= 2 * shape.stages
                 ? std::nullopt
                 : std::optional(fmt::format("expected at least 2 x {} micro-batches, got {}",
                                             shape.stages,
                                             shape.micro_batches));
    },
    .actions =
        [](int rank, const PipelineShape& shape) {
          return dual_actions({.ranks_inward = shape.stages - 1 - rank,
                               .ranks_outward = rank,
                               .pairs = shape.micro_batches - 2 * shape.stages + rank + 1,
                               .chunks = {0, 1},
                               .first = {0, 0}});
        },
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      const auto each = dual_bubble(times);
      return each ? std::optional((shape.stages - 1) * *each / 2) : std::nullopt;
    },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return 2 * shape.stages + 1;
    }};

/// Two copies of the model in opposite ways, each with half of the micro-batches in the order of
/// 1F1B; more than p micro-batches in units of p, each as soon as the one before lets it. The two
/// ways fit into one another's gaps if a forward takes as long as a backward; otherwise more gaps
/// appear.  [Li and Hoefler 2021, arXiv 2107.06925]
constinit const ScheduleEntry kChimera{
    .name = "chimera",
    .formula = "(p/2 - 1) (F + B + W), where F = B + W and p divides m",
    .source = "Li and Hoefler 2021",
    .placement = Placement::two_ways,
    .splits = false,
    .refusal =
        [](const PipelineShape& shape) {
          auto odd = unless_even("pipeline stages", shape.stages);
          return odd ? odd : unless_even("micro-batches", shape.micro_batches);
        },
    .actions = two_copies,
    .bubble = [](const PipelineShape& shape, const PassTimes& times) -> std::optional<Seconds> {
      if (times.forward != times.backward() || shape.micro_batches % shape.stages != 0) {
        return std::nullopt;
      }
      return (0.5 * shape.stages - 1.0) * (times.forward + times.backward());
    },
    // Between p/2 + 1 at the ends and p in the middle.
    .in_flight = [](int rank, const PipelineShape& shape) -> std::optional<int> {
      const int p = shape.stages;
      return shape.micro_batches < p ? std::nullopt
                                     : std::optional(p / 2 + 1 + std::min(rank, p - 1 - rank));
    }};

}  // namespace titer
