// What a measured run recomputes, and what it keeps on its hosts.

#include <algorithm>
#include <array>
#include <regex>

#include "titer/input/words.hpp"
#include "titer/measured/run_scenario.hpp"

namespace titer {
namespace {

/// "block:5 layers", "4 of 20 layers"
std::optional<std::int64_t> layers_in(const std::string& text) {
  const std::size_t at = text.find_first_of("0123456789");
  return at == std::string::npos ? std::nullopt
                                 : std::optional<std::int64_t>(std::stoll(text.substr(at, 6)));
}

bool holds(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

/// The share of layers that is recomputed in full where not all are: "every 2 layers", "every other
/// layer", "selective(2)" [torchtitan], "1/2" [fms-fsdp], "1/3 of blocks", "50 % of layers"; of
/// "some blocks" what the row's rates with and without these tell, a forward pass being a third of
/// a step.
std::optional<double> share_in(const RunRow& row, const std::string& text) {
  if (holds(text, "every other") || holds(text, "every second")) {
    return 0.5;
  }
  static const std::regex counted(
      R"((?:every |selective ?\(|selective )(\d{1,3})\b(?! ?[/%])|\b(\d{1,2}) ?/ ?(\d{1,3})\b|\b(\d{1,3}) ?%)");
  std::smatch match;
  if (std::regex_search(text, match, counted)) {
    if (match[4].matched) {
      return std::stod(match[4]) / 100;
    }
    return match[1].matched ? 1 / std::stod(match[1]) : std::stod(match[2]) / std::stod(match[3]);
  }
  if (holds(text, "some blocks") || holds(text, "some layers")) {
    const double useful = row.number("mfu_pct").value_or(0);
    const double all = row.number("hfu_pct").value_or(0);
    if (useful > 0 && all >= useful) {
      return 3 * (all / useful - 1);
    }
    throw InputError("recompute \"" + text + "\": how many is not stated");
  }
  return std::nullopt;
}

/// As a switch: "no AC", "activation checkpointing off", "gradient_checkpointing=True", "all
/// layers".
std::optional<bool> switch_in(std::string text) {
  std::ranges::replace(text, '_', ' ');
  static const std::regex off(
      R"((?:0|no|off|false|disabled|without|w/o|unused|not (?:used|enabled)|n$|save all)\b(?!\.).*|)"
      R"(.*[ :=](?:off|false|disabled))");
  static const std::regex on(
      R"((?:1|yes|y|on|true|enabled)\b(?!\.).*|(?:activation|gradient) checkpointing.*|)"
      R"((?:(?:activation|gradient|act|grad) )?(?:checkpoint(?:ing|ed)|ckpt|recompute|)"
      R"(recomputation|remat|rematerialization)(?: on)?|use checkpoint|)"
      R"((?:checkpoint )?(?:all|every|each|whole)(?: (?:transformer )?(?:layer|block)s?)?|)"
      R"(ac( on)?|1/1.*)");
  if (std::regex_match(text, off)) {
    return false;
  }
  return std::regex_match(text, on) ? std::optional(true) : std::nullopt;
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
constexpr Modules kActivations = bits(Module::layer_norm, Module::mlp_activation);
constexpr Modules kAllButContext = bits(Module::layer_norm, Module::mlp);
constexpr std::array<RecomputeWord, 36> kRecomputeWords = {
    {{"none", Recompute::none},
     {"selective(op)", Recompute::operations},
     {"selective (op", Recompute::operations},
     {"selective op", Recompute::operations},
     {"selective ac (op", Recompute::operations},
     {"sac", Recompute::operations},
     {"block", Recompute::full},
     {"full", Recompute::full},
     {"unsloth", Recompute::full},  // whose layers' inputs go to the host
     {"uniform", Recompute::full},
     {"layer-wise", Recompute::full},
     {"nothing_saveable", Recompute::full},  // JAX's name for it
     {"save_nothing", Recompute::full},
     {"decoder_layer_input", Recompute::full},  // all that is kept of a layer
     {"selective", Recompute::selective},
     {"core attention", Recompute::selective},
     {"core_attn", Recompute::selective},
     {"all but q,k,v,out", Recompute::modules, kAllButAttentions},
     {"save_qkvo", Recompute::modules, kAllButAttentions},  // [AXLearn]
     {"all but q,k,v", Recompute::modules, kAllButHeads},
     {"qkv_proj_offloaded", Recompute::modules, kAllButHeads},
     {"save_qkv_proj", Recompute::modules, kAllButHeads},
     {"save_dot_except_logits_ffn1", Recompute::modules, kAllButAttentions},
     {"save_dot_except_logits", Recompute::modules, kAllButProducts},
     {"save_dot_except_mlp", Recompute::modules, kAllButAttentions},
     {"save_dot_with_context_except_mlp", Recompute::modules, kAllButContext},
     {"save_out_proj", Recompute::modules, bits(Module::attention, Module::mlp)},
     {"minimal_with_context", Recompute::modules, kActivations},
     {"minimal_flash", Recompute::modules, kActivations},
     {"minimal", Recompute::modules, kAllButProducts},
     {"dots_saveable", Recompute::modules, kAllButProducts},
     {"checkpoint_dots", Recompute::modules, kAllButProducts},
     {"dots_with_no_batch_dims", Recompute::modules, kAllButProducts},
     {"all but dot", Recompute::modules, kAllButProducts},
     {"all but attention", Recompute::modules, kAllButContext},
     {"partial", Recompute::modules, kPartial}}};
// Layers times hidden size of models of which nothing but full recomputation fits.
constexpr std::int64_t kLargeModel = 500000;

/// Modules as lists name them.
struct ModuleWord {
  std::string_view text;
  Module module;
};
constexpr std::array<ModuleWord, 20> kModuleWords = {{{"layernorm", Module::layer_norm},
                                                      {"norm", Module::layer_norm},
                                                      {"norms", Module::layer_norm},
                                                      {"rmsnorm", Module::layer_norm},
                                                      {"moe_act", Module::activation},
                                                      {"act", Module::activation},
                                                      {"moe", Module::moe},
                                                      {"mlp", Module::mlp},
                                                      {"core_attn", Module::core_attention},
                                                      {"attention", Module::core_attention},
                                                      {"attn", Module::core_attention},
                                                      {"core_attention", Module::core_attention},
                                                      {"shared_experts", Module::shared_experts},
                                                      {"mla_up_proj", Module::latent_up},
                                                      {"layer_norm", Module::layer_norm},
                                                      {"rms_norm", Module::layer_norm},
                                                      {"feed_forward", Module::mlp},
                                                      {"ffn", Module::mlp},
                                                      {"swiglu", Module::activation},
                                                      {"gelu", Module::activation}}};

/// "selective:layernorm+moe_act", "selective(norm, act)", "mlp + norm": 0 where some word is no
/// module's.
Modules named_modules(const std::string& text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";
  Modules modules = 0;
  const std::size_t list = text.find_first_of(":(");
  const bool is_list = list != std::string::npos || !text.starts_with("selective");
  std::size_t begin = text.find_first_of(letters, is_list && list == std::string::npos ? 0 : list);
  while (begin != std::string::npos) {
    const std::size_t end = std::min(text.find_first_not_of(letters, begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (word == "recompute" || word == "and" || word == "only") {
      begin = text.find_first_of(letters, end);
      continue;
    }
    const auto known = std::ranges::find(kModuleWords, word, &ModuleWord::text);
    if (known == kModuleWords.end()) {
      return 0;
    }
    modules |= bit(known->module);
    begin = text.find_first_of(letters, end);
  }
  return modules;
}

/// The same, of experts' activations where there are experts.
Modules modules_in(const LayerContents& layers, const std::string& text) {
  const Modules modules = named_modules(text);
  constexpr Modules of_experts = bit(Module::activation);
  return (modules & of_experts) == 0 || layers.experts
             ? modules
             : static_cast<Modules>((modules & ~of_experts) | bit(Module::mlp_activation));
}

/// What words mean where layers have experts, all but the first of them perhaps.
Modules with_experts(const LayerContents& layers, Modules modules) {
  const auto also = [&](Module dense, Module experts) {
    if ((modules & bit(dense)) != 0) {
      const Modules rest = layers.dense ? modules : static_cast<Modules>(modules & ~bit(dense));
      modules = static_cast<Modules>(rest | bit(experts));
    }
  };
  also(Module::mlp, Module::moe);
  also(Module::mlp_activation, Module::activation);
  return modules;
}

/// What a row says; what its software does where it says nothing of the row itself.
std::string recompute_text(const RunRow& row, const RunHabits& habits) {
  std::string text = lower(row.text("recompute"));
  static const std::regex up_projection("mla up[ -]?proj(?:ections?)?");
  text = std::regex_replace(text, up_projection, "mla_up_proj");
  const bool is_stated =
      !habits.overrides_recompute && !text.empty() && text.find("not per row") == std::string::npos;
  if (!is_stated && habits.recompute.empty()) {
    throw InputError("recompute not stated");
  }
  static const std::regex some("sac|selective(?: (?:ac|activation checkpointing))?");
  if (is_stated && !habits.selective.empty() && std::regex_match(text, some)) {
    return lower(habits.selective);
  }
  return is_stated ? text : lower(habits.recompute);
}

/// Of text that no word of kRecomputeWords is in.
void read_other_words(const LayerContents& layers, const std::string& text, Plan& plan) {
  if (const auto on = switch_in(text)) {
    plan.recompute = *on ? Recompute::full : Recompute::none;
  } else if (const Modules listed = modules_in(layers, text); listed != 0) {
    plan.recompute = Recompute::modules;
    plan.recomputed = listed;
  } else {
    throw InputError("recompute \"" + text + "\" is not modelled");
  }
}

/// Of some layers, in full: so many of a stage's.
bool reads_share(const RunRow& row, const std::string& text, Plan& plan) {
  const auto share = share_in(row, text);
  if (!share || holds(text, "uniform")) {
    return false;
  }
  plan.recompute = *share > 0 ? Recompute::full : Recompute::none;
  if (*share > 0 && *share < 1) {
    const std::int64_t layers = row.whole("layers", 0) / plan.pipeline;
    const auto some = static_cast<std::int64_t>(*share * static_cast<double>(layers) + 1e-9);
    plan.recompute_layers = std::max<std::int64_t>(some, 1);
  }
  return true;
}

/// Core attention, or the modules that are listed.
void read_selected(const LayerContents& layers, const std::string& text, Plan& plan) {
  const Modules listed = modules_in(layers, text);
  const bool is_list = text.find_first_of(":(") != std::string::npos;
  if (listed == 0 && is_list && !holds(text, "not stated") && !holds(text, "default") &&
      !holds(text, "attn") && !holds(text, "attention")) {
    throw InputError("recompute \"" + text + "\" is not modelled");
  }
  if (listed != 0 && listed != bit(Module::core_attention)) {
    plan.recompute = Recompute::modules;
    plan.recomputed = listed;
  }
}

/// What is said of a word beyond it.
void read_particulars(const RunRow& row,
                      const LayerContents& layers,
                      const RecomputeWord& word,
                      const std::string& text,
                      Plan& plan) {
  if (word.text == "block" || holds(text, " of ")) {
    plan.recompute_layers = layers_in(text);
  } else if (word.text == "partial" &&
             row.whole("layers", 0) * row.whole("hidden", 0) > kLargeModel) {
    plan.recompute = Recompute::full;
    plan.recomputed = 0;
  } else if (plan.recompute == Recompute::selective) {
    read_selected(layers, text, plan);
  }
}

/// What the notes say: "CPU offload of 40 layers", "activation offloading", "ZeRO-Offload".
std::string noted_offload(const RunRow& row) {
  static const std::regex of_states(
      R"(zero-(?:offload|infinity)|offload\w*(?: of)?(?: the)? optimizer|optimizer(?: states?)?[ -]offload|\bcpu ?adam)");
  static const std::regex named(
      R"(offload\w*(?: of)? (\d{1,3} layers)|activations?[ -]offload|offload\w*(?: of)? activations)");
  const std::string notes = lower(row.text("notes"));
  std::smatch match;
  if (std::regex_search(notes, match, of_states)) {
    return "optimizer: " + match.str();
  }
  return std::regex_search(notes, match, named) ? "activations " + match[1].str() : "";
}

/// What a row, its sharding ("ZeRO-3 + offload optimizer", "ZeRO-Infinity"), its notes or its
/// software say, in this order.
std::string offload_text(const RunRow& row, const RunHabits& habits) {
  std::string told = lower(row.text("offload"));
  if (const auto on = switch_in(told); told == "none" || (on && !*on)) {
    told.clear();
  }
  std::string kind = lower(row.text("dp_kind"));
  if (told.empty() && (holds(kind, "offload") || holds(kind, "infinity"))) {
    return kind;
  }
  // Also where the column says that there is none.
  static const std::regex everything("full (?:cpu )?offload");
  if (told.empty() && std::regex_search(lower(row.text("notes")), everything)) {
    return "optimizer and parameters";
  }
  if (!row.has("offload")) {
    told = noted_offload(row);
  }
  return told.empty() ? lower(habits.offload) : told;
}

}  // namespace

void read_recompute(const RunRow& row, const RunHabits& habits, Plan& plan) {
  const std::string text = recompute_text(row, habits);
  if (holds(text, "offload") || holds(text, "unsloth")) {
    plan.offload.activations = HostPlace::host;
  }
  const LayerContents layers = contents_of(row, habits);
  const auto word = std::ranges::find_if(
      kRecomputeWords, [&](const RecomputeWord& known) { return holds(text, known.text); });
  if (word == kRecomputeWords.begin()) {
    plan.recompute = Recompute::none;
  } else if (reads_share(row, text, plan)) {
    return;
  } else if (word == kRecomputeWords.end()) {
    read_other_words(layers, text, plan);
  } else {
    plan.recompute = word->recompute;
    plan.recomputed = layers.experts ? with_experts(layers, word->modules) : word->modules;
    read_particulars(row, layers, *word, text, plan);
  }
}

void read_offload(const RunRow& row, const RunHabits& habits, Plan& plan) {
  const std::string text = offload_text(row, habits);
  const auto is = [&](std::string_view word) { return holds(text, word); };
  if (is("activation") && !is("optimizer")) {
    plan.offload.activations = HostPlace::host;
    plan.offload.layers = is("layers") ? layers_in(text) : std::nullopt;
  } else if (is("optimizer")) {
    // Taken as plan.offload.update has it, the rows that there are would be predicted 40 to 85 %
    // too fast: whether their copies were of pinned memory, and how many threads each rank's update
    // had, no source says.
    throw InputError("offload \"" + text +
                     "\": copies and threads of hosts that nothing is told of are not modelled");
  } else if (!text.empty() && text != "none") {
    throw InputError("offload \"" + text + "\" is not modelled");
  }
}

}  // namespace titer
