#include "titer/calibrate/posterior_trial.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "titer/calibrate/posterior.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/units/ensure.hpp"

namespace titer {
namespace {

/// The places of `given` in a list of `all`, from its first to its last; the middle one of one.
std::vector<std::size_t> spread_places(std::size_t given, std::size_t all) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < given; ++i) {
    places.push_back(given == 1 ? all / 2 : (i * (all - 1) + (given - 1) / 2) / (given - 1));
  }
  return places;
}

GivenTrial tried(std::span<const MeasuredRun* const> family, std::size_t given) {
  Estimator estimator;
  StepResult result;
  std::vector<double> before;
  std::vector<std::optional<ErrorShares>> bars;
  for (const MeasuredRun* run : family) {
    estimator.estimate(run->scenario, result);
    before.push_back(result.iteration_time.si());
    bars.emplace_back();
    if (result.error_bar) {
      bars.back() = {.low = result.error_bar->low / result.iteration_time,
                     .high = result.error_bar->high / result.iteration_time};
    }
  }
  std::vector<std::size_t> order(family.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return before[a] < before[b]; });
  GivenTrial trial;
  std::vector<MeasuredRun> told;
  for (const std::size_t place : spread_places(given, family.size())) {
    told.push_back(*family[order[place]]);
    trial.given.push_back(told.back().name);
    order[place] = family.size();
  }
  std::vector<double> measured;
  std::vector<double> with;
  std::vector<double> without;
  double inside = 0;
  double with_bar = 0;
  for (const std::size_t at : order) {
    if (at == family.size()) {
      continue;
    }
    measured.push_back(family[at]->iteration_time.si());
    without.push_back(before[at]);
    const Posterior posterior = learn(told, &family[at]->scenario);
    with.push_back(predicted_time(posterior, *family[at]));
    if (bars[at]) {
      const ErrorShares bar = predicted_spread(posterior, *family[at]).narrowed(*bars[at]);
      const double ratio = measured.back() / with.back();
      inside += ratio >= bar.low && ratio <= bar.high ? 1 : 0;
      ++with_bar;
    }
  }
  trial.before = accuracy_of(measured, without);
  trial.after = accuracy_of(measured, with);
  if (with_bar > 0) {
    trial.coverage80 = inside / with_bar;
  }
  return trial;
}

}  // namespace

std::vector<GivenTrial> try_given(std::span<const MeasuredRun> runs,
                                  std::size_t given,
                                  const std::function<void(std::size_t, std::size_t)>& watch) {
  ensure(given > 0, "some runs are given");
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const MeasuredRun*>>
      families;
  for (const MeasuredRun& run : runs) {
    families[{run.group, run.scenario.stack.name, run.scenario.cluster.chip.name}].push_back(&run);
  }
  std::erase_if(families, [&](const auto& family) {
    return family.second.size() < std::max(kLeastTried, given + 1);
  });
  std::vector<GivenTrial> trials;
  for (const auto& [key, family] : families) {
    GivenTrial& trial = trials.emplace_back(tried(family, given));
    std::tie(trial.family, trial.stack, trial.chip) = key;
    if (watch) {
      watch(trials.size(), families.size());
    }
  }
  return trials;
}

}  // namespace titer
