#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/progress.hpp"
#include "titer/calibrate/calibration_data.hpp"
#include "titer/report/evidence/calibration_report.hpp"
#include "titer/scenario/data_files.hpp"
#include "titer/scenario/followed_figures.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

struct CalibrateCommand {
  std::string kind;
  std::vector<std::string> files;
  std::string base;
  std::vector<std::string> fits;
  std::string cluster;
  std::string least;
  std::string date;
  std::string source;
  std::string name;
  std::string out;
  std::string format = "text";
  bool every_stack = false;
  bool accepts = false;
  std::shared_ptr<ReportFile> report = std::make_shared<ReportFile>();
};

enum class CalibrationKind { chip, network, stack };
constexpr std::array<Choice<CalibrationKind>, 3> kCalibrationKinds = {
    {{"chip", CalibrationKind::chip},
     {"network", CalibrationKind::network},
     {"stack", CalibrationKind::stack}}};

enum class CalibrationFormat { text, json };
constexpr std::array<Choice<CalibrationFormat>, 2> kCalibrationFormats = {
    {{"text", CalibrationFormat::text}, {"json", CalibrationFormat::json}}};

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
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return kNetworkData;
  }
  const std::vector<std::string> clusters = shipped_names(kClusterData);
  const bool is_cluster = std::find(clusters.begin(), clusters.end(), name) != clusters.end();
  if (is_cluster || looks_like_file(name)) {
    return kClusterData;
  }
  names.insert(names.end(), clusters.begin(), clusters.end());
  const std::string_view near =
      closest(name, std::vector<std::string_view>(names.begin(), names.end()));
  throw InputError(fmt::format("--base {}: no shipped network or cluster has this name; {}",
                               name,
                               near.empty() ? "`titer list networks` and `titer list clusters` "
                                              "show them"
                                            : fmt::format("did you mean \"{}\"?", near)));
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

std::vector<FittedFigure> figures_of(const CalibrateCommand& command,
                                     CalibrationKind kind,
                                     const Document& base) {
  std::vector<std::string> texts = command.fits;
  if (texts.empty()) {
    const std::vector<std::filesystem::path> files = paths_of(command.files);
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
  std::vector<FittedFigure> figures;
  figures.reserve(texts.size());
  for (const std::string& text : texts) {
    figures.push_back(fitted_figure(base, text));
  }
  return figures;
}

CalibrationData runs_of(const CalibrateCommand& command, const Document& stack) {
  const Value* name = command.every_stack ? nullptr : stack.at("name");
  std::vector<MeasuredRun> runs;
  std::vector<std::string> names;
  for (const std::filesystem::path file : command.files) {
    std::vector<MeasuredRun> more =
        load_measured_runs(file, name != nullptr ? name->text : std::string());
    std::move(more.begin(), more.end(), std::back_inserter(runs));
    names.push_back(file.filename().string());
  }
  CalibrationData data =
      run_data(std::move(runs), command.every_stack ? StackPart::kernels : StackPart::whole);
  data.files = std::move(names);
  return data;
}

CalibrationData data_of(const CalibrateCommand& command,
                        CalibrationKind kind,
                        const Document& base,
                        const std::vector<FittedFigure>& figures) {
  const std::vector<std::filesystem::path> files = paths_of(command.files);
  switch (kind) {
    case CalibrationKind::chip:
      return kernel_data(files, figures, least_size<Flops>(command.least));
    case CalibrationKind::network:
      return collective_data(files, base, command.cluster, least_size<Bytes>(command.least));
    case CalibrationKind::stack:
      return runs_of(command, base);
  }
  return {};
}

void check_options(const CalibrateCommand& command, CalibrationKind kind, const Document& base) {
  check_date(command.date);
  const bool is_network = kind == CalibrationKind::network && base.at("protocols") != nullptr;
  if (is_network && command.cluster.empty()) {
    throw InputError("--cluster: a network is fitted as part of a cluster; expected its name");
  }
  if (kind == CalibrationKind::stack && !command.least.empty()) {
    throw InputError("--from: runs have no such size; expected with chip or network only");
  }
  if (kind != CalibrationKind::stack && command.every_stack) {
    throw InputError("--every-stack: expected with stack only");
  }
  if (!is_network && !command.cluster.empty()) {
    throw InputError("--cluster: expected only with --base of a network");
  }
}

int calibrate_command(const CalibrateCommand& command) {
  const CalibrationKind kind = chosen("KIND", command.kind, kCalibrationKinds);
  const CalibrationFormat format = chosen("--format", command.format, kCalibrationFormats);
  const DataKind& of_data = data_kind(kind, command.base);
  const Document base = load_data(of_data, command.base);
  check_options(command, kind, base);
  const std::vector<FittedFigure> figures = figures_of(command, kind, base);
  const CalibrationData data = data_of(command, kind, base, figures);
  Calibration calibration;
  {
    std::size_t fits = 1;
    std::optional<Progress> progress;
    CalibrationOptions options;
    if (kind == CalibrationKind::chip) {
      options.fit.huber = kKernelHuber;
    }
    options.watch = [&](std::size_t done, std::size_t all) {
      if (!progress) {
        progress.emplace("fits", all);
      }
      fits = std::max(fits, done);
      progress->update(fits);
    };
    calibration = calibrate(base, figures, data, options);
  }
  Document document =
      calibrated_document(base,
                          calibration,
                          data,
                          {.name = command.name, .source = command.source, .date = command.date});
  restore_followed(document.root, load_open(of_data, command.base).root);
  const bool is_taken = calibration.is_sound() || command.accepts;
  const std::string profile = profile_text(document.root);
  if (!command.out.empty() && is_taken) {
    OutputFile file(command.out);
    file.write(profile);
    file.finish();
  }
  const View view = calibration_view(calibration, data);
  command.report->write(view);
  if (format == CalibrationFormat::text) {
    print(written(view.text));
  } else if (is_taken) {
    print(profile);
  }
  if (!calibration.is_sound()) {
    fmt::print(stderr, "{}", rejection_text(calibration, command.accepts));
  }
  return is_taken ? kSuccess : kNo;
}

}  // namespace

