#pragma once
// What a picture of a timeline shows, before it is drawn: boxes in rows.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "titer/simulate/timeline.hpp"

namespace titer {

/// What a box is drawn as: a part of the step, backward passes in two parts apart from whole ones.
enum class Paint : std::uint8_t {
  forward,
  backward,
  input_gradient,
  weight_gradient,
  recompute,
  optimizer,
  tensor_comm,
  context_comm,
  expert_comm,
  pipeline_comm,
  data_comm,
  host_copy,
};
struct PaintLook {
  std::string_view name;
  char letter;
};
inline constexpr std::array<PaintLook, 12> kPaints = {{{"forward", 'F'},
                                                       {"backward", 'B'},
                                                       {"input gradient", 'I'},
                                                       {"weight gradient", 'W'},
                                                       {"recompute", 'R'},
                                                       {"optimizer", 'O'},
                                                       {"tensor comm", 't'},
                                                       {"context comm", 'c'},
                                                       {"expert comm", 'e'},
                                                       {"pipeline comm", 'p'},
                                                       {"data comm", 'd'},
                                                       {"host copy", 'h'}}};
inline constexpr std::size_t kPaintCount = kPaints.size();
[[nodiscard]] constexpr const PaintLook& look(Paint paint) {
  return kPaints[static_cast<std::size_t>(paint)];
}

/// How much of its row's height a box takes: two at the same time share it.
enum class Height : std::uint8_t { whole, upper, lower };

struct Box {
  Paint paint = Paint::forward;
  Height height = Height::whole;
  int chunk = 0;
  std::optional<std::int32_t> micro_batch{};
  Ticks start = 0;
  Ticks end = 0;
};

struct PictureRow {
  std::vector<Box> boxes;                       // what the device computes, by start
  std::array<std::vector<Box>, kLanes> beside;  // the other lanes
};

struct Picture {
  std::vector<PictureRow> rows;  // one per rank
  Ticks makespan = 0;
  int chunks = 1;                        // most on a rank
  std::array<bool, kPaintCount> used{};  // paints of computing
  std::array<bool, kLanes> lanes{};      // with a box beside the computing
};
[[nodiscard]] Picture picture_of(const StepTimeline& timeline);

/// Of each column of equal time, what fills most of it; nothing where that is being idle.
struct ColumnPaint {
  Paint paint = Paint::forward;
  int chunk = 0;

  friend bool operator==(const ColumnPaint&, const ColumnPaint&) = default;
};
[[nodiscard]] std::vector<std::optional<ColumnPaint>> columns_of(const std::vector<Box>& boxes,
                                                                 Ticks makespan,
                                                                 int columns);

/// "stage 3, tensor 0, data 1", "stage 3 (x 64 devices)", or "stage 3" where each stage is one
/// rank.
[[nodiscard]] std::vector<std::string> rank_names(const StepTimeline& timeline);

/// Says of spans what they do not say themselves.
class SpanReader {
 public:
  explicit SpanReader(const StepTimeline& timeline);  // which must outlive it

  /// A backward pass whose weight gradient is a span of its own is an input gradient.
  [[nodiscard]] Paint paint(const LaneSpan& span) const;
  /// Which chunk of its rank a span's stage is: the stages of the model go around the ranks, forth
  /// and back, or both ways at once (plan/actions.hpp).
  [[nodiscard]] int chunk(const LaneSpan& span) const;

 private:
  using PassKey = std::tuple<std::int32_t, int, int>;  // rank, stage, micro-batch
  static PassKey key(const LaneSpan& span);

  const std::vector<TimelineRank>& ranks_;
  int pipeline_ = 1;
  std::vector<PassKey> split_;  // passes that have weight gradients, sorted
};

/// The spans' indices by rank, lane and start.
[[nodiscard]] std::vector<std::uint32_t> by_lane(const std::vector<LaneSpan>& spans);

}  // namespace titer
