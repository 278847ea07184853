#include "python_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "import/formats/overrides.hpp"
#include "import/import_parts.hpp"
#include "python_syntax.hpp"
#include "python_values.hpp"
#include "titer/input/reader.hpp"
#include "titer/input/words.hpp"

namespace titer {
namespace {

constexpr std::size_t kLongestNames = 300;  // of recipes that are shown

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

/// A function of the file, or what is in none.
struct Recipe {
  std::string name;
  Value root = Value::make_object();
};

class Recipes {
 public:
  explicit Recipes(const std::vector<Statement>& statements) {
    recipes_.push_back({});
    for (const Statement& statement : statements) {
      add(statement);
    }
  }

  [[nodiscard]] std::vector<Recipe> all() && { return std::move(recipes_); }

 private:
  void add(const Statement& statement) {
    if (statement.indent == 0 && statement.text.starts_with("def ")) {
      const std::size_t end = end_of_path(statement.text, 4);
      recipes_.push_back({.name = statement.text.substr(4, end - 4)});
      return;
    }
    const auto found = assigned(statement.text);
    if (!found) {
      return;
    }
    const bool is_outside = statement.indent == 0 || statement.text.starts_with("if __name__");
    Recipe& recipe = is_outside ? recipes_.front() : recipes_.back();
    const std::size_t dot = found->path.find('.');
    if (dot == std::string::npos) {
      add_name(*found, statement, recipe);
    } else if (!is_foreign(found->path.substr(0, dot))) {
      const std::string path = found->path.substr(dot + 1);
      Value value = value_of(constants_, found->value, statement.at);
      put_model(path, found->value, statement.at, recipe);
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

  std::vector<Recipe> recipes_;
  PythonConstants constants_;
};

}  // namespace

Document parse_recipe(std::string_view text,
                      const std::string& file,
                      const ImportOptions& options) {
  const std::vector<Statement> statements = python_statements(text, file);
  std::vector<Recipe> recipes = Recipes(statements).all();
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
