#include "titer/report/evidence/support_report.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace titer {
namespace {

constexpr NumberStyle kMeanErrorStyle = {.format = "{:.1f}"};
constexpr NumberStyle kBiasStyle = {.format = "{:+.1f}"};

/// As files have it: a tenth of a percent is more than runs are repeated to.
Datum tenths_of_percent(double share, const NumberStyle& style) {
  return {parse_json(fmt::format("{:.1f}", 100.0 * share), "").root.number, style};
}

Figures cell_figures(const SupportCell& cell) {
  return {{"model", cell.combination.model, "model"},
          {"chip", cell.combination.chip, "chip"},
          {"stack", cell.combination.stack, "stack"},
          {"precision", cell.combination.precision, "precision"},
          {"runs", cell.runs, "runs"},
          {"mean_error_pct", tenths_of_percent(cell.mean_error, kMeanErrorStyle), "mean error %"},
          {"bias_pct", tenths_of_percent(cell.bias, kBiasStyle), "bias %"}};
}

template <class IsIn>
SupportCell total(std::span<const SupportCell> cells, const IsIn& is_in) {
  SupportCell sum;
  for (const SupportCell& cell : cells) {
    if (is_in(cell.combination)) {
      const auto runs = static_cast<double>(cell.runs);
      sum.runs += cell.runs;
      sum.mean_error += runs * cell.mean_error;
      sum.bias += runs * cell.bias;
    }
  }
  if (sum.runs > 0) {
    sum.mean_error /= static_cast<double>(sum.runs);
    sum.bias /= static_cast<double>(sum.runs);
  }
  return sum;
}

/// From what is nearest to what is asked to what is farthest.
struct Likeness {
  std::string_view key;
  std::string_view label;
  bool (*is_like)(const Combination&, const Combination&);
};
constexpr std::string_view kNone = "none";
constexpr std::array<Likeness, 4> kLikenesses = {{
    {"same", "the same", [](const Combination& a, const Combination& b) { return a == b; }},
    {"stack_and_chip",
     "the software on the chip, any model and precision",
     [](const Combination& a, const Combination& b) {
       return a.stack == b.stack && a.chip == b.chip;
     }},
    {"stack",
     "the software, on any chip",
     [](const Combination& a, const Combination& b) { return a.stack == b.stack; }},
    {"chip",
     "the chip, with any software",
     [](const Combination& a, const Combination& b) { return a.chip == b.chip; }},
}};

Figures likeness_figures(const Likeness& likeness, const SupportCell& of) {
  const bool any = of.runs > 0;
  return {{"like", likeness.key},
          {"", likeness.label, "measured runs of"},
          {"runs", of.runs, "runs"},
          {"mean_error_pct",
           any ? tenths_of_percent(of.mean_error, kMeanErrorStyle) : Datum(),
           "mean error %"},
          {"bias_pct", any ? tenths_of_percent(of.bias, kBiasStyle) : Datum(), "bias %"}};
}

FigureRows likeness_rows(std::span<const SupportCell> cells, const Combination& asked) {
  FigureRows rows;
  for (const Likeness& likeness : kLikenesses) {
    rows.push_back(likeness_figures(likeness, total(cells, [&](const Combination& one) {
                                      return likeness.is_like(one, asked);
                                    })));
  }
  return rows;
}

/// The likest that were measured, and how many; those without runs, where none was.
std::pair<const Likeness*, SupportCell> likest(std::span<const SupportCell> cells,
                                               const Combination& asked) {
  for (const Likeness& likeness : kLikenesses) {
    const SupportCell of =
        total(cells, [&](const Combination& one) { return likeness.is_like(one, asked); });
    if (of.runs > 0) {
      return {&likeness, of};
    }
  }
  return {nullptr, {}};
}

std::string words_of(const Combination& asked) {
  return fmt::format("{} by {} on {} in {}", asked.model, asked.stack, asked.chip, asked.precision);
}

}  // namespace

void add_support(std::span<const SupportCell> cells, const Combination& asked, View& view) {
  const auto [likeness, of] = likest(cells, asked);
  Figures figures = {{"like", likeness == nullptr ? kNone : likeness->key}, {"runs", of.runs}};
  std::string text = fmt::format("measured: {}: ", words_of(asked));
  if (likeness == nullptr) {
    text += "nothing of this software or chip\n";
  } else {
    figures.push_back({"mean_error_pct", tenths_of_percent(of.mean_error, kMeanErrorStyle)});
    text += fmt::format("{}{} public run{}, predicted {:.1f} % off on average\n",
                        likeness == kLikenesses.begin()
                            ? std::string()
                            : fmt::format("no public run; of {}: ", likeness->label),
                        of.runs,
                        of.runs == 1 ? "" : "s",
                        100.0 * of.mean_error);
  }
  view.text.add(text);
  view.figures.push_back({"measured_runs", figures});
}

View support_view(std::span<const SupportCell> cells, const std::optional<Combination>& asked) {
  const SupportCell all = total(cells, [](const Combination&) { return true; });
  const FigureRows rows = rows_of(cells, cell_figures);
  View view{.text = {}, .figures = {}, .rows = rows, .columns = std::string(kSupportColumns)};
  if (asked) {
    const FigureRows like = likeness_rows(cells, *asked);
    view.text.add(words_of(*asked) + "\n\n");
    view.text.table(like).add("\n");
    view.figures.push_back({"like_scenario", like});
  }
  view.text.add(fmt::format("{} measured runs of {} combinations, mean error {:.1f} %\n\n",
                            all.runs,
                            cells.size(),
                            100.0 * all.mean_error));
  view.text.table(rows, "llllr");
  view.figures.push_back({"combinations", rows});
  view.headline = {{"", all.runs, "measured runs"},
                   {"", cells.size(), "combinations"},
                   {"", Datum(all.mean_error, kPercent), "mean error"}};
  return view;
}

}  // namespace titer
