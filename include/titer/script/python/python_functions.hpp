#pragma once
// Functions of a Python file: how they are called, and what they return.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titer/script/python/python_syntax.hpp"
#include "titer/script/python/python_values.hpp"

namespace titer {

/// A function as it is written.
struct Definition {
  std::vector<std::string> parameters;  // "peft: str = None"
  std::vector<Statement> body;
};
using Definitions = std::map<std::string, Definition, std::less<>>;

/// The statements of each function by its name; those outside by "". Their names in `order`.
[[nodiscard]] Definitions definitions_of(const std::vector<Statement>& statements,
                                         std::vector<std::string>& order);

class PythonFunctions {
 public:
  explicit PythonFunctions(const Definitions& definitions) : definitions_(definitions) {}

  /// Like value_of, but of what functions of the file return.
  [[nodiscard]] Value value_of(const PythonConstants& constants,
                               std::string_view text,
                               Origin at) const;
  /// The object that such a call returns; none for another expression.
  [[nodiscard]] std::optional<Value> returned(const PythonConstants& constants,
                                              std::string_view call,
                                              Origin at) const;
  /// Puts what a function's parameters are given by their place or name, or have of themselves.
  void bind(const Definition& definition,
            const std::vector<std::string_view>& arguments,
            PythonConstants& constants) const;

 private:
  static constexpr int deepest_call = 8;
  static constexpr int most_calls = 1000;

  [[nodiscard]] std::optional<Value> returned_by(const Definition& definition,
                                                 PythonConstants inside) const;
  static void put_argument(const std::string& name, const Value& value, PythonConstants& constants);

  const Definitions& definitions_;
  mutable int depth_ = 0;
  mutable int calls_ = 0;
};

}  // namespace titer
