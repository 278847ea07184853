#include "titer/calibrate/posterior_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "prior_figures.hpp"
#include "titer/input/reader.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::string_view kLearnedSource = "measured_runs_given";
constexpr std::array<FigureOwner, 3> kOwners = {
    FigureOwner::stack, FigureOwner::chip, FigureOwner::cluster};
constexpr double kLeastMoved = 0.001;  // of a factor: less is no change
constexpr double kLeastTold = 0.01;    // likewise: less is not told

bool is_given(const std::string& path, std::span<const Assignment> given) {
  return std::ranges::any_of(given, [&](const Assignment& change) {
    return change.path == path || change.path == path + ".value";
  });
}

/// Of (predicted / measured - 1), whichever way.
double off_percent(double predicted, double measured) {
  return 100.0 * std::abs(predicted / measured - 1.0);
}

double mean_error(const Posterior& posterior, double LearnedRun::*predicted) {
  std::vector<double> errors = each_of(posterior.runs, [&](const LearnedRun& run) {
    return off_percent(run.*predicted, run.measured);
  });
  return mean_of(errors);
}

/// Nothing where it leaves something open.
std::optional<Scenario> asked_of(const ScenarioSource& source) {
  try {
    return source.read();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::string source_path(FigureOwner owner) {
  return fmt::format("{}.sources.{}", path_of(owner), kLearnedSource);
}

std::string count_of(std::size_t runs) {
  return fmt::format("{} run{}", runs, runs == 1 ? "" : "s");
}

class Changer {
 public:
  Changer(const Posterior& posterior,
          std::span<const MeasuredRun> runs,
          const std::string& files,
          const ScenarioSource& source)
      : posterior_(posterior), runs_(runs), files_(files), source_(source) {
    refuse_learned();
    source.read_part(ScenarioPart::cluster, scenario_);
    source.read_part(ScenarioPart::stack, scenario_);
  }

  LearnedChanges made(std::span<const Assignment> given) {
    made_.notes.push_back(fmt::format(
        "{} of {} tell{} of figures: predicted {:.1f} % off on average before, {:.1f} % "
        "with what they tell",
        count_of(runs_.size()),
        files_,
        runs_.size() == 1 ? "s" : "",
        mean_error(posterior_, &LearnedRun::before),
        mean_error(posterior_, &LearnedRun::after)));
    tell_likest();
    for (const PlacedPrior& placed : priors_of(source_.document(), scenario_)) {
      for (const LearnedFigure& figure : posterior_.figures) {
        if (figure.owner == placed.prior.owner && figure.of == placed.prior.of &&
            figure.figure == placed.prior.figure) {
          put(figure, placed, given);
        }
      }
    }
    if (!is_known_) {
      throw InputError(
          fmt::format("--measured {}: its runs have neither {} nor {} nor {}, which the scenario "
                      "has: expected runs of its software, chip or cluster",
                      files_,
                      scenario_.stack.name,
                      scenario_.cluster.chip.name,
                      scenario_.cluster.name));
    }
    if (knows(FigureOwner::stack, scenario_.stack.name) &&
        knows(FigureOwner::chip, scenario_.cluster.chip.name)) {
      put_error_bars();
    }
    put_sources();
    return std::move(made_);
  }

 private:
  /// A file that was written with what runs told would have them counted twice.
  void refuse_learned() const {
    for (const FigureOwner owner : kOwners) {
      const std::string path = source_path(owner);
      if (const Value* told = source_.document().at(path)) {
        throw InputError(
            fmt::format("--measured {}: {} says: {}: expected the scenario as it was before, with "
                        "all tables of runs at once, so that none counts twice",
                        files_,
                        path,
                        bare_text(*told)));
      }
    }
  }

  [[nodiscard]] bool knows(FigureOwner owner, const std::string& of) const {
    return std::any_of(
        posterior_.figures.begin(), posterior_.figures.end(), [&](const LearnedFigure& figure) {
          return figure.owner == owner && figure.of == of;
        });
  }

  /// Of several runs the one that tells most.
  void tell_likest() {
    const auto likest = std::max_element(
        posterior_.runs.begin(), posterior_.runs.end(), [](const auto& a, const auto& b) {
          return a.likeness < b.likeness;
        });
    if (posterior_.runs.size() > 1 && likest->likeness > 0.0) {
      made_.notes.push_back(fmt::format(
          "{}, measured at {}, is most like what is asked for and tells most: {:.1f} % off before, "
          "{:.1f} % with",
          likest->name,
          format(Seconds::from_si(likest->measured)),
          off_percent(likest->before, likest->measured),
          off_percent(likest->after, likest->measured)));
    }
  }

  void put(const LearnedFigure& learned,
           const PlacedPrior& placed,
           std::span<const Assignment> given) {
    is_known_ = true;
    if (std::abs(learned.factor - 1.0) < kLeastMoved) {
      return;
    }
    std::string values;  // "1.791 to 1.62, " of one figure alone
    for (const FittedFigure& figure : placed.figures) {
      if (is_given(figure.path, given)) {
        return;
      }
      const Value value = written_figure(
          figure, std::clamp(learned.factor * figure.start, figure.least, figure.most));
      add(figure.path, Value::make_object().add("value", value).add("source", kLearnedSource));
      values = fmt::format(
          "{} to {}, ", bare_text(written_figure(figure, figure.start)), bare_text(value));
    }
    moved_[static_cast<std::size_t>(learned.owner)] = true;
    tell(learned, placed.figures.size() > 1 ? std::string() : values);
  }

  /// Of several figures that go together only the factor.
  void tell(const LearnedFigure& learned, const std::string& values) {
    if (std::abs(learned.factor - 1.0) < kLeastTold) {
      return;
    }
    made_.notes.push_back(fmt::format("{} of {} {}: {}times {:.3g} ({})",
                                      learned.figure,
                                      name(learned.owner),
                                      learned.of,
                                      values,
                                      learned.factor,
                                      learned.at_bound
                                          ? "its bound, beyond which the runs would go"
                                          : fmt::format("within {:.0f} %, before within {:.0f} %",
                                                        100.0 * learned.error,
                                                        100.0 * learned.spread)));
  }

  void put_sources() {
    for (const FigureOwner owner : kOwners) {
      if (moved_[static_cast<std::size_t>(owner)]) {
        add(source_path(owner),
            Value(fmt::format("what its file says, moved as far as measured by {} of {}",
                              count_of(runs_.size()),
                              files_)));
      }
    }
  }

  /// Of answers of each grade, and what fits of chip and links leave open.
  void put_error_bars() {
    const PredictedSpread spread = this->spread();
    moved_[static_cast<std::size_t>(FigureOwner::stack)] = true;
    for (const Grade grade : {Grade::fitted, Grade::extrapolated, Grade::datasheet}) {
      if (const auto& shares = scenario_.stack.errors[static_cast<std::size_t>(grade)]) {
        put_shares(fmt::format("stack.error_bars.{}", name(grade)), spread.narrowed(*shares));
      }
    }
    if (!scenario_.stack.measured.empty()) {
      add("stack.error_bars.of_runs", Value(scenario_.stack.run_errors * spread.left()));
    }
    const auto put_errors = [&](const std::string& path, const FitErrors& errors) {
      if (source_.document().at(path) != nullptr) {
        put_shares(path, spread.narrowed({.low = errors.low, .high = errors.high}));
      }
    };
    const Cluster& cluster = scenario_.cluster;
    put_errors("cluster.chip.error_bars", cluster.chip.fit_errors);
    put_errors("cluster.error_bars", cluster.fit_errors);
    put_errors("cluster.network.error_bars", cluster.network_fit_errors);
    made_.notes.push_back(fmt::format(
        "error bars are {:.0f} % narrower: by the figures' spreads predictions were off "
        "by {:.1f} % (one standard deviation), and are by {:.1f} %",
        100.0 * (1.0 - spread.left()),
        100.0 * spread.before,
        100.0 * spread.after));
  }

  void put_shares(const std::string& path, const ErrorShares& shares) {
    add(path + ".low", Value(shares.low));
    add(path + ".high", Value(shares.high));
  }

  [[nodiscard]] PredictedSpread spread() const {
    const bool is_of_asked = std::ranges::any_of(
        posterior_.runs, [](const LearnedRun& run) { return run.likeness > 0; });
    if (const auto asked = is_of_asked ? asked_of(source_) : std::nullopt) {
      return predicted_spread(posterior_,
                              {.scenario = *asked,
                               .iteration_time = {},
                               .group = {},
                               .source = std::make_shared<ScenarioSource>(source_)});
    }
    PredictedSpread mean;
    for (const MeasuredRun& run : runs_) {
      const PredictedSpread one = predicted_spread(posterior_, run);
      mean.before += one.before / static_cast<double>(runs_.size());
      mean.after += one.after / static_cast<double>(runs_.size());
    }
    return mean;
  }

  void add(std::string path, Value value) {
    made_.changes.push_back({std::move(path), std::move(value), "--measured " + files_});
  }

  const Posterior& posterior_;
  std::span<const MeasuredRun> runs_;
  const std::string& files_;
  const ScenarioSource& source_;
  Scenario scenario_;
  LearnedChanges made_;
  std::array<bool, kOwners.size()> moved_{};  // by owner
  bool is_known_ = false;
};

}  // namespace

Posterior learn_for(const ScenarioSource& source, std::span<const MeasuredRun> runs) {
  const std::optional<Scenario> asked = asked_of(source);
  return learn(runs, asked ? &*asked : nullptr);
}

LearnedChanges learned_changes(const Posterior& posterior,
                               std::span<const MeasuredRun> runs,
                               const std::string& files,
                               const ScenarioSource& source,
                               std::span<const Assignment> given) {
  return Changer(posterior, runs, files, source).made(given);
}

}  // namespace titer
