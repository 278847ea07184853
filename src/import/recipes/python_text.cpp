#include "python_text.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "import/formats/overrides.hpp"
#include "import/import_parts.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"
#include "titer/script/python/python_branches.hpp"
#include "titer/script/python/python_functions.hpp"
#include "titer/script/python/python_syntax.hpp"
#include "titer/script/python/python_values.hpp"
#include "titer/units/listed.hpp"
#include "titer/units/lists.hpp"

namespace titer {
namespace {

constexpr std::size_t kLongestNames = 300;      // of recipes that are shown
constexpr std::size_t kLongestStatement = 100;  // of a statement

/// The text in quotes behind a name in an expression; "" for none.
std::string quoted_after(std::string_view text, std::string_view name) {
  const std::size_t found = text.find(name);
  const std::size_t open = found == std::string_view::npos
                               ? std::string_view::npos
                               : text.find_first_of("\"'", found + name.size());
  const std::size_t close = open == std::string_view::npos ? open : text.find(text[open], open + 1);
  return close == std::string_view::npos ? ""
                                         : std::string(text.substr(open + 1, close - open - 1));
}

/// "a = f()" of "a, b = f()"; another statement as it is.
std::string first_of_tuple(const std::string& statement) {
  const std::size_t comma = end_of_path(statement, 0);
  const std::size_t equals = statement.find(" = ");
  const bool is_tuple = comma > 0 && comma < statement.size() && statement[comma] == ',' &&
                        equals != std::string::npos && statement.find_first_of("([{\"'") > equals;
  return is_tuple ? statement.substr(0, comma) + statement.substr(equals) : statement;
}

/// A function of the file, or what is in none.
struct Recipe {
  std::string name;
  Value root = Value::make_object();
  std::vector<std::string> assumed{};  // located
};

class Recipes {
 public:
  Recipes(const std::vector<Statement>& statements, const std::string& file) : file_(file) {
    constants_["__name__"] = "__main__";
    std::vector<std::string> order;
    definitions_ = definitions_of(statements, order);
    for (const std::string& name : order) {
      recipes_.push_back({.name = name});
      run(definitions_[name], {});
    }
  }

  [[nodiscard]] std::vector<Recipe> all() && { return std::move(recipes_); }

 private:
  static constexpr int most_calls = 8;  // inside of each other

  /// Goes through a function that is called with these arguments.
  void run(const Definition& definition, const std::vector<std::string_view>& arguments) {
    PythonConstants outer = constants_;
    functions_.bind(definition, arguments, constants_);
    PythonBranches branches;
    for (const Statement& statement : definition.body) {
      if (branches.follows(statement, constants_)) {
        add(statement);
      }
    }
    for (const Statement& condition : branches.undecided()) {
      say(condition.at, condition.text + " is taken not to hold");
    }
    if (!recipes_.back().name.empty()) {
      constants_ = std::move(outer);
    }
  }

  void say(Origin at, const std::string& what) {
    recipes_.back().assumed.push_back(file_ + ":" + std::to_string(at.line) + ":" +
                                      std::to_string(at.column) + ": " +
                                      shortened(what, kLongestStatement));
  }

  /// "set_something(cfg, …)", which changes what it is given.
  bool call(const Statement& statement) {
    const std::string_view text = statement.text;
    const std::size_t open = end_of_path(text, 0);
    if (open == 0 || open >= text.size() || text[open] != '(' || !text.ends_with(')')) {
      return false;
    }
    const std::vector<std::string_view> arguments =
        parts_of(text.substr(open + 1, text.size() - open - 2), ',');
    const std::string_view first =
        arguments.empty() ? std::string_view() : without_spaces(arguments.front());
    const bool changes = first == "cfg" || first == "config" || first == "recipe" ||
                         first.starts_with("cfg.") || first.starts_with("recipe.");
    if (!changes) {
      return false;
    }
    const auto known = definitions_.find(text.substr(0, open));
    if (known != definitions_.end() && depth_ < most_calls) {
      ++depth_;
      run(known->second, arguments);
      --depth_;
    } else {
      say(statement.at, std::string(text) + " is not followed");
    }
    return true;
  }

