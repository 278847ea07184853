// FSDP as accelerate, HuggingFace's trainer and axolotl ask for it.

#include <algorithm>
#include <array>

#include "hf_parts.hpp"

namespace titer {
namespace {

constexpr std::int64_t kUsualNode = 8;  // devices that a hybrid strategy shards over

/// What a strategy shards, by its name and by its number in accelerate's enumeration.
struct Strategy {
  std::string_view name;
  std::string_view number;
  std::string_view sharding;
  bool is_hybrid = false;
};
constexpr std::array<Strategy, 5> kStrategies = {{{"full_shard", "1", "zero3"},
                                                  {"shard_grad_op", "2", "zero2"},
                                                  {"no_shard", "3", "none"},
                                                  {"hybrid_shard", "4", "zero3", true},
                                                  {"hybrid_shard_zero2", "5", "zero2", true}}};

/// "full_shard auto_wrap", a list of such words, or nothing.
std::string strategy_words(const ImportTask& task, std::string_view key) {
  const Value* const value = task.in.raw(key);
  std::string words;
  if (value != nullptr && value->kind == Value::Kind::array) {
    for (const Value& item : value->items) {
      words += item.text + " ";
    }
    return words;
  }
  words = task.in.word(key).value_or("");
  return words == "false" ? "" : words;
}

const Strategy* strategy_of(const ImportTask& task, const std::string& words) {
  constexpr std::string_view key = "fsdp_config.sharding_strategy";
  const std::string told = task.in.word(key).value_or("");
  const auto* const named = std::ranges::find_if(kStrategies, [&](const Strategy& known) {
    return told == known.name || told == known.number;
  });
  if (named != kStrategies.end()) {
    return named;
  }
  if (!told.empty()) {
    task.in.fail(key,
                 "expected FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD or "
                 "HYBRID_SHARD_ZERO2");
  }
  // The longest of the names that is in the words.
  const Strategy* found = &kStrategies.front();
  for (const Strategy& known : kStrategies) {
    const bool is_longer =
        known.name.size() > found->name.size() || words.find(found->name) == std::string::npos;
    found = words.find(known.name) != std::string::npos && is_longer ? &known : found;
  }
  return found;
}

/// Of version 2 it stands for the strategy; of version 1 it may be a word.
void put_reshard(const ImportTask& task) {
  constexpr std::string_view key = "fsdp_config.reshard_after_forward";
  const std::string word = task.in.word(key).value_or("true");
  const bool keeps = word == "false" || word == "shard_grad_op" || word == "no_shard";
  if (keeps) {
    task.into.plan.add("reshard_after_forward", Value(false));
  }
}

}  // namespace

bool put_fsdp(const ImportTask& task, const TrainerPlan& plan) {
  Settings& in = task.in;
  in.rename_all("fsdp_config.fsdp_", "fsdp_config.");
  const std::string words = strategy_words(task, "fsdp");
  const auto version = in.integer("fsdp_version", 1, 2);
  const std::vector<std::string> keys = in.keys();
  const bool has_section = std::ranges::any_of(
      keys, [&](const std::string& key) { return key.starts_with("fsdp_config.") && in.has(key); });
  if (words.empty() && !version && !has_section) {
    return false;
  }
  const Strategy* const strategy = strategy_of(task, words);
  task.into.plan.add("sharding", Value(strategy->sharding));
  if (strategy->is_hybrid) {
    const std::int64_t shard = std::min(plan.data.value_or(kUsualNode), kUsualNode);
    task.into.plan.add("shard", Value(shard));
    assume(task,
           in.has("fsdp_config.sharding_strategy") ? "fsdp_config.sharding_strategy" : "fsdp",
           "the devices of a node share out, taken as " + std::to_string(shard));
  }
  if (strategy->sharding == "zero3") {
    put_reshard(task);
  }
  if (in.is_on("fsdp_config.offload_params") || words.find("offload") != std::string::npos) {
    task.into.plan.add("offload", state_on_host());
  }
  const bool gathers_gradients = strategy->sharding != "none" && plan.accumulation > 1 &&
                                 !in.is_on("fsdp_config.sync_each_batch");
  if (gathers_gradients) {
    task.into.plan.add("reduce_every_pass", Value(false));
    assume(task,
           has_section ? "fsdp_config" : "fsdp",
           "gradients are reduced after the last of the micro-batches (accelerate's no_sync)");
  }
  if (in.is_on("fsdp_config.activation_checkpointing") &&
      task.into.plan.find("recompute") == nullptr) {
    task.into.plan.add("recompute", Value("full"));
  }
  in.skip_known("hf-fsdp");
  return true;
}

}  // namespace titer
