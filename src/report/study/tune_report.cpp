#include "titer/report/study/tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "report/plot/study_plots.hpp"
#include "report/step/scenario_words.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"
#include "tune_figures.hpp"

namespace titer {
namespace {

constexpr std::size_t kMostMissed = 5;     // gains without memory for them that the text lists
constexpr std::size_t kMostUntried = 400;  // characters of what the software lacks

std::string percent_less(double gain) { return fmt::format("{:+.1f} %", -100 * gain); }

/// Those that may be made, the fastest first: of each knob, or two of them, its best setting.
std::vector<const Tuning*> shown_tunings(const TuneReport& report) {
  std::vector<const Tuning*> list;
  std::set<std::vector<std::string>> seen;
  for (const auto* tunings : {&report.answer.singles, &report.answer.pairs}) {
    for (const Tuning& tuning : *tunings) {
      const bool fits = tuning.outcome <= TuneOutcome::slower;
      const bool counts = report.answer.run_fits ? tuning.outcome == TuneOutcome::faster : fits;
      if (counts && seen.insert(tuning.knobs).second) {
        list.push_back(&tuning);
      }
    }
  }
  std::ranges::stable_sort(
      list, [](const Tuning* a, const Tuning* b) { return a->iteration_time < b->iteration_time; });
  list.resize(std::min(list.size(), report.top));
  return list;
}

/// "recompute selective -> none: -2.3 % (14.22 s to 13.9 s), 14 GiB to spare; within error (58 %)"
std::string answer_sentence(const TuneReport& report, const Tuning& tuning) {
  const Seconds before = report.measured.value_or(report.probe->base().iteration_time);
  const Seconds after =
      report.measured ? tuning.of_measured(*report.measured) : tuning.iteration_time;
  return fmt::format("{}: {} ({} to {}), {} to spare; {}",
                     change_words(tuning),
                     percent_less(tuning.gain),
                     format(before),
                     format(after),
                     format(tuning.spare),
                     odds_text(tuning.odds));
}

std::string headline(const TuneReport& report) {
  const Tuning* best = report.answer.best(false);
  const Tuning* any = report.answer.best(true);
  std::string text;
  if (!report.answer.run_fits) {
    text = best == nullptr ? "the run does not fit, and no change or two make it fit\n"
                           : "the run does not fit; with this it does:\n";
  } else if (best == nullptr) {
    text =
        fmt::format("no change that {} can make is faster\n", report.probe->scenario().stack.name);
  }
  if (best != nullptr) {
    text += answer_sentence(report, *best) + "\n";
  }
  if (any != best) {
    text += "with other numbers: " + answer_sentence(report, *any) + "\n";
  }
  return text;
}

/// What a report says in large.
Figures report_headline(const TuneReport& report) {
  Figures figures = {{"", time_words(report.probe->base()), "iteration time as it is"}};
  if (const Tuning* best = report.answer.best(false)) {
    figures.push_back({"", best->iteration_time, "iteration time with the best change"});
    figures.push_back({"", change_words(*best), "the best change"});
  }
  return figures;
}

std::string measured_text(const TuneReport& report) {
  if (!report.measured) {
    return "";
  }
  const StepResult& base = report.probe->base();
  const double off = base.iteration_time / *report.measured - 1;
  return fmt::format(
      "measured {}: the prediction of {} is {:+.1f} % off{}\n",
      format(*report.measured),
      format(base.iteration_time),
      100 * off,
      base.error_bar ? "; " + expected_words(*base.error_bar, *report.measured) : "");
}

FigureRows shown_rows(const TuneReport& report, const std::vector<const Tuning*>& shown) {
  FigureRows rows;
  for (const Tuning* tuning : shown) {
    const Seconds time =
        report.measured ? tuning->of_measured(*report.measured) : tuning->iteration_time;
    rows.push_back(
        {{"", rows.size() + 1, kNoHeading},
         {"", time, report.measured ? "of measured" : "time"},
         {"", percent_less(tuning->gain), "change"},
         {"", Datum(tuning->spare.si(), kGibibytes), "spare GiB"},
         {"", odds_text(tuning->odds), "sure"},
         {"", change_words(*tuning) + (tuning->same_numbers ? "" : " (other numbers)"), "with"}});
  }
  return rows;
}

std::string flags_text(const TuneReport& report, const std::vector<const Tuning*>& shown) {
  if (!report.flags || shown.empty()) {
    return "";
  }
  std::string text = fmt::format("settings of {}\n", report.software);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const std::vector<std::string> flags = report.flags(*shown[i]);
    text += fmt::format(
        "  {}: {}\n", i + 1, flags.empty() ? "none that is known here" : listed(flags, "  "));
  }
  return text + "\n";
}

/// "tried 214 changes: 31 faster, 20 the same, …; and 611 pairs: 12 faster than either alone"
std::string counts_text(const TuneReport& report) {
  constexpr std::array<std::pair<TuneOutcome, std::string_view>, 6> words = {
      {{TuneOutcome::faster, "faster"},
       {TuneOutcome::same, "the same"},
       {TuneOutcome::slower, "slower"},
       {TuneOutcome::over_memory, "without memory for them"},
       {TuneOutcome::beyond_software, "that the software cannot make"},
       {TuneOutcome::unsound, "not sound"}}};
  const TuneAnswer& answer = report.answer;
  std::string text = fmt::format("tried {} changes", answer.singles.size());
  std::string_view between = ": ";
  for (const auto& [outcome, word] : words) {
    if (const std::size_t count = answer.count(outcome); count > 0) {
      text += fmt::format("{}{} {}", between, count, word);
      between = ", ";
    }
  }
  return text + fmt::format("; and {} pairs; memory: at least {} stay free\n",
                            answer.pairs_tried,
                            format(answer.kept_free));
}

/// What would gain if there were memory for it, most first, a knob once.
std::string missed_text(const TuneAnswer& answer) {
  std::string text;
  std::size_t count = 0;
  std::set<std::vector<std::string>> seen;
  for (const Tuning& tuning : answer.singles) {
    const bool misses = tuning.outcome == TuneOutcome::over_memory && tuning.gain > 0;
    if (misses && count < kMostMissed && seen.insert(tuning.knobs).second) {
      text += fmt::format("  {} ({}), {} of memory {}\n",
                          change_words(tuning),
                          percent_less(tuning.gain),
                          format(tuning.spare < Bytes{} ? -tuning.spare : tuning.spare),
                          tuning.spare < Bytes{} ? "missing" : "left, too little");
      ++count;
    }
  }
  return text.empty() ? "" : "would be faster, but has no memory\n" + text;
}

/// What the software lacks, each once.
std::string lacking_text(const TuneReport& report) {
  std::string list;
  std::set<std::string> seen;
  std::size_t more = 0;
  for (const Tuning& tuning : report.answer.singles) {
    if (tuning.outcome != TuneOutcome::beyond_software || !seen.insert(tuning.reason).second) {
      continue;
    }
    if (list.size() > kMostUntried) {
      ++more;
    } else {
      add_listed(list, tuning.reason);
    }
  }
  return list.empty() ? ""
                      : fmt::format("beyond {}: {}{}\n",
                                    report.probe->scenario().stack.name,
                                    list,
                                    more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::string odds_text(double odds) {
  return fmt::format("{} ({:.0f} %)", odds_words(odds), 100 * odds);
}

View tune_view(const TuneReport& report, const std::vector<std::string>& notes) {
  const std::vector<const Tuning*> shown = shown_tunings(report);
  View view{.text = headline(report) + measured_text(report) + "\n" +
                    step_heading(report.probe->scenario()) +
                    fmt::format("basis: {}\n", evidence_words(report.probe->base())) +
                    notes_text(notes) + "\n",
            .figures = tune_figures(report, notes),
            .rows = tune_rows(report),
            .columns = {},
            .title = fmt::format("{} on {} x {}: which knobs to turn",
                                 report.probe->scenario().model.title(),
                                 report.probe->scenario().plan.devices(),
                                 report.probe->scenario().cluster.chip.title),
            .headline = report_headline(report),
            .plots = tune_plots(shown)};
  if (!shown.empty()) {
    view.text
        .add("the best setting of each knob, and of two together; model, devices and batch stay\n")
        .table(shown_rows(report, shown), "rrrrll")
        .add(
            "  sure: so many of 100 pairs of measured runs that were predicted to be so far apart "
            "came in that order\n\n");
  }
  view.text.add(flags_text(report, shown)).add(counts_text(report));
  view.text.add(missed_text(report.answer)).add(lacking_text(report));
  for (Figures& row : view.rows) {
    row.push_back(notes_column(notes));
  }
  return view;
}

}  // namespace titer
