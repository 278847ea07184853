#include "learned.hpp"

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

std::vector<std::string> learn_from(const std::vector<std::string>& tables,
                                    const ScenarioSource& source,
                                    std::vector<Assignment>& changes,
                                    PlanIs plan) {
  if (tables.empty()) {
    return {};
  }
  std::vector<MeasuredRun> runs;
  std::string names;
  for (const std::filesystem::path file : tables) {
    std::vector<MeasuredRun> more = load_measured_runs(file, "");
    std::move(more.begin(), more.end(), std::back_inserter(runs));
    add_listed(names, file.filename().string());
  }
  if (runs.empty()) {
    throw InputError("--measured " + names +
                     ": no row can be used: expected rows that leave nothing open and are not of "
                     "grade C");
  }
  const Posterior posterior = plan == PlanIs::given ? learn_for(source, runs) : learn(runs);
  LearnedChanges learned = learned_changes(posterior, runs, names, source, changes);
  std::move(learned.changes.begin(), learned.changes.end(), std::back_inserter(changes));
  return std::move(learned.notes);
}

std::vector<std::string> learn_from(const std::vector<std::string>& tables,
                                    const DataKind& study,
                                    Asked& asked) {
  return tables.empty() ? std::vector<std::string>()
                        : learn_from(tables,
                                     studied_source(study, asked),
                                     asked.changes,
                                     study.name == kRunData.name ? PlanIs::given : PlanIs::sought);
}

}  // namespace titer
