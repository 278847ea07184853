#include "titer/search/fit_advice.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "titer/estimate/device_classes.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/fields.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// Changes that make one: a degree doubled and another halved.
struct Move {
  enum class Kind { recompute, sharding, layout };

  Kind kind = Kind::layout;
  std::vector<PlanChange> changes;
  Plan plan;                           // with these changes alone
  std::optional<Adapters> adapters{};  // otherwise the scenario's
};

void add_recomputation(const Plan& plan, std::vector<Move>& moves) {
  for (const Recompute more : {Recompute::selective, Recompute::full}) {
    const bool is_more = plan.recompute == Recompute::none || more == Recompute::full;
    if (plan.recompute != more && is_more) {
      Move move{Move::Kind::recompute, {{"plan.recompute", Value(name(more))}}, plan};
      move.plan.recompute = more;
      moves.push_back(std::move(move));
    }
  }
}

void add_sharding(const Plan& plan, std::vector<Move>& moves) {
  if (plan.replicas() == 1 || plan.sharding == Sharding::parameter_server ||
      plan.sharding == Sharding::data_parallel_root) {
    return;
  }
  for (const Sharding more : {Sharding::zero1, Sharding::zero2, Sharding::zero3}) {
    if (more > plan.sharding) {
      Move move{Move::Kind::sharding, {{"plan.sharding", Value(name(more))}}, plan};
      move.plan.sharding = more;
      moves.push_back(std::move(move));
    }
  }
}

/// Twice the degree, half the replicas.
struct Degree {
  std::string_view path;
  std::int64_t Plan::*value;
};
constexpr std::array<Degree, 3> kDegrees = {{{"plan.tensor", &Plan::tensor},
                                             {"plan.pipeline", &Plan::pipeline},
                                             {"plan.context", &Plan::context}}};

void add_layouts(const Plan& plan, std::vector<Move>& moves) {
  for (const Degree& degree : kDegrees) {
    if (plan.data % 2 == 0) {
      Move move{Move::Kind::layout, {}, plan};
      move.plan.*degree.value *= 2;
      move.plan.data /= 2;
      move.changes = {{std::string(degree.path), Value(move.plan.*degree.value)},
                      {"plan.data", Value(move.plan.data)}};
      moves.push_back(std::move(move));
    }
  }
  if (plan.micro_batch % 2 == 0) {
    Move move{Move::Kind::layout, {{"plan.micro_batch", Value(plan.micro_batch / 2)}}, plan};
    move.plan.micro_batch /= 2;
    moves.push_back(std::move(move));
  }
  if (plan.tensor > 1 && !plan.sequence_parallel) {
    Move move{Move::Kind::layout, {{"plan.sequence_parallel", Value(true)}}, plan};
    move.plan.sequence_parallel = true;
    moves.push_back(std::move(move));
  }
}

/// The second move's changes of another kind made too.
Move both(const Move& first, const Move& second) {
  Move move = second;
  move.changes.insert(move.changes.begin(), first.changes.begin(), first.changes.end());
  if (first.kind == Move::Kind::recompute) {
    move.plan.recompute = first.plan.recompute;
  } else {
    move.plan.sharding = first.plan.sharding;
  }
  return move;
}

/// Evaluates plans in a scenario that is otherwise the same.
class Trial {
 public:
  /// `margin`: the share of the memory that stays free.
  explicit Trial(const Scenario& scenario, double margin = 0)
      : scenario_(scenario),
        adapters_(scenario.training.adapters),
        room_((1 - margin) * least_memory(scenario)) {}

  /// Nothing where the plan is not sound or does not fit.
  std::optional<FitAdvice> operator()(const Move& move) {
    scenario_.plan = move.plan;
    scenario_.training.adapters = move.adapters ? move.adapters : adapters_;
    if (!validate(scenario_).empty()) {
      return std::nullopt;
    }
    scenario_blocks(scenario_, blocks_);
    memory_.find(scenario_.plan, memory_needs(scenario_, blocks_), result_.memory);
    if (result_.peak_stage().total() > room_) {
      return std::nullopt;
    }
    try {
      estimator_.estimate(scenario_, result_);
    } catch (const InputError&) {
      return std::nullopt;  // longer than there is an answer for
    }
    if (!result_.tiers_fit()) {
      return std::nullopt;
    }
    return FitAdvice{.changes = move.changes,
                     .iteration_time = result_.iteration_time,
                     .peak = result_.memory_peak};
  }

 private:
  Scenario scenario_;
  std::optional<Adapters> adapters_;
  Bytes room_;
  ModelBlocks blocks_;
  MemoryFinder memory_;
  Estimator estimator_;
  StepResult result_;
};

