#include "import_formats.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "titer/input/reader.hpp"

namespace titer {
namespace {

constexpr std::size_t kLargestConfiguration = std::size_t{16} << 20U;

enum class Syntax { json, yaml, toml, arguments };

Syntax syntax_of(std::string_view text, const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".json") {
    return Syntax::json;
  }
  if (extension == ".yaml" || extension == ".yml") {
    return Syntax::yaml;
  }
  if (extension == ".toml") {
    return Syntax::toml;
  }
  const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size() - 1);
  return !text.empty() && text[first] == '{' ? Syntax::json : Syntax::arguments;
}

/// A key with its dashes as underscores is somewhere at the top.
bool has_any(const Value& root, std::initializer_list<std::string_view> keys) {
  return std::any_of(root.members.begin(), root.members.end(), [&](const auto& member) {
    std::string key = member.first;
    std::replace(key.begin(), key.end(), '-', '_');
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  });
}

std::string_view format_of_json(const Document& document) {
  const Value& root = document.root;
  if (has_any(root, {"model_type", "architectures"})) {
    return kHuggingFace;
  }
  if (has_any(root,
              {"zero_optimization",
               "train_batch_size",
               "train_micro_batch_size_per_gpu",
               "gradient_accumulation_steps"})) {
    return kDeepSpeed;
  }
  throw InputError(document.sources.front() +
                   ": expected a config.json with \"model_type\", or a DeepSpeed configuration "
                   "with \"zero_optimization\" or batch sizes");
}

std::string_view format_of_yaml(const Document& document) {
  const Value& root = document.root;
  if (has_any(root, {"MODEL_ARGS"})) {
    return kMegatron;
  }
  if (has_any(root, {"model"}) && has_any(root, {"trainer"})) {
    return kNemo;
  }
  if (has_any(root, {"model", "train", "dataset"}) &&
      has_any(root, {"train", "dataset", "optimizer", "mixed_precision"})) {
    return kBridge;
  }
  if (has_any(root, {"pipe_parallel_size", "model_parallel_size"}) ||
      (has_any(root, {"num_layers"}) && has_any(root, {"num_attention_heads"}))) {
    return kNeox;
  }
  throw InputError(document.sources.front() +
                   ": expected MODEL_ARGS of Megatron-LM, the sections of NeMo (model, trainer) or "
                   "Megatron-Bridge (model, train, dataset), or keys of GPT-NeoX");
}

/// A template has names where values are to be put.
[[noreturn]] void refuse_json(const InputError& error, std::string_view text) {
  constexpr std::string_view big = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t", colon + 1), text.size());
    const std::size_t end = std::min(text.find_first_not_of(big, begin), text.size());
    if (end >= begin + 4) {
      throw InputError(error.lines.front() + "; this is a template: put a value in the place of " +
                       std::string(text.substr(begin, end - begin)));
    }
  }
  throw error;
}

}  // namespace

Foreign parse_foreign(std::string_view text,
                      const std::string& file,
                      const ImportOptions& options) {
  Foreign made;
  switch (syntax_of(text, file)) {
    case Syntax::json:
      try {
        made.document = parse_json(text, file);
      } catch (const InputError& error) {
        refuse_json(error, text);
      }
      made.format = format_of_json(made.document);
      break;
    case Syntax::yaml:
      made.document = parse_yaml(text, file);
      made.format = format_of_yaml(made.document);
      break;
    case Syntax::toml:
      made.document = parse_toml(text, file);
      made.format = kTorchtitan;
      if (!has_any(made.document.root, {"model", "training", "parallelism"})) {
        throw InputError(file + ": expected tables of torchtitan: model, training, parallelism");
      }
      break;
    case Syntax::arguments: {
      ArgumentText arguments = parse_arguments(text, file, options.defines);
      made.document = std::move(arguments.flags);
      made.arguments = std::move(arguments);
      made.format = has_any(made.document.root,
                            {"__deepspeed",
                             "__deepspeed_config",
                             "__moe_expert_parallel_size",
                             "__expert_interval",
                             "__ds_sequence_parallel_size",
                             "__zero_stage"})
                        ? kMegatronDeepSpeed
                        : kMegatron;
      if (!has_any(made.document.root, {"__num_layers", "__hidden_size"})) {
        throw InputError(file +
                         ": expected arguments of Megatron-LM, such as --num-layers 24 "
                         "--hidden-size 1024, or a file that ends in .json, .yaml or .toml");
      }
      break;
    }
  }
  return made;
}

std::string read_small_text(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, ignored)) {
    throw InputError(path.string() + ": cannot be read; expected a file");
  }
  std::string text(kLargestConfiguration + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestConfiguration) {
    throw InputError(path.string() + ": larger than 16 MiB; expected a configuration");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos) {
    throw InputError(path.string() + ": has a NUL byte; expected text");
  }
  return text;
}

}  // namespace titer
