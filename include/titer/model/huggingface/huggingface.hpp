#pragma once
// Models as HuggingFace's config.json files describe them.
//
// What a file leaves out is what its architecture's class in the transformers library takes:
// biases, tied tables, windows. Widths have to be told.

#include <string>
#include <string_view>
#include <vector>

#include "titer/input/reader.hpp"
#include "titer/model/transformer/transformer.hpp"

namespace titer {

struct ImportedModel {
  Transformer model;
  /// Keys that the model does not follow from, though they may mean something for time or memory,
  /// in written order; "text_config.key" for one inside.
  std::vector<std::string> ignored;
  std::vector<std::string> meaningless;  // keys that mean nothing for either
};

/// Whether the object says what a configuration has to: "model_type" or "architectures", or of the
/// diffusers library "_class_name".
[[nodiscard]] bool is_huggingface(const Reader& in);

/// Of a model of texts and images the part for texts. Refuses an architecture with layers that no
/// Transformer has, naming them. The model is called what "_name_or_path" says, else
/// `name_otherwise`, else its architecture.
[[nodiscard]] ImportedModel read_huggingface(Reader& in, std::string_view name_otherwise = "");

/// What a key says that is ignored: nothing; something of what sees or listens beside the language
/// model, which alone is taken; or what may change time or memory.
enum class IgnoredKey { nothing, of_tower, unread };
[[nodiscard]] IgnoredKey meaning_of_ignored(const Value& config, std::string_view key);

/// The "model_type", or "_class_name", of every architecture that is read.
[[nodiscard]] std::vector<std::string> huggingface_architectures();

}  // namespace titer
