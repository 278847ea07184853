#include "titer/model/model.hpp"

#include "titer/model/transformer/transformer_layer.hpp"

namespace titer {

Model::Model() = default;
Model::Model(const Model& other) = default;
Model::Model(Model&& other) noexcept = default;
Model& Model::operator=(const Model& other) = default;
Model& Model::operator=(Model&& other) noexcept = default;
Model::~Model() = default;

const std::string& Model::name() const {
  return std::visit([](const auto& form) -> const std::string& { return form.name; }, form_);
}

const std::string& Model::title() const {
  return std::visit([](const auto& form) -> const std::string& { return form.title; }, form_);
}

const std::string& Model::source() const {
  return std::visit([](const auto& form) -> const std::string& { return form.source; }, form_);
}

std::int64_t Model::layers() const {
  constexpr std::int64_t parts_of_dlrm =
      5;  // tables, copied ones, bottom MLP, interaction, top MLP
  if (if_dlrm() != nullptr) {
    return parts_of_dlrm;
  }
  const Transformer* transformer = if_transformer();
  return transformer != nullptr ? transformer->layers : if_layered()->layers();
}

Model read_model(Reader& in) {
  if (in.has("blocks")) {
    return read_layered(in);
  }
  if (in.has("tables")) {
    return read_dlrm(in);
  }
  return read_transformer(in);
}

std::int64_t parameters(const Model& model) {
  return model.visit([](const auto& form) { return parameters(form); });
}

ForwardFlops forward_flops(const Model& model,
                           double sequences,
                           std::int64_t length,
                           AttentionCount count,
                           const Images& images) {
  if (const Transformer* transformer = model.if_transformer()) {
    return forward_flops(*transformer, sequences, length, count, images);
  }
  ForwardFlops flops;
  flops.layers = sequences * (model.if_dlrm() != nullptr ? forward_flops(*model.if_dlrm()).total()
                                                         : forward_flops(*model.if_layered()));
  return flops;
}

void list_blocks(const Model& model, const Slice& slice, ModelBlocks& into) {
  model.visit([&](const auto& form) { list_blocks(form, slice, into); });
  if (!into.embedding.operations.empty()) {
    into.embedding.operations.front().begins_batch = true;
  }
}

}  // namespace titer
