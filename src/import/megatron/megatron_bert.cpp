// BERT as Megatron-LM and NeMo train it: layers with their norms in front, and what tells masked
// words behind the last.  [megatron/core/models/bert/bert_model.py, pretrain_bert.py]

#include <algorithm>

#include "import/import_parts.hpp"
#include "titer/input/words.hpp"

namespace titer {

bool learns_masked_words(const ImportTask& task) {
  const std::vector<std::string>& scripts = task.arguments.scripts;
  const auto runs = [&](std::string_view name) {
    return std::ranges::any_of(
        scripts, [&](const std::string& script) { return script.find(name) != std::string::npos; });
  };
  const auto says = [&](std::string_view key, std::string_view part) {
    return lower(task.in.written(key)).find(part) != std::string::npos;
  };
  if (runs("pretrain_gpt")) {
    return false;
  }
  // Texts are cut into sentences for encoders alone; a program that is named tells by itself.
  const bool is_of_sentences = scripts.empty() && says("data_path", "_text_sentence");
  return runs("pretrain_bert") || task.in.has("bert_binary_head") ||
         task.in.has("bert_no_binary_head") || says("run_name", "megatron_bert") ||
         says("tokenizer_type", "bertwordpiece") || is_of_sentences;
}

void suppose_word_pieces(const ImportTask& task) {
  if (!task.in.has("tokenizer_type") && !task.in.has("tokenizer.type")) {
    task.in.suppose("tokenizer_type", Value("BertWordPieceLowerCase"));
  }
}

void read_masked_words(const ImportTask& task, Transformer& model) {
  Settings& in = task.in;
  const bool is_switched_off = in.is_on("bert_no_binary_head");
  const bool has_pairs = in.flag("bert_binary_head").value_or(!is_switched_off);
  model.causal = false;
  model.head_transform = true;
  model.biases.head = true;
  model.token_types = has_pairs ? 2 : 0;
  if (has_pairs) {
    const std::int64_t left_out = model.hidden * (model.hidden + 1) + 2 * (model.hidden + 1);
    assume(task,
           in.has("bert_binary_head") ? "bert_binary_head" : "bert_no_binary_head",
           "what tells whether two texts follow one another, " + std::to_string(left_out) +
               " parameters for a token of each sequence, is left out");
  }
}

}  // namespace titer
