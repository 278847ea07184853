// The adapters that a measured run trains.

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
