// Experts, and hybrids of mixers and attention, in Megatron's names.

#include <algorithm>
#include <array>

#include "import/import_parts.hpp"
#include "titer/model/transformer/branches.hpp"

namespace titer {
namespace {

void read_routing(const ImportTask& task, Experts& experts) {
  Settings& in = task.in;
  Routing& routing = experts.routing;
  if (!routing.capacity_factor) {
    routing.capacity_factor = task.defaults.capacity_factor;
  }
  routing.groups = in.integer("moe_router_num_groups", 1, kMostWidth).value_or(routing.groups);
  routing.groups_chosen =
      in.integer("moe_router_group_topk", 1, kMostWidth).value_or(routing.groups_chosen);
  if (experts.count % routing.groups != 0) {
    in.fail("moe_router_num_groups",
            "expected a divisor of the " + std::to_string(experts.count) + " experts");
  }
  if (routing.groups_chosen > routing.groups) {
    in.fail("moe_router_group_topk",
            "expected at most the " + std::to_string(routing.groups) + " groups that there are");
  }
  const auto factor = in.number("moe_expert_capacity_factor");
  if (factor && *factor <= 0) {
    in.fail("moe_expert_capacity_factor", "expected a positive number");
  }
  routing.capacity_factor = factor ? factor : routing.capacity_factor;
}

/// Those of forks for AMD's and Alibaba's recipes say how many there are, too.
void read_shared_experts(const ImportTask& task, Experts& experts) {
  Settings& in = task.in;
  const bool is_renamed = in.has("shared_moe_ffn_hidden_size");
  const auto width =
      in.integer(is_renamed ? "shared_moe_ffn_hidden_size" : "moe_shared_expert_intermediate_size",
                 0,
                 kMostWidth);
  const bool is_on = in.is_on("enable_shared_expert");
  const auto count = in.integer("num_shared_experts", 0, kMostWidth);
  if (width) {
    experts.shared_ffn = *width;
  } else if (count) {
    experts.shared_ffn = *count * experts.ffn;
  } else if (is_on) {
    in.leave_out("enable_shared_expert", "nothing tells the width of the shared experts");
  }
}

}  // namespace

void read_megatron_experts(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  const std::string_view key = in.has("num_experts") ? "num_experts" : "num_moe_experts";
  const auto count = in.integer(key, 1, kMostWidth);
  const bool is_dense =
      count ? *count < task.defaults.least_experts : !(task.options.base && model.experts);
  if (is_dense) {
    return;
  }
  Experts experts;
  experts.per_token = task.defaults.experts_per_token;
  experts = model.experts.value_or(experts);
  experts.count = count.value_or(experts.count);
  if (in.has("ffn_hidden_size") || !task.options.base) {
    experts.ffn = model.ffn;
  }
  experts.ffn = in.integer("moe_ffn_hidden_size", 1, kMostWidth).value_or(experts.ffn);
  experts.per_token = in.integer("moe_router_topk", 1, kMostWidth).value_or(experts.per_token);
  if (experts.per_token > experts.count) {
    in.fail("moe_router_topk",
            "expected at most the " + std::to_string(experts.count) + " experts that there are");
  }
  read_shared_experts(task, experts);
  experts.latent = in.integer("moe_latent_size", 1, kMostWidth).value_or(experts.latent);
  experts.shared_gate = in.flag("moe_shared_expert_gate").value_or(experts.shared_gate);
  experts.router_bias = in.flag("moe_router_enable_expert_bias").value_or(experts.router_bias);
  read_routing(task, experts);
  model.experts = experts;
}

namespace {

constexpr std::array<std::string_view, 2> kPatterns = {"hybrid_layer_pattern",
                                                       "hybrid_override_pattern"};

std::string_view pattern_key(const Settings& in) {
  return in.has(kPatterns[0]) ? kPatterns[0] : kPatterns[1];
}

/// Letters of the layers: without "|", which divides them into stages, and without the modules for
/// further tokens that stand behind "/" in newer releases.
std::string hybrid_letters(const Settings& in) {
  std::string letters = in.written(pattern_key(in));
  letters.resize(std::min(letters.find('/'), letters.size()));
  letters.erase(std::remove(letters.begin(), letters.end(), '|'), letters.end());
  return letters;
}

std::vector<LayerKind> layers_of(const ImportTask& task,
                                 std::string_view key,
                                 const std::string& letters) {
  std::vector<LayerKind> layers;
  for (const char letter : letters) {
    const auto layer = branch_layer(letter);
    if (!layer) {
      task.in.fail(key, "expected layers of M, *, - or E, not " + std::string(1, letter));
      return {};
    }
    layers.push_back(*layer);
  }
  return layers;
}

/// A module for further tokens has layers of its own: told by themselves, or each behind a "/".
void read_hybrid_prediction(const ImportTask& task, Transformer& model) {
  constexpr std::string_view own = "mtp_hybrid_override_pattern";
  const std::string all = task.in.written(pattern_key(task.in));
  std::string letters = task.in.text(own).value_or("");
  if (const std::size_t slash = all.find('/'); letters.empty() && slash != std::string::npos) {
    letters = all.substr(slash + 1, all.find('/', slash + 1) - slash - 1);
    if (!task.in.has("mtp_num_layers")) {
      model.predicted_tokens = std::ranges::count(all, '/');
    }
  }
  const std::string_view key = task.in.has(own) ? own : pattern_key(task.in);
  const std::vector<LayerKind> branches = layers_of(task, key, letters);
  model.predicted_layer = joined(branches);
  if (!branches.empty() && !model.predicted_layer) {
    task.in.fail(key,
                 "expected modules for further tokens of one layer, or one that mixes tokens and "
                 "an MLP or experts behind it");
  }
}

/// Mamba-2 with Megatron-Core's defaults.  [mamba_mixer.py]
Mixer hybrid_mixer(const ImportTask& task, std::int64_t hidden) {
  Settings& in = task.in;
  const auto width = [&](std::string_view key, std::int64_t otherwise) {
    return in.integer(key, 1, kMostWidth).value_or(otherwise);
  };
  Mixer mixer{.kind = MixerKind::mamba2, .convolution = 4, .chunk = 128};
  mixer.convolution_bias = true;
  mixer.head_dim = width("mamba_head_dim", 64);
  mixer.heads = width("mamba_num_heads", std::max<std::int64_t>(1, 2 * hidden / mixer.head_dim));
  mixer.key_heads = width("mamba_num_groups", 8);
  mixer.key_dim = width("mamba_state_dim", 128);
  return mixer;
}

}  // namespace

std::int64_t hybrid_layers(const Settings& in) {
  return in.has(pattern_key(in)) ? static_cast<std::int64_t>(hybrid_letters(in).size()) : 0;
}

void read_hybrid(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  const std::string_view key = pattern_key(in);
  for (const std::string_view told : {key, std::string_view("spec")}) {
    static_cast<void>(in.text(told));
  }
  static_cast<void>(in.is_on("is_hybrid_model"));
  const std::vector<LayerKind> layers = layers_of(task, key, hybrid_letters(in));
  read_hybrid_prediction(task, model);
  if (layers.empty()) {
    return;
  }
  if (static_cast<std::int64_t>(layers.size()) != model.layers) {
    in.fail("num_layers",
            "expected the " + std::to_string(layers.size()) + " layers of the pattern");
    return;
  }
  const auto any = [&](auto is) { return std::ranges::any_of(layers, is); };
  if (any([](const LayerKind& kind) { return kind.experts; }) != model.experts.has_value()) {
    in.fail(key,
            model.experts ? "expected layers with experts (E), since there are some"
                          : "expected num_experts, since some layers (E) have them");
    return;
  }
  if (any([](const LayerKind& kind) { return kind.tokens == TokenMixing::mixer; })) {
    model.mixer = hybrid_mixer(task, model.hidden);
  }
  set_layers(model, layers);
}

}  // namespace titer
