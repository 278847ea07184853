#include "titer/report/study/doctor_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/plot/study_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

constexpr double kSmallPart = 0.005;  // of the measured time: too small for a line by itself

double off(const DoctorReport& report) { return *report.measured / *report.predicted - 1; }

/// "measured 16.5 s (train.log), predicted 14.2 s: 2.3 s more, 16.1 %"
std::string doctor_verdict(const DoctorReport& report) {
  if (!report.measured && !report.predicted) {
    return "no iteration was measured, and none predicted: see what is missing\n";
  }
  if (!report.predicted) {
    return fmt::format("measured {} ({}); nothing to compare it with: see what is missing\n",
                       format(*report.measured),
                       report.measured_by);
  }
  if (!report.measured) {
    return fmt::format("predicted {}; no iteration was measured: see what is missing\n",
                       format(*report.predicted));
  }
  const Seconds gap = *report.measured - *report.predicted;
  const bool more = gap > Seconds{};
  std::string text = fmt::format("measured {} ({}), predicted {}: {} {}, {:.1f} %\n",
                                 format(*report.measured),
                                 report.measured_by,
                                 format(*report.predicted),
                                 format(more ? gap : -gap),
                                 more ? "more" : "less",
                                 100 * std::abs(off(report)));
  if (report.bar) {
    text += expected_words(*report.bar, *report.measured) + "\n";
  }
  return text;
}

Figures file_figures(const DoctorFile& file) {
  return {{"file", file.name, kNoHeading},
          {"kind", file.kind, kNoHeading},
          {"says", file.says, kNoHeading}};
}

Figures compared_figures(const DoctorFigure& figure) {
  return {
      {"figure", figure.key},
      {"", figure.label, kNoHeading},
      {"predicted", Datum(figure.predicted, figure.style), "predicted"},
      {"measured", Datum(figure.measured, figure.style), "measured"},
      {"relative_error", Datum(figure.predicted / figure.measured - 1, kSignedPercent), "error"}};
}

Figures cause_figures(const DoctorReport& report, const DoctorCause& cause) {
  const Seconds gap = *report.measured - *report.predicted;
  return {{"cause", cause.name},
          {"time_s", cause.time},
          {"share_of_gap", cause.time / gap},
          {"evidence", cause.evidence}};
}

Figures trial_figures(const DoctorTrial& trial) {
  return {{"change", trial.change},
          {"expected_s", trial.time},
          {"gain", trial.gain},
          {"sure", trial.sure},
          {"setting", said(trial.setting)}};
}

/// The causes, the largest first, those that are too small to matter in one line.
std::vector<Row> cause_lines(const DoctorReport& report) {
  std::vector<Row> rows;
  Seconds small;
  std::size_t count = 0;
  for (const DoctorCause& cause : report.causes) {
    const Seconds size = cause.time < Seconds{} ? -cause.time : cause.time;
    if (size < kSmallPart * *report.measured && !cause.is_told) {
      small += cause.time;
      ++count;
    } else {
      rows.push_back({signed_text(cause.time), fmt::format("{}: {}", cause.name, cause.evidence)});
    }
  }
  if (count > 0) {
    rows.push_back({signed_text(small), fmt::format("{} smaller differences together", count)});
  }
  return rows;
}

std::string trials_text(const DoctorReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const DoctorTrial& trial = report.trials[i];
    text += fmt::format("  {}  {}: -{:.1f} %, to {}; {}{}\n",
                        i + 1,
                        trial.change,
                        100 * trial.gain,
                        format(trial.time),
                        trial.sure,
                        trial.setting.empty() ? "" : "; " + trial.setting);
  }
  return text;
}

void add_lines(TextView& text, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) {
    return;
  }
  text.add(fmt::format("\n{}\n", title));
  for (const std::string& line : lines) {
    text.add(fmt::format("  {}\n", line));
  }
}

Figures doctor_tree(const DoctorReport& report,
                    const FigureRows& causes,
                    const std::vector<std::string>& notes) {
  Figures figures;
  if (report.scenario) {
    figures.push_back({"scenario", asked_figures(*report.scenario)});
  }
  Figures bar;
  if (report.bar) {
    bar = {{"low_s", report.bar->low}, {"high_s", report.bar->high}};
  }
  return joined(std::move(figures),
                {{"predicted_s", report.predicted},
                 if_any({"error_bar", report.bar ? Datum(bar) : Datum()}),
                 {"measured_s", report.measured},
                 {"measured_by", said(report.measured_by)},
                 {"files", rows_of(report.files, file_figures)},
                 {"figures", rows_of(report.figures, compared_figures)},
                 {"causes", causes},
                 {"trials", rows_of(report.trials, trial_figures)},
                 {"findings", report.findings},
                 {"missing", report.missing},
                 notes_figure(notes)});
}

}  // namespace

View doctor_view(const DoctorReport& report, const std::vector<std::string>& notes) {
  FigureRows causes;
  if (report.measured && report.predicted) {
    causes = rows_of(report.causes,
                     [&](const DoctorCause& cause) { return cause_figures(report, cause); });
  }
  View view{.text = doctor_verdict(report),
            .figures = doctor_tree(report, causes, notes),
            .rows = causes,
            .columns = "cause time_s share_of_gap evidence",
            .title = "predicted against measured"};
  if (report.scenario) {
    view.title = step_title(*report.scenario) + ": predicted against measured";
    view.text.add("\n" + step_heading(*report.scenario) + notes_text(notes));
  }
  if (report.predicted) {
    view.headline.push_back({"", *report.predicted, "predicted iteration"});
  }
  if (report.measured) {
    view.headline.push_back({"", *report.measured, "measured iteration"});
  }
  if (!report.files.empty()) {
    view.text.add("\nfiles\n").table(rows_of(report.files, file_figures), "lll");
  }
  if (!report.figures.empty()) {
    const bool has_links = std::ranges::any_of(report.causes, &DoctorCause::is_told);
    view.text
        .add(has_links ? "\npredicted with these links, against measured\n"
                       : "\npredicted against measured\n")
        .table(rows_of(report.figures, compared_figures), "l");
  }
  if (!causes.empty()) {
    view.text.add("\nwhere the difference is\n").lines(cause_lines(report), "rl");
    view.plots = doctor_plots(report);
  }
  if (!report.trials.empty()) {
    view.text.add("\nwhat to try first, with what is expected of the measured run\n" +
                  trials_text(report));
  }
  add_lines(view.text, "what the files say besides", report.findings);
  add_lines(view.text, "what is missing", report.missing);
  return view;
}

}  // namespace titer
