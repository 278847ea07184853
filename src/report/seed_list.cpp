#include <fmt/format.h>

#include <map>

#include "seed_wording.hpp"
#include "titer/report/seed_report.hpp"
#include "titer/report/table.hpp"
#include "titer/seeds/seed_totals.hpp"

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
    within += fmt::format("{}{} within {:.0f} %",
                          band == 0 ? "" : ", ",
                          totals.within[band],
                          100 * kFigureBands[band]);
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

std::string statement_table(std::span<const SeedReport> reports) {
  std::vector<Row> rows = {
      {"id", "status", "figures met", "structure", "volume", "transcribed", "what it says"}};
  for (const SeedReport& report : reports) {
    const SeedTotals totals = seed_totals(std::span(&report, 1));
    const auto part = [&](CheckKind kind) {
      return part_text(totals.of(kind).hold, totals.of(kind).checks);
    };
    rows.push_back({report.seed->id,
                    std::string(name(report.status())),
                    part_text(totals.figures - totals.unmet - totals.open, totals.figures),
                    part(CheckKind::structure),
                    part(CheckKind::volume),
                    part(CheckKind::transcription),
                    report.seed->title});
  }
  const Align right = Align::right;
  return text_table(rows, {Align::left, Align::left, right, right, right, right, Align::left}, "");
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

std::string seed_list_text(std::span<const SeedReport> reports) {
  std::string text = headline(seed_totals(reports));
  text += listed_figures("unmet, the worst first", figures_that_are(CheckStatus::unmet, reports));
  text += listed_figures("open: by what a document does not say it may be met or not",
                         figures_that_are(CheckStatus::open, reports));
  return text + "\nall statements\n" + statement_table(reports);
}

}  // namespace titer
