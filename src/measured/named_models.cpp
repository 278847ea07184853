#include "titer/measured/named_models.hpp"

#include <algorithm>

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

}  // namespace

std::shared_ptr<const Model> NamedModels::called(const std::string& name) {
  std::shared_ptr<const Model>& model = loaded_[name];
  if (model == nullptr) {
    model = std::make_shared<Model>(load_model(Value(name)));
  }
  return model;
}

std::shared_ptr<const Model> NamedModels::of_name(const RunRow& row) {
  const auto letters = [](std::string text) {
    std::erase_if(text,
                  [](char c) { return c == ' ' || c == '-' || c == '_' || c == '.' || c == '/'; });
    return text;
  };
  const std::string name = letters(lower(row.text("model_name")));
  const auto known =
      std::ranges::find_if(shipped_, [&](const std::string& one) { return letters(one) == name; });
  const std::int64_t layers = row.whole("layers", 0);
  if (known == shipped_.end()) {
    const std::string there = row.text("model_name");
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
