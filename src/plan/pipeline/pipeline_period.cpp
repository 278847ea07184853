// The period of a steady phase among a pipeline's passes.

#include <algorithm>
#include <array>
#include <limits>

#include "titer/plan/pipeline/pipeline_program.hpp"

namespace titer {
namespace {

// Actions of the steady phase before its period that is repeated: then that begins after a pass
// with a likeness.
constexpr int kBeforePeriod = 2;

}  // namespace

int few_micro_batches(const Schedule& schedule, PipelineShape shape) {
  const auto steady = steady_phase(schedule, 0, shape);
  if (!steady) {
    return shape.micro_batches;
  }
  // Half of the first rank's actions after `begin` are forwards. What another rank has to do before
  // the period begins is at most `reach` actions.
  const int actions = kBeforePeriod + steady->reach + steady->period;
  const int forwards = steady->begin + (actions + 1) / 2;
  const int least = (forwards + shape.virtual_stages - 1) / shape.virtual_stages;
  const int period = steady->micro_batches;
  return std::min(shape.micro_batches,
                  least + ((shape.micro_batches - least) % period + period) % period);
}

/// Cuts the passes where a period of the steady phase begins and where it ends: as late as all
/// ranks are in it, so that most pipelines have settled. Each cut is moved on, rank by rank, until
/// nothing before it waits for anything after it.
class PipelineProgram::Cutting {
 public:
  Cutting(const PipelineProgram& program, std::vector<SteadyPhase> steady)
      : passes_(program.passes_),
        steady_(std::move(steady)),
        actions_(steady_.size(), 0),
        of_kind_(pass_kinds(program.places())) {
    for (const PipelinePass& pass : passes_) {
      std::vector<PassEnd>& alike = of_kind_[alone_kind(pass.kind)];
      positions_.push_back(actions_[pass.rank]++);
      micro_batches_.push_back(alike.size());
      alike.push_back(static_cast<PassEnd>(positions_.size()));
    }
  }

  /// Whether there is a period to repeat.
  bool run() {
    int first = std::numeric_limits<int>::max();  // after each rank's `begin`
    for (std::size_t rank = 0; rank < steady_.size(); ++rank) {
      const SteadyPhase& own = steady_[rank];
      first = std::min(first, actions_[rank] - 2 * own.begin - own.period - own.reach);
    }
    if (first < kBeforePeriod) {
      return false;
    }
    for (const SteadyPhase& own : steady_) {
      cuts_.push_back(own.begin + first);
    }
    // What a pass waits for is before it.
    for (std::size_t i = passes_.size(); i-- > 0;) {
      if (positions_[i] < cuts_[passes_[i].rank]) {
        include(passes_[i].before);
        include(passes_[i].input);
      }
    }
    return ends_in_steady_phase() && is_closed();
  }

  /// 0: before the period. 1: in it. 2: after it.
  [[nodiscard]] std::size_t part(std::size_t pass) const {
    const std::size_t rank = passes_[pass].rank;
    const int in_period = positions_[pass] - cuts_[rank];
    return in_period < 0 ? 0 : in_period < steady_[rank].period ? 1 : 2;
  }
  /// Whether a pass of the period takes this end from before it.
  [[nodiscard]] bool carries(std::size_t pass, PassEnd end) const {
    return part(pass) == 1 && end > 0 && part(end - 1) == 0;
  }
  /// The end of the same pass of a period later, if there is one.
  [[nodiscard]] PassEnd next(PassEnd end) const {
    const std::vector<PassEnd>& alike = of_kind_[alone_kind(passes_[end - 1].kind)];
    const std::size_t at =
        micro_batches_[end - 1] + static_cast<std::size_t>(steady_.front().micro_batches);
    return at < alike.size() ? alike[at] : 0;
  }

 private:
  void include(PassEnd end) {
    if (end > 0) {
      int& cut = cuts_[passes_[end - 1].rank];
      cut = std::max(cut, positions_[end - 1] + 1);
    }
  }
  /// A rank's steady phase ends with its last forward, `begin` backwards before the end.
  [[nodiscard]] bool ends_in_steady_phase() const {
    for (std::size_t rank = 0; rank < steady_.size(); ++rank) {
      if (cuts_[rank] + steady_[rank].period > actions_[rank] - steady_[rank].begin) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] bool is_closed() const {
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      if (!may_wait(i, passes_[i].before) || !may_wait(i, passes_[i].input)) {
        return false;
      }
    }
    return true;
  }
  /// Whether a pass waits for its own part or the one before only; what is carried into the period
  /// must have its likeness there.
  [[nodiscard]] bool may_wait(std::size_t pass, PassEnd end) const {
    if (end == 0 || part(end - 1) == part(pass)) {
      return true;
    }
    if (part(end - 1) + 1 != part(pass)) {
      return false;
    }
    if (!carries(pass, end)) {
      return true;
    }
    const PassEnd later = next(end);
    return later > 0 && part(later - 1) == 1;
  }

  std::span<const PipelinePass> passes_;
  std::vector<SteadyPhase> steady_;            // of each rank
  std::vector<int> actions_;                   // of each rank, how many
  std::vector<std::vector<PassEnd>> of_kind_;  // overlapped or not
  std::vector<int> positions_;                 // of each pass among its rank's
  std::vector<std::size_t> micro_batches_;     // of each pass
  std::vector<int> cuts_;                      // of each rank: passes before the period
};

void PipelineProgram::find_repeated() {
  std::vector<SteadyPhase> steady;
  for (int rank = 0; rank < shape_.stages; ++rank) {
    const auto own = steady_phase(schedule_, rank, shape_);
    if (!own || !uniform_) {
      return;
    }
    steady.push_back(*own);
  }
  const int micro_batches = steady.front().micro_batches;
  Cutting cutting(*this, std::move(steady));
  if (!cutting.run()) {
    return;
  }
  // The parts one after the other, each in the order that it has.
  std::array<std::size_t, 4> begin{};
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    ++begin[cutting.part(i) + 1];
  }
  begin[2] += begin[1];
  begin[3] += begin[2];
  repeated_ = {.begin = begin[1], .end = begin[2], .micro_batches = micro_batches, .carried = {}};
  std::vector<PassEnd> moved(passes_.size() + 1, 0);
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    moved[i + 1] = static_cast<PassEnd>(++begin[cutting.part(i)]);
  }
  std::vector<PipelinePass> sorted(passes_.size());
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    PipelinePass pass = passes_[i];
    for (PassEnd* const end : {&pass.before, &pass.input}) {
      if (cutting.carries(i, *end)) {
        repeated_.carried.emplace_back(moved[*end], moved[cutting.next(*end)]);
      }
      *end = moved[*end];
    }
    sorted[moved[i + 1] - 1] = pass;
  }
  passes_ = std::move(sorted);
  for (PassEnd& end : last_) {
    end = moved[end];
  }
  const auto by_first = [](const auto& a, const auto& b) { return a.first < b.first; };
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  auto& carried = repeated_.carried;
  std::ranges::sort(carried, by_first);
  carried.erase(std::unique(carried.begin(), carried.end(), same), carried.end());
}

}  // namespace titer
