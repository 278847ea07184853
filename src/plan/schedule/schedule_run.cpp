#include "titer/plan/schedule/schedule_run.hpp"

#include <fmt/format.h>

#include "titer/plan/schedule/listed_schedule.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// Takes each rank's actions as far as their inputs allow, in turn, until none goes on.
class Runner {
 public:
  Runner(const Schedule& schedule, const PipelineShape& shape, const PassTimes& times)
      : placement_(placement(schedule)),
        shape_(shape),
        stages_(model_stages(placement_, shape)),
        share_(1.0 / (placement_ == Placement::two_ways ? 1 : shape.virtual_stages)),
        times_(times),
        ranks_(static_cast<std::size_t>(shape.stages)),
        next_(ranks_.size(), 0),
        free_(ranks_.size()),
        activation_(ends()),
        gradient_(ends()) {
    lists_ = action_lists(schedule, shape);
  }

  ScheduleRun run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        while (next_[rank] < lists_[rank].size() && take(rank)) {
          progress = true;
        }
      }
    }
    ScheduleRun result{.ranks = std::move(ranks_), .makespan = {}, .deadlock = {}};
    for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
      result.makespan = std::max(result.makespan, free_[rank]);
      if (next_[rank] < lists_[rank].size() && result.deadlock.empty()) {
        result.deadlock = stuck(rank);
      }
    }
    return result;
  }

 private:
  using Times = std::vector<std::optional<Seconds>>;

  [[nodiscard]] Times ends() const {
    return Times(static_cast<std::size_t>(stages_) *
                 static_cast<std::size_t>(shape_.micro_batches));
  }
  [[nodiscard]] std::size_t at(int stage, int micro_batch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(shape_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  [[nodiscard]] int stage(std::size_t rank, const Action& action) const {
    return stage_of(placement_, {.rank = static_cast<int>(rank), .chunk = action.chunk}, shape_);
  }

  /// When the action's input is there; nothing if that is not known yet.
  [[nodiscard]] std::optional<Seconds> input(std::size_t rank, const Action& action) const {
    const int s = stage(rank, action);
    if (action.pass == Pass::weight_gradient || (action.pass == Pass::forward && s == 0)) {
      return Seconds{};
    }
    if (action.pass == Pass::forward) {
      return activation_[at(s - 1, action.micro_batch)];
    }
    return s + 1 == stages_ ? activation_[at(s, action.micro_batch)]
                            : gradient_[at(s + 1, action.micro_batch)];
  }

  [[nodiscard]] Seconds duration(Pass pass) const {
    switch (pass) {
      case Pass::forward:
        return share_ * times_.forward;
      case Pass::backward:
        return share_ * times_.backward();
      case Pass::input_gradient:
        return share_ * times_.input_gradient;
      case Pass::weight_gradient:
        return share_ * times_.weight_gradient;
    }
    return {};
  }

  bool take(std::size_t rank) {
    const ActionList& list = lists_[rank];
    const Action& action = list[next_[rank]];
    const std::size_t count = done_together(list, next_[rank]);
    Seconds start = free_[rank];
    for (std::size_t i = 0; i < count; ++i) {
      const auto ready = input(rank, list[next_[rank] + i]);
      if (!ready) {
        return false;
      }
      start = std::max(start, *ready);
    }
    const Seconds time = count == 2 ? share_ * times_.both() : duration(action.pass);
    for (std::size_t i = 0; i < count; ++i) {
      finish(rank, list[next_[rank] + i], start, start + time);
    }
    ranks_[rank].busy += time;
    free_[rank] = start + time;
    next_[rank] += count;
    return true;
  }

  void finish(std::size_t rank, const Action& action, Seconds start, Seconds end) {
    const int s = stage(rank, action);
    if (action.pass == Pass::forward) {
      activation_[at(s, action.micro_batch)] = end;
    } else if (sends_gradient(action.pass)) {
      gradient_[at(s, action.micro_batch)] = end;
    }
    ranks_[rank].actions.push_back({.action = action, .stage = s, .start = start, .end = end});
  }

  [[nodiscard]] std::string stuck(std::size_t rank) const {
    const ActionList& list = lists_[rank];
    const std::size_t at = next_[rank];
    const std::size_t waits = input(rank, list[at]) ? at + 1 : at;  // the other of a pair
    const Action& action = list[waits];
    const int s = stage(rank, action);
    const bool turns = action.pass != Pass::forward && s + 1 == stages_;
    const int from = action.pass == Pass::forward ? s - 1 : (turns ? s : s + 1);
    const StagePlace place = place_of(placement_, from, action.chunk, shape_);
    return fmt::format(
        "rank {} waits for ever before its action {}, {}, for a {} pass of stage {} on rank {}, "
        "which itself waits: expected an order without a ring of waiting",
        rank,
        waits + 1,
        action_text(action, s),
        action.pass == Pass::forward || turns ? "forward" : "backward",
        from,
        place.rank);
  }

  Placement placement_;
  PipelineShape shape_;
  int stages_;
  double share_;  // of a rank's layers in one chunk
  PassTimes times_;
  std::vector<ActionList> lists_;
  std::vector<RankRun> ranks_;
  std::vector<std::size_t> next_;
  std::vector<Seconds> free_;
  Times activation_;  // when each forward ended
  Times gradient_;    // when each input gradient was there
};

void count_chunks(RankRun& rank) {
  ActionList done;
  for (const ActionTime& time : rank.actions) {
    done.push_back(time.action);
  }
  rank.alive = alive_chunks(done);
  rank.peak_chunks = most_alive(rank.alive);
}

}  // namespace

Seconds ScheduleRun::bubble(bool of_span) const {
  Seconds most;
  for (const RankRun& rank : ranks) {
    most = std::max(most, of_span ? rank.idle_in_span() : makespan - rank.busy);
  }
  return most;
}

double ScheduleRun::bubble_overhead() const {
  Seconds busy;
  for (const RankRun& rank : ranks) {
    busy += rank.busy;
  }
  return (static_cast<double>(ranks.size()) * makespan - busy) / busy;
}

ScheduleRun run_schedule(const Schedule& schedule,
                         const PipelineShape& shape,
                         const PassTimes& times) {
  ScheduleRun run = Runner(schedule, shape, times).run();
  for (RankRun& rank : run.ranks) {
    count_chunks(rank);
  }
  return run;
}

}  // namespace titer
