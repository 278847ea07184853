#include "titer/whatif/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "titer/plan/place/placement.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/search.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "tune_knobs.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostFirsts = 10;  // of which pairs are tried

/// Layers that do not go into all stages alike.
std::int64_t layers_left_over(const Scenario& scenario) {
  const int stages = model_stages(placement(scenario.plan.schedule), scenario.shape());
  return left_over(scenario.plan.layers, scenario.model.layers(), stages);
}

bool is_answered(const Tuning& tuning) {
  return tuning.outcome != TuneOutcome::unsound && tuning.outcome != TuneOutcome::beyond_software;
}
bool has_room(const Tuning& tuning) {
  return is_answered(tuning) && tuning.outcome != TuneOutcome::over_memory;
}

/// By outcome, the fastest first.
void sort_tunings(std::vector<Tuning>& tunings) {
  std::ranges::stable_sort(tunings, [](const Tuning& a, const Tuning& b) {
    return std::pair(a.outcome, a.iteration_time) < std::pair(b.outcome, b.iteration_time);
  });
}

/// The best of what turns the same knobs, in the order of the list.
std::vector<const Tuning*> best_of_knobs(const std::vector<Tuning>& tunings) {
  std::map<std::vector<std::string>, const Tuning*> best;
  for (const Tuning& tuning : tunings) {
    const auto [at, is_new] = best.try_emplace(tuning.knobs, &tuning);
    if (!is_new && tuning.iteration_time < at->second->iteration_time) {
      at->second = &tuning;
    }
  }
  std::vector<const Tuning*> list;
  for (const Tuning& tuning : tunings) {
    if (best.at(tuning.knobs) == &tuning) {
      list.push_back(&tuning);
    }
  }
  return list;
}

bool share_a_path(const Tuning& first, const Tuning& second) {
  return std::ranges::any_of(first.values, [&](const KnobValue& a) {
    return std::ranges::any_of(second.values, [&](const KnobValue& b) { return a.path == b.path; });
  });
}

class Tuner {
 public:
  Tuner(ScenarioProbe& probe, const Abilities& abilities)
      : probe_(probe),
        abilities_(abilities),
        missing_(beyond_software(abilities, probe.scenario())),
        is_even_(layers_left_over(probe.scenario()) == 0) {
    const StepResult& base = probe.base();
    const Bytes usual = kMemoryError * base.memory_capacity;
    answer_.run_fits = base.fits();
    answer_.kept_free =
        answer_.run_fits ? std::min(usual, base.memory_capacity - base.memory_peak) : usual;
  }

  TuneAnswer run() {
    for (const KnobSetting& setting : knob_settings(probe_.scenario())) {
      answer_.singles.push_back(tried(setting));
    }
    sort_tunings(answer_.singles);
    add_pairs();
    return std::move(answer_);
  }

 private:
  Tuning tried(const KnobSetting& setting) {
    std::optional<Tuning> refused;
    for (const std::vector<Assignment>& way : setting.ways) {
      Tuning tuning = with(way);
      tuning.knobs = {setting.knob};
      tuning.same_numbers = setting.same_numbers;
      if (is_answered(tuning)) {
        return tuning;
      }
      if (!refused || tuning.outcome < refused->outcome) {
        refused = std::move(tuning);
      }
    }
    return *refused;
  }

  Tuning with(const std::vector<Assignment>& changes) {
    Tuning tuning;
    for (const Assignment& change : changes) {
      tuning.values.push_back(
          {change.path, knob_value(probe_.scenario(), change.path), change.value});
    }
    const StepResult* result = probe_.with(changes);
    if (result == nullptr) {
      tuning.reason = probe_.refusal();
    } else if (const std::string why = software_lacks(); !why.empty()) {
      tuning.outcome = TuneOutcome::beyond_software;
      tuning.reason = why;
    } else if (is_even_ && layers_left_over(probe_.changed()) > 0) {
      tuning.reason = fmt::format("plan.layers: {} layers are not shared out evenly",
                                  probe_.changed().model.layers());
    } else {
      take(*result, tuning);
    }
    return tuning;
  }

  /// What it lacks that the run does not ask for already.
  [[nodiscard]] std::string software_lacks() const {
    std::vector<std::string> missing = beyond_software(abilities_, probe_.changed());
    std::erase_if(missing, [&](const std::string& one) { return includes(missing_, one); });
    return listed(missing);
  }

