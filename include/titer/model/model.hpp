#pragma once
// Any model that can be trained: a transformer, layers of operations given one by one, or a
// recommendation model.

#include <cstdint>
#include <string>
#include <variant>

#include "titer/model/dlrm/dlrm.hpp"
#include "titer/model/layered/layered.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer {

class Model {
 public:
  // Defined in one place: every file that copies one would compile them again.
  Model();
  Model(const Model& other);
  Model(Model&& other) noexcept;
  Model& operator=(const Model& other);
  Model& operator=(Model&& other) noexcept;
  ~Model();
  Model(Transformer transformer) : form_(std::move(transformer)) {}  // NOLINT(*-explicit-*)
  Model(LayeredModel layered) : form_(std::move(layered)) {}         // NOLINT(*-explicit-*)
  Model(Dlrm dlrm) : form_(std::move(dlrm)) {}                       // NOLINT(*-explicit-*)

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const std::string& title() const;
  [[nodiscard]] const std::string& source() const;
  [[nodiscard]] std::int64_t layers() const;
  /// REQUIRES a transformer.
  [[nodiscard]] const Transformer& transformer() const { return std::get<Transformer>(form_); }
  [[nodiscard]] Transformer& transformer() { return std::get<Transformer>(form_); }
  [[nodiscard]] const Transformer* if_transformer() const {
    return std::get_if<Transformer>(&form_);
  }
  /// What is none has samples instead of tokens, and no attention.
  [[nodiscard]] bool is_transformer() const { return if_transformer() != nullptr; }
  /// What stands in front of a language model; nullptr: nothing.
  [[nodiscard]] const Tower* if_tower() const {
    const Transformer* transformer = if_transformer();
    return transformer != nullptr ? transformer->tower.get() : nullptr;
  }
  [[nodiscard]] const LayeredModel* if_layered() const { return std::get_if<LayeredModel>(&form_); }
  [[nodiscard]] const Dlrm* if_dlrm() const { return std::get_if<Dlrm>(&form_); }
  /// Calls `what` with the model of whichever form.
  template <class What>
  [[nodiscard]] auto visit(const What& what) const {
    return std::visit(what, form_);
  }

 private:
  std::variant<Transformer, LayeredModel, Dlrm> form_;
};

/// By its keys: one with "blocks" is layered, one with "tables" a recommendation model.
[[nodiscard]] Model read_model(Reader& in);
[[nodiscard]] std::int64_t parameters(const Model& model);
[[nodiscard]] ForwardFlops forward_flops(const Model& model,
                                         double sequences,
                                         std::int64_t length,
                                         AttentionCount count,
                                         const Images& images = {});
/// `into` may refer to names in the model.
void list_blocks(const Model& model, const Slice& slice, ModelBlocks& into);

}  // namespace titer
