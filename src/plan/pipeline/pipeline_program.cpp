// The passes of a whole pipeline in an order that can be followed.

#include "titer/plan/pipeline/pipeline_program.hpp"

#include <algorithm>

#include "titer/units/ensure.hpp"

namespace titer {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

}  // namespace

/// Finds an order in which every pass follows those it waits for, by taking each rank's actions as
/// far as their inputs allow.
class PipelineProgram::Ordering {
  /// Numbers what passes wait for: slot 0 is always filled, the others are one per (activation or
  /// gradient, stage, micro-batch).
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
    /// Where its result goes, if anything waits for it: the next stage's forward, the previous
    /// one's backward; the last stage's forward feeds its own backward.
    [[nodiscard]] std::uint32_t output(Pass pass, int stage, int micro_batch) const {
      if (pass == Pass::weight_gradient || (sends_gradient(pass) && stage == 0)) {
        return unread();
      }
      if (sends_gradient(pass)) {
        return gradient(stage - 1, micro_batch);
      }
      return stage + 1 == stages_ ? gradient(stage, micro_batch)
                                  : activation(stage + 1, micro_batch);
    }
    [[nodiscard]] std::uint32_t unread() const { return gradient(stages_, 0); }
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

 public:
  Ordering(const Schedule& schedule, const PipelineShape& shape)
      : placement_(placement(schedule)),
        slots_(placement_, shape),
        chunks_(static_cast<std::size_t>(chunks_per_rank(placement_, shape))),
        turns_(slots_.count(), kNone),
        lists_(action_lists(schedule, shape)),
        ranks_(lists_.size()) {
    turns_[0] = 0;
    turns_[slots_.unread()] = 0;
    const int stages = model_stages(placement_, shape);
    places_ = pass_places(placement_, stages);
    std::size_t actions = 0;
    for (int rank = 0; rank < shape.stages; ++rank) {
      for (int chunk = 0; chunk < static_cast<int>(chunks_); ++chunk) {
        const int stage = stage_of(placement_, {.rank = rank, .chunk = chunk}, shape);
        stages_.push_back({stage, pass_place(placement_, stages, rank, stage)});
      }
      actions += lists_[static_cast<std::size_t>(rank)].size();
    }
    found_.reserve(actions);
  }

  void run(std::vector<PipelinePass>& passes, std::vector<PassEnd>& last) {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        while (ranks_[rank].next < lists_[rank].size() && take(rank)) {
          progress = true;
        }
      }
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ensure(ranks_[rank].next == lists_[rank].size(), "a schedule's order must not deadlock");
    }
    sort(passes, last);
  }

 private:
  struct Rank {
    std::size_t next = 0;    // of its actions
    std::uint32_t turn = 0;  // when its last pass runs if all take one turn
  };
  struct Stage {
    int number;
    std::size_t place;
  };
  struct Ends {
    std::size_t place;
    std::uint32_t input;
    std::uint32_t output;
  };
  struct Found {
    std::uint32_t turn;
    std::uint32_t input;
    std::uint32_t output;
    std::uint16_t rank;
    std::uint16_t kind;
  };

  [[nodiscard]] Ends ends(std::size_t rank, const Action& action) const {
    const Stage stage = stages_[rank * chunks_ + static_cast<std::size_t>(action.chunk)];
    return {.place = stage.place,
            .input = slots_.input(action.pass, stage.number, action.micro_batch),
            .output = slots_.output(action.pass, stage.number, action.micro_batch)};
  }

  /// The rank's next action, or pair of actions, if its inputs are there.
  bool take(std::size_t rank) {
    Rank& at = ranks_[rank];
    const ActionList& list = lists_[rank];
    const Action& action = list[at.next];
    if (done_together(list, at.next) == 1) {
      const Ends own = ends(rank, action);
      if (turns_[own.input] == kNone) {
        return false;
      }
      add(rank, pass_kind(own.place, action.pass, action.overlapped), own.input, own.output, 1);
      ++at.next;
      return true;
    }
    const OppositePasses both = opposite_passes(action.pass, at.next);
    const Ends forward = ends(rank, list[both.forward]);
    const Ends backward = ends(rank, list[both.backward]);
    if (turns_[forward.input] == kNone || turns_[backward.input] == kNone) {
      return false;
    }
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
    turn = std::max(turn, turns_[input]) + turns;
    turns_[output] = output == slots_.unread() ? 0 : turn;
    last_turn_ = std::max(last_turn_, turn);
    found_.push_back({.turn = turn,
                      .input = input,
                      .output = output,
                      .rank = static_cast<std::uint16_t>(rank),
                      .kind = static_cast<std::uint16_t>(kind)});
  }

  /// By turn, equal turns in the order found. Neighbours then belong to different ranks, so that a
  /// processor can follow several at once.
  void sort(std::vector<PipelinePass>& passes, std::vector<PassEnd>& last) {
    std::vector<std::uint32_t> begin(last_turn_ + 2UL, 0);
    for (const Found& found : found_) {
      ++begin[found.turn + 1UL];
    }
    for (std::size_t turn = 1; turn < begin.size(); ++turn) {
      begin[turn] += begin[turn - 1];
    }
    // Of one rank, and from a pass to the one that waits for it, the order found is the order in
    // the program: every end is numbered before it is asked for.
    std::vector<PassEnd> filled(slots_.count(), 0);
    last.assign(ranks_.size(), 0);
    passes.resize(found_.size());
    for (const Found& found : found_) {
      const std::uint32_t at = begin[found.turn]++;
      passes[at] = {.before = last[found.rank],
                    .input = filled[found.input],
                    .rank = found.rank,
                    .kind = found.kind};
      last[found.rank] = at + 1;
      if (found.output != slots_.unread()) {
        filled[found.output] = at + 1;
      }
    }
  }

  Placement placement_;
  Slots slots_;
  std::size_t chunks_;
  std::size_t places_ = 0;
  std::vector<std::uint32_t> turns_;  // in which each slot is filled
  std::vector<ActionList> lists_;
  std::vector<Rank> ranks_;
  std::vector<Stage> stages_;  // of each rank's chunks
  std::vector<Found> found_;
  std::uint32_t last_turn_ = 0;
};

