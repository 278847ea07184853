// Programs of OLMo-core: the configurations that they make, as the document that its trainer saves.

#include <array>

#include "python_text.hpp"
#include "titer/input/reader.hpp"
#include "titer/script/python/python_syntax.hpp"
#include "titer/script/python/python_values.hpp"

namespace titer {
namespace {

/// A part of the name of a class, and the section that it makes.
struct ConfigClass {
  std::string_view part;
  std::string_view section;
};
constexpr std::array<ConfigClass, 6> kConfigClasses = {{{"TrainModuleConfig", "train_module"},
                                                        {"DataLoaderConfig", "data_loader"},
                                                        {"PaddedFSLDatasetConfig", ""},
                                                        {"DatasetConfig", "dataset"},
                                                        {"TokenizerConfig", "tokenizer"},
                                                        {"TransformerConfig", "model"}}};

/// "" for a call of another class.
std::string_view section_of(std::string_view called) {
  const std::string_view name = called.substr(0, called.find('.'));
  for (const ConfigClass& known : kConfigClasses) {
    if (name.ends_with(known.part)) {
      return known.section;
    }
  }
  return "";
}

/// What the file makes of each section; of one that is made several times the first. What is
/// assigned to a part of it later stands at the part's path.
class Sections {
 public:
  explicit Sections(std::string file) : file_(std::move(file)) { root_ = Value::make_object(); }

  void add(const Statement& statement) {
    const auto found = assigned(statement.text);
    constexpr std::string_view result = "return ";
    const bool returns = std::string_view(statement.text).starts_with(result);
    const std::string_view value =
        found ? found->value
              : (returns ? std::string_view(statement.text).substr(result.size()) : "");
    const std::string_view called = value.substr(0, end_of_path(value, 0));
    const std::string_view section = section_of(called);
    if (!section.empty()) {
      add_section(section, called, value, statement.at);
      if (found) {
        names_[found->path] = section;
      }
    } else if (is_builder(found ? called : path_of(statement.text))) {
      take_batches(found ? found->value : std::string_view(statement.text), statement.at);
    } else if (found && found->path.find('.') == std::string::npos) {
      names_.erase(found->path);
      constants_[found->path] = value_of(constants_, found->value, statement.at);
    } else {
      change(statement);
    }
  }

  static std::string_view path_of(std::string_view text) {
    return text.substr(0, end_of_path(text, 0));
  }

  /// What is given the batch and the length of a sequence beside the functions that configure.
  static bool is_builder(std::string_view called) {
    return called == "main" || called == "partial" || called == "functools.partial" ||
           called == "build_config";
  }

  void take_batches(std::string_view call, Origin at) {
    constexpr std::array<std::array<std::string_view, 3>, 3> keys = {
        {{"global_batch_size", "data_loader", "global_batch_size"},
         {"sequence_length", "dataset", "sequence_length"},
         {"max_sequence_length", "dataset", "sequence_length"}}};
    const Value given = value_of(constants_, call, at);
    for (const auto& [theirs, section, key] : keys) {
      const Value* const value = given.find(theirs);
      if (value == nullptr || !value->is_integer) {
        continue;
      }
      if (root_.find(section) == nullptr) {
        put(root_, std::string(section), Value::make_object(), at);
      }
      if (Value& object = *root_.find(section); object.find(key) == nullptr) {
        put(object, std::string(key), *value, at);
      }
    }
  }

  Document finish() && { return {.root = std::move(root_), .sources = {file_}}; }

 private:
  void add_section(std::string_view section,
                   std::string_view called,
                   std::string_view value,
                   Origin at) {
    if (root_.find(section) != nullptr) {
      return;
    }
    Value made = value_of(constants_, value, at);
    if (made.kind != Value::Kind::object) {
      made = Value::make_object();
    }
    tell_context(value, made);
    const std::size_t dot = called.rfind('.');
    if (dot != std::string_view::npos) {
      put(made, "factory", Value(called.substr(dot + 1)), at);
    }
    put(root_, std::string(section), std::move(made), at);
  }

