#include "titer/plan/memory/activation_peak.hpp"

#include <algorithm>

namespace titer {

/// Follows the actions and notes each moment, unless one that is noted has no less of anything.
class ActivationMoments::Walk {
 public:
  explicit Walk(ActivationMoments& into) : into_(into), alive_(into.chunks_) {}

  void run(const ActionList& list) {
    for (std::size_t i = 0; i < list.size();) {
      const std::size_t count = done_at_once(list, i);
      if (list[i].overlapped) {
        const OppositePasses both = opposite_passes(list[i].pass, i);
        step_by_layers(list[both.forward], list[both.backward]);
      } else {
        step(std::span(list).subspan(i, count));
      }
      i += count;
    }
  }

 private:
  using Moment = std::vector<Counts>::iterator;

  /// Actions that run together: what they make comes to what is alive, is looked at with what they
  /// need meanwhile, and then what they free goes.
  void step(std::span<const Action> actions) {
    for (const Action& action : actions) {
      begin(action);
    }
    note();
    for (const Action& action : actions) {
      end(action);
    }
  }

  /// The layers of one are kept as those of the other go: most is kept before or after both.
  void step_by_layers(const Action& forward, const Action& backward) {
    begin(backward);
    ++of(forward).working;
    note();
    begin(forward);
    --of(forward).working;
    ++of(backward).working;
    end(backward);
    note();
    --of(backward).working;
    end(forward);
  }

  [[nodiscard]] Counts& of(const Action& action) {
    return alive_[static_cast<std::size_t>(action.chunk)];
  }

  void begin(const Action& action) {
    Counts& own = of(action);
    if (action.pass == Pass::forward) {
      ++own.kept;
    } else if (action.pass == Pass::input_gradient) {
      --own.kept;
      ++own.in_input_gradient;
    }
    own.working += action.pass == Pass::weight_gradient ? 0 : 1;
  }

  void end(const Action& action) {
    Counts& own = of(action);
    if (action.pass == Pass::backward) {
      --own.kept;
    } else if (action.pass == Pass::input_gradient) {
      --own.in_input_gradient;
      ++own.after_input_gradient;
    } else if (action.pass == Pass::weight_gradient) {
      --own.after_input_gradient;
    }
    own.working -= action.pass == Pass::weight_gradient ? 0 : 1;
  }

  /// No less of anything in the one than in the other.
  [[nodiscard]] bool covers(Moment one, Moment other) const {
    return std::equal(one, one + length(), other, [](const Counts& a, const Counts& b) {
      return a.kept >= b.kept && a.in_input_gradient >= b.in_input_gradient &&
             a.after_input_gradient >= b.after_input_gradient && a.working >= b.working;
    });
  }

  void note() {
    std::vector<Counts>& noted = into_.counts_;
    const Moment now = alive_.begin();
    // A steady phase comes back to the same few moments: the one that covered last is tried first.
    if (covering_ < noted.size() && covers(noted.begin() + at(covering_), now)) {
      return;
    }
    for (std::size_t i = 0; i < noted.size(); i += alive_.size()) {
      if (covers(noted.begin() + at(i), now)) {
        covering_ = i;
        return;
      }
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < noted.size(); i += alive_.size()) {
      if (!covers(now, noted.begin() + at(i))) {
        std::copy_n(noted.begin() + at(i), length(), noted.begin() + at(left));
        left += alive_.size();
      }
    }
    noted.resize(left);
    noted.insert(noted.end(), alive_.begin(), alive_.end());
  }

  [[nodiscard]] static std::ptrdiff_t at(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
  [[nodiscard]] std::ptrdiff_t length() const { return at(alive_.size()); }

  ActivationMoments& into_;
  std::vector<Counts> alive_;  // of every chunk
  std::size_t covering_ = 0;   // where a moment begins
};

ActivationMoments::ActivationMoments(const ActionList& actions) {
  for (const Action& action : actions) {
    chunks_ = std::max(chunks_, static_cast<std::size_t>(action.chunk) + 1);
  }
  Walk(*this).run(actions);
}

ActivationPeak ActivationMoments::peak(Placement placement,
                                       int rank,
                                       const PipelineShape& shape,
                                       std::span<const StageActivations> stages) const {
  ActivationPeak peak;
  for (std::size_t moment = 0; moment < counts_.size(); moment += chunks_) {
    ActivationPeak own;
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk) {
      const auto stage = static_cast<std::size_t>(
          stage_of(placement, {.rank = rank, .chunk = static_cast<int>(chunk)}, shape));
      const StageActivations& bytes = stages[stage];
      const Counts& counts = counts_[moment + chunk];
      own.kept += counts.kept * bytes.kept +
                  counts.in_input_gradient * std::max(bytes.kept, bytes.after_input_gradient) +
                  counts.after_input_gradient * bytes.after_input_gradient;
      own.working += counts.working * bytes.working;
      own.last_stages += stage + 1 == stages.size() ? counts.kept + counts.in_input_gradient : 0;
    }
    peak = own.total() > peak.total() ? own : peak;
  }
  return peak;
}

}  // namespace titer
