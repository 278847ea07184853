#include "titer/calibrate/posterior.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>

#include "prior_figures.hpp"
#include "run_scatter.hpp"
#include "titer/estimate/estimate.hpp"
#include "titer/input/reader.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/units/ensure.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr double kFarOff = 2;  // scatters

/// Runs, the priors of all of them, and their times with these moved.
class RunTimes {
 public:
  explicit RunTimes(std::span<const MeasuredRun> runs) : runs_(runs) {
    for (const MeasuredRun& run : runs) {
      ensure(run.source != nullptr, "a measured run says what it was read from");
      Part& part = parts_[run.source.get()];
      if (part.moved == nullptr) {
        part.moved = std::make_unique<MovedParts>(*run.source, run.scenario);
        for (const PlacedPrior& placed : part.moved->priors()) {
          const std::size_t at = find_prior(priors_, placed.prior);
          if (at == priors_.size()) {
            priors_.push_back(placed.prior);
          }
          priors_[at].least = std::max(priors_[at].least, placed.prior.least);
          priors_[at].most = std::min(priors_[at].most, placed.prior.most);
          part.numbers.push_back(at);
        }
      }
    }
  }

  [[nodiscard]] const std::vector<PriorFigure>& priors() const { return priors_; }

  /// `logarithms` of the priors' factors.
  void predict(std::span<const double> logarithms, std::span<double> seconds) {
    for (auto& [source, part] : parts_) {
      std::vector<double> factors =
          each_of(part.numbers, [&](std::size_t at) { return std::exp(logarithms[at]); });
      part.moved->put(factors);
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      Scenario scenario = runs_[i].scenario;
      parts_.at(runs_[i].source.get()).moved->give(scenario);
      estimator_.estimate(scenario, result_);
      seconds[i] = result_.iteration_time.si();
    }
  }

 private:
  struct Part {
    std::unique_ptr<MovedParts> moved;
    std::vector<std::size_t> numbers{};  // of priors_
  };
  std::span<const MeasuredRun> runs_;
  std::vector<PriorFigure> priors_;
  std::map<const ScenarioSource*, Part> parts_;
  Estimator estimator_;
  StepResult result_;
};

/// Beyond kFarOff scatters by its size, as Huber's function has it.
double residual(double scatters) {
  const double size = std::abs(scatters);
  return size <= kFarOff ? scatters
                         : std::copysign(std::sqrt(kFarOff * (2.0 * size - kFarOff)), scatters);
}

/// Of seconds: ln(predicted / measured).
void take_logarithms(std::span<const MeasuredRun> runs, std::span<double> predicted) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    predicted[i] = std::log(predicted[i] / runs[i].iteration_time.si());
  }
}

/// Runs in the order of how far they are off what is usual among them.
std::vector<std::size_t> usual_first(RunTimes& times, std::span<const MeasuredRun> runs) {
  std::vector<double> off(runs.size());
  times.predict(std::vector<double>(times.priors().size(), 0.0), off);
  take_logarithms(runs, off);
  const double usual = percentile(off, 0.5);
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::abs(off[a] - usual) < std::abs(off[b] - usual);
  });
  return order;
}

FitResult fit(RunTimes& times, std::span<const MeasuredRun> runs, const RunScatter& scatter) {
  const std::vector<PriorFigure>& priors = times.priors();
  std::vector<FitParameter> parameters;
  parameters.reserve(priors.size());
  for (const PriorFigure& prior : priors) {
    parameters.push_back({.name = prior.figure,
                          .start = 0,
                          .least = std::log(prior.least),
                          .most = std::log(prior.most),
                          .scale = prior.spread});
  }
  const auto residuals = [&](std::span<const double> values, std::span<double> left) {
    const std::span<double> of_runs = left.first(runs.size());
    times.predict(values, of_runs);
    take_logarithms(runs, of_runs);
    scatter.standardise(of_runs);
    std::transform(of_runs.begin(), of_runs.end(), of_runs.begin(), residual);
    for (std::size_t i = 0; i < priors.size(); ++i) {
      left[runs.size() + i] = values[i] / priors[i].spread;
    }
  };
  return fit_least_squares(parameters,
                           runs.size() + priors.size(),
                           residuals,
                           {.huber = {}, .iterations = 30, .tolerance = 1e-6, .variance = 1.0});
}