Command add_calibrate(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "calibrate", "Fit the figures of a chip, network or software stack to measurements");
  app->footer(
      "KIND and its DATA:\n"
      "  chip     tables of kernels: products (m, n, k) and attention (batch, seq, heads, …), as "
      "scripts/measure_gpu.py writes\n"
      "  network  output of nccl-tests, or tables of collectives (.csv); --base: a cluster, or a "
      "network with --cluster\n"
      "  stack    tables of runs: run (a file or a shipped run), iter_time_s, family\n"
      "A fit is rejected (exit 1, nothing is written) that is no better than what it starts from, "
      "on\n"
      "groups left out where there are any; that leaves a tenth of the rows more than 30 % off; "
      "or\n"
      "of which every figure ends at a bound.\n"
      "Examples:\n"
      "  titer calibrate chip gemm.csv attention.csv --base h100-sxm5-80gb --date 2026-11-21 --out "
      "my-h100.json\n"
      "  titer calibrate network all_reduce.txt --base dgx-h100 --from 1MiB --fit "
      "network.protocols.1.efficiency=0.3:1\n"
      "  titer calibrate stack runs.csv --base megatron-core --fit dispatch");
  const auto command = std::make_shared<CalibrateCommand>();
  app->add_option("kind", command->kind, "chip, network or stack")->required()->type_name("KIND");
  app->add_option("data", command->files, "measurements")->required()->type_name("DATA");
  app->add_option("--base", command->base, "the file to start from, or the name of a shipped one")
      ->required()
      ->type_name("NAME");
  app->add_option("--fit",
                  command->fits,
                  "a figure to fit, its bounds if others than the usual ones, and after commas "
                  "figures that take its value; repeatable")
      ->default_str("the usual ones of the kind")
      ->allow_extra_args(false)
      ->type_name("PATH[,PATH…][=LEAST:MOST]");
  app->add_option("--cluster", command->cluster, "the cluster that a network is measured in")
      ->type_name("NAME");
  app->add_option(
         "--from", command->least, "leave smaller collectives (1 MiB) or kernels (1 GFLOP) out")
      ->type_name("SIZE");
  app->add_flag("--every-stack",
                command->every_stack,
                "of stack: take the runs of all software, each with its own stack but for how fast "
                "its kernels are; leaving families out shows what to expect of another one");
  app->add_flag(
      "--accept",
      command->accepts,
      "write the new data of a rejected fit as well; its figures count as assumed, and what "
      "is predicted with them has an error bar of at least the fit's residuals");
  app->add_option("--date", command->date, "of the measurement or fit, for the evidence")
      ->type_name("YYYY-MM-DD");
  app->add_option("--source", command->source, "who measured, for the evidence")->type_name("TEXT");
  app->add_option("--name", command->name, "of the new data")->type_name("NAME");
  app->add_option("--format", command->format, "text (what was found) or json (the new data)")
      ->default_str("text")
      ->type_name("FORMAT");
  app->add_option("--out", command->out, "write the new data to this file, whole or not at all")
      ->type_name("FILE");
  command->report->add_to(*app);
  return {app, [command] { return calibrate_command(*command); }, command->report};
}

}  // namespace titer
