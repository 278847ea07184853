#include "learned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "titer/ask/asked_source.hpp"
#include "titer/calibrate/posterior_update.hpp"
#include "titer/measured/measured_kernel.hpp"
#include "titer/measured/measured_runs.hpp"
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

/// Into the scenario's chip, and what to say of it.
std::vector<std::string> take_products(std::span<const KernelTable> tables,
                                       const ScenarioSource& source,
                                       std::vector<Assignment>& changes) {
  if (tables.empty()) {
    return {};
  }
  Scenario scenario;
  source.read_part(ScenarioPart::cluster, scenario);
  const Chip& chip = scenario.cluster.chip;
  Value products = measured_products(tables, chip.name);
  std::vector<std::string> notes = {fmt::format(
      "{} products measured on {}: those of the same extents take as long, others in 16 bits are "
      "as far off the chip's figures as the nearest",
      products.items.size(),
      chip.title)};
  changes.push_back({"cluster.chip.measured_products", std::move(products), "--measured"});
  return notes;
}

}  // namespace

Learned learn_from(const std::vector<std::string>& tables,
                   const ScenarioSource& source,
                   std::vector<Assignment>& changes,
                   PlanIs plan) {
  std::vector<KernelTable> of_products;
  std::vector<MeasuredRun> runs;
  std::string names;  // of tables of runs
  for (const std::filesystem::path file : tables) {
    const CsvTable table = CsvTable::load(file);
    if (kernel_table_kind(table)) {
      of_products.push_back(kernel_table(table, file));
      continue;
    }
    std::vector<MeasuredRun> more = measured_runs(table, file, "");
    std::move(more.begin(), more.end(), std::back_inserter(runs));
    add_listed(names, file.filename().string());
  }
  Learned learned{.notes = take_products(of_products, source, changes)};
  if (names.empty()) {
    return learned;
  }
  if (runs.empty()) {
    throw InputError("--measured " + names +
                     ": no row can be used: expected rows that leave nothing open and are not of "
                     "grade C");
  }
  learned.figures = plan == PlanIs::given ? learn_for(source, runs) : learn(runs);
  LearnedChanges told = learned_changes(*learned.figures, runs, names, source, changes);
  std::ranges::move(told.changes, std::back_inserter(changes));
  std::ranges::move(told.notes, std::back_inserter(learned.notes));
  return learned;
}

Learned learn_from(const std::vector<std::string>& tables, const DataKind& study, Asked& asked) {
  return tables.empty() ? Learned()
                        : learn_from(tables,
                                     studied_source(study, asked),
                                     asked.changes,
                                     study.name == kRunData.name ? PlanIs::given : PlanIs::sought);
}

}  // namespace titer
