#include "titer/report/evidence/trace_breakdown_report.hpp"
#include "titer/units/text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/plot/evidence_plots.hpp"
#include "report/step/scenario_words.hpp"

namespace titer {
namespace {

constexpr std::size_t kShownKinds = 10;
constexpr std::size_t kShownName = 60;
constexpr NumberStyle kCalls = {.format = "{:.5g}"};

Datum share_of(Seconds part, Seconds whole) {
  return whole > Seconds{} ? Datum(part / whole, kPercent) : or_blank({});
}

/// "+12.3 %" of the predicted.
std::string difference_text(const TraceTerm& term) {
  const std::optional<Seconds> difference = term.difference();
  if (!difference) {
    return "";
  }
  std::string text = signed_text(*difference);
  if (term.predicted->counted > Seconds{}) {
    text += fmt::format(" ({:+.0f} %)", 100 * (*difference / term.predicted->counted));
  }
  return text;
}

bool moves(const TraceTerm& term) {
  return term.name != "compute" && term.name != "optimizer" && term.name != "idle" &&
         term.name != "step";
}

Figures term_times(const TermTime& term) {
  return {{"counted_s", term.counted},
          {"exposed_s", term.exposed},
          {"busy_s", term.busy},
          {"calls", term.calls},
          {"bytes", term.bytes},
          {"ranks", term.ranks}};
}

/// A measured or a predicted term, as people read it beside others.
Figures read_term(const std::string& heading,
                  const TermTime* term,
                  Seconds step,
                  bool has_exposed) {
  const bool is_there = term != nullptr;
  const TermTime of = is_there ? *term : TermTime();
  const Datum nothing = or_blank({});
  return {{"", is_there ? Datum(of.counted) : nothing, heading},
          {"", is_there ? share_of(of.counted, step) : nothing, "share"},
          {"", is_there && has_exposed ? Datum(of.exposed) : nothing, "exposed"},
          {"", or_blank(Datum(of.calls, kCalls)), "calls"}};
}

Figures trace_term_figures(const TraceTerm& term) {
  Figures figures = {{"name", term.name}, {"measured", term_times(term.measured)}};
  if (term.predicted) {
    figures.push_back({"predicted", term_times(*term.predicted)});
    figures.push_back({"difference_s", term.difference()});
  }
  return figures;
}

/// A row of the table that people read: `name` is the term's, or one below it.
Figures term_row(const std::string& name,
                 const TraceTerm& term,
                 const TraceComparison& comparison,
                 bool has_exposed) {
  const TraceTerm& step = comparison.step;
  Figures row = joined({{"", name, kNoHeading}},
                       read_term("measured", &term.measured, step.measured.counted, has_exposed));
  if (step.predicted) {
    const TermTime* const predicted = term.predicted ? &*term.predicted : nullptr;
    row = joined(row, read_term("predicted", predicted, step.predicted->counted, has_exposed));
    row.push_back({"", difference_text(term), "difference"});
  }
  return row;
}

/// What plain compute is made of, measured only.
std::vector<TraceTerm> compute_parts(const StepBreakdown& measured,
                                     const TraceComparison& comparison) {
  const double factor =
      measured.time > Seconds{} ? comparison.step.measured.counted / measured.time : 1.0;
  std::vector<TraceTerm> parts;
  for (const TraceCategory category : {TraceCategory::matrix,
                                       TraceCategory::attention,
                                       TraceCategory::elementwise,
                                       TraceCategory::other_compute}) {
    const CategoryTime& of = measured[category];
    if (of.busy > Seconds{}) {
      parts.push_back(
          {.name = std::string(name(category)),
           .measured = {.counted = factor * of.communication_first,
                        .exposed = factor * of.compute_first,
                        .busy = factor * of.busy,
                        .calls = of.calls > 0 ? std::optional(of.calls) : std::nullopt}});
    }
  }
  return parts;
}

/// Every term, the parts of compute below it, and the step; `add` takes the name of a row and its
/// term.
template <class Add>
void each_term(const StepBreakdown& measured,
               const TraceComparison& comparison,
               std::string_view before_part,
               const Add& add) {
  for (const TraceTerm& term : comparison.terms) {
    add(term.name, term, moves(term));
    if (term.name == "compute") {
      for (const TraceTerm& part : compute_parts(measured, comparison)) {
        add(std::string(before_part) + part.name, part, false);
      }
    }
  }
  add(comparison.step.name, comparison.step, moves(comparison.step));
}

FigureRows read_rows(const StepBreakdown& measured, const TraceComparison& comparison) {
  FigureRows rows;
  each_term(measured,
            comparison,
            "  ",
            [&](const std::string& name, const TraceTerm& term, bool has_exposed) {
              rows.push_back(term_row(name, term, comparison, has_exposed));
            });
  return rows;
}

FigureRows table_rows(const StepBreakdown& measured, const TraceComparison& comparison) {
  FigureRows rows;
  const Seconds step = comparison.step.measured.counted;
  each_term(measured,
            comparison,
            "compute: ",
            [&](const std::string& name, const TraceTerm& term, bool /*has_exposed*/) {
              rows.push_back(joined({{"term", name}, {"share", term.measured.counted / step}},
                                    trace_term_figures(term)));
            });
  return rows;
}

Figures collective_use(const KindUse& use) {
  const Seconds mean = use.time / use.calls;
  const bool rated = use.kind.bytes && mean > Seconds{};
  return {{"", use.kind.name, "collective"},
          {"", or_blank(use.kind.ranks), "ranks"},
          {"", Datum(use.calls, kCalls), "calls"},
          {"", or_blank(use.kind.bytes), "bytes each"},
          {"", mean, "mean"},
          {"", use.fastest, "fastest"},
          {"", rated ? Datum(*use.kind.bytes / mean) : or_blank({}), "rate"}};
}

FigureRows longest_rows(const StepBreakdown& measured) {
  FigureRows rows;
  for (std::size_t i = 0; i < std::min(kShownKinds, measured.kinds.size()); ++i) {
    const KindUse& use = measured.kinds[i];
    rows.push_back({{"", use.kind.name.substr(0, kShownName), "longest operations"},
                    {"", name(use.kind.category), "what"},
                    {"", use.calls > 0 ? Datum(use.calls, kCalls) : or_blank({}), "calls"},
                    {"", use.time, "time"},
                    {"", share_of(use.time, measured.time), "share"}});
  }
  return rows;
}

std::string heading(const StepBreakdown& measured) {
  std::string text = fmt::format("{:<10}{}: {}", "trace", measured.source, measured.format);
  if (measured.only_shares) {
    return text + "\n";
  }
  text += fmt::format(", {} {}{}, {} streams",
                      measured.devices,
                      measured.devices == 1 ? "device" : "devices",
                      measured.chip.empty() ? "" : " (" + measured.chip + ")",
                      measured.streams);
  if (measured.rank) {
    text += fmt::format(", rank {}", *measured.rank);
    text += measured.world_size ? fmt::format(" of {}", *measured.world_size) : "";
  }
  text += fmt::format("\n{:<10}{:g}, mean {}", "steps", measured.steps, format(measured.time));
  return text + (measured.median ? fmt::format(", median {}\n", format(*measured.median)) : "\n");
}

Figures kind_figures(const KindUse& use) {
  return {{"name", use.kind.name},
          {"category", name(use.kind.category)},
          {"ranks", use.kind.ranks},
          {"bytes", use.kind.bytes},
          {"calls", use.calls},
          {"time_s", use.time},
          {"fastest_s", use.fastest}};
}

Figures trace_figures(const StepBreakdown& measured,
                      const TraceComparison& comparison,
                      const std::string& title) {
  const Figures head = {{"source", measured.source},
                        {"format", measured.format},
                        {"chip", said(measured.chip)},
                        {"rank", measured.rank},
                        {"world_size", measured.world_size},
                        {"devices", measured.devices},
                        {"streams", measured.streams},
                        {"steps", measured.steps},
                        {"only_shares", measured.only_shares},
                        {"measured_s", measured.time},
                        {"median_s", measured.median}};
  Figures predicted;
  if (comparison.step.predicted) {
    predicted = {{"scenario", title}, {"predicted_s", comparison.step.predicted->counted}};
  }
  return joined(joined(head, predicted),
                {{"terms", rows_of(comparison.terms, trace_term_figures)},
                 {"compute", rows_of(compute_parts(measured, comparison), trace_term_figures)},
                 {"collectives", rows_of(measured.collectives, kind_figures)},
                 {"longest", rows_of(measured.kinds, kind_figures)},
                 {"readings", comparison.readings},
                 {"remarks", comparison.remarks}});
}

}  // namespace

View trace_view(const StepBreakdown& measured,
                const TraceComparison& comparison,
                const std::string& title) {
  View view{.text = heading(measured),
            .figures = trace_figures(measured, comparison, title),
            .rows = table_rows(measured, comparison),
            .columns =
                "term measured_s=measured.counted_s share exposed_s=measured.exposed_s "
                "busy_s=measured.busy_s calls=measured.calls bytes=measured.bytes "
                "predicted_s=predicted.counted_s predicted_exposed_s=predicted.exposed_s "
                "predicted_busy_s=predicted.busy_s predicted_calls=predicted.calls "
                "predicted_bytes=predicted.bytes difference_s",
            .headline = trace_headline(comparison),
            .plots = {trace_plot(comparison)}};
  view.text.add(title.empty() ? "" : fmt::format("{:<10}{}\n", "scenario", title));
  view.text.add("\n").table(read_rows(measured, comparison));
  if (!measured.collectives.empty()) {
    view.text.add("\n").table(rows_of(measured.collectives, collective_use));
  }
  if (!measured.kinds.empty()) {
    view.text.add("\n").table(longest_rows(measured), "ll");
  }
  for (const auto& lines : {comparison.readings, comparison.remarks}) {
    view.text.add(lines.empty() ? "" : "\n");
    for (const std::string& line : lines) {
      view.text.add(line + "\n");
    }
  }
  return view;
}

void add_ranks(const TraceRanks& ranks, View& view) {
  if (ranks.ranks.size() < 2) {
    return;
  }
  const FigureRows rows = rows_of(ranks.ranks, [](const RankStep& rank) -> Figures {
    return {{"rank", rank.rank, "rank"},
            {"source", rank.source},
            {"time_s", rank.time, "step"},
            {"compute_s", rank.compute, "compute"},
            {"communication_s", rank.communication, "communication"},
            {"copies_s", rank.copies, "copies"},
            {"idle_s", rank.idle, "idle"}};
  });
  view.text.add("\n").table(rows, "r");
  const std::string late = straggler_sentence(ranks);
  view.text.add(late.empty() ? "" : late + "\n");
  view.figures.push_back({"ranks", rows});
  view.figures.push_back({"waiting_for_late_ranks_s", ranks.waiting});
  view.figures.push_back({"latest", ranks.ranks[ranks.late].rank});
}

}  // namespace titer
