#include "titer/plan/pipeline.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr std::uint32_t kNever = 0xFFFFFFFF;
// As many as a search is likely to go back to.
constexpr std::size_t kPassesKept = 2'000'000;  // of all programs: 24 MB
constexpr std::size_t kFollowed = 256;

/// Of some ticks evenly apart: pipelines that differ elsewhere are told apart by comparing all.
std::uint64_t hash_of(const PipelineShape& shape, const PassTicks& ticks) {
  constexpr std::uint64_t prime = 1099511628211U;  // FNV-1a
  constexpr std::size_t most = 64;
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&](std::int64_t value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * prime;
  };
  add(shape.stages);
  add(shape.micro_batches);
  add(shape.virtual_stages);
  for (std::size_t i = 0; i < ticks.size(); i += 1 + ticks.size() / most) {
    add(ticks[i]);
  }
  return hash;
}

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

/// Numbers the slots: one per (activation or gradient, stage, micro-batch), after slot 0. Slots
/// that nobody waits for exist too, so that the end of every forward and backward pass is in a slot
/// of its own; weight gradients share the last slot.
class Slots {
 public:
  Slots(Placement placement, const PipelineShape& shape)
      : micro_batches_(shape.micro_batches), stages_(model_stages(placement, shape)) {}

  /// Where the input of this pass arrives; the first forward needs none.
  [[nodiscard]] std::uint32_t input(Pass pass, int stage, int micro_batch) const {
    if (pass == Pass::weight_gradient || (pass == Pass::forward && stage == 0)) {
      return 0;
    }
    return pass == Pass::forward ? activation(stage, micro_batch) : gradient(stage, micro_batch);
  }
  /// Where its result goes: the next stage's forward, the previous one's backward; the last
  /// stage's forward feeds its own backward.
  [[nodiscard]] std::uint32_t output(Pass pass, int stage, int micro_batch) const {
    if (pass == Pass::weight_gradient) {
      return unread();
    }
    if (sends_gradient(pass)) {
      return stage == 0 ? gradient(stages_, micro_batch) : gradient(stage - 1, micro_batch);
    }
    return stage + 1 == stages_ ? gradient(stage, micro_batch) : activation(stage + 1, micro_batch);
  }
  [[nodiscard]] std::uint32_t unread() const { return gradient(stages_ + 1, 0); }
  [[nodiscard]] std::size_t count() const { return unread() + std::size_t{1}; }

 private:
  [[nodiscard]] std::uint32_t activation(int stage, int micro_batch) const {
    return static_cast<std::uint32_t>(1 + stage * micro_batches_ + micro_batch);
  }
  [[nodiscard]] std::uint32_t gradient(int stage, int micro_batch) const {
    return activation(stages_ + stage, micro_batch);
  }

  int micro_batches_;
  int stages_;
};

}  // namespace

/// Finds an order in which every pass follows those it waits for, by taking each rank's actions as
/// far as their inputs allow.
class PipelineProgram::Ordering {
 public:
  Ordering(const Schedule& schedule, const PipelineShape& shape)
      : placement_(placement(schedule)),
        shape_(shape),
        slots_(placement_, shape),
        stages_(model_stages(placement_, shape)),
        places_(pass_places(placement_, stages_)),
        filled_(slots_.count(), kNever),
        ranks_(static_cast<std::size_t>(shape.stages)) {
    filled_[0] = 0;
    filled_[slots_.unread()] = 0;
    std::vector<ActionList> lists = action_lists(schedule, shape);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].list = std::move(lists[rank]);
    }
  }

  std::vector<PipelinePass> run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        while (ranks_[rank].next < ranks_[rank].list.size() && take(rank)) {
          progress = true;
        }
      }
    }
    for (const Rank& rank : ranks_) {
      ensure(rank.next == rank.list.size(), "a schedule's order must not deadlock");
    }
    return by_turn(found_, turns_);
  }

 private:
  struct Rank {
    ActionList list;
    std::size_t next = 0;
    std::uint32_t turn = 0;  // when each pass runs if all take one turn
  };
  struct Ends {
    std::size_t place;
    std::uint32_t input;
    std::uint32_t output;
  };

  [[nodiscard]] Ends ends(std::size_t rank, const Action& action) const {
    const int stage =
        stage_of(placement_, {.rank = static_cast<int>(rank), .chunk = action.chunk}, shape_);
    return {.place = pass_place(placement_, stages_, static_cast<int>(rank), stage),
            .input = slots_.input(action.pass, stage, action.micro_batch),
            .output = slots_.output(action.pass, stage, action.micro_batch)};
  }

  /// The rank's next action, or pair of actions, if its inputs are there.
  bool take(std::size_t rank) {
    Rank& at = ranks_[rank];
    const Action& action = at.list[at.next];
    const Ends own = ends(rank, action);
    if (!action.with_next) {
      if (filled_[own.input] == kNever) {
        return false;
      }
      add(rank, pass_kind(own.place, action.pass), own.input, own.output, 1);
      ++at.next;
      return true;
    }
    ensure(at.next + 1 < at.list.size(), "an action done with the next one has a next one");
    const Ends other = ends(rank, at.list[at.next + 1]);
    if (filled_[own.input] == kNever || filled_[other.input] == kNever) {
      return false;
    }
    const bool forward_first = action.pass == Pass::forward;
    const Ends& forward = forward_first ? own : other;
    const Ends& backward = forward_first ? other : own;
    add(rank, instant_kind(places_), forward.input, slots_.unread(), 0);
    add(rank, pair_kind(forward.place), backward.input, backward.output, 1);
    add(rank, pair_end_kind(places_, forward.place), 0, forward.output, 0);
    at.next += 2;
    return true;
  }

  void add(std::size_t rank,
           std::size_t kind,
           std::uint32_t input,
           std::uint32_t output,
           std::uint32_t turns) {
    std::uint32_t& turn = ranks_[rank].turn;
    turn = std::max(turn, filled_[input]) + turns;
    if (output != slots_.unread()) {
      filled_[output] = turn;
    }
    found_.push_back(
        {static_cast<std::uint16_t>(rank), static_cast<std::uint16_t>(kind), input, output});
    turns_.push_back(turn);
  }

  Placement placement_;
  PipelineShape shape_;
  Slots slots_;
  int stages_;
  std::size_t places_;
  std::vector<std::uint32_t> filled_;  // the turn at which each slot is
  std::vector<Rank> ranks_;
  std::vector<PipelinePass> found_;
  std::vector<std::uint32_t> turns_;
};

