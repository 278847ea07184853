#pragma once
// What names of such a program stand for, as far as it tells without being run.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "titer/script/foreign_text.hpp"
#include "titer/script/python/python_syntax.hpp"
#include "titer/script/python/python_values.hpp"

namespace titer {

struct PythonCall {
  std::string_view name;    // with dots
  std::string_view inside;  // the brackets
};
/// All that a statement calls, those inside of others before them.
[[nodiscard]] std::vector<PythonCall> calls_in(std::string_view text);

class PythonNames {
 public:
  explicit PythonNames(const Defines& defines) : defines_(defines) {
    constants_["__name__"] = Value("__main__");
  }

  [[nodiscard]] const PythonConstants& constants() const { return constants_; }
  /// What something else stands for, unless it is known already.
  void define(const std::string& name, Value value) { constants_.emplace(name, std::move(value)); }
  /// A statement that tells what something stands for. True: arguments of the program's own have
  /// been taken as their defaults.
  bool add(const Statement& statement);
  [[nodiscard]] Value value(std::string_view text, Origin at) const;
  /// "key=value", with those of "**name".
  [[nodiscard]] std::vector<std::pair<std::string, Value>> arguments(std::string_view inside,
                                                                     Origin at) const;

 private:
  void enter_class(const Statement& statement);
  void add_argument(const PythonCall& call, Origin at);
  void add_parameters(std::string_view text, Origin at);
  bool add_parsed(const AssignedName& found);
  bool add_made(const AssignedName& found, Origin at);
  [[nodiscard]] std::optional<Value> defined(std::string_view name) const;
  [[nodiscard]] std::optional<Value> member(std::string_view name, std::string_view key) const;
  [[nodiscard]] std::optional<Value> item(std::string_view text, Origin at) const;
  [[nodiscard]] Value told(std::string_view text, Origin at) const;
  [[nodiscard]] std::optional<Value> default_of_field(std::string_view text, Origin at) const;
  [[nodiscard]] Value dictionary(std::string_view inside, Origin at) const;

  const Defines& defines_;
  mutable int depth_ = 0;  // of an expression inside of others
  PythonConstants constants_;
  PythonConstants own_arguments_;
  std::string class_;             // whose body this is
  std::size_t class_indent_ = 0;  // of its body
};

}  // namespace titer
