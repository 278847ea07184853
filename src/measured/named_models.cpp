#include "titer/measured/named_models.hpp"

#include <algorithm>
#include <array>

#include "titer/input/words.hpp"
#include "titer/model/hub/hub_models.hpp"
#include "titer/scenario/load_part.hpp"

namespace titer {
namespace {

/// Whether it has the widths that the row states.
bool has_widths(const RunRow& row, const Transformer& model) {
  return row.whole("hidden", model.hidden) == model.hidden &&
         row.whole("heads", model.heads) == model.heads;
}

/// Whether a model's layers have all widths that the row states; how many there are, and rows of
/// tokens, runs often change.
bool has_stated_widths(const RunRow& row, const Transformer& model) {
  const Experts none{.per_token = 0};
  const Experts& experts = model.experts ? *model.experts : none;
  using Width = std::pair<std::string_view, std::int64_t>;
  const std::array<Width, 2> of_heads = {
      {{"kv_heads", model.kv_heads}, {"head_dim", model.head_dim}}};
  const std::array<Width, 3> of_experts = {
      {{"n_experts", experts.count}, {"top_k", experts.per_token}, {"expert_ffn", experts.ffn}}};
  const auto is_other = [&](const Width& one) {
    return row.whole(one.first, one.second) != one.second;
  };
  const bool has_experts = row.experts() > 0;
  return has_widths(row, model) && has_experts == model.experts.has_value() &&
         (has_experts || row.whole("ffn", model.ffn) == model.ffn) &&
         (model.latent || std::ranges::none_of(of_heads, is_other)) &&
         (!has_experts || std::ranges::none_of(of_experts, is_other));
}

/// Without what names are written with and without.
std::string letters(std::string text) {
  std::erase_if(text,
                [](char c) { return c == ' ' || c == '-' || c == '_' || c == '.' || c == '/'; });
  return text;
}

/// Whether the row's name has this model's in it.
bool names(const RunRow& row, const std::string& model) {
  return letters(row.plain("model_name")).find(letters(model)) != std::string::npos;
}

/// Keeps what is the same as before, if there was one before.
template <class T>
void keep_common(bool is_first, const T& other, std::optional<T>& common) {
  common = is_first || common == other ? std::optional(other) : std::nullopt;
}

}  // namespace

UsualWidths NamedModels::usual_widths(const RunRow& row) {
  const auto hidden = row.whole("hidden");
  if (!hidden || !row.has("heads")) {
    return {};
  }
  UsualWidths common;
  bool is_first = true;
  for (const std::string& name : shipped_) {
    const Transformer* model = called(name)->if_transformer();
    if (model == nullptr || model->mixer || model->hidden != *hidden ||
        !has_stated_widths(row, *model)) {
      continue;
    }
    keep_common(is_first, model->kv_heads, common.kv_heads);
    keep_common(is_first, model->head_dim, common.head_dim);
    keep_common(is_first, model->gated, common.gated);
    if (model->latent && (row.has("mla") || names(row, name))) {
      common.latent = model->latent;
    }
    if (model->experts) {
      keep_common(is_first, model->experts->ffn, common.expert_ffn);
    }
    is_first = false;
  }
  return common;
}

std::shared_ptr<const Model> NamedModels::called(const std::string& name) {
  std::shared_ptr<const Model>& model = loaded_[name];
  if (model == nullptr) {
    model = std::make_shared<Model>(load_model(Value(name)));
  }
  return model;
}

std::shared_ptr<const Model> NamedModels::of_name(const RunRow& row) {
  const std::string there = row.text("model_name");
  const auto called_so = [&](const std::string& text) {
    const std::string name = letters(lower(text));
    return std::ranges::find_if(shipped_,
                                [&](const std::string& one) { return letters(one) == name; });
  };
  auto known = called_so(there);
  if (known == shipped_.end()) {  // "openai/whisper-large-v3"
    known = called_so(there.substr(there.find('/') + 1));
  }
  const std::int64_t layers = row.whole("layers", 0);
  if (known == shipped_.end()) {
    const auto of_hub = layers > 0 ? std::nullopt : hub_model(there);
    return of_hub && !of_hub->sees ? called(there) : nullptr;
  }
  std::shared_ptr<const Model> model = called(*known);
  const bool is_two_sided = row.plain("arch") == "encoderdecoder";
  if (layers <= 0 && !is_two_sided) {
    return model;
  }
  const Transformer* transformer = model->if_transformer();
  const bool is_it =
      transformer != nullptr && (is_two_sided ? has_widths(row, *transformer)
                                              : (transformer->mixer || transformer->denoiser) &&
                                                    transformer->layers == layers);
  return is_it ? model : nullptr;
}

std::shared_ptr<const Model> NamedModels::of(const RunRow& row, const std::string& of_family) {
  if (of_family.empty()) {
    return of_name(row);
  }
  return row.whole("layers", 0) <= 0 || row.says("arch", "hybrid") ? called(of_family) : nullptr;
}

}  // namespace titer
