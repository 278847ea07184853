#include <fmt/format.h>

#include <map>

#include "seed_wording.hpp"
#include "titer/seeds/seed_totals.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// "41 of 41", and in words where it is not all.
std::string law_text(const LawTotal& law) {
  return fmt::format("{} of {}{}",
                     law.hold,
                     law.checks,
                     law.hold < law.checks ? fmt::format(", {} FAIL", law.checks - law.hold) : "");
}

std::string headline(const SeedTotals& totals) {
  std::string within;
  for (std::size_t band = 0; band < kFigureBands.size(); ++band) {
    add_listed(within,
               fmt::format("{} within {:.0f} %", totals.within[band], 100 * kFigureBands[band]));
  }
  return fmt::format(
             "of {} printed figures are predicted: {}; unmet (more than {:.0f} % off): {}; open: "
             "{}\n",
             totals.figures,
             within,
             100 * kMet,
             totals.unmet,
             totals.open) +
         fmt::format("laws that hold: structure {}, volume {}\n",
                     law_text(totals.of(CheckKind::structure)),
                     law_text(totals.of(CheckKind::volume))) +
         fmt::format("besides, with no prediction in them: {} transcriptions\n",
                     law_text(totals.of(CheckKind::transcription)));
}

/// Of one statement, by kind: "3 of 5", or nothing.
std::string part_text(std::size_t good, std::size_t all) {
  return all == 0 ? "" : fmt::format("{} of {}", good, all);
}

Figures statement_figures(const SeedReport& report) {
  const SeedTotals totals = seed_totals(std::span(&report, 1));
  const auto part = [&](CheckKind kind) {
    return part_text(totals.of(kind).hold, totals.of(kind).checks);
  };
  return {
      {"", report.seed->id, "id"},
      {"", name(report.status()), "status"},
      {"", part_text(totals.figures - totals.unmet - totals.open, totals.figures), "figures met"},
      {"", part(CheckKind::structure), "structure"},
      {"", part(CheckKind::volume), "volume"},
      {"", part(CheckKind::transcription), "transcribed"},
      {"", report.seed->title, "what it says"}};
}

/// Each in a line, with its reason; what is the reason of several is said once.
std::string listed_figures(std::string_view title, std::span<const SeedFigure> figures) {
  std::string text = figures.empty() ? "" : fmt::format("\n{}\n", title);
  std::map<std::string_view, std::string_view> said;  // reasons, at which statement
  for (const auto& [report, result] : figures) {
    const std::string& why = result->check->why;
    const auto [at, is_new] = said.emplace(why, report->seed->id);
    text += fmt::format("  {}  {}: {}{}\n",
                        report->seed->id,
                        what_of(*result),
                        figure_line(*result),
                        is_new ? "" : fmt::format(" (why: at {} above)", at->second));
    text += is_new ? wrapped(why, "       ") : "";
  }
  return text;
}

}  // namespace

TextView seed_list_text(std::span<const SeedReport> reports) {
  TextView text = headline(seed_totals(reports));
  text.add(listed_figures("unmet, the worst first", figures_that_are(CheckStatus::unmet, reports)));
  text.add(listed_figures("open: by what a document does not say it may be met or not",
                          figures_that_are(CheckStatus::open, reports)));
  return text.add("\nall statements\n").table(rows_of(reports, statement_figures), "llrrrrl", "");
}

}  // namespace titer
