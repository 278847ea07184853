// Which of Megatron's layers have experts, and which see a window only.

#include <algorithm>
#include <cstdlib>

#include "import/import_parts.hpp"

namespace titer {
namespace {

std::vector<bool> read_full_layers(const ImportTask& task, std::int64_t layers) {
  Settings& in = task.in;
  if (!in.has("window_attn_skip_freq")) {
    return {};
  }
  std::vector<bool> list = read_layer_choice(task, "window_attn_skip_freq", layers);
  const bool is_list = in.text("window_attn_skip_freq").value_or("").find('[') != std::string::npos;
  if (is_list) {
    list.flip();  // 1 stands for a window
  } else if (const auto every = in.integer("window_attn_skip_freq", 1)) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      list[i] = (static_cast<std::int64_t>(i) + 1) % *every == 0;
    }
  }
  return list;
}

/// "128,0" or [128, 0]: so many tokens before the query, none after.
std::optional<std::int64_t> read_window(Settings& in) {
  const auto text = in.text("window_size");
  if (!text) {
    return std::nullopt;
  }
  const std::size_t digit = std::min(text->find_first_of("-0123456789"), text->size());
  const long long before = std::atoll(text->c_str() + digit);
  if (digit == text->size() || before == 0 || before > kMostTokens) {
    in.fail("window_size", "expected tokens before and after a query, such as 128,0");
    return std::nullopt;
  }
  return before < 0 ? std::nullopt : std::optional<std::int64_t>(before + 1);
}

}  // namespace

void read_megatron_layers(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  const std::optional<Transformer>& base = task.options.base;
  const std::vector<bool> with_experts = read_layer_choice(task, "moe_layer_freq", model.layers);
  const std::int64_t interval = task.defaults.expert_interval;
  const std::optional<std::int64_t> window = read_window(in);
  const bool same_layers = base && with_experts.empty() && !window;
  if (same_layers && (!in.has("num_layers") || model.layers == base->layers)) {
    return;
  }
  if (same_layers && model.kinds.size() > 1) {
    in.fail("num_layers",
            "expected as many layers as the model has that it changes: they are "
            "not all alike");
    return;
  }
  const std::vector<bool> full = read_full_layers(task, model.layers);
  std::vector<LayerKind> layers;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    LayerKind kind = same_layers ? model.kinds.front() : LayerKind{};
    const bool in_turn = (i + 1) % interval == 0;
    kind.experts = model.experts.has_value() && (with_experts.empty() ? in_turn : with_experts[at]);
    kind.window = window && !(at < full.size() && full[at]) ? window : kind.window;
    layers.push_back(kind);
  }
  set_layers(model, layers);
}

}  // namespace titer
