// What a measured run's name and notes say that no column has: adapters, the optimizer, the kernels
// of attention, slices, and that it is no step of training alone.

#include <algorithm>
#include <array>
#include <regex>

#include "titer/input/known_settings.hpp"
#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"
#include "titer/model/transformer/denoiser.hpp"

namespace titer {
namespace {

/// "LoRA rank 16", "LoRA r=16", "lora_r 16".
std::optional<std::int64_t> rank_in(const std::string& text) {
  static const std::regex stated(R"(\b(?:lora_)?(?:rank|r|dim)[ =:]{0,2}(\d{1,4})\b)");
  std::smatch match;
  return std::regex_search(text, match, stated) ? std::optional(std::stoll(match[1]))
                                                : std::nullopt;
}

constexpr WeightRoles kOfAttention = role_bit(WeightRole::query) | role_bit(WeightRole::key) |
                                     role_bit(WeightRole::value) | role_bit(WeightRole::output);
constexpr WeightRoles kOfMlp =
    role_bit(WeightRole::up) | role_bit(WeightRole::gate) | role_bit(WeightRole::down);

/// Weights as lists of adapters name them, "_proj" left out; none for a word that is no name.
WeightRoles roles_named(const std::string& name) {
  if (name == "mlp" || name == "apply_lora_to_mlp") {  // [torchtune]
    return kOfMlp;
  }
  if (name == "proj") {  // [LitGPT]
    return role_bit(WeightRole::output);
  }
  const Value modules = known_settings("peft-adapter", "targets");
  const Value* const module = modules.find(name + "_proj");
  const std::string_view role = module == nullptr ? std::string_view(name) : module->text;
  const auto* const known = std::ranges::find(kAdapterTargets, role, &Choice<WeightRole>::name);
  return known == kAdapterTargets.end() ? WeightRoles{0} : role_bit(known->value);
}

/// "on all linear layers", "on attention", "on q, v", "q_proj,v_proj,output_proj;
/// apply_lora_to_mlp".
std::optional<WeightRoles> targets_in(const std::string& text) {
  static const std::regex everything("(?:all|target)[ -_]linear|linear layers");
  if (std::regex_search(text, everything)) {
    return kAllLinear;
  }
  static const std::regex listed(
      R"(\bq(?:uery)?(?:_proj)?(?:(?:[ ,/+&]|and )+(?:k|key|v|value|o|out|output|proj|gate|up|down|mlp)(?:_proj)?\b)+|apply_lora_to_mlp)");
  static const std::regex named("[a-z_]+");
  WeightRoles roles = 0;
  const std::sregex_iterator end;
  for (std::sregex_iterator list(text.begin(), text.end(), listed); list != end; ++list) {
    const std::string found = list->str();
    for (std::sregex_iterator one(found.begin(), found.end(), named); one != end; ++one) {
      std::string name = one->str();
      name.resize(name.ends_with("_proj") ? name.size() - 5 : name.size());
      roles = static_cast<WeightRoles>(roles | roles_named(name));
    }
  }
  if (roles == 0 && text.find("on attention") != std::string::npos) {
    return kOfAttention;
  }
  return roles == 0 ? std::nullopt : std::optional(roles);
}

/// As the text has them, or else all of them as the software does. Throws InputError where neither
/// tells rank and place.
Adapters adapters_in(const std::string& text, const std::optional<Adapters>& usual) {
  const auto rank = rank_in(text);
  const auto targets = targets_in(text);
  const bool are_stated = rank && targets;
  if (!are_stated && !usual) {
    throw InputError("rank and place of its adapters not stated");
  }
  Adapters adapters = usual.value_or(Adapters{});
  if (are_stated) {
    adapters.rank = *rank;
    adapters.targets = *targets;
  }
  return adapters;
}

/// The first of the rules but Adam that a word of the text names.
std::optional<OptimizerRule> rule_in(const std::string& text) {
  static const std::regex in_bytes(
      "(adam|lion)w?[ _-]?(?:bnb[ _-])?8-?bit|8-?bit (?:paged )?(adam|lion)");
  std::smatch match;
  if (std::regex_search(text, match, in_bytes)) {
    return match[1] == "lion" || match[2] == "lion" ? kLion8Bit : kAdam8Bit;
  }
  if (holds_word(text, "lars")) {  // two norms of every tensor besides
    return kMomentumSgd;
  }
  const auto known = std::ranges::find_if(kOptimizerRules, [&](const OptimizerRule& rule) {
    return rule.name != kAdam.name && holds_word(text, rule.name);
  });
  return known == kOptimizerRules.end() ? std::nullopt : std::optional(*known);
}

}  // namespace

void check_readable(const RunRow& row) {
  if (const std::string cell = row.unreadable(); !cell.empty()) {
    throw InputError(cell);
  }
  if (!row.has("n_chips") && !row.has("d")) {
    throw InputError("n_chips not stated");
  }
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

OptimizerRule noted_optimizer(const RunRow& row, const RunHabits& habits) {
  for (const std::string_view column : {"notes", "dp_kind"}) {
    const std::string text = lower(row.text(column));
    for (const std::string_view word : {"galore", "lomo", "adalomo", "sophia"}) {
      if (holds_word(text, word)) {
        throw InputError("the optimizer " + std::string(word) + " is not modelled");
      }
    }
    if (const auto known = rule_in(text)) {
      return *known;
    }
  }
  return rule_in(habits.optimizer).value_or(kAdam);
}

std::optional<std::string> noted_graph(const RunRow& row) {
  static const std::regex named("((?:no|without|w/o) )?(full[ -]iteration )?cuda[ -]?graphs?");
  const std::string notes = lower(row.text("notes"));
  std::smatch match;
  if (!std::regex_search(notes, match, named)) {
    return std::nullopt;
  }
  return match[1].matched ? "none" : (match[2].matched ? "full_iteration" : "1");
}

std::optional<double> noted_capacity(const RunRow& row) {
  static const std::regex stated(R"(capacity[ _]factor[ =:]*(\d{1,2}(?:\.\d{1,3})?))");
  static const std::regex drops("token[ -]?drop|drop-and-pad");
  // Where nothing is said to be dropped or padded a factor may be set that has no effect.
  static const std::regex counts(R"(\bpadded\b|\bdrop(?:s|ped|ping)?\b)");
  const std::string text = lower(row.text("model_name") + "; " + row.text("notes"));
  const bool is_dropped = std::regex_search(text, drops);
  std::smatch match;
  if (std::regex_search(text, match, stated) && std::stod(match[1]) > 0 &&
      (is_dropped || std::regex_search(text, counts))) {
    return std::stod(match[1]);
  }
  return is_dropped ? std::optional(1.0) : std::nullopt;
}

std::string noted_power(const RunRow& row) {
  static const std::regex stated(R"((?:power|capped|limited)[^;]{0,16}\b(\d{2,4}) ?w\b)");
  const std::string notes = lower(row.text("notes"));
  std::smatch match;
  return std::regex_search(notes, match, stated) ? match[1].str() + " W" : "";
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

std::optional<std::int64_t> noted_slice(const RunRow& row) {
  static const std::regex counted(R"(\b(\d{1,4}) ?(?:slice(?:s\b|\(s\))|x (?:tpu )?v\d[a-z]?-\d))");
  static const std::regex sized(R"(\bslices? of (\d{1,5})\b|\b(\d{1,5})-chip slices?\b)");
  const std::string text = lower(row.text("inter_link") + "; " + row.text("notes"));
  const std::int64_t chips = row.chips();
  std::smatch match;
  if (std::regex_search(text, match, sized)) {
    return std::stoll(match[1].matched ? match[1] : match[2]);
  }
  if (std::regex_search(text, match, counted)) {
    const std::int64_t slices = std::stoll(match[1]);
    return slices > 0 && chips % slices == 0 ? std::optional(chips / slices) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::int64_t> noted_patches(const RunRow& row, const RunHabits& habits) {
  const Transformer* model = habits.named_transformer();
  static const std::regex sides(R"(\b(\d{2,4}) ?x ?(\d{2,4})\b)");
  const std::string text = lower(row.text("model_name") + "; " + row.text("notes"));
  std::smatch match;
  if (model == nullptr || !model->denoiser || text.find("frame") != std::string::npos ||
      !std::regex_search(text, match, sides)) {
    return std::nullopt;
  }
  constexpr std::int64_t pixels = 16;  // along a side of a patch: two of the latent's, eight each
  const std::int64_t patches = (std::stoll(match[1]) / pixels) * (std::stoll(match[2]) / pixels);
  const auto& told = model->denoiser->text;
  return patches + (told && joins_text(*model) ? told->tokens : 0);
}

std::int64_t noted_predictions(const RunRow& row) {
  static const std::regex without("(?:no|without|w/o) mtp");
  const std::string notes = lower(row.text("notes"));
  return holds_word(notes, "mtp") && !std::regex_search(notes, without) ? 1 : 0;
}

std::optional<Adapters> run_adapters(const RunRow& row,
                                     const RunHabits& habits,
                                     const Model& model) {
  const std::string text = lower(row.text("model_name") + "; " + row.text("notes"));
  static const std::regex adapted("(?:^|[^a-z])q?lora(?:[^a-z]|$)");
  if (!std::regex_search(text, adapted)) {
    return habits.adapters;
  }
  Adapters adapters = adapters_in(text, habits.adapters);
  const Transformer* transformer = model.if_transformer();
  const bool has_gates = transformer != nullptr && transformer->gated;
  if (adapters.targets != kAllLinear && !has_gates) {  // lists of "mlp" mean them, too
    adapters.targets &= static_cast<WeightRoles>(~role_bit(WeightRole::gate));
  }
  if (text.find("qlora") != std::string::npos || keeps_four_bits(row)) {
    adapters.base = BaseFormat::nf4;
  }
  return adapters;
}

bool keeps_four_bits(const RunRow& row) {
  const std::string text = row.plain("precision");
  return text.find("nf4") != std::string::npos || text.find("4bit") != std::string::npos;
}

}  // namespace titer