PipelineProgram::PipelineProgram(const Schedule& schedule, PipelineShape shape)
    : shape_(shape),
      schedule_(schedule),
      passes_(Ordering(schedule, shape).run()),
      slot_count_(Slots(placement(schedule), shape).count()) {
  count(pass_places(placement(schedule), model_stages(placement(schedule), shape)));
  find_made();
  find_likenesses(schedule);
}

void PipelineProgram::find_made() {
  std::vector<std::size_t> last(counts_.size(), passes_.size());
  std::vector<GradientPass> kinds(counts_.size(), GradientPass::whole);
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    const std::size_t kind = passes_[i].kind % kKindsOfPlace;
    const bool pair = kind == kPasses;
    const bool weight = kind == static_cast<std::size_t>(Pass::weight_gradient);
    const bool whole = kind == static_cast<std::size_t>(Pass::backward);
    if (passes_[i].kind >= instant_kind(places()) || !(pair || weight || whole)) {
      continue;
    }
    const std::size_t place = passes_[i].kind / kKindsOfPlace;
    const std::size_t made = pair ? opposite_place(places(), place) : place;
    last[made] = i;
    kinds[made] = pair ? GradientPass::pair : weight ? GradientPass::weight : GradientPass::whole;
  }
  for (std::size_t place = 0; place < last.size(); ++place) {
    if (last[place] < passes_.size()) {
      made_.push_back({.pass = last[place], .place = place, .kind = kinds[place]});
    }
  }
  std::sort(
      made_.begin(), made_.end(), [](const Made& a, const Made& b) { return a.pass < b.pass; });
}

void PipelineProgram::count(std::size_t places) {
  counts_.resize(places);
  for (const PipelinePass& pass : passes_) {
    if (pass.kind >= instant_kind(places)) {
      continue;
    }
    const std::size_t kind = pass.kind % kKindsOfPlace;
    PassCounts& counts = counts_[pass.kind / kKindsOfPlace];
    ++(kind == kPasses ? counts.pairs : counts.alone[kind]);
  }
  uniform_ = std::all_of(counts_.begin(), counts_.end(), [](const PassCounts& counts) {
    const bool split = counts.of(Pass::input_gradient) > 0;
    return counts.pairs == 0 && (counts.of(Pass::backward) == 0 || !split);
  });
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

const PipelineProgram* PipelineClock::shorter_program(const Schedule& schedule,
                                                      PipelineShape shape) {
  micro_batches_ = micro_batches_per_chunk(placement(schedule), shape);
  const int few = few_micro_batches(schedule, shape);
  if (few >= shape.micro_batches) {
    return nullptr;
  }
  shape.micro_batches = few;
  return &program(schedule, shape);
}

std::optional<Ticks> PipelineClock::left_out(const Schedule& schedule,
                                             PipelineShape shape,
                                             const PipelineProgram& shorter) const {
  const auto repeats_after = shorter.uniform() ? period(shorter) : std::nullopt;
  if (!repeats_after) {
    return std::nullopt;
  }
  const int micro_batches = steady_phase(schedule, 0, shape)->micro_batches;
  return (shape.micro_batches - shorter.shape().micro_batches) / micro_batches * *repeats_after;
}

void PipelineClock::run(const Schedule& schedule,
                        PipelineShape shape,
                        const PassTicks& ticks,
                        std::vector<Ticks>& finish) {
  const FollowedPipeline& pipeline = followed(schedule, shape, ticks);
  finish = pipeline.finish;
  counts_ = pipeline.counts;
}

const FollowedPipeline& PipelineClock::followed(const Schedule& schedule,
                                                PipelineShape shape,
                                                const PassTicks& ticks) {
  const std::uint64_t hash = hash_of(shape, ticks);
  const auto [first, last] = known_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const FollowedPipeline& one = followed_[known->second];
    if (one.shape == shape && one.ticks == ticks && is_same(one.schedule, schedule)) {
      return one;
    }
  }
  std::size_t at = followed_.size();
  if (at < kFollowed) {
    followed_.emplace_back();
    hashes_.push_back(hash);
  } else {
    at = oldest_followed_;
    oldest_followed_ = (oldest_followed_ + 1) % kFollowed;
    const auto [old, end] = known_.equal_range(hashes_[at]);
    const auto replaced =
        std::find_if(old, end, [&](const auto& known) { return known.second == at; });
    ensure(replaced != end, "a pipeline that is kept is known by its hash");
    known_.erase(replaced);
    hashes_[at] = hash;
  }
  FollowedPipeline& pipeline = followed_[at];
  pipeline.schedule = schedule;
  pipeline.shape = shape;
  pipeline.ticks = ticks;
  follow_all(pipeline);
  known_.emplace(hash, at);
  return pipeline;
}

