// What a measured run recomputes, and what it keeps on its hosts.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// "block:5 layers"
std::optional<std::int64_t> layers_in(const std::string& text) {
  const std::size_t at = text.find_first_of("0123456789");
  return at == std::string::npos ? std::nullopt
                                 : std::optional<std::int64_t>(std::stoll(text.substr(at, 6)));
}

/// What is recomputed by the words for it, the more telling before the others.
struct RecomputeWord {
  std::string_view text;
  Recompute recompute;
  Modules modules = 0;
};
constexpr Modules kPartial = bits(Module::core_attention, Module::layer_norm);
// By results that are kept.  [MaxText, remat_policy; JAX, checkpoint_dots_with_no_batch_dims]
constexpr Modules kAllButProducts =
    bits(Module::attention_result, Module::layer_norm, Module::mlp_activation);
constexpr Modules kAllButAttentions =
    bits(Module::attention_result, Module::layer_norm, Module::mlp);
constexpr Modules kAllButHeads = kAllButAttentions | bit(Module::attention_output);
constexpr std::array<RecomputeWord, 15> kRecomputeWords = {
    {{"none", Recompute::none},
     {"selective(op)", Recompute::operations},
     {"block", Recompute::full},
     {"full", Recompute::full},
     {"decoder_layer_input", Recompute::full},  // all that is kept of a layer
     {"selective", Recompute::selective},
     {"all but q,k,v,out", Recompute::modules, kAllButAttentions},
     {"all but q,k,v", Recompute::modules, kAllButHeads},
     {"qkv_proj_offloaded", Recompute::modules, kAllButHeads},
     {"save_dot_except_logits_ffn1", Recompute::modules, kAllButAttentions},
     {"save_dot_except_logits", Recompute::modules, kAllButProducts},
     {"minimal", Recompute::modules, kAllButProducts},
     {"all but dot", Recompute::modules, kAllButProducts},
     {"all but attention", Recompute::modules, bits(Module::layer_norm, Module::mlp)},
     {"partial", Recompute::modules, kPartial}}};
// Layers times hidden size of models of which nothing but full recomputation fits.
constexpr std::int64_t kLargeModel = 500000;

/// Modules as lists name them.
struct ModuleWord {
  std::string_view text;
  Module module;
};
constexpr std::array<ModuleWord, 10> kModuleWords = {{{"layernorm", Module::layer_norm},
                                                      {"norm", Module::layer_norm},
                                                      {"moe_act", Module::activation},
                                                      {"act", Module::activation},
                                                      {"moe", Module::moe},
                                                      {"mlp", Module::mlp},
                                                      {"core_attn", Module::core_attention},
                                                      {"attention", Module::core_attention},
                                                      {"shared_experts", Module::shared_experts},
                                                      {"mla_up_proj", Module::latent_up}}};

/// "selective:layernorm+moe_act", "selective(norm, act)": 0 where some word is no module's.
Modules modules_in(const std::string& text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";
  Modules modules = 0;
  const std::size_t list = std::min(text.find_first_of(":("), text.size());
  std::size_t begin = text.find_first_of(letters, list);
  while (begin != std::string::npos) {
    const std::size_t end = std::min(text.find_first_not_of(letters, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto known = std::ranges::find(kModuleWords, word, &ModuleWord::text);
    if (known == kModuleWords.end()) {
      return 0;
    }
    modules |= bit(known->module);
    begin = text.find_first_of(letters, end);
  }
  return modules;
}

/// The same where layers have experts, all but the first of them perhaps.
Modules with_experts(const RunRow& row, Modules modules) {
  const bool has_dense = row.whole("dense_layers", 0) > 0;
  const auto also = [&](Module dense, Module experts) {
    if ((modules & bit(dense)) != 0) {
      const Modules rest = has_dense ? modules : static_cast<Modules>(modules & ~bit(dense));
      modules = static_cast<Modules>(rest | bit(experts));
    }
  };
  also(Module::mlp, Module::moe);
  also(Module::mlp_activation, Module::activation);
  return modules;
}

/// What a row says; what its software does where it says nothing of the row itself.
std::string recompute_text(const RunRow& row, const RunHabits& habits) {
  const std::string text = lower(row.text("recompute"));
  const bool is_stated =
      !habits.overrides_recompute && !text.empty() && text.find("not per row") == std::string::npos;
  if (!is_stated && habits.recompute.empty()) {
    throw InputError("recompute not stated");
  }
  return is_stated ? text : lower(habits.recompute);
}

}  // namespace

void read_recompute(const RunRow& row, const RunHabits& habits, Plan& plan) {
  const std::string text = recompute_text(row, habits);
  const auto word = std::ranges::find_if(kRecomputeWords, [&](const RecomputeWord& known) {
    return text.find(known.text) != std::string::npos;
  });
  if (word == kRecomputeWords.end()) {
    throw InputError("recompute \"" + text + "\" is not modelled");
  }
  plan.recompute = word->recompute;
  plan.recomputed = row.has("n_experts") ? with_experts(row, word->modules) : word->modules;
  if (text.find("offload") != std::string::npos) {
    plan.offload.activations = HostPlace::host;
  }
  if (word->text == "block") {
    plan.recompute_layers = layers_in(text);
  } else if (word->text == "partial" &&
             row.whole("layers", 0) * row.whole("hidden", 0) > kLargeModel) {
    plan.recompute = Recompute::full;
    plan.recomputed = 0;
  } else if (const Modules listed = modules_in(text); plan.recompute == Recompute::selective &&
                                                      listed != 0 &&
                                                      listed != bit(Module::core_attention)) {
    plan.recompute = Recompute::modules;
    plan.recomputed = listed;
  }
}

void read_offload(const RunRow& row, const RunHabits& habits, Plan& plan) {
  const std::string told = lower(row.text("offload"));
  const std::string text = told.empty() || told == "none" ? lower(habits.offload) : told;
  const auto is = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  if (is("activation")) {
    plan.offload.activations = HostPlace::host;
    plan.offload.layers = is("layers") ? layers_in(text) : std::nullopt;
  } else if (is("optimizer")) {
    // Taken as plan.offload.update has it, the rows that there are would be predicted 40 to 85 %
    // too fast: whether their copies were of pinned memory, and how many threads each rank's update
    // had, no source says.
    throw InputError("offload \"" + row.text("offload") +
                     "\": copies and threads of hosts that nothing is told of are not modelled");
  } else if (!text.empty() && text != "none") {
    throw InputError("offload \"" + row.text("offload") + "\" is not modelled");
  }
}

}  // namespace titer
