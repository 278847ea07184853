#include "python_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "import/formats/overrides.hpp"
#include "import/import_parts.hpp"
#include "python_branches.hpp"
#include "python_syntax.hpp"
#include "python_values.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"

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

/// "llama38b" of Llama3Config8B and Llama3ModelProvider8B; "" of another expression.
std::string model_of_class(std::string_view text) {
  for (const std::string_view part : {"ModelProvider", "Config"}) {
    const std::size_t found = text.rfind(part);
    if (found == std::string_view::npos) {
      continue;
    }
    std::size_t begin = found;
    while (begin > 0 && is_of_name(text[begin - 1])) {
      --begin;
    }
    const std::size_t end = end_of_path(text, found + part.size());
    const std::string size(text.substr(found + part.size(), end - found - part.size()));
    return size.empty() ? "" : std::string(text.substr(begin, found - begin)) + size;
  }
  return "";
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

/// A function as it is written.
struct Definition {
  std::vector<std::string> parameters;  // "peft: str = None"
  std::vector<Statement> body;
};

/// The statements of each function by its name; those outside by "".
std::map<std::string, Definition, std::less<>> definitions_of(
    const std::vector<Statement>& statements, std::vector<std::string>& order) {
  std::map<std::string, Definition, std::less<>> made;
  std::string name;
  order.emplace_back();
  for (const Statement& statement : statements) {
    const std::string_view text = statement.text;
    if (statement.indent == 0 && text.starts_with("def ")) {
      const std::size_t end = end_of_path(text, 4);
      const std::size_t close = std::min(text.rfind(')'), text.size());
      name = std::string(text.substr(4, end - 4));
      order.push_back(name);
      Definition& definition = made[name] = {};
      for (const std::string_view parameter :
           parts_of(text.substr(end + 1, std::max(close, end + 1) - end - 1), ',')) {
        definition.parameters.emplace_back(without_spaces(parameter));
      }
      continue;
    }
    name = statement.indent == 0 ? "" : name;
    made[name].body.push_back(statement);
  }
  return made;
}

/// "cfg" of "cfg: ConfigContainer = None".
std::string_view name_of_parameter(std::string_view parameter) {
  return parameter.substr(0, end_of_path(parameter, 0));
}

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
    bind(definition, arguments);
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

  /// What a parameter is given by its place or name, or has of itself.
  void bind(const Definition& definition, const std::vector<std::string_view>& arguments) {
    for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
      const auto usual = assigned(definition.parameters[i]);
      const std::string name(name_of_parameter(definition.parameters[i]));
      if (usual) {
        constants_[name] = value_of(constants_, usual->value, {});
      } else {
        constants_.erase(name);
      }
      if (i < arguments.size() && !assigned(arguments[i])) {
        put_argument(name, arguments[i]);
      }
    }
    for (const std::string_view argument : arguments) {
      if (const auto named = assigned(argument)) {
        put_argument(named->path, named->value);
      }
    }
  }

  void put_argument(const std::string& name, std::string_view written) {
    Value value = value_of(constants_, written, {});
    if (value.kind == Value::Kind::text && !untold_expression(value).empty()) {
      constants_.erase(name);
    } else {
      constants_[name] = std::move(value);
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
      Value value = value_of(constants_, found->value, statement.at);
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
    return std::find(others.begin(), others.end(), name) != others.end();
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
      constants_[found.path] = value_of(constants_, found.value, statement.at);
      return;
    }
    put_at(recipe.root, "recipe", Value(called), statement.at);
    const Value arguments = value_of(constants_, found.value, statement.at);
    for (const auto& [key, value] : arguments.members) {
      put_at(recipe.root, "recipe_arguments." + key, value, statement.at);
    }
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

  static void put_model(const std::string& path,
                        std::string_view value,
                        Origin at,
                        Recipe& recipe) {
    if (path != "model" && path != "model.config") {
      return;
    }
    std::string name = quoted_after(value, "from_hf_pretrained(");
    name = name.empty() ? model_of_class(value) : name;
    if (!name.empty()) {
      put_at(recipe.root, "model.hf_model", Value(name), at);
    }
  }

  std::string file_;
  std::map<std::string, Definition, std::less<>> definitions_;
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
  recipes.erase(std::remove_if(recipes.begin(),
                               recipes.end(),
                               [](const Recipe& recipe) {
                                 return recipe.root.find("model") == nullptr &&
                                        recipe.root.find("recipe") == nullptr;
                               }),
                recipes.end());
  const auto told = options.defines.find("recipe");
  std::string names;
  for (Recipe& recipe : recipes) {
    const bool is_it =
        told == options.defines.end() ? recipes.size() == 1 : recipe.name == told->second;
    if (is_it) {
      if (recipe.root.find("model") == nullptr) {
        recipe.root.add("model", Value::make_object());
      }
      assumed = std::move(recipe.assumed);
      return {.root = std::move(recipe.root), .sources = {file}};
    }
    names.append(names.empty() ? "" : ", ").append(recipe.name.empty() ? file : recipe.name);
  }
  if (recipes.empty()) {
    throw InputError(file +
                     ": is a program in Python, and assigns nothing to the model of a recipe; "
                     "expected cfg.model.… = … of Megatron-Bridge, or recipe.… = … of NeMo");
  }
  throw InputError(file + ": has several recipes; --define recipe=NAME tells which: " +
                   shortened(names, kLongestNames));
}

}  // namespace titer
