#include "titer/whatif/sensitivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace titer {
namespace {

constexpr std::size_t kResources = 9;
constexpr std::array<std::string_view, kResources> kResourceNames = {"arithmetic",
                                                                     "memory",
                                                                     "on-chip memory",
                                                                     "node links",
                                                                     "network",
                                                                     "host",
                                                                     "messages",
                                                                     "launches",
                                                                     "other"};

struct PathResource {
  std::string_view part;  // of a path
  Resource resource;
};

/// The first that the path has. Times of wires and rates of chips are told apart before.
constexpr std::array<PathResource, 8> kRateResources = {{{"chip.matrix.", Resource::arithmetic},
                                                         {"chip.memory.", Resource::memory},
                                                         {"tiling.", Resource::on_chip},
                                                         {"host", Resource::host},
                                                         {"nvme", Resource::host},
                                                         {"nic_bandwidth", Resource::network},
                                                         {"cluster.network.", Resource::network},
                                                         {"cluster.node.", Resource::node_links}}};

Resource resource_of(const ScenarioFigure& figure) {
  const std::string& path = figure.path;
  if (!is_rate(figure.kind) && figure.kind != FigureKind::time) {
    return Resource::other;
  }
  if (figure.kind == FigureKind::time) {
    const bool wires = path.starts_with("cluster.node.") || path.starts_with("cluster.network.");
    const bool chip = path.starts_with("cluster.chip.") || path.starts_with("stack.");
    return wires ? Resource::messages : chip ? Resource::launches : Resource::other;
  }
  const auto* found = std::ranges::find_if(kRateResources, [&](const PathResource& one) {
    return path.find(one.part) != std::string::npos;
  });
  return found == kRateResources.end() ? Resource::other : found->resource;
}

/// Of rates more, of times less, whatever the outcome; of all else by the sign of its effect.
bool more_is_better(const FigureEffect& effect, const OutcomeFigure& of) {
  if (is_rate(effect.figure.kind) || effect.figure.kind == FigureKind::time) {
    return is_rate(effect.figure.kind);
  }
  return of.less_is_better == (effect.elasticity.value < 0);
}

std::optional<Gain> gain_of(ScenarioProbe& probe,
                            const FigureEffect& effect,
                            const OutcomeFigure& of) {
  constexpr double tenth = 1.1;
  const ScenarioFigure& figure = effect.figure;
  double to = more_is_better(effect, of) ? figure.value * tenth : figure.value / tenth;
  auto outcome = outcome_at(probe, figure, of, to);
  const bool passes_one = (figure.value - 1) * (to - 1) <= 0;
  if (!outcome && figure.kind == FigureKind::ratio && passes_one) {
    to = 1.0;  // what shares can be at most, and slowdowns at least
    outcome = outcome_at(probe, figure, of, to);
  }
  if (!outcome || to == figure.value) {
    return std::nullopt;  // as good as it can be
  }
  const double base = of.value(probe.base());
  const double change = (*outcome - base) / base;
  return Gain{.to = to, .outcome = *outcome, .relative = of.less_is_better ? -change : change};
}

/// T is of degree 1 in times and -1 in rates: each takes its share.
std::vector<ResourceShare> resource_shares(const std::vector<FigureEffect>& figures) {
  std::array<double, kResources> sums{};
  for (const FigureEffect& effect : figures) {
    double& sum = sums[static_cast<std::size_t>(effect.resource)];
    if (is_rate(effect.figure.kind)) {
      sum -= effect.elasticity.value;
    } else if (effect.figure.kind == FigureKind::time) {
      sum += effect.elasticity.value;
    }
  }
  std::vector<ResourceShare> shares;
  for (std::size_t i = 0; i < kResources; ++i) {
    if (sums[i] != 0) {
      shares.push_back({static_cast<Resource>(i), sums[i]});
    }
  }
  std::stable_sort(
      shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return shares;
}

double size_of_effect(const FigureEffect& effect) { return std::abs(effect.elasticity.value); }

std::vector<FigureEffect> ranked_by_cost(const std::vector<ScenarioFigure>& figures,
                                         const std::vector<FigureEffect>& effects,
                                         const std::vector<FigureCost>& costs) {
  std::vector<FigureEffect> ranked;
  for (const FigureCost& cost : costs) {
    const ScenarioFigure& figure = figure_at(figures, cost.path, "--cost");
    const auto found = std::ranges::find_if(
        effects, [&](const FigureEffect& one) { return one.figure.path == figure.path; });
    FigureEffect effect = found == effects.end() ? FigureEffect{.figure = figure} : *found;
    if (!effect.gain) {
      effect.gain = Gain{.to = figure.value};
    }
    effect.gain->per_cost = effect.gain->relative / cost.dollars;
    ranked.push_back(std::move(effect));
  }
  std::ranges::stable_sort(
      ranked, [](const auto& a, const auto& b) { return *a.gain->per_cost > *b.gain->per_cost; });
  return ranked;
}

/// One after the other, into the lists.
class SensitivityRun {
 public:
  SensitivityRun(ScenarioProbe& probe, const SensitivityOptions& options, Sensitivity& into)
      : probe_(probe), options_(options), into_(into) {}

  void add(const ScenarioFigure& figure) {
    const bool is_count = figure.kind == FigureKind::count;
    if (!is_count && figure.value == 0) {
      into_.unmoved.push_back(figure.path);
    } else if (is_count || (!add_smooth(figure) && figure.whole)) {
      add_count(figure);
    }
  }

 private:
  /// Whether it can be changed a little.
  bool add_smooth(const ScenarioFigure& figure) {
    FigureEffect effect{.figure = figure,
                        .elasticity = elasticity(probe_, figure, options_),
                        .resource = resource_of(figure)};
    const Elasticity& found = effect.elasticity;
    if (!found.down && !found.up) {
      return false;
    }
    // What is less than rounding over the step is none.
    const double least =
        4.0 * (rounding_of(probe_.scenario()) / probe_.base().iteration_time) / options_.step;
    if (std::max(std::abs(found.down.value_or(0)), std::abs(found.up.value_or(0))) < least) {
      into_.unmoved.push_back(figure.path);
      return true;
    }
    effect.gain = gain_of(probe_, effect, options_.of);
    into_.figures.push_back(std::move(effect));
    return true;
  }

  void add_count(ScenarioFigure figure) {
    figure.kind = FigureKind::count;
    CountEffect effect = count_effect(probe_, figure, options_.of);
    if (effect.size() > 0) {
      into_.counts.push_back(std::move(effect));
    } else {
      into_.unmoved.push_back(figure.path);
    }
  }

  ScenarioProbe& probe_;
  const SensitivityOptions& options_;
  Sensitivity& into_;
};

}  // namespace

std::string_view name(Resource resource) {
  return kResourceNames[static_cast<std::size_t>(resource)];
}

double CountEffect::size() const {
  return std::max(down ? std::abs(down->elasticity) : 0.0, up ? std::abs(up->elasticity) : 0.0);
}

Sensitivity sensitivity(ScenarioProbe& probe, const SensitivityOptions& options) {
  Sensitivity found{.of = options.of.name,
                    .outcome = options.of.value(probe.base()),
                    .less_is_better = options.of.less_is_better};
  if (found.outcome == 0) {
    throw InputError(fmt::format(
        "--of: {}: it is 0 here; expected a figure of the result that has a size", found.of));
  }
  const std::vector<ScenarioFigure> figures = scenario_figures(probe.document());
  for (const FigureCost& cost : options.costs) {
    static_cast<void>(figure_at(figures, cost.path, "--cost"));
  }
  SensitivityRun run(probe, options, found);
  for (const ScenarioFigure& figure : figures) {
    run.add(figure);
  }
  std::ranges::stable_sort(found.figures, [](const auto& a, const auto& b) {
    return size_of_effect(a) > size_of_effect(b);
  });
  std::ranges::stable_sort(found.counts,
                           [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (found.of == "iteration_time_s") {
    found.shares = resource_shares(found.figures);
  }
  found.by_cost = ranked_by_cost(figures, found.figures, options.costs);
  return found;
}

}  // namespace titer
