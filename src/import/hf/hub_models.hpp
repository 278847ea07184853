#pragma once
// Shapes of the Hub's models, in few numbers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  std::int64_t window = 0;    // 0: the class's, of Mistral's none
  bool sees = false;          // beside the language model, which alone is here
};

/// In the keys of its class.
[[nodiscard]] Value config_of(const HubShape& model);

/// Of "meta-llama/Meta-Llama-3.1-8B-Instruct" meta, llama, 3.1 and 8b: without what such a model
/// was tuned for, and how it is stored.
[[nodiscard]] std::vector<std::string> words_of_shape(std::string_view name);
/// Without what follows the size, as those call their models who tune them; none where there is no
/// size, or what follows it is of another shape.
[[nodiscard]] std::vector<std::string> words_to_size(std::vector<std::string> words);
/// "meta-llama/Meta-Llama-3.1-8B-Instruct" and "llama3_1_8b" are "llama318b".
[[nodiscard]] std::string bare_name(const std::vector<std::string>& words);

}  // namespace titer
