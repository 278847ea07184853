#include "hf_program.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "import/hf/hf_parts.hpp"
#include "titer/input/known_settings.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/script/python/python_branches.hpp"
#include "titer/script/python/python_imports.hpp"
#include "titer/script/python/python_names.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

std::string_view owner_of(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == path.npos ? std::string_view() : last_part(path.substr(0, dot));
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return includes(names, name);
}

/// Of the trainer or of one that is built on it.
bool is_configuration(std::string_view name) {
  return name.ends_with("TrainingArguments") || name == "SFTConfig" ||
         (name.ends_with("Config") && is_class_of_preferences(name));
}

/// A class of models, but none of what stands beside them.
bool is_model_class(std::string_view name) {
  return name.starts_with("AutoModel") ||
         is_one_of(name, {"FastLanguageModel", "FastModel", "FastVisionModel"}) ||
         name.ends_with("ForCausalLM") || name.ends_with("LMHeadModel") ||
         name.ends_with("ForConditionalGeneration") || name.ends_with("Classification");
}

/// Goes through the statements in their order, whichever function they are in.
class HfProgram {
 public:
  HfProgram(const std::string& file,
            const ImportOptions& options,
            std::vector<std::string>& assumed,
            const FindSourced& find_sourced)
      : file_(file),
        values_(options.defines),
        imports_(options.defines, find_sourced),
        assumed_(assumed) {
    root_.origin = {.source = 0, .line = 1, .column = 1};
  }

  void read(const std::vector<Statement>& statements) {
    PythonBranches branches;
    for (const Statement& statement : statements) {
      if (branches.follows(statement, values_.constants())) {
        add(statement);
      } else if (gives_settings(statement)) {
        say(statement.at, "stands under a condition that is taken not to hold");
      }
    }
  }

  [[nodiscard]] Document finish() && {
    if (root_.find("config_class") == nullptr) {
      throw InputError(file_ +
                       ": is a program of HuggingFace's trainer that is told its settings; import "
                       "the script that starts it");
    }
    if (is_unsloth_) {
      suppose_as_unsloth();
    }
    if (length_ && !has_length()) {
      put("block_size", *length_, length_->origin);
    }
    return {.root = std::move(root_), .sources = {file_}};
  }

 private:
  /// [unsloth/models/loader.py, FastLanguageModel.from_pretrained]
  void suppose_as_unsloth() {
    const Value* const model = root_.find("model_name_or_path");
    const Origin at = model == nullptr ? root_.origin : model->origin;
    const auto suppose = [&](std::string_view key, Value value, std::string_view what) {
      if (root_.find(key) == nullptr) {
        put(key, std::move(value), at);
        say(at, std::string(key) + ": taken as " + std::string(what) + ", as Unsloth has it");
      }
    };
    const auto is_on = [&](std::string_view key) {
      const Value* const given = root_.find(key);
      return given != nullptr && given->kind == Value::Kind::boolean && given->boolean;
    };
    if (!is_on("load_in_8bit") && !is_on("load_in_16bit") && !is_on("full_finetune")) {
      suppose("load_in_4bit", Value(true), "true");
    }
    if (!has_length()) {
      suppose("model_max_length", Value(2048), "2048");
    }
    suppose("gradient_checkpointing", Value("unsloth"), "unsloth");
  }

  static bool gives_settings(const Statement& statement) {
    const std::vector<PythonCall> calls = calls_in(statement.text);
    return std::ranges::any_of(calls, [](const PythonCall& call) {
      const std::string_view name = last_part(call.name);
      return is_configuration(name) || is_one_of(name, {"LoraConfig", "BitsAndBytesConfig"}) ||
             (name == "from_pretrained" && is_model_class(owner_of(call.name)));
    });
  }

  void say(Origin at, std::string_view what) {
    assumed_.push_back(file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                       ": " + std::string(what));
  }

  void add(const Statement& statement) {
    if (statement.text.starts_with("from ") || statement.text.starts_with("import ")) {
      for (const std::string& name : imports_.add(statement.text, values_)) {
        say(statement.at, "is gone through as " + name);
      }
      return;
    }
    if (statement.text.starts_with("class ")) {
      values_.add(statement);
      return;
    }
    const auto found = assigned(statement.text);
    for (const PythonCall& call : calls_in(statement.text)) {
      const std::string_view name = last_part(call.name);
      if (is_configuration(name)) {
        add_configuration(name, call, statement.at);
        if (found) {
          configurations_.insert(found->path);
        }
      } else {
        take(name, call, statement.at);
      }
    }
    if (found) {
      change(*found, statement.at);
    }
    if (values_.add(statement)) {
      say(statement.at,
          "arguments of the program are taken as their defaults; --define NAME=VALUE tells others");
    }
  }

  void put(std::string_view key, Value value, Origin at) {
    if (root_.find(key) == nullptr) {
      value.origin = at;
      root_.add(std::string(key), std::move(value));
      root_.key_origins.back() = at;
    }
  }

  void add_configuration(std::string_view name, const PythonCall& call, Origin at) {
    if (root_.find("config_class") != nullptr) {
      say(at, std::string(name) + " is not the first, and is not read");
      return;
    }
    put("config_class", Value(name), at);
    for (auto& [key, value] : values_.arguments(call.inside, at)) {
      put(key, std::move(value), at);
    }
  }

