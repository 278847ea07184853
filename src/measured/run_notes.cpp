// What a measured run's name and notes say that no column has: adapters, the optimizer, the kernels
// of attention, and that it is no step of training alone.

#include <algorithm>
#include <array>
#include <regex>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// "LoRA rank 16", "LoRA r=16".
std::optional<std::int64_t> rank_in(const std::string& text) {
  static const std::regex stated(R"(\b(?:rank|r|dim) ?=? ?(\d{1,4})\b)");
  std::smatch match;
  return std::regex_search(text, match, stated) ? std::optional(std::stoll(match[1]))
                                                : std::nullopt;
}

/// "on all linear layers", "on attention", "on q, v".
std::optional<WeightRoles> targets_in(const std::string& text) {
  static const std::regex query_and_value(R"(\bq(?:_proj)?(?:, ?| ?and | ?\+ ?|/)v(?:_proj)?\b)");
  if (text.find("all linear") != std::string::npos ||
      text.find("all-linear") != std::string::npos) {
    return kAllLinear;
  }
  if (std::regex_search(text, query_and_value)) {
    return role_bit(WeightRole::query) | role_bit(WeightRole::value);
  }
  if (text.find("on attention") != std::string::npos) {
    return role_bit(WeightRole::query) | role_bit(WeightRole::key) | role_bit(WeightRole::value) |
           role_bit(WeightRole::output);
  }
  return std::nullopt;
}

}  // namespace

void refuse_other_steps(const RunRow& row) {
  // What is generated, or passed through a second model, is part of the time.
  constexpr std::array<std::string_view, 8> others = {
      "ppo", "grpo", "dapo", "rlhf", "rollout", "rollouts", "dpo", "distillation"};
  for (const std::string_view column : {"model_name", "notes", "family"}) {
    for (const std::string_view word : others) {
      if (row.says_word(column, word)) {
        throw InputError(std::string(column) + " \"" + row.text(column) +
                         "\": more than a step of training is not modelled");
      }
    }
  }
}

std::optional<bool> noted_flash(const RunRow& row) {
  static const std::regex named(
      R"((no |without |w/o |non-)?(?:flash[ _-]?att(?:entio)?n|fused (?:attention|sdpa)|te fused attention|cudnn attention|sdpa|\bfa[23]\b|splash)[^;,]*)");
  const std::string notes = lower(row.text("notes"));
  std::smatch match;
  if (!std::regex_search(notes, match, named)) {
    return std::nullopt;
  }
  static const std::regex off(R"(.*[ :=](?:off|false|disabled|unused|0)\b.*)");
  return !match[1].matched && !std::regex_match(match[0].str(), off);
}

OptimizerRule noted_optimizer(const RunRow& row) {
  for (const std::string_view column : {"notes", "dp_kind"}) {
    const auto known = std::ranges::find_if(kOptimizerRules, [&](const OptimizerRule& rule) {
      return rule.name != kAdam.name && row.says_word(column, rule.name);
    });
    if (known != kOptimizerRules.end()) {
      return *known;
    }
  }
  return kAdam;
}

std::optional<ContextMethod> noted_context_method(const RunRow& row) {
  for (const std::string_view column : {"notes", "dp_kind", "family", "source"}) {
    if (row.says(column, "ulysses")) {
      return ContextMethod::ulysses;
    }
  }
  return row.says("notes", "all-gather KV") ? std::optional(ContextMethod::all_gather)
                                            : std::nullopt;
}

std::int64_t noted_predictions(const RunRow& row) {
  static const std::regex without("(?:no|without|w/o) mtp");
  const std::string notes = lower(row.text("notes"));
  return holds_word(notes, "mtp") && !std::regex_search(notes, without) ? 1 : 0;
}

std::optional<Adapters> run_adapters(const RunRow& row, const RunHabits& habits) {
  const std::string text = lower(row.text("model_name") + "; " + row.text("notes"));
  static const std::regex adapted("(?:^|[^a-z])q?lora(?:[^a-z]|$)");
  if (!std::regex_search(text, adapted)) {
    return habits.adapters;
  }
  std::optional<Adapters> adapters = habits.adapters;
  if (!adapters) {
    const auto rank = rank_in(text);
    const auto targets = targets_in(text);
    if (!rank || !targets) {
      throw InputError("rank and place of its adapters not stated");
    }
    adapters = Adapters{.rank = *rank, .targets = *targets};
  }
  if (text.find("qlora") != std::string::npos || row.says("precision", "nf4")) {
    adapters->base = BaseFormat::nf4;
  }
  return adapters;
}

}  // namespace titer
