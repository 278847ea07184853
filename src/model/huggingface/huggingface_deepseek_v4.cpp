// DeepSeek-V4: one head of keys and values, windows with entries behind them, several streams.
#include <algorithm>

#include "huggingface_families.hpp"
#include "huggingface_keys.hpp"

namespace titer::huggingface {
namespace {

constexpr SharedHeadKeys kSharedKeys = {.q_rank = "q_lora_rank",
                                        .rope_dim = "qk_rope_head_dim",
                                        .output_groups = "o_groups",
                                        .output_rank = "o_lora_rank"};

/// What a layer has behind its window, by the name of its type or the tokens of an entry.
struct Behind {
  std::string_view type;
  std::string_view rate_key;  // older files have it
  std::int64_t entry_tokens = 0;
  bool picks = false;
};
constexpr std::array<Behind, 3> kBehind = {{{.type = "sliding_attention", .rate_key = ""},
                                            {.type = "compressed_sparse_attention",
                                             .rate_key = "compress_rate_csa",
                                             .entry_tokens = 4,
                                             .picks = true},
                                            {.type = "heavily_compressed_attention",
                                             .rate_key = "compress_rate_hca",
                                             .entry_tokens = 128}}};

/// Tokens of an entry for each of these, as the file has them.
std::array<std::int64_t, kBehind.size()> read_rates(Reader& in) {
  std::array<std::int64_t, kBehind.size()> rates{};
  auto told = in.maybe_object("compress_rates");
  for (std::size_t i = 1; i < kBehind.size(); ++i) {
    const Behind& behind = kBehind[i];
    const auto older = in.maybe_integer(behind.rate_key, 1, kMostTokens);
    const auto own = told ? told->maybe_integer(behind.type, 1, kMostTokens) : std::nullopt;
    rates[i] = older.value_or(own.value_or(behind.entry_tokens));
  }
  if (told) {
    told->finish();
  }
  return rates;
}

class LayersBehind {
 public:
  LayersBehind(Reader& in, const Transformer& model)
      : in_(in),
        rates_(read_rates(in)),
        window_(in.maybe_integer("sliding_window", 1, kMostTokens).value_or(128)),
        count_(static_cast<std::size_t>(model.layers)) {}

  LayerKinds read() {
    LayerKinds kinds = listed();
    if (kinds.empty()) {
      kinds = by_tokens();
    }
    if (kinds.empty()) {  // as the class has it: two of the last type, then both in turn
      for (std::size_t i = 0; i < count_; ++i) {
        kinds.push_back(kind(i < 2 || i % 2 == 0 ? 2 : 1));
      }
    }
    return kinds;
  }
  /// Of the layer that predicts a further token, where the file tells it behind the others.
  [[nodiscard]] const LayerKind& further() const { return further_; }

 private:
  [[nodiscard]] LayerKind kind(std::size_t which) const {
    return {.experts = true,
            .window = window_,
            .entry_tokens = rates_[which],
            .picks_entries = kBehind[which].picks};
  }
  LayerKinds listed() {
    LayerKinds kinds;
    for (const std::string& type : in_.texts("layer_types")) {
      const auto* const found = std::find_if(
          kBehind.begin(), kBehind.end(), [&](const Behind& one) { return one.type == type; });
      if (found == kBehind.end()) {
        in_.fail("layer_types",
                 "expected sliding_attention, compressed_sparse_attention or "
                 "heavily_compressed_attention only, not " +
                     type);
        return all(0);
      }
      kinds.push_back(kind(static_cast<std::size_t>(found - kBehind.begin())));
    }
    expect_one_each(in_, "layer_types", kinds.size(), count_);
    return kinds;
  }
  /// Tokens of each layer's entries, with those of further ones behind them.
  LayerKinds by_tokens() {
    LayerKinds kinds;
    const std::vector<std::int64_t> told = integers(in_, "compress_ratios");
    for (const std::int64_t tokens : told) {
      const auto* const found = std::ranges::find_if(
          kBehind, [&](const Behind& one) { return one.entry_tokens == tokens; });
      if (found == kBehind.end()) {
        in_.fail("compress_ratios", "expected 0, 4 or 128 only, not " + std::to_string(tokens));
        return all(0);
      }
      kinds.push_back(kind(static_cast<std::size_t>(found - kBehind.begin())));
    }
    if (kinds.size() > count_) {
      further_ = kinds[count_];
      kinds.resize(count_);
    }
    expect_one_each(in_, "compress_ratios", kinds.size(), count_);
    return kinds;
  }
  [[nodiscard]] LayerKinds all(std::size_t which) const { return {count_, kind(which)}; }

  Reader& in_;
  std::array<std::int64_t, kBehind.size()> rates_;
  std::int64_t window_;
  std::size_t count_;
  LayerKind further_ = kind(0);
};

void read_v4_experts(Reader& in, Transformer& model) {
  Experts experts = read_experts(
      in, {.count = "n_routed_experts", .per_token = kChosen, .ffn = "moe_intermediate_size"});
  experts.shared_ffn =
      in.maybe_integer("n_shared_experts", 0, kMostWidth).value_or(1) * experts.ffn;
  if (experts.shared_ffn > kMostWidth) {
    in.fail("n_shared_experts",
            "expected shared experts of a width of at most " + std::to_string(kMostWidth) +
                " together");
  }
  experts.router_bias = true;
  model.experts = experts;
  // By tokens instead of scores in the first layers: as many go to experts.
  skip(in, {"num_hash_layers", "mlp_layer_types"});
}

}  // namespace

/// Newer files tell the columns with positions as a share of a head's.
void read_deepseek_v4(Reader& in, Transformer& model) {
  DecoderKeys keys;
  keys.ffn = "";
  read_shape(in, keys, {}, model);
  model.gated = true;
  model.norm = Norm::rmsnorm;
  model.positions = Positions::rotary;
  model.sinks = true;
  const std::int64_t head_dim = in.maybe_integer("head_dim", 1, kMostWidth).value_or(512);
  const double rotary = in.maybe_number("partial_rotary_factor", 0.0, 1.0).value_or(0.125);
  SharedHeadKeys shared = kSharedKeys;
  shared.rope_otherwise =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(rotary * static_cast<double>(head_dim)));
  read_shared_head(in, shared, head_dim, model);
  skip(in, {"num_key_value_heads", "intermediate_size", "attention_bias", "mlp_bias"});
  // How numbers are made, not how many there are; the type of experts' weights where they serve.
  skip(in, {"hc_eps", "hc_sinkhorn_iters", "topk_method", "compress_rope_theta", "expert_dtype"});
  model.streams = in.maybe_integer("hc_mult", 1, 64).value_or(4);
  read_v4_experts(in, model);
  LayersBehind layers(in, model);
  const LayerKinds kinds = layers.read();
  const auto picks = [](const LayerKind& kind) { return kind.picks_entries; };
  if (std::ranges::any_of(kinds, picks)) {
    read_indexer(in, model);
  } else {
    skip(in, {"index_n_heads", "index_head_dim", "index_topk"});
  }
  set_layers_with_experts(model, kinds);
  LayerKinds none;
  read_further_tokens(in, model, none);
  if (model.predicted_tokens > 0 && !(layers.further() == kinds.back())) {
    model.predicted_layer = layers.further();
  }
}

}  // namespace titer::huggingface
