#include "titer/plan/pipeline.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr std::uint32_t kNever = 0xFFFFFFFF;
constexpr std::size_t kPrograms = 64;  // as many shapes as a search is likely to go back to

/// Sorted by turn, equal turns in the order found. Neighbours then belong to different ranks, so
/// that a processor can follow several at once.
std::vector<PipelinePass> by_turn(const std::vector<PipelinePass>& found,
                                  const std::vector<std::uint32_t>& turns) {
  std::vector<std::size_t> begin(
      turns.empty() ? 1 : *std::max_element(turns.begin(), turns.end()) + 2UL, 0);
  for (const std::uint32_t turn : turns) {
    ++begin[turn + 1UL];
  }
  for (std::size_t i = 1; i < begin.size(); ++i) {
    begin[i] += begin[i - 1];
  }
  std::vector<PipelinePass> sorted(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    sorted[begin[turns[i]]++] = found[i];
  }
  return sorted;
}

/// Actions of the steady phase that are given time to settle before periods are compared, and that
/// are compared: what comes after them has no input from before them.
struct Compared {
  int first = 0;
  int count = 0;
};
Compared compared(const SteadyPhase& steady) {
  return {.first = steady.begin + steady.reach, .count = steady.reach + 2};
}

/// The least number of micro-batches, some whole periods short of m, that allows the comparison.
int few_micro_batches(const Schedule& schedule, PipelineShape shape) {
  const auto steady = steady_phase(schedule, 0, shape);
  if (!steady) {
    return shape.micro_batches;
  }
  const Compared actions = compared(*steady);
  // Of the first rank's actions up to the end of the steady phase, `begin` and half of the others
  // are forwards.
  const int last = actions.first + actions.count + steady->period - steady->begin;
  const int forwards = steady->begin + (last + 1) / 2;
  const int least = (forwards + shape.virtual_stages - 1) / shape.virtual_stages;
  const int period = steady->micro_batches;
  return least + ((shape.micro_batches - least) % period + period) % period;
}

/// Numbers the slots: one per (direction, virtual stage, micro-batch), after slot 0.
class Slots {
 public:
  explicit Slots(PipelineShape shape)
      : shape_(shape), stages_(shape.stages * shape.virtual_stages) {}

  /// Where the input of this pass arrives; the first forward needs none.
  [[nodiscard]] std::uint32_t input(bool backward, int stage, int micro_batch) const {
    if (!backward && stage == 0) {
      return 0;
    }
    const int row = (backward ? stages_ : 0) + stage;
    return static_cast<std::uint32_t>(1 + row * shape_.micro_batches + micro_batch);
  }
  /// Where its result goes: the next stage's forward, the previous one's backward; the last
  /// stage's forward feeds its own backward. Gradients that nobody needs have slots too, so that
  /// every pass's end is in a slot of its own.
  [[nodiscard]] std::uint32_t output(bool backward, int stage, int micro_batch) const {
    if (backward) {
      return stage == 0 ? input(true, stages_, micro_batch) : input(true, stage - 1, micro_batch);
    }
    return stage + 1 == stages_ ? input(true, stage, micro_batch)
                                : input(false, stage + 1, micro_batch);
  }
  [[nodiscard]] std::size_t count() const {
    return input(true, stages_, shape_.micro_batches);  // one past the last slot
  }

 private:
  PipelineShape shape_;
  int stages_;
};

}  // namespace

PipelineProgram::PipelineProgram(const Schedule& schedule, PipelineShape shape)
    : shape_(shape), schedule_(schedule.index()), slot_count_(Slots(shape).count()) {
  order_passes(schedule);
  find_likenesses(schedule);
}

