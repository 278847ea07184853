#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "titer/ask/evidence.hpp"
#include "titer/ask/option.hpp"
#include "titer/calibrate/calibration_data.hpp"
#include "titer/report/evidence/calibration_report.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/scenario/followed_figures.hpp"
#include "titer/units/lists.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr std::array<const DataKind*, 4> kOfBases = {
    &kChipData, &kNetworkData, &kClusterData, &kStackData};

constexpr std::array kCalibrateOptions = {
    options::text<&CalibrateRequest::kind>("kind", "KIND", "chip, network or stack")
        .needed()
        .first(),
    options::texts<&CalibrateRequest::data>("data", "DATA", "measurements").needed().first().file(),
    options::text<&CalibrateRequest::base>(
        "base", "NAME", "the file to start from, or the name of a shipped one")
        .needed()
        .file(kOfBases),
    options::texts<&CalibrateRequest::fit>(
        "fit",
        "PATH[,PATH…][=LEAST:MOST]",
        "a figure to fit, its bounds if others than the usual ones, and after "
        "commas figures that take its value; repeatable")
        .or_else("the usual ones of the kind"),
    options::text<&CalibrateRequest::cluster>(
        "cluster", "NAME", "the cluster that a network is measured in")
        .file(kOnly<kClusterData>),
    options::text<&CalibrateRequest::from>(
        "from", "SIZE", "leave smaller collectives (1 MiB) or kernels (1 GFLOP) out"),
    options::flag<&CalibrateRequest::every_stack>(
        "every_stack",
        "of stack: take the runs of all software, each with its own stack but for how fast its "
        "kernels are; leaving families out shows what to expect of another one"),
    options::flag<&CalibrateRequest::accept>(
        "accept",
        "write the new data of a rejected fit as well; its figures count as assumed, and what is "
        "predicted with them has an error bar of at least the fit's residuals"),
    options::text<&CalibrateRequest::date>(
        "date", "YYYY-MM-DD", "of the measurement or fit, for the evidence"),
    options::text<&CalibrateRequest::source>("source", "TEXT", "who measured, for the evidence"),
    options::text<&CalibrateRequest::name>("name", "NAME", "of the new data")};

enum class CalibrationKind { chip, network, stack };
constexpr std::array<Choice<CalibrationKind>, 3> kCalibrationKinds = {
    {{"chip", CalibrationKind::chip},
     {"network", CalibrationKind::network},
     {"stack", CalibrationKind::stack}}};

// Thousands of kernels have many outliers on both sides: nearly the least mean error is sought.
constexpr double kKernelHuber = 0.4;

/// YYYY-MM-DD, with a month and a day that there are.
void check_date(const std::string& date) {
  constexpr std::string_view shape = "dddd-dd-dd";
  bool is_date = date.size() == shape.size();
  for (std::size_t i = 0; is_date && i < shape.size(); ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(date[i])) != 0;
    is_date = shape[i] == 'd' ? is_digit : date[i] == shape[i];
  }
  if (is_date) {
    const int month = std::stoi(date.substr(5, 2));
    const int day = std::stoi(date.substr(8, 2));
    is_date = month >= 1 && month <= 12 && day >= 1 && day <= 31;
  }
  if (!is_date && !date.empty()) {
    throw InputError("--date " + date + ": expected a date, such as 2026-11-21");
  }
}

/// Of FLOP or bytes; nothing where nothing was given.
template <class Q>
Q least_size(const std::string& text) {
  if (text.empty()) {
    return {};
  }
  const auto size = parse<Q>(text);
  if (!size || *size < Q{}) {
    throw InputError("--from " + text + ": expected " + std::string(example<Q>()));
  }
  return *size;
}

/// A network is a file of its own, or part of a cluster.
const DataKind& network_kind(const std::string& name) {
  std::vector<std::string> names = shipped_names(kNetworkData);
  if (includes(names, name)) {
    return kNetworkData;
  }
  const std::vector<std::string> clusters = shipped_names(kClusterData);
  const bool is_cluster = includes(clusters, name);
  if (is_cluster || looks_like_file(name)) {
    return kClusterData;
  }
  names.insert(names.end(), clusters.begin(), clusters.end());
  throw InputError(fmt::format(
      "--base {}: no shipped network or cluster has this name{}",
      name,
      suggestion(name, names, "; `titer list networks` and `titer list clusters` show them")));
}

const DataKind& data_kind(CalibrationKind kind, const std::string& name) {
  switch (kind) {
    case CalibrationKind::chip:
      return kChipData;
    case CalibrationKind::network:
      return network_kind(name);
    case CalibrationKind::stack:
      break;
  }
  return kStackData;
}

std::vector<std::filesystem::path> paths_of(const std::vector<std::string>& files) {
  return {files.begin(), files.end()};
}

