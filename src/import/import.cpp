#include <algorithm>
#include <array>
#include <filesystem>

#include "import_parts.hpp"
#include "titer/import/foreign_text.hpp"
#include "titer/model/huggingface/huggingface.hpp"
#include "titer/model/transformer/transformer_document.hpp"

namespace titer {
namespace {

/// A file's text as a document, with what it is.
struct Foreign {
  Document document;
  Settings::Variables variables;
  std::vector<std::string> scripts;
  std::string_view format;
};

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

constexpr std::string_view kHuggingFace = "a HuggingFace configuration";
constexpr std::string_view kDeepSpeed = "a DeepSpeed configuration";
constexpr std::string_view kMegatron = "Megatron-LM arguments";
constexpr std::string_view kMegatronDeepSpeed = "Megatron-DeepSpeed arguments";
constexpr std::string_view kNemo = "a NeMo configuration";
constexpr std::string_view kBridge = "a Megatron-Bridge configuration";
constexpr std::string_view kNeox = "a GPT-NeoX configuration";
constexpr std::string_view kTorchtitan = "a torchtitan configuration";

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

Foreign parse(std::string_view text, const std::string& file) {
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
      ArgumentText arguments = parse_arguments(text, file);
      made.document = std::move(arguments.flags);
      made.variables = std::move(arguments.variables);
      made.scripts = std::move(arguments.scripts);
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

void import_huggingface(const Foreign& foreign, const std::string& file, ImportedRun& into) {
  Problems problems;
  Reader in(foreign.document, problems);
  const std::filesystem::path path(file);
  const std::string stem =
      path.stem() == "config" ? path.parent_path().filename().string() : path.stem().string();
  ImportedModel read = read_huggingface(in, stem);
  problems.raise();
  into.model = std::move(read.model);
  for (const std::string& key : read.ignored) {
    const Value* value = foreign.document.at(key);
    std::string line = value == nullptr ? file : foreign.document.where(value->origin);
    into.unread.push_back(line.append(": ").append(key));
  }
  std::string names;
  for (const std::string& key : read.meaningless) {
    names += (names.empty() ? "" : ", ") + key;
  }
  if (!names.empty()) {
    into.harmless.push_back("of no concern for widths and operations: " + names);
  }
}

using Importer = void (*)(const ImportTask&);
struct ImporterOf {
  std::string_view format;
  Importer import;
};
constexpr std::array<ImporterOf, 7> kImporters = {{{kDeepSpeed, import_deepspeed},
                                                   {kMegatron, import_megatron},
                                                   {kMegatronDeepSpeed, import_megatron_deepspeed},
                                                   {kNemo, import_nemo},
                                                   {kBridge, import_bridge},
                                                   {kNeox, import_neox},
                                                   {kTorchtitan, import_torchtitan}}};

/// Reads a model as a run would: what no run takes is a contradiction of the file.
void check_model(const Transformer& model, const std::string& file) {
  const Document document{.root = transformer_document(model), .sources = {file}};
  Problems problems;
  Reader in(document, problems);
  static_cast<void>(read_transformer(in));
  problems.raise();
}

std::string model_name(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  return name.empty() ? "imported" : name;
}

void import_settings(const Foreign& foreign,
                     const std::string& file,
                     const ImportOptions& options,
                     ImportedRun& into) {
  Problems problems;
  const bool in_section = foreign.document.root.find("MODEL_ARGS") != nullptr;
  Settings in(foreign.document, in_section ? "MODEL_ARGS" : "", options, problems);
  in.add_variables(foreign.variables);
  const auto* importer = std::find_if(kImporters.begin(), kImporters.end(), [&](const auto& known) {
    return known.format == foreign.format;
  });
  importer->import({in, options, into, foreign.scripts});
  problems.raise();
  into.used = in.used();
  into.harmless = in.harmless();
  into.unread = in.unread();
  into.open = in.open();
  if (into.model) {
    into.model->name = options.base ? options.base->name + "-changed" : model_name(file);
    into.model->title = into.model->name;
    into.model->source = std::string(foreign.format) + ", " + file;
    check_model(*into.model, file);
  }
}

bool is_left_open(const Value& value) {
  return value.kind == Value::Kind::text && value.text == kLeftOpen;
}

/// Moves what one file tells to what the others told.
void merge(Value& whole, const Value& part, const std::string& file) {
  for (const auto& [key, value] : part.members) {
    Value* const there = whole.find(key);
    if (there == nullptr) {
      whole.add(key, value);
    } else if (is_left_open(*there)) {
      *there = value;
    } else if (is_left_open(value)) {
      continue;
    } else if (to_json(*there, 0) != to_json(value, 0)) {
      std::string line = file;
      line.append(": expected the same ").append(key).append(" as in the files before it, ");
      throw InputError(line.append(to_json(*there, 0)).append(", not ").append(to_json(value, 0)));
    }
  }
}

void merge(ImportedRun& whole, ImportedRun part, const std::string& file) {
  const bool tells_model = part.model || !part.shipped.empty();
  if (tells_model && (whole.model || !whole.shipped.empty())) {
    throw InputError(file + ": expected one model: the files before it describe one already");
  }
  if (tells_model) {
    whole.model = std::move(part.model);
    whole.shipped = std::move(part.shipped);
  }
  whole.format += (whole.format.empty() ? "" : " and ") + part.format;
  whole.stack = part.stack.empty() ? whole.stack : part.stack;
  merge(whole.plan, part.plan, file);
  merge(whole.training, part.training, file);
  const auto append = [](std::vector<std::string>& to, std::vector<std::string> from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(whole.used, std::move(part.used));
  append(whole.harmless, std::move(part.harmless));
  append(whole.unread, std::move(part.unread));
  append(whole.open, std::move(part.open));
  append(whole.assumed, std::move(part.assumed));
}

/// What a plan needs and no default may stand for is left open: a number of devices, or the length
/// of a sequence, is nobody's to guess.
void leave_open(ImportedRun& run) {
  if (run.plan.members.empty()) {
    return;
  }
  const auto open = [&](Value& object, const std::string& key, const std::string& why) {
    if (object.find(key) == nullptr) {
      object.add(key, Value(kLeftOpen));
      run.open.push_back(why);
    }
  };
  open(run.plan, "data", "plan.data: no number of devices is told; --devices N tells it");
  open(run.training, "sequence", "training.sequence: no length of a sequence is told");
  open(run.training, "global_batch", "training.global_batch: no batch of all ranks is told");
  const Value* const sharding = run.plan.find("sharding");
  if (sharding != nullptr && is_left_open(*sharding)) {
    run.open.emplace_back(
        "plan.sharding: DeepSpeed's configuration tells it; --with ds_config.json");
  }
}

void refuse_unread(const ImportedRun& run) {
  Problems problems;
  for (const std::string& line : run.unread) {
    problems.add(line + ": is not read, and may change the result");
  }
  if (!run.unread.empty()) {
    problems.add("--accept-unknown leaves " + std::string(run.unread.size() == 1 ? "it" : "these") +
                 " out");
  }
  problems.raise();
}

}  // namespace

ImportedRun import_text(std::string_view text,
                        const std::string& file,
                        const ImportOptions& options) {
  const Foreign foreign = parse(text, file);
  ImportedRun imported;
  imported.format = std::string(foreign.format);
  if (foreign.format == kHuggingFace) {
    import_huggingface(foreign, file, imported);
  } else {
    import_settings(foreign, file, options, imported);
  }
  return imported;
}

ImportedRun import_files(std::span<const std::filesystem::path> files,
                         const ImportOptions& options) {
  ImportedRun whole;
  for (const std::filesystem::path& file : files) {
    merge(whole, import_text(read_small_text(file), file.string(), options), file.string());
  }
  if (!whole.model && whole.shipped.empty()) {
    whole.model = options.base;
  }
  if (!whole.model && whole.shipped.empty()) {
    throw InputError(files.front().string() + ": " + whole.format +
                     " has no model; give its config.json too, or --model NAME");
  }
  if (!options.accept_unknown) {
    refuse_unread(whole);
  }
  leave_open(whole);
  return whole;
}

Value run_document(const ImportedRun& imported, const std::string& cluster) {
  Value run = Value::make_object();
  run.add("model",
          imported.model ? transformer_document(*imported.model) : Value(imported.shipped));
  if (!cluster.empty()) {
    run.add("cluster", Value(cluster));
  }
  if (!imported.stack.empty()) {
    run.add("stack", Value(imported.stack));
  }
  if (!imported.plan.members.empty()) {
    run.add("plan", imported.plan);
  }
  if (!imported.training.members.empty()) {
    run.add("training", imported.training);
  }
  return run;
}

}  // namespace titer
