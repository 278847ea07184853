#include "titer/script/python/python_functions.hpp"

#include <algorithm>

#include "titer/script/put_at.hpp"
#include "titer/script/python/python_branches.hpp"

namespace titer {
namespace {

/// "cfg" of "cfg: ConfigContainer = None".
std::string_view name_of_parameter(std::string_view parameter) {
  return parameter.substr(0, end_of_path(parameter, 0));
}

}  // namespace

Definitions definitions_of(const std::vector<Statement>& statements,
                           std::vector<std::string>& order) {
  Definitions made;
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

Value PythonFunctions::value_of(const PythonConstants& constants,
                                std::string_view text,
                                Origin at) const {
  return titer::value_of(
      constants, text, at, [&](std::string_view call) { return returned(constants, call, at); });
}

std::optional<Value> PythonFunctions::returned(const PythonConstants& constants,
                                               std::string_view call,
                                               Origin at) const {
  const std::string_view text = without_spaces(call);
  const std::size_t open = end_of_path(text, 0);
  const auto known = definitions_.find(text.substr(0, open));
  const bool is_call = open > 0 && open < text.size() && text[open] == '(' && text.back() == ')';
  if (!is_call || known == definitions_.end() || depth_ == deepest_call || calls_ == most_calls) {
    return std::nullopt;
  }
  ++depth_;
  ++calls_;
  PythonConstants inside = constants;
  bind(known->second, parts_of(text.substr(open + 1, text.size() - open - 2), ','), inside);
  std::optional<Value> made = returned_by(known->second, std::move(inside));
  --depth_;
  if (made) {
    made->origin = at;
  }
  return made;
}

std::optional<Value> PythonFunctions::returned_by(const Definition& definition,
                                                  PythonConstants inside) const {
  constexpr std::string_view returns = "return ";
  PythonBranches branches;
  for (const Statement& statement : definition.body) {
    if (!branches.follows(statement, inside)) {
      continue;
    }
    if (statement.text.starts_with(returns)) {
      Value made =
          value_of(inside, std::string_view(statement.text).substr(returns.size()), statement.at);
      return made.kind == Value::Kind::object ? std::optional(std::move(made)) : std::nullopt;
    }
    const auto found = assigned(statement.text);
    if (!found) {
      continue;
    }
    const std::size_t dot = found->path.find('.');
    Value value = value_of(inside, found->value, statement.at);
    const auto object = inside.find(std::string_view(found->path).substr(0, dot));
    if (dot == std::string::npos) {
      inside[found->path] = std::move(value);
    } else if (object != inside.end() && object->second.kind == Value::Kind::object) {
      put_at(object->second,
             std::string_view(found->path).substr(dot + 1),
             std::move(value),
             statement.at);
    }
  }
  return std::nullopt;
}

void PythonFunctions::bind(const Definition& definition,
                           const std::vector<std::string_view>& arguments,
                           PythonConstants& constants) const {
  const PythonConstants outside = constants;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const auto usual = assigned(definition.parameters[i]);
    const std::string name(name_of_parameter(definition.parameters[i]));
    if (usual) {
      constants[name] = value_of(outside, usual->value, {});
    } else {
      constants.erase(name);
    }
    if (i < arguments.size() && !assigned(arguments[i])) {
      put_argument(name, value_of(outside, arguments[i], {}), constants);
    }
  }
  for (const std::string_view argument : arguments) {
    if (const auto named = assigned(argument)) {
      put_argument(named->path, value_of(outside, named->value, {}), constants);
    }
  }
}

void PythonFunctions::put_argument(const std::string& name,
                                   const Value& value,
                                   PythonConstants& constants) {
  if (value.kind == Value::Kind::text && !untold_expression(value).empty()) {
    constants.erase(name);
  } else {
    constants[name] = value;
  }
}

}  // namespace titer