std::vector<Move> single_moves(const Plan& plan) {
  std::vector<Move> moves;
  add_recomputation(plan, moves);
  add_sharding(plan, moves);
  add_layouts(plan, moves);
  return moves;
}

/// Moves that can be made together, by their numbers.
std::vector<std::pair<std::size_t, std::size_t>> pairs(const std::vector<Move>& moves) {
  std::vector<std::pair<std::size_t, std::size_t>> list;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    for (std::size_t j = i + 1; j < moves.size(); ++j) {
      if (moves[i].kind != moves[j].kind) {
        list.emplace_back(i, j);
      }
    }
  }
  return list;
}

/// What no plan without offloading has: states in the hosts' memory, whose processors take the
/// step, and weights there as well.
void add_offloading(const Plan& plan, std::vector<Move>& moves) {
  if (plan.offload.any()) {
    return;
  }
  const Offload states{
      .optimizer = HostPlace::host, .gradients = HostPlace::host, .update = UpdatePlace::host};
  Offload all = states;
  all.weights = HostPlace::host;
  for (const Offload& offload : {states, all}) {
    Move move{
        Move::Kind::layout, {{"plan.offload", write_fields(offload_fields(), offload)}}, plan};
    move.plan.offload = offload;
    moves.push_back(std::move(move));
  }
}

/// Of a rank that is usual, beside weights as they are or in 4 bits.
void add_adapters(const Scenario& scenario, std::vector<Move>& moves) {
  constexpr std::int64_t usual_rank = 16;
  if (scenario.training.adapters) {
    return;
  }
  for (const std::optional<BaseFormat> base : {std::optional<BaseFormat>(), {BaseFormat::nf4}}) {
    const Adapters adapters{.rank = usual_rank, .base = base};
    Move move{Move::Kind::layout,
              {{"training.adapters", write_fields(adapter_fields(), adapters)}},
              scenario.plan};
    move.adapters = adapters;
    moves.push_back(std::move(move));
  }
}

void sort_by_time(std::vector<FitAdvice>& found) {
  std::ranges::stable_sort(found, {}, &FitAdvice::iteration_time);
}

/// Longer than any, where a move alone does not fit.
Seconds time_of(const std::optional<Seconds>& alone) {
  return alone.value_or(Seconds::from_si(std::numeric_limits<double>::infinity()));
}

}  // namespace

std::string FitAdvice::text() const {
  return listed(changes, [](const PlanChange& change) {
    return change.path.substr(change.path.find('.') + 1) + " " + bare_text(change.value);
  });
}

std::vector<FitAdvice> fit_advice(const Scenario& scenario, std::size_t most) {
  const std::vector<Move> moves = single_moves(scenario.plan);
  Trial trial(scenario);
  std::vector<FitAdvice> found;
  std::vector<std::optional<Seconds>> alone;  // of each move, where it fits
  for (const Move& move : moves) {
    const auto advice = trial(move);
    alone.push_back(advice ? std::optional(advice->iteration_time) : std::nullopt);
    if (advice) {
      found.push_back(*advice);
    }
  }
  for (const auto& [first, second] : pairs(moves)) {
    const auto advice = trial(both(moves[first], moves[second]));
    if (advice &&
        advice->iteration_time < std::min(time_of(alone[first]), time_of(alone[second]))) {
      found.push_back(*advice);
    }
  }
  if (found.empty()) {
    found = last_resorts(scenario);
  }
  sort_by_time(found);
  found.resize(std::min(found.size(), most));
  return found;
}

std::vector<FitAdvice> last_resorts(const Scenario& scenario, double margin) {
  std::vector<Move> moves;
  add_offloading(scenario.plan, moves);
  add_adapters(scenario, moves);
  Trial trial(scenario, margin);
  std::vector<FitAdvice> found;
  for (Move& move : moves) {
    auto advice = trial(move);
    if (!advice && scenario.plan.recompute != Recompute::full) {
      move.plan.recompute = Recompute::full;
      move.changes.push_back({"plan.recompute", Value(name(Recompute::full))});
      advice = trial(move);
    }
    if (advice) {
      found.push_back(*std::move(advice));
    }
  }
  sort_by_time(found);
  return found;
}

std::vector<FitAdvice> fit_advice(const Scenario& scenario, const StepResult& result) {
  const bool wanted = !result.fits() && !scenario.unlike();
  return wanted ? fit_advice(scenario) : std::vector<FitAdvice>();
}

}  // namespace titer