/// The posterior's factors of another scenario's priors; 1 of those that no run has.
std::vector<double> factors_of(const Posterior& posterior, const std::vector<PlacedPrior>& placed) {
  std::vector<double> factors;
  for (const PlacedPrior& one : placed) {
    const std::size_t at = find_prior(posterior.figures, one.prior);
    factors.push_back(at < posterior.figures.size() ? posterior.figures[at].factor : 1.0);
  }
  return factors;
}

/// A run's time with factors.
class OneRun {
 public:
  explicit OneRun(const MeasuredRun& run)
      : moved_(*run.source, run.scenario), scenario_(run.scenario) {}

  [[nodiscard]] const std::vector<PlacedPrior>& priors() const { return moved_.priors(); }
  [[nodiscard]] double time(std::span<const double> factors) {
    moved_.put(factors);
    moved_.give(scenario_);
    estimator_.estimate(scenario_, result_);
    return result_.iteration_time.si();
  }
  /// d ln(time) / d ln(factor), of each.
  [[nodiscard]] std::vector<double> slopes(const std::vector<double>& factors) {
    constexpr double step = 0.01;
    const double here = time(factors);
    std::vector<double> slopes;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      std::vector<double> others = factors;
      const bool has_room = others[i] * (1.0 + step) <= priors()[i].prior.most;
      others[i] *= has_room ? 1.0 + step : 1.0 - step;
      slopes.push_back(std::log(time(others) / here) / std::log(others[i] / factors[i]));
    }
    return slopes;
  }

 private:
  MovedParts moved_;
  Scenario scenario_;
  Estimator estimator_;
  StepResult result_;
};

}  // namespace

ErrorShares PredictedSpread::narrowed(const ErrorShares& shares) const {
  return {.low = std::pow(shares.low, left()), .high = std::pow(shares.high, left())};
}

Posterior learn(std::span<const MeasuredRun> runs, const Scenario* asked) {
  if (runs.empty()) {
    throw InputError("expected measured runs, found none");
  }
  RunTimes times(runs);
  const RunScatter scatter(runs, usual_first(times, runs), asked);
  const FitResult found = fit(times, runs, scatter);
  Posterior posterior{
      .figures = {}, .covariance = found.covariance, .runs = {}, .left = scatter.left()};
  for (std::size_t i = 0; i < times.priors().size(); ++i) {
    LearnedFigure& figure = posterior.figures.emplace_back();
    static_cast<PriorFigure&>(figure) = times.priors()[i];
    figure.factor = std::exp(found.values[i]);
    figure.error = found.errors[i].value_or(0.0);
    figure.at_bound = found.at_bound[i];
  }
  std::vector<double> before(runs.size());
  std::vector<double> after(runs.size());
  times.predict(std::vector<double>(times.priors().size(), 0.0), before);
  times.predict(found.values, after);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    posterior.runs.push_back(
        {.name = runs[i].name,
         .measured = runs[i].iteration_time.si(),
         .before = before[i],
         .after = after[i],
         .likeness = asked == nullptr ? 0 : likeness(runs[i].scenario, *asked)});
  }
  return posterior;
}

double predicted_time(const Posterior& posterior, const MeasuredRun& run) {
  OneRun one(run);
  return one.time(factors_of(posterior, one.priors()));
}

PredictedSpread predicted_spread(const Posterior& posterior, const MeasuredRun& run) {
  OneRun one(run);
  const std::vector<PlacedPrior>& placed = one.priors();
  const std::size_t all = posterior.figures.size();
  std::vector<double> known(all, 0.0);  // slopes of the posterior's figures
  const std::vector<double> slopes = one.slopes(factors_of(posterior, placed));
  double before = kRunScatter * kRunScatter;
  double after = posterior.left;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const double own = slopes[i] * placed[i].prior.spread;
    before += own * own;
    const std::size_t at = find_prior(posterior.figures, placed[i].prior);
    if (at < all) {
      known[at] = slopes[i];
    } else {
      after += own * own;
    }
  }
  for (std::size_t a = 0; a < all; ++a) {
    for (std::size_t b = 0; b < all; ++b) {
      after += known[a] * posterior.covariance[a * all + b] * known[b];
    }
  }
  return {.before = std::sqrt(before), .after = std::sqrt(after)};
}

}  // namespace titer
