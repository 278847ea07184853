#include "doctor_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <optional>

#include "titer/calibrate/calibration_data.hpp"
#include "titer/input/input_error.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"
#include "titer/view/figure.hpp"

namespace titer {
namespace {

/// The files that can be compared with the cluster; of others why not.
std::vector<std::filesystem::path> comparable(const std::vector<MeasuredCollective>& measured,
                                              const Document& cluster,
                                              LinkFit& fit) {
  std::vector<std::filesystem::path> paths;
  for (const MeasuredCollective& one : measured) {
    const std::vector<std::filesystem::path> path = {one.source};
    try {
      static_cast<void>(collective_data(path, cluster, "", Bytes{}));
      paths.push_back(path.front());
    } catch (const InputError& error) {
      fit.findings.push_back("not compared: " + in_short(error));
    }
  }
  return paths;
}

Accuracy accuracy_with(const CalibrationData& data,
                       Document cluster,
                       const std::vector<FittedFigure>& figures,
                       const std::vector<double>& values) {
  for (std::size_t i = 0; i < figures.size(); ++i) {
    put_figure(cluster, figures[i], values[i]);
  }
  std::vector<double> predicted(data.measured.size());
  std::vector<std::size_t> rows(data.measured.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  data.predict(cluster, rows, predicted);
  return accuracy_of(data.measured, predicted);
}

std::string words_of(const CalibrationData& data, const Accuracy& accuracy) {
  return fmt::format(
      "nccl-tests, {} sizes: predicted {:+.1f} % on average, {:.0f} % off in the median",
      data.measured.size(),
      100 * accuracy.bias,
      100 * accuracy.median);
}

/// The run with other figures of its cluster.
ScenarioSource with_figures(const ScenarioSource& source,
                            const std::vector<FittedFigure>& figures,
                            const std::vector<double>& values) {
  Document changed = source.document();
  for (std::size_t i = 0; i < figures.size(); ++i) {
    FittedFigure figure = figures[i];
    figure.path.insert(0, "cluster.");
    for (std::string& same : figure.same) {
      same.insert(0, "cluster.");
    }
    put_figure(changed, figure, values[i]);
  }
  return ScenarioSource(std::move(changed));
}

/// Of all that messages go by inside nodes, or between them.
std::vector<FittedFigure> efficiencies(const Document& cluster, const std::string& part) {
  std::vector<FittedFigure> figures;
  for (const std::string_view list : {"protocols", "peer_protocols", "switch_protocols"}) {
    const Value* protocols = cluster.at(fmt::format("{}.{}", part, list));
    for (std::size_t i = 0; protocols != nullptr && i < protocols->items.size(); ++i) {
      figures.push_back(fitted_figure(cluster, fmt::format("{}.{}.{}.efficiency", part, list, i)));
    }
  }
  return figures;
}

std::vector<double> times(const std::vector<FittedFigure>& figures, double factor) {
  return each_of(figures, [&](const FittedFigure& figure) {
    return std::clamp(factor * figure.start, figure.least, figure.most);
  });
}

/// Where single figures do not tell: one factor on all rates of these links, as where some of them
/// are down. The switch and rings then keep their order, which a figure by itself would turn round.
struct ScaledLinks {
  std::vector<FittedFigure> figures{};
  double factor = 1;
  Accuracy accuracy{};
};

/// None where that leaves more than half of what predictions are off.
std::optional<ScaledLinks> scaled_links(const Document& cluster,
                                        const CalibrationData& data,
                                        const std::string& part) {
  constexpr double most = 50;
  constexpr double step = 1.02;  // as near as nccl-tests repeats itself
  ScaledLinks best{.figures = efficiencies(cluster, part)};
  const auto accuracy_times = [&](double factor) {
    return accuracy_with(data, cluster, best.figures, times(best.figures, factor));
  };
  best.accuracy = accuracy_times(1);
  const double enough = best.accuracy.mean / 2;
  for (double factor = 1 / most; factor < most; factor *= step) {
    const Accuracy accuracy = accuracy_times(factor);
    if (accuracy.mean < best.accuracy.mean) {
      best.factor = factor;
      best.accuracy = accuracy;
    }
  }
  const bool is_told = best.accuracy.mean < enough && best.accuracy.p90 <= kMostError;
  return is_told ? std::optional(std::move(best)) : std::nullopt;
}

/// A fit none of whose figures ends at a bound, where the data would go further: one that does is
/// no figure of these links, and keeps what the cluster's file says.
struct InsideFit {
  Calibration found;
  std::vector<std::string> kept{};  // figures that ended at a bound, and at which
};

InsideFit fit_inside(const Document& cluster,
                     std::vector<FittedFigure> figures,
                     const CalibrationData& data) {
  InsideFit fit;
  while (true) {
    fit.found = calibrate(cluster, figures, data, {.fit = {}, .leave_out = false});
    std::vector<FittedFigure> inside;
    std::vector<std::string> at_bound;
    for (std::size_t i = 0; i < fit.found.figures.size(); ++i) {
      const FittedFigure& figure = fit.found.figures[i];
      if (fit.found.fit.at_bound[i]) {
        const Value bound = written_figure(figure, fit.found.fit.values[i]);
        at_bound.push_back(fmt::format("{} ({})", figure.path, Datum(bound).words()));
      } else {
        inside.push_back(figure);
      }
    }
    if (at_bound.empty() || inside.empty()) {
      return fit;
    }
    std::ranges::move(at_bound, std::back_inserter(fit.kept));
    figures = std::move(inside);
  }
}

}  // namespace

std::string in_short(const InputError& error) {
  const std::size_t more = error.lines.size() - 1;
  return error.lines.front() + (more > 0 ? fmt::format(" (and {} more)", more) : "");
}

LinkFit fit_links(const ScenarioSource& source, const std::vector<MeasuredCollective>& measured) {
  LinkFit fit;
  Document cluster;
  cluster.sources = source.document().sources;
  cluster.root = *source.document().at("cluster");
  const std::vector<std::filesystem::path> paths = comparable(measured, cluster, fit);
  if (paths.empty()) {
    return fit;
  }
  const CalibrationData data = collective_data(paths, cluster, "", Bytes{});
  const std::string compared = words_of(data, accuracy_with(data, cluster, {}, {}));
  const bool crosses = crosses_nodes(paths);
  std::string why_not;
  try {
    const std::vector<FittedFigure> figures =
        each_of(usual_network_figures(cluster, crosses),
                [&](const std::string& text) { return fitted_figure(cluster, text); });
    const auto [found, kept] = fit_inside(cluster, figures, data);
    if (found.is_sound()) {
      fit.source = with_figures(source, found.figures, found.fit.values);
      fit.evidence =
          fmt::format("{}; {:.0f} % after a fit, which is used below{}",
                      compared,
                      100 * found.fitted.median,
                      kept.empty() ? "" : ", without what it puts at a bound: " + listed(kept));
      return fit;
    }
    why_not = "the fit is rejected (" + found.objections.front() + ")";
  } catch (const InputError& error) {
    why_not = in_short(error);
  }
  if (const auto scaled = scaled_links(cluster, data, crosses ? "network" : "node")) {
    fit.source = with_figures(source, scaled->figures, times(scaled->figures, scaled->factor));
    fit.evidence = fmt::format("{}; {:.0f} % with all rates {} nodes times {:.2f}, used below",
                               compared,
                               100 * scaled->accuracy.median,
                               crosses ? "between" : "inside",
                               scaled->factor);
  } else {
    fit.findings.push_back(compared + "; links as in the cluster's file: " + why_not);
  }
  return fit;
}

}  // namespace titer