void PipelineClock::follow_all(FollowedPipeline& into) {
  into.later = 0;
  if (const PipelineProgram* const shorter = shorter_program(into.schedule, into.shape)) {
    follow(*shorter, into);
    if (const auto later = left_out(into.schedule, into.shape, *shorter)) {
      into.later = *later;
      for (Ticks& end : into.finish) {
        end += *later;
      }
      fill_counts(*shorter, into.counts);
      return;
    }
  }
  const PipelineProgram& whole = program(into.schedule, into.shape);
  follow(whole, into);
  fill_counts(whole, into.counts);
}

void PipelineClock::fill_counts(const PipelineProgram& program,
                                std::vector<PassCounts>& counts) const {
  counts.clear();
  for (std::size_t place = 0; place < program.places(); ++place) {
    PassCounts& own = counts.emplace_back(program.counts(place));
    if (program.uniform()) {
      for (int& count : own.alone) {
        count = count > 0 ? micro_batches_ : 0;
      }
    }
  }
}

const PipelineProgram& PipelineClock::program(const Schedule& schedule, PipelineShape shape) {
  const auto known = std::find_if(programs_.begin(), programs_.end(), [&](const auto& program) {
    return program.shape() == shape && is_same(program.schedule(), schedule);
  });
  if (known != programs_.end()) {
    return *known;
  }
  const PipelineProgram& made = programs_.emplace_back(schedule, shape);
  passes_kept_ += made.passes().size();
  while (passes_kept_ > kPassesKept && programs_.size() > 1) {
    passes_kept_ -= programs_.front().passes().size();
    programs_.pop_front();
  }
  return made;
}

void PipelineClock::follow(const PipelineProgram& program, FollowedPipeline& into) {
  into.finish.assign(static_cast<std::size_t>(program.shape().stages), 0);
  into.events.clear();
  slots_.resize(std::max(slots_.size(), program.slots()));
  slots_[0] = 0;  // every other slot is written before it is read
  const std::size_t tail =
      program.made().empty() ? program.passes().size() : program.made().front().pass;
  const Ticks* const cost = into.ticks.data();
  Ticks* const rank_end = into.finish.data();
  Ticks* const slot = slots_.data();
  for (const PipelinePass& pass : program.passes().first(tail)) {
    const Ticks end = std::max(rank_end[pass.rank], slot[pass.input]) + cost[pass.kind];
    rank_end[pass.rank] = end;
    slot[pass.output] = end;
  }
  follow_tail(program, tail, into);
}

/// Before some gradients are complete nothing is on a data lane.
void PipelineClock::follow_tail(const PipelineProgram& program,
                                std::size_t begin,
                                FollowedPipeline& into) {
  auto made = program.made().begin();
  for (std::size_t i = begin; i < program.passes().size(); ++i) {
    const PipelinePass& pass = program.passes()[i];
    Ticks& rank_end = into.finish[pass.rank];
    const Ticks input = slots_[pass.input];
    if (input > rank_end) {
      into.events.push_back({.rank = pass.rank, .waits = true, .from = rank_end, .to = input});
    }
    rank_end = std::max(rank_end, input) + into.ticks[pass.kind];
    slots_[pass.output] = rank_end;
    if (made != program.made().end() && made->pass == i) {
      into.events.push_back({.rank = pass.rank,
                             .kind = made->kind,
                             .pass = pass.kind,
                             .place = static_cast<std::uint32_t>(made->place),
                             .to = rank_end});
      ++made;
    }
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
