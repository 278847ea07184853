#include "doctor_links.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <numeric>

#include "titer/calibrate/calibration_data.hpp"
#include "titer/input/input_error.hpp"
#include "titer/units/lists.hpp"

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

std::string before_fit(const CalibrationData& data, const Document& cluster) {
  std::vector<double> predicted(data.measured.size());
  std::vector<std::size_t> rows(data.measured.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  data.predict(cluster, rows, predicted);
  const Accuracy accuracy = accuracy_of(data.measured, predicted);
  return fmt::format(
      "nccl-tests, {} sizes: predicted {:+.1f} % on average, {:.0f} % off in the median",
      data.measured.size(),
      100 * accuracy.bias,
      100 * accuracy.median);
}

/// The run with the fitted figures of its cluster.
ScenarioSource with_figures(const ScenarioSource& source, const Calibration& fit) {
  Document changed = source.document();
  for (std::size_t i = 0; i < fit.figures.size(); ++i) {
    FittedFigure figure = fit.figures[i];
    figure.path.insert(0, "cluster.");
    for (std::string& same : figure.same) {
      same.insert(0, "cluster.");
    }
    put_figure(changed, figure, fit.fit.values[i]);
  }
  return ScenarioSource(std::move(changed));
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
  const std::string compared = before_fit(data, cluster);
  try {
    const std::vector<FittedFigure> figures =
        each_of(usual_network_figures(cluster, crosses_nodes(paths)),
                [&](const std::string& text) { return fitted_figure(cluster, text); });
    const Calibration found = calibrate(cluster, figures, data, {.fit = {}, .leave_out = false});
    if (found.is_sound()) {
      fit.source = with_figures(source, found);
      fit.evidence = fmt::format(
          "{}; {:.0f} % after a fit, which is used below", compared, 100 * found.fitted.median);
    } else {
      fit.findings.push_back(compared + "; the fit is rejected (" + found.objections.front() +
                             "), links as in the cluster's file");
    }
  } catch (const InputError& error) {
    fit.findings.push_back(compared + "; links as in the cluster's file: " + in_short(error));
  }
  return fit;
}

}  // namespace titer
