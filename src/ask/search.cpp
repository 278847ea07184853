#include "titer/ask/search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "learned.hpp"
#include "report_parts.hpp"
#include "robust_search.hpp"
#include "scenario_options.hpp"
#include "titer/ask/asked_source.hpp"
#include "titer/input/defect.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/report/study/search_report.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/search/fit_advice.hpp"
#include "titer/simulate/events_beside.hpp"

namespace titer {
namespace {

constexpr std::array<const DataKind*, 2> kSearchOrRun = {&kSearchData, &kRunData};

constexpr auto kSearch = &SearchRequest::search;
constexpr std::array kSearchOptions = {
    options::asked<kSearch>("search",
                            "SEARCH",
                            "a search file, or a shipped search (titer list searches); around a "
                            "run: its file or name")
        .first()
        .file(kSearchOrRun),
    options::changes<kSearch>(
        "put a value at a path of the search or of its scenario, such as space.schedule=1f1b or "
        "constraints.memory_margin=0; may be repeated"),
    options::named<&SearchRequest::model>("model", "NAME", "without a SEARCH: the model")
        .file(kOnly<kModelData>),
    options::value<kSearch>("cluster", "NAME", "the cluster").file(kOnly<kClusterData>),
    options::value<kSearch>("devices", "N", "the number of devices").as(OptionKind::integer),
    options::value<kSearch, options::kBatch>("batch", "N", "the global batch, sequences")
        .as(OptionKind::integer),
    options::value<kSearch, options::kSequence>(
        "sequence", "N", "tokens of a sequence; needed with --model")
        .as(OptionKind::integer),
    options::value<kSearch, options::kPrecision>(
        "precision", "TYPE", "of products: bf16 (usual), fp8, …"),
    options::value<kSearch>("stack",
                            "NAME",
                            "the training software; otherwise that of the SEARCH, with --model "
                            "megatron-core, or what there is for the cluster's chips")
        .file(kOnly<kStackData>),
    options::value<kSearch>("any_software", "", "plans that the stack's software cannot run, too")
        .as(OptionKind::flag),
    options::value<kSearch>(
        "objective",
        "NAME",
        "time, cost, tokens_per_dollar, mfu, energy, goodput, memory or devices"),
    options::value<kSearch>("top", "N", "how many plans to show").as(OptionKind::integer),
    options::value<kSearch>("best_of",
                            "WHAT",
                            "shape: of the same tensor, pipeline, context and expert degree the "
                            "best plan only (usual); or plan: all"),
    options::value<kSearch>("robust",
                            "",
                            "best is the least expected time over the spread of the figures behind "
                            "it, not the least time by these figures")
        .as(OptionKind::flag),
    options::measured<&SearchRequest::measured>(),
    options::choice<&SearchRequest::refine, kFidelities>(
        "refine",
        "FIDELITY",
        "event or network: evaluate the plans that were found at this fidelity, too"),
    options::flag<&SearchRequest::exhaustive>("exhaustive", "evaluate every plan: no bounds")};

/// Makes the change at a path one of a document; false where there is none.
bool moved(std::string_view path, std::vector<Assignment>& changes, Document& into) {
  const auto found = std::ranges::find(changes, path, &Assignment::path);
  if (found == changes.end()) {
    return false;
  }
  found->path = "scenario." + found->path;
  assign(into, *found);
  changes.erase(found);
  return true;
}

/// Of no name, what the options say is the search.
Asked asked_search(const SearchRequest& request) {
  Asked asked = request.search;
  const bool has_search = is_asked(asked);
  const std::string& model = request.model;
  if (has_search && model.empty()) {
    return asked;
  }
  Document own{.root = Value::make_object(), .sources = {}};
  const std::string source = "--model " + model;
  assign(own, {"scenario.model", written_or_named(model, source), source});
  if (has_search || model.empty() || !moved("cluster", asked.changes, own) ||
      !moved(options::kBatch, asked.changes, own)) {
    throw InputError("titer search: expected either a SEARCH or --model, --cluster and --batch");
  }
  Value& scenario = *own.root.find("scenario");
  scenario.find("training")->origin = {};  // what it lacks is no fault of the batch
  scenario.add("stack", Value(usual_stack({.root = scenario, .sources = own.sources})));
  asked.what = std::move(own);
  return asked;
}

const std::vector<Objective> kByTime = {Objective::time};

/// What defects left out, a line each.
std::vector<std::string> defects_of(const SearchCounts& counts, const Refinement& refined) {
  std::vector<std::string> lines;
  const auto tell = [&](std::size_t plans, std::string_view what, const std::string& defect) {
    if (plans > 0) {
      lines.push_back(fmt::format("{} plans {} for {}", plans, what, defect_words(defect)));
    }
  };
  tell(counts.defects, "are left out", counts.defect);
  tell(refined.defects, "have no refined time", refined.defect);
  return lines;
}

/// What events say of the best plan, where that is another time than the search's.
void add_events_note(const Scenario& best,
                     const StepResult& step,
                     std::vector<std::string>& notes) {
  StepResult told = step;
  told.events = best.unlike() ? std::nullopt : events_beside(best, step);
  if (told.events && told.events->iteration_time) {
    notes.push_back("the best plan by " + events_sentence(told));
  }
}

/// Why plans were not refined, which slices the devices are, how the best plan shares out what its
/// stages or nodes do not divide, and what events say of it.
std::vector<std::string> notes_of(const Search& search,
                                  const SearchAnswer& answer,
                                  const Refinement& refined,
                                  bool is_refined) {
  std::vector<std::string> notes = refined.reasons;
  std::ranges::move(carried_notes(search.scenario), std::back_inserter(notes));
  if (!search.scenario.conditions.devices.empty() && !answer.plans.empty() &&
      answer.plans.front().expected_time) {
    notes.emplace_back(
        "conditions: expected times and P(fastest) are by how figures move plans where all devices "
        "are alike");
  }
  std::ranges::move(source_notes(searched(search, answer).source), std::back_inserter(notes));
  add_slice_notes(search.scenario.cluster, search.devices, notes);
  if (!answer.plans.empty()) {
    Scenario best = searched(search, answer).scenario;
    best.plan = answer.plans.front().plan;
    std::ranges::move(plan_notes(best), std::back_inserter(notes));
    if (!is_refined) {
      add_events_note(best, answer.plans.front().result, notes);
    }
  }
  return notes;
}

}  // namespace

std::span<const Option<SearchRequest>> search_options() { return kSearchOptions; }

SearchOutcome ask(const SearchRequest& request) {
  Asked asked = asked_search(request);
  const Learned learned = learn_from(request.measured, kSearchData, asked);
  const Search search = resolved(
      asked,
      [&](const std::string& name) { return load_search(name, asked.changes); },
      [&](const Document& document) { return read_search(document, asked.changes); });
  const SearchOptions how{.threads = request.threads,
                          .exhaustive = request.exhaustive,
                          .stop = request.stop,
                          .progress = request.progress};
  const Posterior* told = learned.figures ? &*learned.figures : nullptr;
  SearchAnswer answer = search.robust ? most_robust(search, how, told) : run_search(search, how);
  SearchOptions bounded = how;
  bounded.exhaustive = false;
  const std::vector<BeyondSoftware> beyond = best_beyond_software(search, answer, bounded);
  const Refinement refined =
      request.refine ? refine(search, *request.refine, answer) : Refinement();
  if (search.objectives == kByTime && (search.robust || answer.plans.size() > 1)) {
    tell_chances(search, told, answer);
  }
  if (search.robust && request.refine) {
    keep_most_robust(search, answer);
  }
  SearchOutcome outcome;
  std::vector<std::string> notes = notes_of(search, answer, refined, request.refine.has_value());
  if (const auto least = least_memory_plan(search, answer, bounded)) {
    notes.push_back(least_memory_sentence(search, *least));
    Scenario scenario = search.scenario;
    scenario.plan = least->plan;
    scenario.cluster.use_for(least->devices);
    for (const FitAdvice& one : last_resorts(scenario, search.limits.memory_margin)) {
      notes.push_back(fmt::format("that plan fits with {}: {}, {}",
                                  one.text(),
                                  format(one.iteration_time),
                                  format(one.peak)));
    }
  }
  outcome.view = search_view(search, answer, notes, beyond);
  add_asked(asked, Figures(), outcome.view);
  add_notes(learned.notes, outcome.view);
  outcome.good = !answer.plans.empty();
  outcome.complete = answer.complete;
  outcome.defects = defects_of(answer.counts, refined);
  if (outcome.good) {
    outcome.best = source_with(searched(search, answer), answer.plans.front().plan).document();
  }
  return outcome;
}

}  // namespace titer
