// Models as HuggingFace has them: a config.json, or a name.

#include <fmt/core.h>

#include <filesystem>

#include "hf_parts.hpp"
#include "import/formats/formats.hpp"
#include "import/formats/overrides.hpp"
#include "titer/input/words.hpp"
#include "titer/model/huggingface/huggingface.hpp"
#include "titer/units/blanks.hpp"

namespace titer {
namespace {

ImportedModel model_of(const Document& document, std::string_view name) {
  Problems problems;
  Reader in(document, problems);
  ImportedModel read = read_huggingface(in, name);
  problems.raise();
  return read;
}

void append_key(const std::string& key, std::string& names) {
  names += (names.empty() ? "" : ", ") + key;
}

}  // namespace

void import_huggingface(const Foreign& foreign, const std::string& file, ImportedRun& into) {
  const std::filesystem::path path(file);
  const std::string stem =
      path.stem() == "config" ? path.parent_path().filename().string() : path.stem().string();
  ImportedModel read = model_of(foreign.document, stem);
  into.model = std::move(read.model);
  std::string names;
  for (const std::string& key : read.ignored) {
    const Value* value = foreign.document.at(key);
    std::string line = value == nullptr ? file : foreign.document.where(value->origin);
    line.append(": ").append(key);
    const IgnoredKey meaning = meaning_of_ignored(foreign.document.root, key);
    if (meaning == IgnoredKey::nothing) {
      append_key(key, names);
    } else if (meaning == IgnoredKey::of_tower) {
      into.assumed.push_back(line + ": is not read: the language model alone is taken");
    } else {
      into.unread.push_back(line);
    }
  }
  for (const std::string& key : read.meaningless) {
    append_key(key, names);
  }
  if (!names.empty()) {
    into.harmless.push_back("of no concern for widths and operations: " + names);
  }
}

void compare_with_index(const std::filesystem::path& folder, ImportedRun& run) {
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  if (!run.model || !std::filesystem::exists(index, ignored)) {
    return;
  }
  const Document document = parse_json(read_small_text(index), index.string());
  const Value* const size = document.at("metadata.total_size");
  const Value* const tensors = document.at("weight_map");
  if (size == nullptr || !size->is_integer || tensors == nullptr) {
    return;
  }
  const auto counted = static_cast<double>(parameters(*run.model));
  run.assumed.push_back(
      fmt::format("{}: {} tensors of {} bytes, {:.3g} for each of the {:.0f} parameters that are "
                  "counted by config.json",
                  index.string(),
                  tensors->members.size(),
                  size->integer,
                  size->number / counted,
                  counted));
}

std::vector<std::string> put_model_of_config(const ImportTask& task, const Value& config) {
  const Document document{.root = config, .sources = {task.file}};
  ImportedModel read = model_of(document, "");
  task.into.model = std::move(read.model);
  task.into.model->name.clear();
  return read.ignored;
}

std::string file_beside(const ImportTask& task, const std::string& named) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path path(named);
  if (path.empty()) {
    return "";
  }
  if (path.is_absolute()) {
    return fs::exists(path, ignored) ? named : "";
  }
  // A path is from where the program is started: a folder around the file's own.
  fs::path folder = fs::absolute(fs::path(task.file), ignored).parent_path();
  while (true) {
    if (fs::exists(folder / path, ignored)) {
      return (folder / path).string();
    }
    if (folder == folder.parent_path()) {
      break;
    }
    folder = folder.parent_path();
  }
  const fs::path beside = fs::path(task.file).parent_path() / path.filename();
  const bool is_other = fs::exists(beside, ignored) && !fs::equivalent(beside, task.file, ignored);
  return is_other ? beside.string() : "";
}

void put_hub_model(const ImportTask& task, std::string_view key, const std::string& name) {
  const std::optional<HubModel> known = hub_model(name);
  if (!known) {
    if (!task.options.base && !task.others.has_model) {
      task.in.fail(key,
                   "the shape of this model is not known here; --with CONFIG.json gives its "
                   "config.json, --model NAME the name of one of `titer list models`");
    }
    return;
  }
  if (task.options.base || task.others.has_model) {
    return;
  }
  if (known->tuned) {
    assume(task, key, "taken as one that was tuned, of the model with which its name begins");
  }
  if (!known->shipped.empty()) {
    task.into.shipped = known->shipped;
    return;
  }
  put_model_of_config(task, known->config);
  task.into.model->name = lower_name(name);
  task.into.model->title = name.substr(name.rfind('/') + 1);
  assume(task, key, "widths as the config.json of that model on the Hub has them");
  if (known->sees) {
    assume(task, key, "what it sees with is not read: the language model alone is taken");
  }
}

namespace {

/// "n_embd=1024,n_layer=24" over what is there; false for another text.
[[nodiscard]] bool put_changes(Value& config, std::string_view changes, const std::string& file) {
  for (const std::string_view word : divided(changes, ",")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return false;
    }
    put_at(config, word.substr(0, equals), parse_yaml(word.substr(equals + 1), file).root, {});
  }
  return true;
}

/// Of run_clm.py: a model of this type with its class's own widths, but for
/// "n_embd=1024,n_layer=24".
[[nodiscard]] bool put_model_of_type(const ImportTask& task) {
  constexpr std::string_view overrides = "config_overrides";
  const std::optional<std::string> type = task.in.word("model_type");
  if (!type || task.options.base || task.others.has_model) {
    return false;
  }
  std::optional<Value> own = config_in_hub("types", *type);
  if (!own && !task.in.has(overrides)) {
    return false;
  }
  Value config = own ? std::move(*own) : Value::make_object();
  if (!own) {
    config.add("model_type", Value(*type));
  }
  if (!put_changes(config, task.in.text(overrides).value_or(""), task.file)) {
    task.in.fail(overrides, "expected changes such as n_embd=1024,n_layer=24");
    return true;
  }
  put_model_of_config(task, config);
  assume(task, "model_type", "what is not overridden is as the model's class has it");
  return true;
}

}  // namespace

void put_named_model(const ImportTask& task, std::string_view key) {
  if (!task.in.has(key) && task.in.has("config_name")) {
    key = "config_name";
  } else if (!task.in.has(key) && put_model_of_type(task)) {
    return;
  }
  // Of "$HOME/models/Qwen/Qwen3-8B" the name is told, whatever folder it is in.
  const std::string written = task.in.written(key);
  const std::size_t slash = written.rfind('/');
  const std::size_t open = written.find_last_of("$`}");
  const bool is_in_folder = open != std::string::npos && slash != std::string::npos &&
                            open < slash && slash + 1 < written.size();
  const std::optional<std::string> name =
      is_in_folder && task.in.raw(key) != nullptr ? written.substr(slash + 1) : task.in.text(key);
  if (!name) {
    if (task.in.has(key) || task.options.base || task.others.has_model) {
      return;
    }
    task.in.fail(key, "expected a model; --with CONFIG.json gives its config.json");
    return;
  }
  const bool is_file = name->ends_with(".json");
  const std::string file = file_beside(task, is_file ? *name : *name + "/config.json");
  if (!file.empty() && !task.options.base && !task.others.has_model) {
    const Document document = parse_json(read_small_text(file), file);
    task.into.model = model_of(document, "").model;
    task.into.model->name = lower_name(*name);
    task.into.model->title = task.into.model->name;
    return;
  }
  put_hub_model(task, key, *name);
}

}  // namespace titer
