#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <set>

#include "app/output/output_file.hpp"
#include "app/output/picture_file.hpp"
#include "app/question_command.hpp"
#include "titer/ask/evidence.hpp"

namespace titer {
namespace {

/// What is written, and where.
struct ValidateFiles {
  Format format = Format::text;
  std::string out = {};
  std::string plot = {};
  std::string residuals = {};
  std::string histogram = {};
};
constexpr std::array kValidateFiles = {
    format_option<&ValidateFiles::format, kFormats>(),
    out_option<&ValidateFiles::out>(),
    options::text<&ValidateFiles::plot>(
        "plot", "OUT.svg", "write a scatter plot of the times, as SVG or PNG"),
    options::text<&ValidateFiles::residuals>(
        "residuals", "OUT.svg", "write the errors over the measured times, as SVG or PNG"),
    options::text<&ValidateFiles::histogram>(
        "histogram", "OUT.svg", "write a histogram of the errors, as SVG or PNG")};

/// A picture that was asked for. Its file is opened before anything is computed, so that a path
/// that cannot be written is refused at once.
struct Picture {
  std::string_view option;
  std::unique_ptr<PictureFile> file;
  std::function<std::string()> ValidateOutcome::*draw;
};

std::vector<Picture> pictures_of(const ValidateFiles& own) {
  std::vector<Picture> pictures;
  const auto add = [&](std::string_view option,
                       const std::string& path,
                       std::function<std::string()> ValidateOutcome::*draw) {
    if (!path.empty()) {
      pictures.push_back({option, std::make_unique<PictureFile>(option, path), draw});
    }
  };
  add("--plot", own.plot, &ValidateOutcome::plot);
  add("--residuals", own.residuals, &ValidateOutcome::residuals);
  add("--histogram", own.histogram, &ValidateOutcome::histogram);
  return pictures;
}

void check_paths(const ValidateFiles& own) {
  std::set<std::string> known;
  for (const std::string& path : {own.out, own.plot, own.residuals, own.histogram}) {
    if (!path.empty() && !known.insert(path).second) {
      throw InputError(path + ": expected a file of its own for each output");
    }
  }
}

int validate_command(const QuestionCommand<ValidateRequest, ValidateFiles>& command) {
  const ValidateFiles own = command.own();
  ValidateRequest request = command.request();
  check_paths(own);
  OutputFile out("--out", own.out, word_of(kFormats, own.format));
  const std::vector<Picture> pictures = pictures_of(own);
  const ValidateOutcome outcome = command.answer(request);
  for (const Picture& wanted : pictures) {
    if (!(outcome.*wanted.draw)) {
      throw InputError(fmt::format(
          "{}: expected tables alone: there is no such picture with --explain, --given or --trace",
          wanted.option));
    }
  }
  out.write(written(own.format, outcome.view, own.out));
  command.report()->write(outcome.view);
  for (const Picture& wanted : pictures) {
    wanted.file->write((outcome.*wanted.draw)());
  }
  out.finish();
  return outcome.good ? kSuccess : kNo;
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
  return question_command(
      *app, validate_options(), kValidateFiles, validate_command, {.counted = "families"});
}

}  // namespace titer