std::vector<FittedFigure> figures_of(const CalibrateRequest& request,
                                     CalibrationKind kind,
                                     const Document& base) {
  std::vector<std::string> texts = request.fit;
  if (texts.empty()) {
    const std::vector<std::filesystem::path> files = paths_of(request.data);
    switch (kind) {
      case CalibrationKind::chip:
        texts = usual_chip_figures(base, files);
        break;
      case CalibrationKind::network:
        texts = usual_network_figures(base, crosses_nodes(files));
        break;
      case CalibrationKind::stack:
        texts = usual_stack_figures(base);
        break;
    }
  }
  return each_of(texts, [&](const std::string& text) { return fitted_figure(base, text); });
}

CalibrationData runs_of(const CalibrateRequest& request, const Document& stack) {
  const Value* name = request.every_stack ? nullptr : stack.at("name");
  std::vector<MeasuredRun> runs;
  std::vector<std::string> names;
  for (const std::filesystem::path file : request.data) {
    std::vector<MeasuredRun> more =
        load_measured_runs(file, name != nullptr ? name->text : std::string());
    std::move(more.begin(), more.end(), std::back_inserter(runs));
    names.push_back(file.filename().string());
  }
  CalibrationData data =
      run_data(std::move(runs), request.every_stack ? StackPart::kernels : StackPart::whole);
  data.files = std::move(names);
  return data;
}

CalibrationData data_of(const CalibrateRequest& request,
                        CalibrationKind kind,
                        const Document& base,
                        const std::vector<FittedFigure>& figures) {
  const std::vector<std::filesystem::path> files = paths_of(request.data);
  switch (kind) {
    case CalibrationKind::chip:
      return kernel_data(files, figures, least_size<Flops>(request.from));
    case CalibrationKind::network:
      return collective_data(files, base, request.cluster, least_size<Bytes>(request.from));
    case CalibrationKind::stack:
      return runs_of(request, base);
  }
  return {};
}

void check_request(const CalibrateRequest& request, CalibrationKind kind, const Document& base) {
  check_date(request.date);
  const bool is_network = kind == CalibrationKind::network && base.at("protocols") != nullptr;
  if (is_network && request.cluster.empty()) {
    throw InputError("--cluster: a network is fitted as part of a cluster; expected its name");
  }
  if (kind == CalibrationKind::stack && !request.from.empty()) {
    throw InputError("--from: runs have no such size; expected with chip or network only");
  }
  if (kind != CalibrationKind::stack && request.every_stack) {
    throw InputError("--every-stack: expected with stack only");
  }
  if (!is_network && !request.cluster.empty()) {
    throw InputError("--cluster: expected only with --base of a network");
  }
}

/// As far as a document can tell it: whether the fit is evidence, and the new data.
Figures calibration_figures(const Calibration& calibration, const Document& profile) {
  return {{"sound", calibration.is_sound()},
          {"objections", calibration.objections},
          {"profile", Datum(profile.root)}};
}

}  // namespace

std::span<const Option<CalibrateRequest>> calibrate_options() { return kCalibrateOptions; }

CalibrateOutcome ask(const CalibrateRequest& request) {
  const CalibrationKind kind = chosen("KIND", request.kind, kCalibrationKinds);
  const DataKind& of_data = data_kind(kind, request.base);
  const Document base = load_data(of_data, request.base);
  check_request(request, kind, base);
  const std::vector<FittedFigure> figures = figures_of(request, kind, base);
  const CalibrationData data = data_of(request, kind, base, figures);
  CalibrationOptions options;
  if (kind == CalibrationKind::chip) {
    options.fit.huber = kKernelHuber;
  }
  std::size_t fits = 1;
  options.watch = [&](std::size_t done, std::size_t all) {
    fits = std::max(fits, done);
    if (request.progress) {
      request.progress(fits, all);
    }
  };
  const Calibration calibration = calibrate(base, figures, data, options);
  Document profile =
      calibrated_document(base,
                          calibration,
                          data,
                          {.name = request.name, .source = request.source, .date = request.date});
  restore_followed(profile.root, load_open(of_data, request.base).root);
  CalibrateOutcome outcome;
  outcome.view = calibration_view(calibration, data);
  outcome.view.figures = calibration_figures(calibration, profile);
  outcome.view.title = fmt::format(
      "{} {} fitted to {} rows of {}", request.kind, request.base, data.measured.size(), data.what);
  outcome.view.asked = {{"asked", request.base}};
  outcome.good = calibration.is_sound() || request.accept;
  outcome.profile = profile_text(profile.root);
  if (!calibration.is_sound()) {
    outcome.rejection = rejection_text(calibration, request.accept);
  }
  return outcome;
}

}  // namespace titer
