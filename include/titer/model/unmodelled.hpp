#pragma once
// Architectures with parts that a Transformer has not, whoever's file tells of them: refused by
// name, since a plain transformer of the same widths is another model.

#include <span>
#include <string>
#include <string_view>

namespace titer {

struct Unmodelled {
  std::string_view type;  // how names of the architecture begin, as HuggingFace's "model_type"
  std::string_view what;  // what it has
  std::string_view why = "which are not modelled yet";
};
[[nodiscard]] std::span<const Unmodelled> unmodelled_architectures();

/// "this architecture has RWKV layers, which are not modelled yet"
[[nodiscard]] std::string refusal_of(const Unmodelled& architecture);
/// The same by a type of the list.
[[nodiscard]] std::string unmodelled_refusal(std::string_view type);

}  // namespace titer
