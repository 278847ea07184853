#include "explained_run.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "titer/explain/explain.hpp"
#include "titer/measured/dataset.hpp"
#include "titer/measured/run_comparison.hpp"
#include "titer/report/step/explain_report.hpp"
#include "titer/report/step/step_report.hpp"
#include "titer/scenario/command_text.hpp"
#include "titer/search/search.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/text.hpp"

namespace titer {
namespace {

bool is_of_runs(const std::string& dataset) {
  const DatasetKind kind = dataset_kind(load_dataset(dataset), dataset);
  return kind == DatasetKind::runs || kind == DatasetKind::named_runs;
}

RunCase case_of(std::span<const std::string> datasets, const std::string& name) {
  std::vector<std::string> names;
  for (const std::string& dataset : datasets) {
    if (!is_of_runs(dataset)) {
      continue;
    }
    std::vector<RunCase> cases = run_cases(dataset, name, names);
    if (cases.size() > 1) {
      cases.front().notes.push_back(
          fmt::format("{} rows of {} are called {}: the first", cases.size(), dataset, name));
    }
    if (!cases.empty()) {
      return std::move(cases.front());
    }
  }
  throw InputError(fmt::format("--explain: {}: expected the name of a run of {}{}",
                               name,
                               listed(datasets),
                               suggestion(name, names)));
}

/// "row-12: 5.06 s predicted, 4.80 s measured (+5.4 %)".
std::string times_sentence(const Comparison& row) {
  const auto time = [](const std::optional<double>& seconds) {
    return seconds ? format(Seconds::from_si(*seconds)) : std::string("no time");
  };
  const auto error = row.relative_error();
  return fmt::format("{}: {} predicted, {} measured{}",
                     row.case_id,
                     time(row.predicted),
                     time(row.measured),
                     error ? fmt::format(" ({:+.1f} %)", 100 * *error) : "");
}

}  // namespace

View explained_run(std::span<const std::string> datasets, const std::string& name) {
  const RunCase found = case_of(datasets, name);
  if (!found.compared.skip_reason.empty()) {
    throw InputError(fmt::format("--explain: {}: {}", name, found.compared.skip_reason));
  }
  const Scenario& scenario = found.scenario;
  View view = explain_view(explain(scenario));
  TextView text(fmt::format("{}\nread as {}\n  software {}, cluster {}\n {}\n\n",
                            times_sentence(found.compared),
                            step_title(scenario),
                            scenario.stack.name,
                            scenario.cluster.name,
                            set_options(plan_assignments(scenario.plan))));
  view.text = text.append(view.text);
  view.figures = joined({{"row", name},
                         {"measured_s", found.compared.measured},
                         {"predicted_s", found.compared.predicted}},
                        view.figures);
  view.title = times_sentence(found.compared);
  add_notes(found.notes, view);
  return view;
}

}  // namespace titer
