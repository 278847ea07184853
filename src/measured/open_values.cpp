#include "open_values.hpp"

#include <numeric>
#include <regex>

#include "titer/units/listed.hpp"

namespace titer {
namespace {

// What a token table that is not stated is read as: the least and the most of language models.
constexpr std::int64_t kSmallVocabulary = 32000;
constexpr std::int64_t kLargeVocabulary = 128256;
constexpr std::int64_t kClasses = 1000;  // of images, where no vocabulary is stated
// A network that is not stated is read as the cluster's own, and with half of its rate.
constexpr double kSlowNetwork = 0.5;

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

/// GPTs and others of their time are four times as wide, without gates.
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
  const Transformer* named = habits.named_transformer();
  if (named == nullptr) {
    return row.experts();
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

}  // namespace

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

}  // namespace titer
