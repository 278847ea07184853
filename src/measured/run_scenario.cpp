#include "titer/measured/run_scenario.hpp"

#include <fmt/format.h>

#include <cmath>

#include "open_values.hpp"
#include "titer/input/document.hpp"
#include "titer/scenario/notes.hpp"

namespace titer {
namespace {

ScenarioSource base_source(const RunMachine& machine,
                           const std::string& stack,
                           const std::vector<Assignment>& changes) {
  ScenarioSource source = ScenarioSource::load("gpt3-175b-64xa100");
  source.assign({"cluster", Value(machine.cluster), "hw_key"});
  for (const Assignment& change : machine.changes) {
    source.assign(change);
  }
  source.assign({"stack", Value(stack), "family"});
  for (const Assignment& change : changes) {
    source.assign(change);
  }
  return source;
}

/// Micro-batches of a replica: as counted, or what the batch comes to, which need not be whole.
double micro_batches(const RunRow& row, const Plan& plan) {
  const auto batch = row.number("global_batch");
  if (batch && *batch > 0) {
    const double count = *batch / static_cast<double>(plan.micro_batch * plan.data);
    if (row.says("notes", "log says accumulation") &&
        !row.says("notes", fmt::format("log says accumulation {:g};", count))) {
      throw InputError(
          fmt::format("the log has another accumulation than the configuration's {:g}", count));
    }
    return count;
  }
  if (const auto count = row.number("grad_accum"); count && *count >= 1) {
    return *count;
  }
  throw InputError("global batch not stated");
}

}  // namespace

const RunReader::Base& RunReader::base(const RunMachine& machine, const std::string& stack) {
  std::string key = machine.cluster + "|" + stack;
  for (const Assignment& change : machine.changes) {
    key += fmt::format("|{}={}", change.path, to_json(change.value));
  }
  if (const auto known = bases_.find(key); known != bases_.end()) {
    return known->second;
  }
  Base made{.source = std::make_shared<ScenarioSource>(base_source(machine, stack, changes_)),
            .scenario = {},
            .abilities = {}};
  made.source->read_unchecked(made.scenario);
  made.scenario.cluster.nodes.reset();
  made.abilities = software_abilities(*made.source);
  return bases_.emplace(key, std::move(made)).first->second;
}

void RunReader::add_reading(const RunRow& row,
                            const RunHabits& habits,
                            Scenario scenario,
                            RunReadings& into) const {
  const double count = micro_batches(row, scenario.plan);
  const double below = std::floor(count + 1e-9);
  const double share = count - below > 1e-6 ? count - below : 0.0;
  RunReading reading;
  for (const double whole : {below, below + 1.0}) {
    const double weight = whole == below ? 1.0 - share : share;
    if (weight == 0.0 || whole == 0.0) {
      continue;
    }
    scenario.training = run_training(row, habits, scenario, static_cast<std::int64_t>(whole));
    const auto violations = validate(scenario);
    if (!violations.empty()) {
      into.skip_reason = violations.front().text();
      return;
    }
    reading.scenarios.push_back(scenario);
    reading.weights.push_back(weight);
  }
  if (reading.scenarios.empty()) {
    into.skip_reason = "the batch is smaller than one micro-batch of every replica";
    return;
  }
  into.readings.push_back(std::move(reading));
}

void RunReader::read_on(const RunMachine& machine,
                        const RunRow& row,
                        const RunHabits& habits,
                        RunReadings& result) {
  result.readings.clear();
  result.skip_reason.clear();
  const Base& base = this->base(machine, result.stack);
  const OpenValues open = open_values(row, habits, machine, base.abilities);
  result.open = open.names;
  result.source = base.source;
  Scenario scenario = base.scenario;
  const BytesPerSecond rate = scenario.cluster.nic_bandwidth;
  for (const OpenPlan& plan : open.plans) {
    scenario.plan = run_plan(row, habits, plan);
    for (const double network : open.networks) {
      scenario.cluster.nic_bandwidth = network * rate;
      for (const OpenModel& model : open.models) {
        scenario.model = run_model(row, habits, model);
        add_reading(row, habits, scenario, result);
      }
    }
  }
}

RunHabits RunReader::habits_of(const RunRow& row) {
  RunHabits habits = families_.habits_of(row);
  habits.named = models_.of(row, habits.model);
  if (habits.named == nullptr) {
    habits.widths = models_.usual_widths(row);
  }
  if (!row.has("seq") && !habits.sequence) {
    habits.sequence = noted_patches(row, habits);
  }
  if (const std::string power = noted_power(row); !power.empty()) {
    habits.power_cap = power;
  }
  return habits;
}

RunReadings RunReader::read(const RunRow& row) {
  RunReadings result;
  try {
    check_readable(row);
    const RunHabits habits = habits_of(row);
    result.stack = habits.stack;
    result.rates = habits.rates;
    std::string first;  // the reason of the truest
    for (RunMachine& machine : machines_.of(row, habits)) {
      if (!habits.power_cap.empty()) {
        machine.changes.push_back({"cluster.chip.power_cap", Value(habits.power_cap), "family"});
      }
      read_on(machine, row, habits, result);
      first = first.empty() ? result.skip_reason : first;
      if (result.skip_reason.empty()) {
        return result;
      }
    }
    result.skip_reason = first;
  } catch (const InputError& error) {
    result.skip_reason = error.what();
  }
  if (!result.skip_reason.empty()) {
    result.readings.clear();
  }
  return result;
}

}  // namespace titer
