#pragma once
// Shapes of the Hub's models, in few numbers.

#include <cstdint>
#include <string_view>

#include "import/import_parts.hpp"

namespace titer {

/// The shape of a dense model, as its config.json on the Hub has it.
struct HubShape {
  std::string_view name;  // as bare_name() makes it
  std::string_view type;
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t ffn;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t vocabulary;
  std::int64_t longest;  // max_position_embeddings
  bool tied = false;
  std::int64_t head_dim = 0;  // hidden / heads where 0
  std::int64_t window = 0;    // that the class's own is not; 0: the class's
  bool sees = false;          // beside the language model, which alone is here
};

/// In the keys of its class.
[[nodiscard]] Value config_of(const HubShape& model);

}  // namespace titer
