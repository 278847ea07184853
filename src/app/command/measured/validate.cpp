#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "app/command.hpp"
#include "app/output/output_file.hpp"
#include "app/output/progress.hpp"
#include "app/validate_trace.hpp"
#include "titer/calibrate/posterior_trial.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/measured/statistics.hpp"
#include "titer/report/evidence/posterior_report.hpp"
#include "titer/report/evidence/validation_report.hpp"
#include "titer/report/picture/validation_plot.hpp"

namespace titer {
namespace {

struct ValidateOptions {
  std::vector<std::string> datasets;
  std::string by;
  std::vector<std::string> families;
  std::string format = "text";
  int worst = 10;
  bool rows = false;
  std::optional<double> fail_above;
  std::size_t given = 0;
  std::string out;
  std::string plot;
  std::string residuals;
  std::string histogram;
  TraceQuestion trace;  // instead of datasets; with the report
};

constexpr std::array<Choice<GroupBy>, 3> kGroups = {
    {{"family", GroupBy::family}, {"chip", GroupBy::chip}, {"stack", GroupBy::stack}}};

/// All rows of all tables; what is wrong with each of them is said at once.
std::vector<Comparison> compare_all(const std::vector<std::string>& datasets) {
  std::vector<Comparison> rows;
  Problems problems;
  for (const std::string& dataset : datasets) {
    try {
      std::vector<Comparison> more = compare_dataset(dataset);
      std::move(more.begin(), more.end(), std::back_inserter(rows));
    } catch (const InputError& error) {
      std::for_each(error.lines.begin(), error.lines.end(), [&](const std::string& line) {
        problems.add(line);
      });
    }
  }
  problems.raise();
  return rows;
}

/// Leaves only rows of these families; each must be there.
void keep_families(const std::vector<std::string>& families, std::vector<Comparison>& rows) {
  if (families.empty()) {
    return;
  }
  std::set<std::string, std::less<>> known;
  for (const Comparison& row : rows) {
    known.insert(row.family);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const std::string& family : families) {
    if (!known.contains(family)) {
      const std::string_view near = closest(family, names);
      throw InputError("--family " + family + ": no row is of this family" +
                       (near.empty() ? "" : "; did you mean \"" + std::string(near) + "\"?"));
    }
  }
  std::erase_if(rows, [&](const Comparison& row) {
    return std::find(families.begin(), families.end(), row.family) == families.end();
  });
}

/// "training.csv"; of several tables "kernels: 24 tables", or without the folder if it is not one.
std::string title_of(const std::vector<std::string>& datasets) {
  const std::filesystem::path first(datasets.front());
  if (datasets.size() == 1) {
    return first.filename().string();
  }
  const std::string folder = first.parent_path().filename().string();
  const bool together = std::all_of(datasets.begin(), datasets.end(), [&](const auto& dataset) {
    return std::filesystem::path(dataset).parent_path() == first.parent_path();
  });
  return (together && !folder.empty() ? folder + ": " : "") + std::to_string(datasets.size()) +
         " tables";
}

std::string written(Format format, const ValidationView& view, const std::string& path) {
  switch (format) {
    case Format::text:
      return written(validation_text(view), path);
    case Format::csv:
      return validation_csv(view.rows);
    case Format::json:
      return validation_json(view);
  }
  return {};
}

/// A picture that was asked for. Its file is opened before anything is computed, so that a path
/// that cannot be written is refused at once.
struct Picture {
  std::unique_ptr<OutputFile> file;
  std::string (*draw)(const ValidationPicture&);
};

std::vector<Picture> pictures_of(const ValidateOptions& options) {
  std::vector<Picture> pictures;
  const auto add = [&](const std::string& path, std::string (*draw)(const ValidationPicture&)) {
    if (!path.empty()) {
      pictures.push_back({std::make_unique<OutputFile>(path), draw});
    }
  };
  add(options.plot, validation_scatter_svg);
  add(options.residuals, validation_residuals_svg);
  add(options.histogram, validation_histogram_svg);
  return pictures;
}

void check_paths(const ValidateOptions& options) {
  std::set<std::string> known;
  for (const std::string& path :
       {options.out, options.plot, options.residuals, options.histogram}) {
    if (!path.empty() && !known.insert(path).second) {
      throw InputError(path + ": expected a file of its own for each output");
    }
  }
}

/// The answer to --fail-above. Of no row there is no mean: nothing was shown to be right.
int verdict(const ValidateOptions& options, const GroupStatistics& all) {
  if (!options.fail_above) {
    return kSuccess;
  }
  const bool within = all.time.mean && 100 * *all.time.mean <= *options.fail_above;
  return within ? kSuccess : kNo;
}

/// How well some runs of each family tell of its others.
int validate_given(const ValidateOptions& options) {
  const Format format = chosen("--format", options.format, kFormats);
  OutputFile out(options.out);
  std::vector<MeasuredRun> runs;
  for (const std::filesystem::path file : options.datasets) {
    std::vector<MeasuredRun> more = load_measured_runs(file, "");
    std::move(more.begin(), more.end(), std::back_inserter(runs));
  }
  if (!options.families.empty()) {
    std::erase_if(runs, [&](const MeasuredRun& run) {
      return std::find(options.families.begin(), options.families.end(), run.group) ==
             options.families.end();
    });
  }
  if (runs.empty()) {
    throw InputError(
        "--given: no run to try: expected rows that leave nothing open and are not of grade C, of "
        "the families asked for");
  }
  std::vector<GivenTrial> trials;
  {
    std::optional<Progress> progress;
    trials = try_given(runs, options.given, [&](std::size_t done, std::size_t all) {
      if (!progress) {
        progress.emplace("families", all);
      }
      progress->update(done);
    });
  }
  const View view = given_view(trials, options.given, runs.size());
  out.write(written(format, view, options.out));
  options.trace.report->write(view);
  out.finish();
  return kSuccess;
}

int validate_command(const ValidateOptions& options) {
  if (!options.trace.files.empty()) {
    TraceQuestion question = options.trace;
    question.format = options.format;
    return validate_trace(question);
  }
  if (options.datasets.empty()) {
    throw InputError("datasets: none: expected tables, or a trace with --trace");
  }
  if (options.given > 0) {
    return validate_given(options);
  }
  const Format format = chosen("--format", options.format, kFormats);
  const GroupBy by = options.by.empty() ? GroupBy::all : chosen("--by", options.by, kGroups);
  check_paths(options);
  OutputFile out(options.out);
  const std::vector<Picture> pictures = pictures_of(options);
  std::vector<Comparison> rows = compare_all(options.datasets);
  keep_families(options.families, rows);
  const std::vector<GroupStatistics> groups = group_statistics(rows, by);
  const std::vector<SweepDecision> decisions = sweep_decisions(rows);
  const ValidationView view{.rows = rows,
                            .groups = groups,
                            .decisions = decisions,
                            .worst = static_cast<std::size_t>(options.worst),
                            .every_row = options.rows};
  const ValidationPicture picture{.rows = rows,
                                  .by = by == GroupBy::all ? GroupBy::family : by,
                                  .title = title_of(options.datasets)};
  out.write(written(format, view, options.out));
  options.trace.report->write(validation_view(view, picture));
  for (const Picture& wanted : pictures) {
    wanted.file->write(wanted.draw(picture));
    wanted.file->finish();
  }
  out.finish();
  return verdict(options, groups.front());
}

/// What is written besides, and where.
void add_files(CLI::App& app, ValidateOptions& options) {
  app.add_option("--out", options.out, "write to this file, whole or not at all")
      ->type_name("FILE");
  app.add_option("--plot", options.plot, "write a scatter plot of the times, as SVG")
      ->type_name("OUT.svg");
  app.add_option(
         "--residuals", options.residuals, "write the errors over the measured times, as SVG")
      ->type_name("OUT.svg");
  app.add_option("--histogram", options.histogram, "write a histogram of the errors, as SVG")
      ->type_name("OUT.svg");
}

}  // namespace

Command add_validate(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "validate", "Measured training runs, collectives and kernels beside what is predicted");
  app->footer(
      "Statistics of |predicted / measured - 1|, in percent; bias: the mean with its sign.\n"
      "Percentiles lie between neighbours in proportion. Rank correlation (Spearman) and regret\n"
      "(what the row predicted fastest takes over the best) are means over sweeps of three\n"
      "predicted rows or more; below, plans are those of sweeps of four or more, by pairs whose\n"
      "measured times are more than 5 % apart.\n"
      "Examples:\n"
      "  titer validate tests/data/measured/training.csv --by family\n"
      "  titer validate tests/data/measured/collectives/*.csv --by chip --format json\n"
      "  titer validate tests/data/measured/training.csv --given 3\n"
      "  titer validate tests/data/measured/training.csv --plot scatter.svg --histogram "
      "errors.svg");
  const auto options = std::make_shared<ValidateOptions>();
  app->add_option("datasets",
                  options->datasets,
                  "tables of tests/data/measured, or others with their columns: training runs (of "
                  "your own: run, a file or a shipped run, iter_time_s and perhaps family), "
                  "collectives, kernels")
      ->type_name("DATASET.csv");
  app->add_option("--trace",
                  options->trace.files,
                  "instead of tables: a measured step, as `titer trace` takes it; repeatable")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app->add_option("--scenario", options->trace.scenario, "of --trace: the run that was measured")
      ->needs("--trace")
      ->type_name("SCENARIO");
  app->add_option("--by", options->by, "also statistics by family, chip or stack")
      ->type_name("NAME");
  app->add_option("--family", options->families, "only rows of this family; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME");
  add_format(*app, options->format, *options->trace.report);
  app->add_option("--worst", options->worst, "rows to list that are farthest off")
      ->default_str("10")
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
  app->add_flag("--rows", options->rows, "list every row in text; csv and json always do");
  app->add_option("--fail-above",
                  options->fail_above,
                  "exit with 1 if the mean error of all rows is larger, in percent, or if no row "
                  "could be compared")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("PCT");
  app->add_option("--given",
                  options->given,
                  "instead: how far off the runs of each family are when N others of it are known, "
                  "as --measured of other commands takes them")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  add_files(*app, *options);
  return {app, [options] { return validate_command(*options); }, options->trace.report};
}

}  // namespace titer