  void add(const Statement& statement) {
    const std::string text = first_of_tuple(statement.text);
    const auto found = assigned(text);
    if (text.starts_with("return ")) {
      put_returned(functions_.value_of(constants_, std::string_view(text).substr(7), statement.at));
      return;
    }
    if (!found) {
      call(statement);
      return;
    }
    Recipe& recipe = recipes_.back();
    const std::size_t dot = found->path.find('.');
    if (dot == std::string::npos) {
      add_name(*found, statement, recipe);
    } else if (!is_foreign(found->path.substr(0, dot))) {
      const std::string path = found->path.substr(dot + 1);
      Value value = functions_.value_of(constants_, found->value, statement.at);
      put_model(path, found->value, statement.at, recipe);
      if (put_named_section(path, value, statement.at, recipe)) {
        return;
      }
      if (path != "model" || value.kind != Value::Kind::text) {
        put_at(recipe.root, path, std::move(value), statement.at);
      }
    }
  }

  static bool is_foreign(std::string_view name) {
    constexpr std::array<std::string_view, 5> others = {"self", "os", "torch", "logger", "args"};
    return includes(others, name);
  }

  /// Of a whole recipe what is changed afterwards counts, not what its name stood for when it is
  /// returned.
  void keep_value(const std::string& name, Value value) {
    if (!put_returned(value)) {
      constants_[name] = std::move(value);
      return;
    }
    for (const auto& [key, part] : value.members) {
      constants_[std::string(name).append(".").append(key)] = part;
    }
    constants_.erase(name);
  }

  /// NAME = 8192, and recipe = llm.llama3_8b.pretrain_recipe(num_nodes=2, …).
  void add_name(const AssignedName& found, const Statement& statement, Recipe& recipe) {
    const std::size_t open = end_of_path(found.value, 0);
    const bool is_call = open > 0 && open < found.value.size() && found.value[open] == '(';
    const std::string_view called = found.value.substr(0, open);
    const bool is_recipe = is_call && (called.ends_with("_recipe") || called.ends_with("_config"));
    if (is_call && called.find("_with_") != called.npos) {
      constants_[found.path] = Value("$(" + std::string(called) + ")");  // an optimizer's maker
      return;
    }
    if (!is_recipe) {
      keep_value(found.path, functions_.value_of(constants_, found.value, statement.at));
      return;
    }
    if (auto made = functions_.returned(constants_, found.value, statement.at)) {
      if (!put_returned(*made)) {
        constants_[found.path] = *std::move(made);
      }
      return;
    }
    put_at(recipe.root, "recipe", Value(called), statement.at);
    const Value arguments = functions_.value_of(constants_, found.value, statement.at);
    for (const auto& [key, value] : arguments.members) {
      put_at(recipe.root, "recipe_arguments." + key, value, statement.at);
    }
  }

  /// A whole recipe, as functions of NeMo's and Megatron-Bridge's return it; false for something
  /// else.
  bool put_returned(const Value& made) {
    const Value* const model = made.find("model");
    if (model == nullptr || (made.find("trainer") == nullptr && made.find("train") == nullptr)) {
      return false;
    }
    Recipe& recipe = recipes_.back();
    if (made.find("trainer") == nullptr) {
      for (std::size_t i = 0; i < made.members.size(); ++i) {
        const auto& [key, value] = made.members[i];
        if (!put_named_section(key, value, made.key_origins[i], recipe)) {
          put_at(recipe.root, key, value, made.key_origins[i]);
        }
      }
      return true;
    }
    for (std::size_t i = 0; i < made.members.size(); ++i) {
      put_at(recipe.root, made.members[i].first, made.members[i].second, made.key_origins[i]);
    }
    // run.Config(MixtralModel, config=run.Config(MixtralConfig8x7B)), nemotron_model(version=…)
    const Value* const config = model->find("config");
    const Value* const version = model->find("version");
    const Value& told = config == nullptr ? *model : *config;
    if (version != nullptr) {
      put_at(recipe.root, "model", Value::make_object(), version->origin);
      put_at(recipe.root, "model.hf_model", *version, version->origin);
    } else if (told.kind == Value::Kind::text) {
      put_at(recipe.root, "model", Value::make_object(), told.origin);
      put_model("model", untold_expression(told), told.origin, recipe);
    }
    if (const Value* const callbacks = made.find("trainer")->find("callbacks")) {
      put_callbacks(*callbacks, recipe);
    }
    return true;
  }