PipelineProgram::PipelineProgram(const Schedule& schedule, PipelineShape shape)
    : shape_(shape), schedule_(schedule) {
  Ordering(schedule, shape).run(passes_, last_);
  count(pass_places(placement(schedule), model_stages(placement(schedule), shape)));
  find_repeated();
  find_made();
  find_started();
  // First forwards, which may wait for parameters, and last gradients must not come again.
  const std::size_t ending = ending_.made.empty() ? passes_.size() : ending_.made.front().pass;
  if (started_ > repeated_.begin || ending < repeated_.end) {
    repeated_ = {};
  }
  cut_ending(ending);
}

void PipelineProgram::find_made() {
  std::vector<Made> last(places());
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (const auto kind = gradient_pass(passes_[i].kind, places())) {
      const std::size_t place = place_of_kind(passes_[i].kind);
      const std::size_t made = kind == GradientPass::pair ? opposite_place(places(), place) : place;
      last[made] = {.pass = i + 1, .place = made, .kind = *kind};
    }
  }
  for (const Made& made : last) {
    if (made.pass > 0) {
      ending_.made.push_back({.pass = made.pass - 1, .place = made.place, .kind = made.kind});
    }
  }
  std::ranges::sort(ending_.made, {}, &Made::pass);
}

void PipelineProgram::cut_ending(std::size_t begin) {
  ending_.passes.assign(passes_.begin() + static_cast<std::ptrdiff_t>(begin), passes_.end());
  ending_.last = last_;
  const auto for_each_end = [&](const auto& what) {
    for (PipelinePass& pass : ending_.passes) {
      what(pass.before);
      what(pass.input);
    }
    std::ranges::for_each(ending_.last, what);
  };
  std::vector<PassEnd> numbers(begin + 1, kNone);  // in `taken`, of the ends before
  for_each_end([&](PassEnd end) {
    if (end <= begin && numbers[end] == kNone) {
      numbers[end] = static_cast<PassEnd>(ending_.taken.size());
      ending_.taken.push_back(end);
    }
  });
  for_each_end([&](PassEnd& end) {
    const auto after = static_cast<PassEnd>(end - begin - 1 + ending_.taken.size());
    end = end <= begin ? numbers[end] : after;
  });
  for (Made& made : ending_.made) {
    made.pass -= begin;
  }
}

void PipelineProgram::find_started() {
  std::vector<char> has(places(), 0);
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    if (!is_alone(passes_[i], Pass::forward, places())) {
      continue;
    }
    char& own = has[place_of_kind(passes_[i].kind)];
    started_ = own == 0 ? i + 1 : started_;
    own = 1;
  }
}

void PipelineProgram::count(std::size_t places) {
  std::vector<PassCounts> all(places);
  for (const PipelinePass& pass : passes_) {
    if (pass.kind >= instant_kind(places)) {
      continue;
    }
    PassCounts& counts = all[place_of_kind(pass.kind)];
    if (is_pair(pass.kind)) {
      ++counts.pairs;
    } else {
      const std::size_t of_pass = pass.kind % kKindsOfPlace % kPasses;
      ++(is_overlapped(pass.kind) ? counts.overlapped : counts.alone)[of_pass];
    }
  }
  uniform_ = std::ranges::all_of(all, [](const PassCounts& counts) {
    const bool split = counts.of(Pass::input_gradient) > 0;
    return counts.pairs == 0 && (counts.of(Pass::backward) == 0 || !split);
  });
  counts_ = std::make_shared<const std::vector<PassCounts>>(std::move(all));
}

}  // namespace titer
