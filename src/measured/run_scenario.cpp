#include "titer/measured/run_scenario.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <regex>

#include "titer/input/document.hpp"
#include "titer/scenario/notes.hpp"
#include "titer/units/listed.hpp"

namespace titer {
namespace {

// What a token table that is not stated is read as: the least and the most of language models.
constexpr std::int64_t kSmallVocabulary = 32000;
constexpr std::int64_t kLargeVocabulary = 128256;
constexpr std::int64_t kClasses = 1000;  // of images, where no vocabulary is stated
// A network that is not stated is read as the cluster's own, and with half of its rate.
constexpr double kSlowNetwork = 0.5;

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

/// Readings of a row: one of each where it says all, several of what it leaves open.
struct OpenValues {
  std::vector<OpenModel> models;
  std::vector<OpenPlan> plans;
  std::vector<double> networks;  // share of the cluster's rate between nodes
  std::string names;             // what is open
};

std::vector<std::int64_t> open_vocabularies(const RunRow& row, const RunHabits& habits) {
  const std::int64_t usual = habits.vocabulary.value_or(0);
  const bool is_inferred = usual > 0 && row.says("inferred_fields", "vocab");
  const std::int64_t stated = is_inferred ? usual : row.whole("vocab", usual);
  if (stated > 0 || habits.named != nullptr) {
    return {stated};
  }
  return is_encoder(row) ? std::vector{kClasses} : std::vector{kSmallVocabulary, kLargeVocabulary};
}

std::vector<bool> open_flash(const RunRow& row, const RunHabits& habits) {
  if (row.has("flash_attn")) {
    return {row.whole("flash_attn", 0) > 0};
  }
  const auto noted = noted_flash(row);
  const auto known = noted ? noted : habits.flash;
  return known ? std::vector{*known} : std::vector{true, false};
}

std::vector<bool> open_gates(const RunRow& row, const RunHabits& habits) {
  static const std::regex without("gpt|bert|opt|bloom|mpt|falcon|pythia|nemotron");
  if (row.has("ffn_gated") || habits.named != nullptr) {
    return {row.whole("ffn_gated", 0) == 1};
  }
  if (habits.widths.gated) {
    return {*habits.widths.gated};
  }
  const bool is_four_wide = row.whole("ffn", 0) == 4 * row.whole("hidden", 0);
  return is_four_wide && std::regex_search(row.plain("model_name"), without)
             ? std::vector{false}
             : std::vector{true, false};
}

std::int64_t experts_of(const RunRow& row, const RunHabits& habits) {
  const Transformer* named = habits.named ? habits.named->if_transformer() : nullptr;
  if (named == nullptr) {
    return row.whole("n_experts", 0);
  }
  return named->experts ? named->experts->count : 0;
}

/// Degrees of expert parallelism: none, and as many ranks as experts and replicas allow.
std::vector<std::int64_t> open_experts(const RunRow& row, const RunHabits& habits) {
  const std::int64_t experts = experts_of(row, habits);
  if (row.has("ep") || experts <= 1) {
    return {0};
  }
  const Plan plan = run_plan(row, habits, {.chunks = 1, .sharding = Sharding::none});
  const std::int64_t most = std::gcd(experts, plan.data * plan.context);
  return most > 1 ? std::vector<std::int64_t>{1, most} : std::vector<std::int64_t>{1};
}

/// What data-parallel ranks share, of all that the software can; the usual where it is known.
std::vector<std::optional<Sharding>> open_shardings(const RunRow& row,
                                                    const RunHabits& habits,
                                                    const Abilities& abilities) {
  if (row.has("dp_kind") || habits.sharding) {
    return {std::nullopt};
  }
  std::vector<std::optional<Sharding>> able;
  for (const Sharding sharding : {Sharding::none, Sharding::zero1, Sharding::zero3}) {
    const Plan plan = run_plan(row, habits, {.chunks = 1, .sharding = sharding});
    if (plan.sharding == sharding && is_able(abilities, plan, PlanPart::state)) {
      able.emplace_back(sharding);
    }
  }
  return able.empty() ? std::vector<std::optional<Sharding>>{std::nullopt} : able;
}

/// The values, whose name is put into a list where there are several.
template <class T>
std::vector<T> listed_if_open(std::string_view name, std::vector<T> values, std::string& names) {
  if (values.size() > 1) {
    add_listed(names, name);
  }
  return values;
}

std::vector<OpenModel> open_models(const RunRow& row, const RunHabits& habits, std::string& names) {
  const auto vocabularies = listed_if_open("vocabulary", open_vocabularies(row, habits), names);
  const auto flash = listed_if_open("flash_attn", open_flash(row, habits), names);
  const auto gates = listed_if_open("ffn_gated", open_gates(row, habits), names);
  OpenModel one{.sequence = row.whole("seq", habits.sequence.value_or(0))};
  std::vector<OpenModel> models;
  for (const std::int64_t vocabulary : vocabularies) {
    for (const bool is_flash : flash) {
      for (const bool gated : gates) {
        one.vocabulary = vocabulary;
        one.flash = is_flash;
        one.gated = gated;
        models.push_back(one);
      }
    }
  }
  return models;
}

std::vector<OpenPlan> open_plans(const RunRow& row,
                                 const RunHabits& habits,
                                 const Abilities& abilities,
                                 std::string& names) {
  auto chunks = listed_if_open("vpp", open_chunks(row), names);
  if (chunks.empty()) {
    chunks = {0};
  }
  const auto experts = listed_if_open("ep", open_experts(row, habits), names);
  const auto shardings = listed_if_open("dp_kind", open_shardings(row, habits, abilities), names);
  std::vector<OpenPlan> plans;
  for (const std::int64_t count : chunks) {
    for (const std::int64_t expert : experts) {
      for (const auto& sharding : shardings) {
        plans.push_back({.chunks = count, .expert = expert, .sharding = sharding});
      }
    }
  }
  return plans;
}

OpenValues open_values(const RunRow& row,
                       const RunHabits& habits,
                       const RunMachine& machine,
                       const Abilities& abilities) {
  OpenValues open;
  open.models = open_models(row, habits, open.names);
  open.plans = open_plans(row, habits, abilities, open.names);
  open.networks = {1.0};
  if (!machine.network_known) {
    open.networks.push_back(kSlowNetwork);
    add_listed(open.names, "network");
  }
  return open;
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
    scenario.training = run_training(row,
                                     habits,
                                     scenario.plan,
                                     static_cast<std::int64_t>(whole),
                                     scenario.model.is_transformer());
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
