// V-Half and V-Min: two chunks per rank in a wave, at a pace that keeps few of them.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "schedules.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr int kNoCell = std::numeric_limits<int>::max();  // later than any cell
constexpr int kCells = 6;  // of a micro-batch on each rank: three kinds of pass, two chunks

/// Where a micro-batch's passes lie: how many cells later each next rank has them, on the way of
/// each of the four, and how many after the last of one way the first of the next is.
struct Pace {
  std::array<int, 4> steps;  // forwards of chunks 0 and 1, input gradients of chunks 1 and 0
  std::array<int, 3> turns;
};

// No two passes of a rank fall on one cell, counted modulo kCells.
Pace half_pace(int stages) {
  return {.steps = {1, 2, 1, 2},
          .turns = stages % 2 == 1 ? std::array{1, 1, 2} : std::array{1, 4, 2}};
}
Pace least_pace(int stages) {
  return {.steps = {1, 1, 1, 1}, .turns = {1, stages % 3 == 0 ? 3 : 1, 1}};
}

/// The forwards and input gradients of a rank, in the order of their cells.
ActionList paced_order(const Pace& pace, int rank, const PipelineShape& shape) {
  const int last = shape.stages - 1;
  constexpr std::array<Pass, 4> passes = {
      Pass::forward, Pass::forward, Pass::input_gradient, Pass::input_gradient};
  constexpr std::array<int, 4> chunks = {0, 1, 1, 0};
  std::vector<std::pair<int, Action>> cells;
  int begin = 0;
  for (std::size_t way = 0; way < passes.size(); ++way) {
    const int along = way % 2 == 0 ? rank : last - rank;
    for (int i = 0; i < shape.micro_batches; ++i) {
      cells.emplace_back(begin + along * pace.steps[way] + kCells * i,
                         Action{.pass = passes[way], .chunk = chunks[way], .micro_batch = i});
    }
    begin += last * pace.steps[way] + (way < pace.turns.size() ? pace.turns[way] : 0);
  }
  std::ranges::sort(cells, [](const auto& a, const auto& b) { return a.first < b.first; });
  ActionList list;
  for (const auto& [cell, action] : cells) {
    list.push_back(action);
  }
  return list;
}

/// Plays given orders of forwards and input gradients, each a cell long, and puts the gradients of
/// the weights where a rank would wait, or may not hold another chunk.
class WeightFiller {
 public:
  WeightFiller(const PipelineShape& shape, int most_chunks, std::vector<ActionList> orders)
      : shape_(shape),
        most_chunks_(most_chunks),
        orders_(std::move(orders)),
        ranks_(orders_.size()),
        activation_(slots(), kNoCell),
        gradient_(slots(), kNoCell) {}