  /// TransformerContextParallelConfig.llama3(degree=8) tells by its name how keys travel.
  static void tell_context(std::string_view value, Value& made) {
    Value* const context = made.find("cp_config");
    if (context == nullptr || context->kind != Value::Kind::object) {
      return;
    }
    for (const std::string_view name : {"zig_zag", "llama3", "ulysses"}) {
      if (value.find("ContextParallelConfig." + std::string(name) + "(") != value.npos) {
        put(*context, name == "ulysses" ? "uly" : "load_balancer", Value(name), context->origin);
      }
    }
  }

  /// "train_module_config.rank_microbatch_size = …", and with //= in its place.
  void change(const Statement& statement) {
    const std::string_view text = statement.text;
    const std::string_view path = text.substr(0, end_of_path(text, 0));
    const std::size_t dot = path.find('.');
    const auto name = names_.find(path.substr(0, dot));
    if (dot == std::string_view::npos || name == names_.end()) {
      return;
    }
    Value* const section = root_.find(name->second);
    const std::string key(path.substr(dot + 1));
    if (const auto found = assigned(text)) {
      put(*section, key, value_of(constants_, found->value, statement.at), statement.at);
    } else {
      put(*section, key, divided(section->find(key), text), statement.at);
    }
  }

  /// By "path //= 2", where both are known.
  [[nodiscard]] Value divided(const Value* whole, std::string_view statement) const {
    constexpr std::string_view sign = "//=";
    const std::size_t found = statement.find(sign);
    const std::size_t begin = found == std::string_view::npos ? statement.size() : found + 3;
    const Value by = value_of(constants_, statement.substr(begin), {});
    const bool is_known = whole != nullptr && whole->is_integer && by.is_integer && by.integer > 0;
    return is_known ? Value(whole->integer / by.integer)
                    : Value("$(" + std::string(statement) + ")");
  }

  static void put(Value& object, const std::string& key, Value value, Origin at) {
    value.origin = at;
    if (Value* const there = object.find(key)) {
      *there = std::move(value);
      return;
    }
    object.add(key, std::move(value));
    object.key_origins.back() = at;
  }

  std::string file_;
  Value root_;
  PythonConstants constants_;
  std::map<std::string, std::string_view, std::less<>> names_;  // of variables, with their sections
};

/// Whether "if get_world_size() >= 1024:" holds; another condition does not.
bool holds(std::string_view condition, const ImportOptions& options) {
  if (condition.starts_with("if __name__ ==")) {
    return true;
  }
  constexpr std::string_view asks = "if get_world_size() >= ";
  if (!condition.starts_with(asks) || !condition.ends_with(':') || !options.devices) {
    return false;
  }
  const std::string_view least = condition.substr(asks.size(), condition.size() - asks.size() - 1);
  const Value number = value_of({}, least, {});
  return number.is_integer && *options.devices >= number.integer;
}

}  // namespace

bool is_olmo_core(std::string_view text) {
  return text.find("from olmo_core") != std::string_view::npos ||
         text.find("import olmo_core") != std::string_view::npos;
}

Document parse_olmo_core(std::string_view text,
                         const std::string& file,
                         const ImportOptions& options,
                         std::vector<std::string>& assumed) {
  Sections sections(file);
  std::size_t skipped = std::string_view::npos;  // what is indented more than this
  for (const Statement& statement : python_statements(text, file)) {
    if (statement.indent > skipped && skipped != std::string_view::npos) {
      continue;
    }
    skipped = std::string_view::npos;
    if (statement.text.find("= BatchSizeSchedulerCallback(") != std::string::npos) {
      assumed.push_back(file + ":" + std::to_string(statement.at.line) +
                        ": BatchSizeSchedulerCallback: batches that change in the course of the "
                        "training are not followed");
    }
    if (statement.text.starts_with("if ") && !holds(statement.text, options)) {
      skipped = statement.indent;
    }
    sections.add(statement);
  }
  return std::move(sections).finish();
}

}  // namespace titer
