#include "titer/ask/search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report_parts.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/report/study/search_report.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

/// What defects left out, a line each.
std::vector<std::string> defects_of(const SearchCounts& counts, const Refinement& refined) {
  std::vector<std::string> lines;
  const auto tell = [&](std::size_t plans, std::string_view what, const std::string& defect) {
    if (plans > 0) {
      lines.push_back(fmt::format(
          "{} plans {} for a defect of the program, please report it: {}", plans, what, defect));
    }
  };
  tell(counts.defects, "are left out", counts.defect);
  tell(refined.defects, "have no refined time", refined.defect);
  return lines;
}

/// Why plans were not refined, which slices the devices are, and how the best plan shares out what
/// its stages or nodes do not divide.
std::vector<std::string> notes_of(const Search& search,
                                  const SearchAnswer& answer,
                                  const Refinement& refined) {
  std::vector<std::string> notes = refined.reasons;
  add_slice_notes(search.scenario.cluster, search.devices, notes);
  if (!answer.plans.empty()) {
    Scenario best = searched(search, answer).scenario;
    best.plan = answer.plans.front().plan;
    std::ranges::move(plan_notes(best), std::back_inserter(notes));
  }
  return notes;
}

}  // namespace

SearchOutcome ask(const SearchRequest& request) {
  const Search search = resolved(
      request.search,
      [&](const std::string& name) { return load_search(name, request.search.changes); },
      [&](const Document& document) { return read_search(document, request.search.changes); });
  const SearchOptions how{.threads = request.threads,
                          .exhaustive = request.exhaustive,
                          .stop = request.stop,
                          .progress = request.progress};
  SearchAnswer answer = run_search(search, how);
  SearchOptions bounded = how;
  bounded.exhaustive = false;
  const std::vector<BeyondSoftware> beyond = best_beyond_software(search, answer, bounded);
  const Refinement refined =
      request.refine ? refine(search, *request.refine, answer) : Refinement();
  if (search.objectives == std::vector<Objective>{Objective::time} && answer.plans.size() > 1) {
    find_chances(answer);
  }
  SearchOutcome outcome;
  outcome.view = search_view(search, answer, notes_of(search, answer, refined), beyond);
  add_asked(request.search, Figures(), outcome.view);
  outcome.good = !answer.plans.empty();
  outcome.complete = answer.complete;
  outcome.defects = defects_of(answer.counts, refined);
  if (outcome.good) {
    outcome.best = source_with(searched(search, answer), answer.plans.front().plan).document();
  }
  return outcome;
}

}  // namespace titer
