// torchtitan's configurations in Python (models/*/config_registry.py): functions that return a
// Trainer.Config, as the document that its releases with TOML read.

#include <algorithm>
#include <array>

#include "import/formats/overrides.hpp"
#include "python_text.hpp"
#include "titer/input/words.hpp"
#include "titer/script/python/python_functions.hpp"
#include "titer/script/python/python_syntax.hpp"

namespace titer {
namespace {

/// What the text of a function says that its values do not: the size of the model, and by which
/// classes products are made narrow.
struct Named {
  std::string flavor;
  bool has_float8 = false;
  bool has_blocks = false;
  bool steps_early = false;  // the optimizer, inside of the backward pass
};

class Registry {
 public:
  explicit Registry(const std::vector<Statement>& statements)
      : definitions_(definitions_of(statements, order_)) {}

  /// Functions that return a configuration.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> made;
    std::copy_if(
        order_.begin(), order_.end(), std::back_inserter(made), [&](const std::string& name) {
          return !name.empty() && configured(name);
        });
    return made;
  }

  [[nodiscard]] Value document(const std::string& name) const {
    constexpr std::array<std::string_view, 4> sections = {
        "training", "parallelism", "activation_checkpoint", "compile"};
    const Value made = *configured(name);
    Value root = Value::make_object();
    for (const std::string_view section : sections) {
      if (const Value* const given = made.find(section)) {
        put_at(root, section, *given, given->origin);
      }
    }
    put_model(name, root);
    put_spec(made, root);
    put_converters(made, root);
    // Releases with such files choose what to keep by its operation, whenever they choose.
    put_at(root, "activation_checkpoint.selective_ac_option", Value("op"), {});
    return root;
  }

 private:
  static constexpr int deepest_call = 8;
  static constexpr int most_calls = 1000;

  [[nodiscard]] std::optional<Value> configured(const std::string& name) const {
    std::optional<Value> made = functions_.returned({}, name + "()", {});
    const bool is_one = made && made->find("training") != nullptr &&
                        (made->find("model_spec") != nullptr || made->find("model") != nullptr);
    return is_one ? made : std::nullopt;
  }

  void put_model(const std::string& name, Value& root) const {
    constexpr std::array<std::string_view, 5> models = {
        "llama3", "llama4", "qwen3", "gpt_oss", "deepseek_v3"};
    const auto* const model = std::find_if(
        models.begin(), models.end(), [&](std::string_view one) { return name.starts_with(one); });
    const Named named = named_in(name, 0);
    if (model != models.end()) {
      put_at(root, "model.name", Value(*model), {});
    }
    put_at(root, "model.flavor", Value(named.flavor), {});
    if (named.has_float8 || named.has_blocks) {
      put_at(root, "model.converters", Value(named.has_blocks ? "mx" : "float8"), {});
    }
    if (named.steps_early) {
      put_at(root, "optimizer.early_step_in_backward", Value(true), {});
    }
  }

  /// What a model is told beside its size.
  static void put_spec(const Value& made, Value& root) {
    const Value* const spec = made.find("model_spec");
    for (std::size_t i = 0; spec != nullptr && i < spec->members.size(); ++i) {
      const auto& [key, value] = spec->members[i];
      if (key != "converters" && key != "attn_backend") {
        put_at(root, "model.spec." + key, value, value.origin);
      }
    }
  }

  /// Of one that starts from another's configuration the other's names, too, under its own.
  [[nodiscard]] Named named_in(const std::string& name, int depth) const {
    Named made;
    const auto found = definitions_.find(name);
    if (found == definitions_.end() || depth > deepest_call || calls_ > most_calls) {
      return made;
    }
    ++calls_;
    for (const Statement& statement : found->second.body) {
      const std::string_view text = statement.text;
      if (const auto called = assigned(text); called && called->value.ends_with("()")) {
        const std::string other(called->value.substr(0, called->value.size() - 2));
        made = other == name ? made : joined(made, named_in(other, depth + 1));
      }
      made.flavor = flavor_in(text, std::move(made.flavor));
      made.has_float8 = made.has_float8 || text.find("Float8Linear") != text.npos;
      made.has_blocks =
          made.has_blocks || text.find("MXFP8") != text.npos || text.find("MXLinear") != text.npos;
      made.steps_early = made.steps_early || text.find("InBackwardContainer") != text.npos;
    }
    return made;
  }

  static Named joined(const Named& own, Named other) {
    other.flavor = own.flavor.empty() ? other.flavor : own.flavor;
    other.has_float8 = own.has_float8 || other.has_float8;
    other.has_blocks = own.has_blocks || other.has_blocks;
    other.steps_early = own.steps_early || other.steps_early;
    return other;
  }

  /// "8B" of model_registry("8B", …).
  static std::string flavor_in(std::string_view text, std::string usual) {
    constexpr std::string_view maker = "model_registry(";
    const std::size_t found = text.find(maker);
    const std::size_t open = found == text.npos ? found : text.find('"', found + maker.size());
    const std::size_t close = open == text.npos ? open : text.find('"', open + 1);
    return close == text.npos ? std::move(usual)
                              : std::string(text.substr(open + 1, close - open - 1));
  }

  /// How products are made narrow, told with the model or beside it.
  static void put_converters(const Value& made, Value& root) {
    for (const std::string_view path : {"model_spec", "model_converters", "model"}) {
      const Value* const holder = made.find(path);
      const Value* const list = holder == nullptr ? nullptr : holder->find("converters");
      if (list == nullptr) {
        continue;
      }
      for (const Value& converter : list->items) {
        for (const auto& [key, value] : converter.members) {
          if (key != "model_compile_enabled") {
            put_at(root, "float8." + key, value, converter.origin);
          }
        }
      }
    }
  }

  std::vector<std::string> order_;
  Definitions definitions_;
  PythonFunctions functions_{definitions_};
  mutable int calls_ = 0;  // whose names were looked for
};

}  // namespace

bool is_torchtitan(std::string_view text) {
  return text.find("from torchtitan") != text.npos && text.find("Trainer.Config(") != text.npos;
}

Document parse_torchtitan(std::string_view text,
                          const std::string& file,
                          const ImportOptions& options,
                          std::vector<std::string>& /*assumed*/) {
  const std::vector<Statement> statements = python_statements(text, file);
  const Registry registry(statements);
  const std::vector<std::string> names = registry.names();
  return {.root = registry.document(chosen_recipe(names, file, options)), .sources = {file}};
}

}  // namespace titer