  void take(const StepResult& result, Tuning& tuning) const {
    const Seconds before = probe_.base().iteration_time;
    const Seconds after = result.iteration_time;
    const Seconds rounding = rounding_of(probe_.scenario()) + rounding_of(probe_.changed());
    tuning.iteration_time = after;
    tuning.gain = 1 - after / before;
    tuning.peak = result.memory_peak;
    tuning.spare = result.memory_capacity - result.memory_peak;
    tuning.odds = gain_odds(1 - std::min(before, after) / std::max(before, after));
    if (!result.fits()) {
      tuning.outcome = TuneOutcome::over_memory;
      tuning.reason = memory_sentence(result);
    } else if (tuning.spare < answer_.kept_free) {
      tuning.outcome = TuneOutcome::over_memory;
      tuning.reason = fmt::format("leaves {} of memory free, less than {}",
                                  format(tuning.spare),
                                  format(answer_.kept_free));
    } else if (after < before - rounding) {
      tuning.outcome = TuneOutcome::faster;
    } else {
      tuning.outcome = after > before + rounding ? TuneOutcome::slower : TuneOutcome::same;
    }
  }

  /// The best settings of the knobs that gain by themselves, be there memory for it or not.
  [[nodiscard]] std::vector<Tuning> firsts() const {
    std::vector<Tuning> list;
    for (const Tuning* tuning : best_of_knobs(answer_.singles)) {
      const bool counts =
          probe_.fidelity() == Fidelity::closed ? is_answered(*tuning) : has_room(*tuning);
      if (counts && tuning->gain > 0 && tuning->outcome != TuneOutcome::same) {
        list.push_back(*tuning);
      }
    }
    std::ranges::stable_sort(
        list, [](const Tuning& a, const Tuning& b) { return a.iteration_time < b.iteration_time; });
    list.resize(std::min(list.size(), kMostFirsts));
    return list;
  }

  [[nodiscard]] bool is_second(const Tuning& tuning) const {
    return probe_.fidelity() == Fidelity::closed ? is_answered(tuning)
                                                 : tuning.outcome == TuneOutcome::faster;
  }

  void add_pairs() {
    std::vector<Tuning> found;
    std::set<std::vector<std::string>> through;  // knobs that have been a first one
    for (const Tuning& first : firsts()) {
      for (const Tuning& second : answer_.singles) {
        if (is_second(second) && !through.contains(second.knobs) && first.knobs != second.knobs &&
            !share_a_path(first, second)) {
          add_pair(first, second, found);
        }
      }
      through.insert(first.knobs);
    }
    for (const Tuning* best : best_of_knobs(found)) {
      answer_.pairs.push_back(*best);
    }
    sort_tunings(answer_.pairs);
  }

  void add_pair(const Tuning& first, const Tuning& second, std::vector<Tuning>& found) {
    std::vector<Assignment> changes = first.assignments();
    const std::vector<Assignment> more = second.assignments();
    changes.insert(changes.end(), more.begin(), more.end());
    Tuning pair = with(changes);
    ++answer_.pairs_tried;
    pair.knobs = {first.knobs.front(), second.knobs.front()};
    pair.same_numbers = first.same_numbers && second.same_numbers;
    const Seconds rounding = rounding_of(probe_.scenario());
    const auto beats = [&](const Tuning& alone) {
      return !has_room(alone) || pair.iteration_time < alone.iteration_time - rounding;
    };
    const bool counts =
        pair.outcome == TuneOutcome::faster || (!answer_.run_fits && has_room(pair));
    if (counts && beats(first) && beats(second)) {
      found.push_back(std::move(pair));
    }
  }

  ScenarioProbe& probe_;
  const Abilities& abilities_;
  std::vector<std::string> missing_;  // that the run asks for
  bool is_even_;                      // every stage of the run has as many layers
  TuneAnswer answer_;
};

}  // namespace

std::vector<Assignment> Tuning::assignments() const {
  return each_of(values, [](const KnobValue& value) {
    return Assignment{value.path, value.to, "tune"};
  });
}

std::size_t TuneAnswer::count(TuneOutcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      singles, [&](const Tuning& tuning) { return tuning.outcome == outcome; }));
}

const Tuning* TuneAnswer::best(bool other_numbers) const {
  const Tuning* best = nullptr;
  for (const std::vector<Tuning>* list : {&singles, &pairs}) {
    for (const Tuning& tuning : *list) {
      const bool counts = run_fits ? tuning.outcome == TuneOutcome::faster : has_room(tuning);
      const bool is_faster = best == nullptr || tuning.iteration_time < best->iteration_time;
      if (counts && is_faster && (other_numbers || tuning.same_numbers)) {
        best = &tuning;
      }
    }
  }
  return best;
}

double gain_odds(double gain) {
  const auto* above = std::upper_bound(
      kGainOdds.begin(), kGainOdds.end(), gain, [](double value, const GainOdds& from) {
        return value < from.least_gain;
      });
  return above == kGainOdds.begin() ? kGainOdds.front().odds : (above - 1)->odds;
}

std::string_view odds_words(double odds) {
  constexpr double sure = 0.9;
  constexpr double likely = 0.7;
  return odds >= sure ? "sure" : odds >= likely ? "likely" : "within error";
}

TuneAnswer tune(ScenarioProbe& probe, const Abilities& abilities) {
  return Tuner(probe, abilities).run();
}

}  // namespace titer