void PipelineProgram::order_passes(const Schedule& schedule) {
  const Slots slots(shape_);
  const int total = shape_.actions_per_rank();
  const auto count = static_cast<std::size_t>(total) * static_cast<std::size_t>(shape_.stages);
  std::vector<PipelinePass> found;
  std::vector<std::uint32_t> turns;  // when each pass runs if all take one turn
  found.reserve(count);
  turns.reserve(count);
  std::vector<std::uint32_t> filled(slot_count_, kNever);
  filled[0] = 0;
  std::vector<int> next(static_cast<std::size_t>(shape_.stages), 0);
  std::vector<std::uint32_t> rank_turn(static_cast<std::size_t>(shape_.stages), 0);
  bool progress = true;
  while (progress) {
    progress = false;
    for (int rank = 0; rank < shape_.stages; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      for (; next[r] < total; ++next[r]) {
        const Action a = action(schedule, rank, next[r], shape_);
        const int stage = a.chunk * shape_.stages + rank;
        const std::uint32_t input = slots.input(a.backward, stage, a.micro_batch);
        if (filled[input] == kNever) {
          break;
        }
        const std::uint32_t output = slots.output(a.backward, stage, a.micro_batch);
        rank_turn[r] = std::max(rank_turn[r], filled[input]) + 1;
        filled[output] = rank_turn[r];
        found.push_back({static_cast<std::uint16_t>(rank),
                         static_cast<std::uint16_t>(2 * stage + (a.backward ? 1 : 0)),
                         input,
                         output});
        turns.push_back(rank_turn[r]);
        progress = true;
      }
    }
  }
  ensure(found.size() == count, "a schedule's order must not deadlock");
  passes_ = by_turn(found, turns);
}

void PipelineProgram::find_likenesses(const Schedule& schedule) {
  std::vector<std::vector<std::uint32_t>> outputs(static_cast<std::size_t>(shape_.stages));
  for (const PipelinePass& pass : passes_) {
    outputs[pass.rank].push_back(pass.output);
  }
  for (int rank = 0; rank < shape_.stages; ++rank) {
    const auto steady = steady_phase(schedule, rank, shape_);
    const std::vector<std::uint32_t>& own = outputs[static_cast<std::size_t>(rank)];
    // The steady phase ends with the last forward, `begin` backwards before the end.
    const Compared actions = steady ? compared(*steady) : Compared{};
    if (!steady || static_cast<int>(own.size()) - steady->begin <
                       actions.first + actions.count + steady->period) {
      likenesses_.clear();
      return;
    }
    const auto begin = own.begin() + actions.first;
    for (auto pass = begin; pass != begin + actions.count; ++pass) {
      likenesses_.emplace_back(*pass, *(pass + steady->period));
    }
  }
}

void PipelineClock::run(const Schedule& schedule,
                        PipelineShape shape,
                        const PassTicks& ticks,
                        std::vector<Ticks>& finish) {
  const int few = few_micro_batches(schedule, shape);
  if (few < shape.micro_batches) {
    PipelineShape shorter = shape;
    shorter.micro_batches = few;
    const PipelineProgram& start = program(schedule, shorter);
    follow(start, ticks, finish);
    if (const auto repeats_after = period(start)) {
      const int micro_batches = steady_phase(schedule, 0, shape)->micro_batches;
      const Ticks left_out = (shape.micro_batches - few) / micro_batches * *repeats_after;
      for (Ticks& end : finish) {
        end += left_out;
      }
      return;
    }
  }
  follow(program(schedule, shape), ticks, finish);
}

const PipelineProgram& PipelineClock::program(const Schedule& schedule, PipelineShape shape) {
  for (const PipelineProgram& known : programs_) {
    if (known.shape() == shape && known.schedule() == schedule.index()) {
      return known;
    }
  }
  if (programs_.size() < kPrograms) {
    return programs_.emplace_back(schedule, shape);
  }
  oldest_ = (oldest_ + 1) % kPrograms;
  return programs_[oldest_] = PipelineProgram(schedule, shape);
}

void PipelineClock::follow(const PipelineProgram& program,
                           const PassTicks& ticks,
                           std::vector<Ticks>& finish) {
  finish.assign(static_cast<std::size_t>(program.shape().stages), 0);
  slots_.resize(std::max(slots_.size(), program.slots()));
  slots_[0] = 0;  // every other slot is written before it is read
  const Ticks* const cost = ticks.data();
  Ticks* const rank_end = finish.data();
  Ticks* const slot = slots_.data();
  for (const PipelinePass& pass : program.passes()) {
    const Ticks end = std::max(rank_end[pass.rank], slot[pass.input]) + cost[pass.kind];
    rank_end[pass.rank] = end;
    slot[pass.output] = end;
  }
}

std::optional<Ticks> PipelineClock::period(const PipelineProgram& program) const {
  if (program.likenesses().empty()) {
    return std::nullopt;
  }
  const auto later_by = [&](const auto& pair) { return slots_[pair.second] - slots_[pair.first]; };
  const Ticks first = later_by(program.likenesses().front());
  Ticks differs = 0;
  for (const auto& pair : program.likenesses()) {
    differs |= later_by(pair) ^ first;
  }
  return differs == 0 ? std::optional(first) : std::nullopt;
}

}  // namespace titer