  std::vector<ActionList> run() {
    std::size_t left = 3 * slots();
    for (int cell = 0; left > 0; ++cell) {
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        left -= play(rank, cell) ? 1 : 0;
      }
    }
    return each_of(ranks_, [](Rank& rank) { return std::move(rank.list); });
  }

 private:
  struct Rank {
    ActionList list;
    std::size_t next = 0;          // of the order
    std::vector<Action> weights;   // gradients that can be done
    std::size_t weights_done = 0;  // of them
    int alive = 0;
  };

  [[nodiscard]] std::size_t slots() const {
    return static_cast<std::size_t>(2 * shape_.stages) *
           static_cast<std::size_t>(shape_.micro_batches);
  }
  [[nodiscard]] std::size_t slot(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(shape_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  [[nodiscard]] int stage(std::size_t rank, const Action& action) const {
    return stage_of(
        Placement::wave, {.rank = static_cast<int>(rank), .chunk = action.chunk}, shape_);
  }

  [[nodiscard]] bool is_ready(std::size_t rank, const Action& action, int cell) const {
    const int s = stage(rank, action);
    const auto before = [&](int end) { return end <= cell; };
    if (action.pass == Pass::forward) {
      return s == 0 || before(activation_[slot(s - 1, action.micro_batch)]);
    }
    return s + 1 == 2 * shape_.stages ? before(activation_[slot(s, action.micro_batch)])
                                      : before(gradient_[slot(s + 1, action.micro_batch)]);
  }

  /// Whether the rank did something.
  bool play(std::size_t rank, int cell) {
    Rank& at = ranks_[rank];
    const bool has_weights = at.weights_done < at.weights.size();
    if (at.next < orders_[rank].size()) {
      const Action action = orders_[rank][at.next];
      const bool is_full = action.pass == Pass::forward && at.alive >= most_chunks_ && has_weights;
      if (!is_full && is_ready(rank, action, cell)) {
        ++at.next;
        finish(rank, action, cell + 1);
        return true;
      }
    }
    if (has_weights) {
      at.list.push_back(at.weights[at.weights_done++]);
      --at.alive;
    }
    return has_weights;
  }

  void finish(std::size_t rank, const Action& action, int end) {
    Rank& at = ranks_[rank];
    at.list.push_back(action);
    const std::size_t done = slot(stage(rank, action), action.micro_batch);
    if (action.pass == Pass::forward) {
      activation_[done] = end;
      ++at.alive;
      return;
    }
    gradient_[done] = end;
    at.weights.push_back(
        {.pass = Pass::weight_gradient, .chunk = action.chunk, .micro_batch = action.micro_batch});
  }

  PipelineShape shape_;
  int most_chunks_;
  std::vector<ActionList> orders_;
  std::vector<Rank> ranks_;
  std::vector<int> activation_;  // the cell from which each is there
  std::vector<int> gradient_;
};

std::vector<ActionList> paced_lists(const Pace& pace, int most_chunks, const PipelineShape& shape) {
  std::vector<ActionList> orders;
  orders.reserve(static_cast<std::size_t>(shape.stages));
  for (int rank = 0; rank < shape.stages; ++rank) {
    orders.push_back(paced_order(pace, rank, shape));
  }
  return WeightFiller(shape, most_chunks, std::move(orders)).run();
}

bool all_alike(const PassTimes& times) {
  return times.forward == times.input_gradient && times.forward == times.weight_gradient;
}

/// Chunks that no rank holds more of, each half a rank's layers: 2 ceil((p - 1) / 2) + 2, and
/// 2 ceil((p - 1) / 3) + 2.
constexpr int most_at_half_pace(int stages) { return 2 * (stages / 2) + 2; }
constexpr int most_at_least_pace(int stages) { return 2 * ((stages + 1) / 3) + 2; }

std::vector<ActionList> at_half_pace(const PipelineShape& shape) {
  return paced_lists(half_pace(shape.stages), most_at_half_pace(shape.stages), shape);
}
std::vector<ActionList> at_least_pace(const PipelineShape& shape) {
  return paced_lists(least_pace(shape.stages), most_at_least_pace(shape.stages), shape);
}

/// So many forward passes, where that is known to hold.
std::optional<Seconds> forwards(double count, const PipelineShape& shape, const PassTimes& times) {
  return all_alike(times) && shape.micro_batches >= shape.stages
             ? std::optional(std::max(0.0, count) * times.forward)
             : std::nullopt;
}

}  // namespace

/// Two chunks per rank in a wave. Each micro-batch repeats the passes of the one before six cells
/// later; a stage follows the one before after one cell or two, so that a micro-batch is gone after
/// half the time that 1F1B keeps it. Gradients of the weights fill the gaps, and go first when the
/// rank holds as much as it may.  [Qi 2024, arXiv 2405.15362]
constinit const ScheduleEntry kVHalf{
    .name = "v-half",
    .formula = "(p - 1) (F + B + W) / 2, less F / 2 for odd p, where F = B = W and m >= p",
    .source = "Qi et al. 2024, arXiv 2405.15362",
    .placement = Placement::wave,
    .chunks = 2,
    .lists = at_half_pace,
    .bubble =
        [](const PipelineShape& shape, const PassTimes& times) {
          const int p = shape.stages;
          return forwards(1.5 * (p - 1) - (p % 2 == 1 ? 0.5 : 0.0), shape, times);
        },
    .in_flight = [](int, const PipelineShape& shape) -> std::optional<int> {
      return shape.micro_batches > shape.stages ? std::optional(most_at_half_pace(shape.stages))
                                                : std::nullopt;
    }};

/// The same with a stage right after the one before: a third of the memory of 1F1B.
constinit const ScheduleEntry kVMin{
    .name = "v-min",
    .formula = "(2 p - 3/2) F, less F unless 3 divides p, where F = B = W and m >= p",
    .source = "Qi et al. 2024, arXiv 2405.15362",
    .placement = Placement::wave,
    .chunks = 2,
    .lists = at_least_pace,
    .bubble =
        [](const PipelineShape& shape, const PassTimes& times) {
          const int p = shape.stages;
          return forwards(2.0 * p - 1.5 - (p % 3 == 0 ? 0.0 : 1.0), shape, times);
        },
    .in_flight = [](int rank, const PipelineShape& shape) -> std::optional<int> {
      PipelineShape few = shape;  // more micro-batches keep no more alive
      few.micro_batches = std::min(shape.micro_batches, 2 * shape.stages);
      return most_alive(at_least_pace(few)[static_cast<std::size_t>(rank)]);
    }};

}  // namespace titer