  /// "training_args.bf16 = True".
  void change(const AssignedName& found, Origin at) {
    const std::size_t dot = found.path.rfind('.');
    if (dot == std::string::npos || configurations_.count(found.path.substr(0, dot)) == 0) {
      return;
    }
    const std::string key = found.path.substr(dot + 1);
    if (Value* const there = root_.find(key)) {
      *there = values_.value(found.value, at);
      there->origin = at;
    } else {
      put(key, values_.value(found.value, at), at);
    }
  }

  void take(std::string_view name, const PythonCall& call, Origin at) {
    if (name == "LoraConfig" ||
        (name == "get_peft_model" && owner_of(call.name).starts_with("Fast"))) {
      add_adapters(call, at);
    } else if (name == "BitsAndBytesConfig") {
      for (auto& [key, value] : values_.arguments(call.inside, at)) {
        put(key, std::move(value), at);
      }
    } else if (name == "from_pretrained" && is_model_class(owner_of(call.name))) {
      add_model(call, at);
    } else if (name.ends_with("Trainer")) {
      add_trainer(name, call, at);
    } else if (name == "gradient_checkpointing_enable") {
      put("gradient_checkpointing", Value(true), at);
    } else if (last_part(call.name).find("tokenizer") != std::string_view::npos) {
      add_length(call, at);
    }
  }

  void add_adapters(const PythonCall& call, Origin at) {
    const Value keys = known_settings("peft-programs", "adapter_arguments");
    put("use_peft", Value(true), at);
    for (auto& [key, value] : values_.arguments(call.inside, at)) {
      const Value* const known = keys.find(key);
      put(known != nullptr ? known->text : "peft." + key, std::move(value), at);
    }
  }

  void add_model(const PythonCall& call, Origin at) {
    if (root_.find("model_name_or_path") != nullptr) {
      return;
    }
    is_unsloth_ = owner_of(call.name).starts_with("Fast");
    const std::vector<std::string_view> parts = parts_of(call.inside, ',');
    if (!parts.empty() && !assigned(parts.front()) && !parts.front().starts_with('*')) {
      put("model_name_or_path", values_.value(parts.front(), at), at);
    }
    const Value keys = known_settings("peft-programs", "model_arguments");
    for (auto& [key, value] : values_.arguments(call.inside, at)) {
      if (const Value* const known = keys.find(key)) {
        put(known->text, std::move(value), at);
      }
    }
    if (owner_of(call.name).ends_with("Classification")) {
      put("model_class", Value(owner_of(call.name)), at);
    }
  }

  void add_trainer(std::string_view name, const PythonCall& call, Origin at) {
    put("trainer_class", Value(name), at);
    for (auto& [key, value] : values_.arguments(call.inside, at)) {
      const bool is_name =
          key == "model" && value.kind == Value::Kind::text && untold_expression(value).empty();
      if (is_name) {
        put("model_name_or_path", std::move(value), at);
      } else if (key == "max_seq_length" || key == "packing") {
        put(key, std::move(value), at);
      }
    }
  }

  /// To how many tokens a tokenizer cuts, where nothing else tells the length.
  void add_length(const PythonCall& call, Origin at) {
    for (auto& [key, value] : values_.arguments(call.inside, at)) {
      if (key == "max_length" && value.is_integer && !length_) {
        length_ = std::move(value);
        length_->origin = at;
      }
    }
  }

  [[nodiscard]] bool has_length() const {
    constexpr std::array<std::string_view, 3> keys = {
        "max_seq_length", "max_length", "model_max_length"};
    const Value* const trainer = root_.find("trainer_class");
    const bool is_trls = trainer != nullptr && trainer->text == "SFTTrainer" && !is_unsloth_;
    return is_trls || std::ranges::any_of(
                          keys, [&](std::string_view key) { return root_.find(key) != nullptr; });
  }

  std::string file_;
  PythonNames values_;
  PythonImports imports_;
  std::vector<std::string>& assumed_;
  Value root_ = Value::make_object();
  std::set<std::string, std::less<>> configurations_;  // names of variables
  std::optional<Value> length_;
  bool is_unsloth_ = false;
};

}  // namespace

bool is_hf_program(std::string_view text) {
  constexpr std::array<std::string_view, 4> libraries = {"transformers", "trl", "unsloth", "peft"};
  const auto imports = [&](std::string_view library) {
    return text.find("from " + std::string(library)) != text.npos ||
           text.find("import " + std::string(library)) != text.npos;
  };
  const bool trains = text.find("TrainingArguments") != text.npos ||
                      text.find("Config(") != text.npos || text.find("Trainer(") != text.npos;
  return trains && std::ranges::any_of(libraries, imports) && text.find("megatron") == text.npos &&
         text.find("nemo") == text.npos;
}

Document parse_hf_program(std::string_view text,
                          const std::string& file,
                          const ImportOptions& options,
                          std::vector<std::string>& assumed,
                          const FindSourced& find_sourced) {
  HfProgram program(file, options, assumed, find_sourced);
  program.read(python_statements(text, file));
  return std::move(program).finish();
}

}  // namespace titer