  /// A section by the name of a recipe, or by the function that makes it, of which parts may be
  /// changed later: get_mixed_precision_config("bf16_mixed").
  static bool put_named_section(const std::string& path,
                                const Value& value,
                                Origin at,
                                Recipe& recipe) {
    if (value.kind != Value::Kind::text) {
      return false;
    }
    const std::string_view untold = untold_expression(value);
    const std::string_view maker = untold.substr(untold.rfind('.') + 1);
    if (path == "trainer.plugins" && maker.find("_mixed(") != maker.npos) {
      put_at(recipe.root,
             "mixed_precision.precision_recipe",
             Value(maker.substr(0, maker.find('('))),
             at);
      return true;
    }
    if (path == "mixed_precision") {
      const std::string quoted = quoted_after(untold, "(");
      const std::string name = untold.empty() ? value.text : quoted;
      put_at(recipe.root, "mixed_precision.precision_recipe", Value(name), at);
      return !name.empty();
    }
    const bool is_maker = untold.find("_with_") != untold.npos;
    if (path == "optimizer" && is_maker) {
      const bool is_muon = untold.find("muon") != untold.npos;
      put_at(recipe.root, "optimizer.optimizer", Value(is_muon ? "muon" : "adam"), at);
      return true;
    }
    return false;
  }

  void put_model(const std::string& path, std::string_view value, Origin at, Recipe& recipe) {
    if (path != "model" && path != "model.config") {
      return;
    }
    std::string name = name_on_hub(value);
    name = name.empty() ? model_of_class(value) : name;
    if (!name.empty()) {
      put_at(recipe.root, "model.hf_model", Value(name), at);
    }
  }

  /// What from_hf_pretrained is given: a text, or what such a text was assigned to.
  [[nodiscard]] std::string name_on_hub(std::string_view value) const {
    constexpr std::string_view maker = "from_hf_pretrained(";
    const std::size_t found = value.find(maker);
    if (found == std::string_view::npos) {
      return "";
    }
    const std::size_t begin = found + maker.size();
    const auto known = constants_.find(value.substr(begin, end_of_path(value, begin) - begin));
    return known != constants_.end() && known->second.kind == Value::Kind::text
               ? known->second.text
               : quoted_after(value, maker);
  }

  /// What is switched on by a callback of the trainer; those that watch or tidy up change nothing.
  static void put_callbacks(const Value& callbacks, Recipe& recipe) {
    constexpr std::array<std::string_view, 6> idle = {
        "Timing", "GarbageCollection", "Nsys", "Checkpoint", "LearningRate", "MemoryProfile"};
    Value others = Value::make_array();
    for (const Value& callback : callbacks.items) {
      if (callback.kind == Value::Kind::object) {
        for (const auto& [key, value] : callback.members) {
          put_at(recipe.root, "comm_overlap." + key, value, callback.origin);
        }
      } else if (std::ranges::none_of(idle, [&](std::string_view part) {
                   return callback.text.find(part) != std::string::npos;
                 })) {
        others.push(callback);
      }
    }
    put_at(recipe.root,
           "trainer.callbacks",
           others.items.empty() ? Value() : std::move(others),
           callbacks.origin);
  }

  std::string file_;
  Definitions definitions_;
  PythonFunctions functions_{definitions_};
  std::vector<Recipe> recipes_;
  PythonConstants constants_;
  int depth_ = 0;
};

}  // namespace

Document parse_recipe(std::string_view text,
                      const std::string& file,
                      const ImportOptions& options,
                      std::vector<std::string>& assumed) {
  const std::vector<Statement> statements = python_statements(text, file);
  std::vector<Recipe> recipes = Recipes(statements, file).all();
  std::erase_if(recipes, [](const Recipe& recipe) {
    return recipe.root.find("model") == nullptr && recipe.root.find("recipe") == nullptr;
  });
  const std::vector<std::string> names = each_of(
      recipes, [&](const Recipe& recipe) { return recipe.name.empty() ? file : recipe.name; });
  const std::string& chosen = chosen_recipe(names, file, options);
  Recipe& recipe = recipes[static_cast<std::size_t>(&chosen - names.data())];
  if (recipe.root.find("model") == nullptr) {
    recipe.root.add("model", Value::make_object());
  }
  assumed = std::move(recipe.assumed);
  return {.root = std::move(recipe.root), .sources = {file}};
}

const std::string& chosen_recipe(const std::vector<std::string>& names,
                                 const std::string& file,
                                 const ImportOptions& options) {
  const auto told = options.defines.find("recipe");
  const bool is_told = told != options.defines.end();
  const auto found = is_told ? std::ranges::find(names, told->second) : names.begin();
  if (found != names.end() && (is_told || names.size() == 1)) {
    return *found;
  }
  if (names.empty()) {
    throw InputError(file +
                     ": is a program in Python, and assigns nothing to the model of a recipe; "
                     "expected cfg.model.… = … of Megatron-Bridge, or recipe.… = … of NeMo");
  }
  throw InputError(file + ": has several recipes; --define recipe=NAME tells which: " +
                   shortened(listed(names), kLongestNames));
}

}  // namespace titer
