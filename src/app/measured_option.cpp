#include "measured_option.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "titer/ask/asked_source.hpp"
#include "titer/calibrate/posterior_update.hpp"
#include "titer/scenario/named_scenario.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

/// The scenario that a study's file has, or that the file is.
ScenarioSource source_in(const Document& study) {
  const Value* written = study.root.find("scenario");
  return ScenarioSource(written == nullptr ? study : scenario_document(study, *written));
}

ScenarioSource studied_source(const DataKind& study, const Asked& asked) {
  const Document document = resolved(
      asked,
      [&](const std::string& name) {
        return load_data(is_shipped(study, name) ? study : kRunData, name);
      },
      [](const Document& given) { return given; });
  ScenarioSource source = source_in(document);
  for (const Assignment& change : asked.changes) {
    if (scenario_part(change.path)) {
      source.assign(change);
    }
  }
  return source;
}

}  // namespace

void MeasuredOption::add_to(CLI::App& app) {
  app.add_option("--measured",
                 files_,
                 "tables of runs that you measured (run, a file or a shipped run, iter_time_s; or "
                 "the columns of `titer validate`): even one tells figures of its software, chip "
                 "and links, and how sure the answer is; may be repeated")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("RUNS.csv");
}

std::vector<std::string> MeasuredOption::learn(const ScenarioSource& source,
                                               std::vector<Assignment>& changes,
                                               PlanIs plan) const {
  if (files_.empty()) {
    return {};
  }
  std::vector<MeasuredRun> runs;
  std::string names;
  for (const std::filesystem::path file : files_) {
    std::vector<MeasuredRun> more = load_measured_runs(file, "");
    std::move(more.begin(), more.end(), std::back_inserter(runs));
    add_listed(names, file.filename().string());
  }
  if (runs.empty()) {
    throw InputError("--measured " + names +
                     ": no row can be used: expected rows that leave nothing open and are not of "
                     "grade C");
  }
  const Posterior posterior =
      plan == PlanIs::given ? learn_for(source, runs) : ::titer::learn(runs);
  LearnedChanges learned = learned_changes(posterior, runs, names, source, changes);
  std::move(learned.changes.begin(), learned.changes.end(), std::back_inserter(changes));
  return std::move(learned.notes);
}

std::vector<std::string> MeasuredOption::learn(const DataKind& study, Asked& asked) const {
  return files_.empty() ? std::vector<std::string>()
                        : learn(studied_source(study, asked),
                                asked.changes,
                                study.name == kRunData.name ? PlanIs::given : PlanIs::sought);
}

}  // namespace titer
